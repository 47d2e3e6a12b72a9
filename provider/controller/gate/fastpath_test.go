package gate

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
)

// TestBusyJobCostsNoTurn has a Job change 50 times while its Gate has nothing to write: each change is observed, and takes no turn of a waiting
// reconcile.
func TestBusyJobCostsNoTurn(t *testing.T) {
	w := newWorld(t, script(nil))
	w.until("Measuring//Running")
	w.reconcile()
	thorough, writes := w.thorough, w.writes
	for range 50 {
		w.changeJob()
		w.reconcile()
	}
	if diff := cmp.Diff([]int{thorough, writes}, []int{w.thorough, w.writes}); diff != "" {
		t.Errorf("turns and writes: -before, +after:\n%s", diff)
	}
	// A change that counts is written as before, and a Gate is still reconciled once in an interval.
	w.edit(func(s *deliveryv1alpha1.SiteSync) { s.Status.AtProvider.Sites[0].State = deliveryv1alpha1.SiteSyncing })
	if w.reconcile(); w.state() != "Measuring//Running" && w.thorough == thorough {
		t.Errorf("nothing was written for %s", w.state())
	}
	thorough = w.thorough
	w.c.now = func() time.Time { return time.Now().Add(2 * time.Hour) }
	if w.reconcile(); w.thorough == thorough {
		t.Error("the Gate is not reconciled any more")
	}
}

// changeJob changes a field of the Job that decides nothing.
func (w *world) changeJob() {
	w.Helper()
	j := w.made()[0]
	j.SetAnnotations(map[string]string{"at": time.Now().String()})
	_, err := w.cluster.Resource(jobResource()).Namespace("checks").Update(w.Context(), &j, metav1.UpdateOptions{})
	w.must(err)
}
