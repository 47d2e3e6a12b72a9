package repository

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
)

func TestBytesHaveShares(t *testing.T) {
	sized := func(namespace string, n, size int) *item {
		return &item{Delivery: Delivery{Object: types.NamespacedName{Namespace: namespace, Name: fmt.Sprint(n)}, Size: size}}
	}
	u, got := newPendingItems(), 0
	for n := range 73 {
		if u.addPendingItem(sized(hostile, n, 900<<10)) {
			got++
		}
	}
	if diff := cmp.Diff(maxBytesPerNamespace/(900<<10), got); diff != "" {
		t.Errorf("A namespace has its share of the bytes that wait.\nadd(...): -want, +got:\n%s", diff)
	}
	for n := range 100 {
		if !u.addPendingItem(sized(fmt.Sprint("team-", n), 0, 1<<20)) {
			t.Errorf("The first delivery of a namespace waits, however many others do.\nadd(team-%d): want true", n)
		}
	}
	if u.addPendingItem(sized("team-1", 1, 1<<20)) {
		t.Error("The namespaces have a limit together.\nadd(...): want false")
	}
}

func TestPendingDeliveriesAreBounded(t *testing.T) {
	u := newPendingItems()
	large := &item{Delivery: Delivery{Object: web(1), Size: 2 * maxBytes}}
	small := &item{Delivery: Delivery{Object: web(2), Size: 1}}
	got := []bool{u.addPendingItem(large), u.addPendingItem(small)}
	u.removePendingItem(large)
	got = append(got, u.addPendingItem(small))
	if diff := cmp.Diff([]bool{true, false, true}, got); diff != "" {
		t.Errorf("\nA delivery that is too large is pushed alone, and the others come again\nadd(): -want, +got:\n%s", diff)
	}
	if _, ok := u.itemOfObject(web(1)); ok {
		t.Error("\nA finished delivery is forgotten\nget(): found")
	}
}
