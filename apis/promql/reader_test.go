package promql

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestReader(t *testing.T) {
	r := NewReader(2)
	for range 2 {
		if _, err := r.Parse("up{"); err == nil || !strings.Contains(err.Error(), "is not PromQL") {
			t.Errorf("Parse(...): %v", err)
		}
		got, err := r.ReachOf("rate(a[1m])")
		if diff := cmp.Diff(Reach{Windows: time.Minute}, got); diff != "" || err != nil {
			t.Errorf("ReachOf(...): %v, -want, +got:\n%s", err, diff)
		}
	}
	one, _ := r.Parse("up")
	if again, _ := r.Parse("up"); one == nil || one != again {
		t.Error("a query is read again")
	}
	for _, other := range []string{"a", "b"} {
		_, _ = r.Parse(other)
	}
	if again, _ := r.Parse("up"); one == again {
		t.Error("nothing is ever forgotten")
	}
}
