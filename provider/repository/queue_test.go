package repository

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/git/transport"
)

func TestQueueIsFair(t *testing.T) {
	q, want := queue{}, "a0 b0 c0 a1 b1 a2 a3 "
	for _, name := range []string{"a0", "a1", "a2", "a3", "b0", "gone", "b1", "c0"} {
		i := &item{Delivery: Delivery{Object: types.NamespacedName{Namespace: name[:1], Name: name}}}
		q.appendItem(i)
		if name == "gone" && (!q.dropItem(i) || q.dropItem(i)) {
			t.Error("\nWho is dropped is gone, once\ndrop(...)")
		}
	}
	got := strings.Builder{}
	for q.size > 0 {
		if q.peekItem().Object.Name == "" {
			t.Fatal("peekItem(): the queue is empty")
		}
		got.WriteString(q.nextItem().Object.Name + " ")
	}
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("\nEach namespace has its turn, and within one the first comes first\nnext(): -want, +got:\n%s", diff)
	}
}

func TestIdleIsForgotten(t *testing.T) {
	clock := time.Now()
	p := pool(Options{Now: func() time.Time { return clock }})
	open := func(namespace string, n int) {
		clock = clock.Add(time.Second)
		openRemote(t, p, fmt.Sprintf("http://127.0.0.1:1/%d", n), ofNamespace(namespace, n), func(r *git.Remote) {
			r.Proxy = &transport.Proxy{URL: fmt.Sprintf("http://127.0.0.1:%d", n+1)}
		})
	}
	open("team-a", 0)
	for n := range 2 * maxIdle {
		open(hostile, n)
	}
	if diff := cmp.Diff([]int{maxIdle + 2, maxIdle + 2}, []int{len(p.repos), len(p.hosts)}); diff != "" {
		t.Errorf("A namespace with too many repositories loses those that were not used for the longest time, and their hosts.\n-want, +got:\n%s", diff)
	}
	clock = clock.Add(idleTime + time.Minute)
	open("team-a", 1)
	if diff := cmp.Diff([]int{1, 1}, []int{len(p.repos), len(p.hosts)}); diff != "" {
		t.Errorf("Repositories that are not used are forgotten with their hosts.\n-want, +got:\n%s", diff)
	}
	if !p.tenants.slots.IsIdle() || !p.tenants.lanes.IsIdle() {
		t.Error("Slots and lanes that are free are forgotten.\nIsIdle(): want true")
	}
}
