package gate

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/gates"
	"github.com/intentplane/intentplane/provider/gates/meter"
)

// quick is a check that two measurements decide, a second apart.
func quick(name string) v1alpha1.GateCheck {
	c := check(name, "edge1")
	c.Interval, c.Count, c.InitialDelay = "1s", new(int32(2)), "1ms"
	return c
}

// TestDeletedIsForgotten is of a Gate that the finalizer of another controller holds: the provider measures nothing more
// for it.
func TestDeletedIsForgotten(t *testing.T) {
	w := newWorld(t, check("errors", "edge1"))
	w.reconcile()
	if !w.c.memory.lacksVerdict(gateKey()) {
		t.Fatal("nothing is measured")
	}
	g := w.get()
	g.SetFinalizers([]string{"example.org/audit"})
	w.must(w.kube.Update(t.Context(), g))
	w.must(w.kube.Delete(t.Context(), g))
	w.reconcile()
	if w.c.memory.lacksVerdict(gateKey()) {
		t.Error("a Gate that is deleted is remembered")
	}
}

func TestPasses(t *testing.T) {
	w := newWorld(t, quick("errors"))
	w.reconcile()
	if got := w.state(); got != "Measuring//Running" {
		t.Fatalf("it begins: %s", got)
	}
	want := "the checks end at most 2m11s after their Sites went live, without the time in which nothing can be measured"
	if diff := cmp.Diff(want, w.get().GetCondition(xpv2.TypeReady).Message); diff != "" {
		t.Errorf("Ready of a Gate that measures: -want, +got:\n%s", diff)
	}
	w.until("Passed/Passed/Passed")
	g := w.get()
	r := g.Status.AtProvider.Checks[0]
	if r.Value != "0" || r.Threshold != "<= 0.5" || r.Measurements != 2 || r.StartedAt == nil || r.EndedAt == nil || r.Message != "" {
		t.Errorf("the result: %+v", r)
	}
	if ready := g.GetCondition(xpv2.TypeReady); ready.Status != "True" || ready.ObservedGeneration != 1 {
		t.Errorf("Ready: %+v", ready)
	}
	if w.writes != 2 {
		t.Errorf("the status was written %d times, want the start and the end", w.writes)
	}
	if got := w.asked[0].Header.Get("Authorization"); got != "Bearer hunter2" {
		t.Errorf("the Site's server was shown %q", got)
	}
	all, err := json.Marshal(g)
	w.must(err)
	if strings.Contains(string(all), "hunter2") {
		t.Error("the Gate shows a token")
	}
	// The Gate has ended: it asks no server, and nothing changes the verdict.
	requests := len(w.asked)
	w.say("9")
	w.edit(func(s *deliveryv1alpha1.SiteSync) { s.Status.AtProvider.Sites[0].State = deliveryv1alpha1.SiteFailed })
	for range 3 {
		w.reconcile()
	}
	if diff := cmp.Diff("Passed/Passed/Passed", w.state()); diff != "" || len(w.asked) != requests || w.writes != 2 {
		t.Errorf("after the verdict: %s, asked %d times more, written %d times", w.state(), len(w.asked)-requests, w.writes)
	}
}

func TestFirstFailureEndsTheGate(t *testing.T) {
	slow := quick("latency")
	slow.Count = new(int32(3))
	slow.Prometheus.Query = "sum(latency_seconds)"
	slow.Threshold = "<= 9"
	w := newWorld(t, quick("errors"), slow)
	w.hold = make(chan struct{})
	t.Cleanup(func() { close(w.hold) })
	w.say("7")
	w.until("Failed/Failed/Failed/Running")
	if w.writes != 2 {
		t.Errorf("the status was written %d times, want the start and the end", w.writes)
	}
	got := w.get().GetCondition(xpv2.TypeReady).Message
	if diff := cmp.Diff(`check "errors" at Site "edge1": Failed, the value is beyond the threshold`, got); diff != "" {
		t.Errorf("Ready: -want, +got:\n%s", diff)
	}
	// A user who empties the status gets the same verdict again.
	want := w.get().Status.AtProvider
	g := w.get()
	g.Status = v1alpha1.GateStatus{}
	w.must(w.kube.Status().Update(t.Context(), g))
	w.say("0")
	w.reconcile()
	if diff := cmp.Diff(want, w.get().Status.AtProvider); diff != "" {
		t.Errorf("an emptied status: -before, +after:\n%s", diff)
	}
}

