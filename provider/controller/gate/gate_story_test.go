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
	"github.com/intentplane/intentplane/provider/gates/endpoint"
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
	if !w.c.memory.isOpen(gateKey()) {
		t.Fatal("nothing is measured")
	}
	g := w.get()
	g.SetFinalizers([]string{"example.org/audit"})
	w.must(w.kube.Update(t.Context(), g))
	w.must(w.kube.Delete(t.Context(), g))
	w.reconcile()
	if w.c.memory.isOpen(gateKey()) {
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

// TestSiteSyncOfClaim finds the SiteSync that proves the live position of a Gate from before the field existed, and the SiteSync
// wakes the Gate.
func TestSiteSyncOfClaim(t *testing.T) {
	w := newWorld(t, quick("errors"))
	s := &deliveryv1alpha1.SiteSync{}
	w.must(w.kube.Get(t.Context(), types.NamespacedName{Namespace: "team-a", Name: "web"}, s))
	otherSync := s.DeepCopy()
	otherSync.SetName("other")
	otherSync.Spec.ForProvider.ClaimRef.Name = "other"
	for _, isNamed := range []bool{true, false} {
		w.name(isNamed)
		if got := []int{w.wokenBy(s), w.wokenBy(otherSync)}; !cmp.Equal([]int{1, 0}, got) {
			t.Errorf("A Gate is woken by its own SiteSync alone, named (%t) or found by its claim: want [1 0] requests, got %v", isNamed, got)
		}
	}
	stranger := &deliveryv1alpha1.SiteSync{}
	stranger.SetNamespace("team-a")
	stranger.SetName("a") // The foreign SiteSync comes first in the list.
	stranger.Spec.ForProvider.ClaimRef = claim()
	stranger.Spec.ForProvider.ClaimRef.Name = "other"
	w.must(w.kube.Create(t.Context(), stranger))
	w.until("Passed/Passed/Passed")
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

func TestDeniedCheck(t *testing.T) {
	w := newWorld(t, quick("errors"))
	cases := map[string]struct {
		reason  string
		address string
		allow   []string
		want    string
	}{
		"Site": {reason: "The server of the Site is allowed."},
		"Own":  {reason: "A tenant's own server is allowed by its host.", address: "https://mine.example.org/p", allow: []string{"mine.example.org"}},
		"OwnDenied": {
			reason:  "A tenant's own server is not asked unless it is allowed.",
			address: "https://mine.example.org", allow: []string{"example.org"},
			want: `prometheus.address: host "mine.example.org" is not among the webCheckHosts of a ClusterProviderConfig`,
		},
		"OwnWithUser": {
			reason:  "An address with a user does not hide its host.",
			address: "https://mine.example.org@evil.example.org", allow: []string{"mine.example.org"},
			want: "prometheus.address: must be an https address with a host, and without a user",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, err := endpoint.ReadConfig(t.Context(), w.kube, *w.get().Spec.ProviderConfigReference, "team-a")
			w.must(err)
			c.Spec.Policy.WebCheckHosts = tc.allow
			own := quick("errors")
			own.Prometheus.Address = tc.address
			if diff := cmp.Diff(tc.want, deniedCheck(c, w.site(), own)); diff != "" {
				t.Errorf("%s\ndeniedCheck(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func (w *world) site() *catalogv1alpha1.Site {
	w.Helper()
	s := &catalogv1alpha1.Site{}
	w.must(w.kube.Get(w.Context(), keyOfSite(), s))
	return s
}

func TestCannotBeMeasured(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(*v1alpha1.GateCheck)
		want   string
	}{
		"Query": {
			reason: "A text that is not PromQL can never be measured.",
			change: func(c *v1alpha1.GateCheck) { c.Prometheus.Query = "sum(" }, want: "the query: is not PromQL",
		},
		"FixedTime": {
			reason: "A query at a fixed time can never be measured.",
			change: func(c *v1alpha1.GateCheck) { c.Prometheus.Query = "up @ 1" }, want: "the query: selects a fixed time",
		},
		"Threshold": {
			reason: "A check without a threshold can never be measured.",
			change: func(c *v1alpha1.GateCheck) { c.Threshold = "good" }, want: "threshold: must be a threshold",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := quick("errors")
			tc.change(&c)
			w := newWorld(t, c)
			w.reconcile()
			if got := w.state(); got != "Error/Error/Error" {
				t.Fatalf("%s\ngot %s", tc.reason, got)
			}
			if got := w.get().Status.AtProvider.Checks[0].Message; !strings.HasPrefix(got, tc.want) {
				t.Errorf("%s\nwant %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}

// TestConfigOfCheck has two checks of Sites with different repositories: each is under its own configuration.
func TestConfigOfCheck(t *testing.T) {
	missing := quick("latency")
	missing.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: "ClusterProviderConfig", Name: "gone"}
	missing.ConsecutiveErrorLimit = new(int32(0))
	w := newWorld(t, quick("errors"), missing)
	w.reconcile()
	w.judged()
	if got := w.get().Status.AtProvider.Checks[1].Message; got != "the configuration does not exist" {
		t.Errorf("why the check of the other configuration did not pass: %q", got)
	}
}

// trouble is the message of a Gate while the Prometheus server of the Site is stopped.
func (w *world) trouble() string {
	w.Helper()
	return "the server has trouble of its own: status 503 Service Unavailable (" + w.site().Spec.Metrics.Prometheus.Address + ")"
}

// TestMetricsUnavailable stops the Prometheus server for longer than the Gate waits for it.
func TestMetricsUnavailable(t *testing.T) {
	t.Parallel()
	c := quick("errors")
	c.ConsecutiveErrorLimit = new(int32(0))
	w := newWorld(t, c)
	w.stop(true)
	w.until("Held//Running")
	r := w.get().Status.AtProvider.Checks[0]
	if r.UnavailableSince == nil || r.Message != w.trouble() {
		t.Errorf("the check that waits: %+v", r)
	}
	if diff := cmp.Diff(`check "errors" at Site "edge1": `+w.trouble(), w.get().GetCondition(xpv2.TypeReady).Message); diff != "" {
		t.Errorf("Ready: -want, +got:\n%s", diff)
	}
	w.stop(false)
	w.until("Passed/Passed/Passed")
	if r := w.get().Status.AtProvider.Checks[0]; r.UnavailableSince != nil || r.Message != "" {
		t.Errorf("the check that passed: %+v", r)
	}
}

// TestMetricsUnavailableRejects asks a server that never answers, and lets the Gate reject for it.
func TestMetricsUnavailableRejects(t *testing.T) {
	w := newWorld(t, quick("errors"))
	g := w.get()
	g.Spec.ForProvider.OnMetricsUnavailable = "Reject"
	w.must(w.kube.Update(t.Context(), g))
	w.stop(true)
	w.until("Error/Error/Error")
	want := "the metrics backend was unavailable for longer than metricsUnavailableTimeout: " + w.trouble()
	if diff := cmp.Diff(want, w.get().Status.AtProvider.Checks[0].Message); diff != "" {
		t.Errorf("the message of the check: -want, +got:\n%s", diff)
	}
}
