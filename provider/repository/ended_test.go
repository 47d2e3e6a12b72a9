package repository

import (
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/provider/git/failure"
)

// TestEnded hears of each conversation with the server.
func TestEnded(t *testing.T) {
	s := serve(t, map[string]string{"README.md": "hello"})
	var mu sync.Mutex
	pushes, deliveries, looks, failed := 0, 0, 0, []failure.Class{}
	r := open(t, pool(Options{Ended: func(o Operation) {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case o.Err != nil:
			failed = append(failed, failure.ClassOf(o.Err))
		case o.Name == OperationPush:
			pushes++
			deliveries += o.Deliveries
		case o.Name == OperationLook:
			looks++
		}
	}}), s)
	for key, err := range gather(t, s, r, fiveFiles(1), fiveFiles(2), fiveFiles(3)) {
		if err != nil {
			t.Fatalf("Deliver(%s): %v", key, err)
		}
	}
	// The first delivery of all makes the state, which goes alone, and then the branch. The next one is held, and three gather.
	if diff := cmp.Diff([]int{4, 5, 1}, []int{pushes, deliveries, looks}); diff != "" {
		t.Errorf("pushes, deliveries and looks: -want, +got:\n%s", diff)
	}
	hook(t, s, "update", "echo no; exit 1")
	if err := deliver(r, fiveFiles(4)); err == nil {
		t.Fatal("Deliver(...): want an error")
	}
	if len(failed) == 0 || strings.Contains(string(failed[0]), " ") {
		t.Errorf("operations that failed, by class: got %q", failed)
	}
}