func TestNothingIsAskedUnlessLive(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(*deliveryv1alpha1.SiteSync)
	}{
		"NotLive": {
			reason: "A Site that does not run the revision is not live.",
			change: func(s *deliveryv1alpha1.SiteSync) { s.Status.AtProvider.Sites[0].State = deliveryv1alpha1.SiteSyncing },
		},
		"OtherSite": {
			reason: "The revision at another Site proves nothing.",
			change: func(s *deliveryv1alpha1.SiteSync) { s.Status.AtProvider.Sites[0].Name = "edge2" },
		},
		"OtherRevision": {
			reason: "A Site that runs another revision is not live.",
			change: func(s *deliveryv1alpha1.SiteSync) { s.Status.AtProvider.Position.Revision = 1 },
		},
		"OtherEpoch": {
			reason: "A Site that runs a revision with that number from before a loss is not live.",
			change: func(s *deliveryv1alpha1.SiteSync) { s.Status.AtProvider.Position.Epoch = 0 },
		},
		"GoingBack": {reason: "A Site that is rolled back is not live.", change: func(s *deliveryv1alpha1.SiteSync) { s.Spec.ForProvider.Position.Attempt = 1 }},
		"OtherClaim": {
			reason: "The SiteSync of another claim proves nothing.",
			change: func(s *deliveryv1alpha1.SiteSync) { s.Spec.ForProvider.ClaimRef.Name = "other" },
		},
		"OldStatus": {reason: "A status of an older generation proves nothing.", change: func(s *deliveryv1alpha1.SiteSync) { s.Generation = 2 }},
		"Trouble": {
			reason: "A SiteSync that was not reconciled proves nothing.",
			change: func(s *deliveryv1alpha1.SiteSync) { s.SetConditions(xpv2.ReconcilePaused()) },
		},
		"NoTime": {
			reason: "A Site without the time since when it is live proves nothing.",
			change: func(s *deliveryv1alpha1.SiteSync) { s.Status.AtProvider.Sites[0].LiveSince = nil },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, quick("errors"))
			recording := &recorder{measurer: w.c.meter}
			w.c.meter = recording
			w.edit(tc.change)
			for _, lookup := range []string{"named", "found"} {
				w.name(lookup == "named")
				w.reconcile()
				if w.state() != "NotLive//Pending" {
					t.Errorf("%s\nwant it to wait, got %s, with its SiteSync %s", tc.reason, w.state(), lookup)
				}
				if len(recording.tasks) != 1 || !recording.tasks[0].LiveSince.IsZero() {
					t.Errorf("%s\nit is measured: %+v, with its SiteSync %s", tc.reason, recording.tasks, lookup)
				}
			}
		})
	}
}

// name the SiteSync in the Gate, or leave it to be found by the claim.
func (w *world) name(isNamed bool) {
	w.Helper()
	g := w.get()
	if g.Spec.ForProvider.SiteSyncRef = nil; isNamed {
		g.Spec.ForProvider.SiteSyncRef = &v1alpha1.SiteSyncReference{Name: "web"}
	}
	w.must(w.kube.Update(w.Context(), g))
}

// wokenBy returns the number of Gates that a SiteSync wakes.
func (w *world) wokenBy(s *deliveryv1alpha1.SiteSync) int {
	return len(waker{kube: w.kube, log: logging.NewNopLogger()}.requestsForSync(w.Context(), s))
}

// A recorder remembers the requested measurements.
type recorder struct {
	measurer

	tasks []meter.Task
}

func (r *recorder) Measure(owner types.NamespacedName, uid types.UID, tasks []meter.Task) []gates.Judgement {
	r.tasks = tasks
	return r.measurer.Measure(owner, uid, tasks)
}

func (w *world) site() *catalogv1alpha1.Site {
	w.Helper()
	s := &catalogv1alpha1.Site{}
	w.must(w.kube.Get(w.Context(), keyOfSite(), s))
	return s
}

// trouble is the message of a Gate while the Prometheus server of the Site is stopped.
func (w *world) trouble() string {
	w.Helper()
	return "the server has trouble of its own: status 503 Service Unavailable (" + w.site().Spec.Metrics.Prometheus.Address + ")"
}
