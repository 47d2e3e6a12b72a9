package sitesync

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/intentplane/intentplane/provider/clusters/clusterapi"
	"github.com/intentplane/intentplane/provider/clusters/readiness"
)

// reported is a cluster that can be delivered to, and whose control plane is well or says why it is not.
func reported(trouble string) readiness.Report {
	plane := readiness.Condition{Type: readiness.TypeControlPlaneReady, Status: readiness.True}
	if trouble != "" {
		plane.Status, plane.Reason, plane.Message, plane.By = readiness.False, readiness.ReasonNotReady, trouble, readiness.Subject{Kind: "HostedControlPlane", Name: "c1"}
	}
	return readiness.Report{UID: "u1", Conditions: []readiness.Condition{
		{Type: readiness.TypeDeleting, Status: readiness.False},
		{Type: readiness.TypeControlPlaneInitialized, Status: readiness.True},
		{Type: readiness.TypeEndpointKnown, Status: readiness.True},
		{Type: readiness.TypeKubeconfigReady, Status: readiness.True},
		{Type: readiness.TypeInfrastructureReady, Status: readiness.True},
		plane,
	}}
}

// A watcher sees a cluster at times.
type watcher struct {
	tracks *readinessCache
	now    time.Time
}

func (w *watcher) see(r readiness.Report, elapsed time.Duration) readinessEntry {
	w.now = w.now.Add(elapsed)
	k := readinessKey{cluster: types.NamespacedName{Namespace: "infra", Name: "c1"}, policy: readinessPolicy{stabilization: readiness.Stabilization}}
	return w.tracks.observeReport(k, r, clusterapi.Held{}, w.now)
}

func TestTracks(t *testing.T) {
	w := &watcher{tracks: newReadinessCache(), now: noon()}
	silent := readiness.Read(readiness.Input{Cluster: readiness.Lacks(readiness.Subject{}, readiness.ReasonUnreachable)})
	well := reported("")
	w.see(well, 0)
	if s := w.see(well, readiness.Stabilization).steady; !s.Ready {
		t.Fatalf("it is ready: %+v", s)
	}
	if s := w.see(silent, time.Second).steady; s.Ready || s.UID != "u1" {
		t.Errorf("a silent API server changed the steady state: %+v", s)
	}
	w.see(well, time.Second)
	if s := w.see(well, readiness.Stabilization).steady; s.Ready {
		t.Error("it is the same one, which was lost: it is trusted later")
	}
	if s := w.see(well, readiness.Stabilization).steady; !s.Ready {
		t.Error("it is trusted later, and that is now")
	}
}

// TestTroubleOfAFlappingCluster is the same all the time, so that nothing is written for a flap.
func TestTroubleOfAFlappingCluster(t *testing.T) {
	w := &watcher{tracks: newReadinessCache(), now: noon()}
	w.see(reported(""), 0)
	if entry := w.see(reported(""), readiness.Stabilization); entry.trouble.Reason != "" {
		t.Errorf("all of it is well: %+v", entry.trouble)
	}
	want := "HostedControlPlane c1: no leader"
	for range 20 {
		for _, r := range []readiness.Report{reported("no leader"), reported("")} {
			entry := w.see(r, 15*time.Second)
			if diff := cmp.Diff(want, entry.trouble.String()); diff != "" || entry.trouble.Reason != readiness.ReasonNotReady || !entry.steady.Ready {
				t.Fatalf("steady %+v, trouble: -want, +got:\n%s", entry.steady, diff)
			}
		}
	}
	due := w.see(reported(""), time.Second).nextReadyChange(readiness.Stabilization)
	if entry := w.see(reported(""), due.Sub(w.now)); entry.trouble.Reason != "" {
		t.Errorf("it has been well for long enough: %+v", entry.trouble)
	}
}
