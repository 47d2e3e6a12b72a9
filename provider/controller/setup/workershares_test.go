package setup

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

func request(namespace string, n int) reconcile.Request {
	return reconcile.Request{NamespacedName: types.NamespacedName{Namespace: namespace, Name: fmt.Sprint(n)}}
}

// TestTurns lets all objects of a namespace wait for a server that does not answer.
func TestTurns(t *testing.T) {
	const workers, objects = 8, 10
	begun, free, woken := make(chan reconcile.Request, objects), make(chan struct{}), make(chan types.NamespacedName, objects)
	turns := NewWorkerShares(reconcile.Func(func(_ context.Context, req reconcile.Request) (reconcile.Result, error) {
		begun <- req
		if req.Namespace == "hostile" {
			<-free
		}
		return reconcile.Result{}, nil
	}), workers, func(key types.NamespacedName) { woken <- key })

	ended := make(chan reconcile.Result, objects)
	for n := range workers / 2 {
		go func() {
			res, _ := turns.Reconcile(t.Context(), request("hostile", n))
			ended <- res
		}()
		<-begun
	}
	for n := workers / 2; n < objects; n++ {
		for range 2 { // Another event changes nothing.
			res, err := turns.Reconcile(t.Context(), request("hostile", n))
			if diff := cmp.Diff(reconcile.Result{RequeueAfter: lostTurn}, res); diff != "" || err != nil {
				t.Errorf("An object beyond the share waits without a worker while half of all workers are busy.\nReconcile(...): -want, +got:\n%s\n%v", diff, err)
			}
		}
	}
	res, err := turns.Reconcile(t.Context(), request("team-a", 0))
	if diff := cmp.Diff(reconcile.Result{}, res); diff != "" || err != nil {
		t.Errorf("Another namespace has its workers.\nReconcile(...): -want, +got:\n%s\n%v", diff, err)
	}
	close(free)
	for n := workers / 2; n < objects; n++ {
		key := <-woken
		if diff := cmp.Diff(request("hostile", n).NamespacedName, key); diff != "" {
			t.Errorf("Objects have their turn in the order in which they came.\nwake(...): -want, +got:\n%s", diff)
		}
		_, _ = turns.Reconcile(t.Context(), reconcile.Request{NamespacedName: key})
	}
	for range workers / 2 {
		<-ended
	}
	if len(turns.queues) != 0 || turns.working != 0 {
		t.Errorf("A namespace without objects is forgotten.\nGot %d queues and %d workers", len(turns.queues), turns.working)
	}
}

// TestTurnByAnotherEvent gives a waiting object its worker by another event than its turn.
func TestTurnByAnotherEvent(t *testing.T) {
	woken := []string{}
	turns := NewWorkerShares(nil, 4, func(key types.NamespacedName) { woken = append(woken, key.Name) })
	enters := func(n int) bool { return turns.tryTakeWorker(request("hostile", n).NamespacedName) }
	got := []bool{enters(0), enters(1), enters(2), enters(3)}
	turns.returnWorker("hostile")
	got = append(got, enters(3), enters(2))
	turns.returnWorker("hostile")
	turns.returnWorker("hostile")
	if diff := cmp.Diff([]bool{true, true, false, false, true, false}, got); diff != "" {
		t.Errorf("A namespace has its share of the workers, and half of them while it is alone.\ntakeWorker(...): -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"2", "2"}, woken); diff != "" || len(turns.queues) != 0 {
		t.Errorf("An object that got a worker by another event waits no longer.\nwake(...): -want, +got:\n%s\nGot %d queues", diff, len(turns.queues))
	}
}

// TestTurnsShare lets two namespaces wait for servers that do not answer.
func TestTurnsShare(t *testing.T) {
	turns := NewWorkerShares(nil, 8, func(types.NamespacedName) {})
	enters := func(namespace string) int {
		n := 0
		for turns.tryTakeWorker(request(namespace, n).NamespacedName) {
			n++
		}
		return n
	}
	got := []int{enters("hostile"), enters("team-a"), enters("team-b")}
	if diff := cmp.Diff([]int{4, 2, 2}, got); diff != "" {
		t.Errorf("A namespace that is alone has half of the workers, and each other namespace has its share.\nenter(...): -want, +got:\n%s", diff)
	}
}
