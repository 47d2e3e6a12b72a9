package sitehealth

import (
	"fmt"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/test/cacheclient"
)

// newSync returns a SiteSync of the claim whose engine at edge1 reports healthy objects.
func newSync() *v1alpha1.SiteSync {
	position := ledger.Position{Revision: 3}
	s := &v1alpha1.SiteSync{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "shop-sync", Generation: 2}}
	s.Spec.ForProvider.ClaimRef, s.Spec.ForProvider.Position = newHealth().Spec.ForProvider.ClaimRef, &position
	s.Status.AtProvider = v1alpha1.SiteSyncObservation{
		Position: position.DeepCopy(),
		Sites:    []v1alpha1.SiteObservation{{Name: "edge1", State: v1alpha1.SiteLive, Engine: &v1alpha1.EngineObservation{Health: "Healthy"}}},
	}
	trueCondition := func(t xpv2.ConditionType) xpv2.Condition {
		return xpv2.Condition{Type: t, Status: corev1.ConditionTrue, Reason: "Live"}.WithObservedGeneration(2)
	}
	s.SetConditions(trueCondition(xpv2.TypeReady), trueCondition(xpv2.TypeSynced))
	return s
}

// TestHealthOfEngine has an unreachable Site, and a SiteSync with the report of its engine.
func TestHealthOfEngine(t *testing.T) {
	const counts, notObserved = "Serving | NotObserved(KubeconfigGone) 0", "KubeconfigGone | NotObserved(KubeconfigGone) 0"
	cases := map[string]struct {
		reason string
		change func(*v1alpha1.SiteSync)
		want   string
	}{
		"Healthy": {reason: "A Site counts as serving if its engine reports healthy objects.", want: counts},
		"ConfigSync": {
			reason: "Config Sync reports healthy objects as Current.",
			change: func(s *v1alpha1.SiteSync) { s.Status.AtProvider.Sites[0].Engine.Health = "Current" }, want: counts,
		},
		"NotLive": {
			reason: "A Site that is not proven to run the desired revision does not count.",
			change: func(s *v1alpha1.SiteSync) { s.Status.AtProvider.Sites[0].State = v1alpha1.SiteSyncing }, want: notObserved,
		},
		"NoChecks": {
			reason: "An engine without health checks gives no result.",
			change: func(s *v1alpha1.SiteSync) { s.Status.AtProvider.Sites[0].Engine.Health = "" }, want: notObserved,
		},
		"NoEngine": {
			reason: "A Site without a report of its engine does not count.",
			change: func(s *v1alpha1.SiteSync) { s.Status.AtProvider.Sites[0].Engine = nil }, want: notObserved,
		},
		"OtherSite": {
			reason: "The engine of another Site does not report about this Site.",
			change: func(s *v1alpha1.SiteSync) { s.Status.AtProvider.Sites[0].Name = "edge2" }, want: notObserved,
		},
		"OtherClaim": {
			reason: "The SiteSync of another claim proves nothing.",
			change: func(s *v1alpha1.SiteSync) { s.Spec.ForProvider.ClaimRef.Name = "cart" }, want: notObserved,
		},
		"OtherShape": {
			reason: "The SiteSync of a claim of the same name in another API group proves nothing.",
			change: func(s *v1alpha1.SiteSync) { s.Spec.ForProvider.ClaimRef.APIGroup = "claims.intentplane.dev" }, want: notObserved,
		},
		"OldSpec": {reason: "A report about an earlier spec proves nothing.", change: func(s *v1alpha1.SiteSync) { s.Generation = 3 }, want: notObserved},
		"OldPosition": {
			reason: "A report about an earlier position proves nothing.",
			change: func(s *v1alpha1.SiteSync) { s.Status.AtProvider.Position.Revision = 2 }, want: notObserved,
		},
		"Followed": {reason: "A report about a later step of the ledger counts.", change: func(s *v1alpha1.SiteSync) {
			s.Status.AtProvider.Position.Step = 1
		}, want: counts},
		"LookFailed": {
			reason: "A SiteSync whose last look failed proves nothing.",
			change: func(s *v1alpha1.SiteSync) { s.SetConditions(xpv2.ReconcileError(errors.New("no answer"))) },
			want:   notObserved,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.editSite(func(s *catalogv1alpha1.Site) { s.Spec.Cluster = kubeconfigIn("none") })
			s := newSync()
			if tc.change != nil {
				tc.change(s)
			}
			w.must(w.kube.Create(t.Context(), s))
			w.reconcile()
			w.expect(tc.reason, tc.want)
		})
	}
}

// TestElsewhere has Sites without a Deployment of the claim, of which some name the cluster of the control plane because they have to name one.
func TestElsewhere(t *testing.T) {
	unobserved := catalogv1alpha1.SiteEngine{Type: catalogv1alpha1.EngineNone, UnobservedIsLive: new(true)}
	cases := map[string]struct {
		reason string
		change func(w *world)
		want   string
	}{
		"Elsewhere": {
			reason: "A delivered revision counts as live at a Site that the provider cannot observe.",
			change: func(w *world) { w.editSite(func(s *catalogv1alpha1.Site) { s.Spec.Engine = unobserved }) }, want: "Serving | NotObserved(WorkloadMissing) 0",
		},
		"Here": {reason: "A Deployment that is there counts by its pods.", change: func(w *world) {
			w.editSite(func(s *catalogv1alpha1.Site) { s.Spec.Engine = unobserved })
			w.deployed(oldImage, 1, 2)
		}, want: "OtherImage | OtherImage(OtherImage) 0"},
		"Engine": {reason: "A Site with an engine has to have the Deployment.", change: func(*world) {}, want: "WorkloadMissing | Missing(WorkloadMissing) 0"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			tc.change(w)
			w.until(tc.want)
		})
	}
}

// TestDeletedDeployment has a Site that nothing can observe, with a Deployment in the cluster of the control plane which a user deletes.
func TestDeletedDeployment(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(w *world)
	}{
		"Deleted": {reason: "A Site whose Deployment was deleted does not serve.", change: func(*world) {}},
		"Restarted": {
			reason: "A Site whose Deployment was deleted while the provider was down does not serve.",
			change: func(w *world) { w.c.memory = newNoteMemory() },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.editSite(func(s *catalogv1alpha1.Site) {
				s.Spec.Engine = catalogv1alpha1.SiteEngine{Type: catalogv1alpha1.EngineNone, UnobservedIsLive: new(true)}
			})
			w.deployed(newImage, 1, 2)
			w.until(serves)
			w.must(w.cluster.Resource(apps("deployments")).Namespace("team-a").Delete(t.Context(), "shop", metav1.DeleteOptions{}))
			w.c.pool.Forget(key()) // A connection that is made again reads at once.
			tc.change(w)
			for range 3 { // The last time, the provider was restarted while the status said that the workload is missing.
				w.reconcile()
				w.clock = w.clock.Add(time.Minute)
				w.reconcile()
				w.expect(tc.reason, "WorkloadMissing | Missing(WorkloadMissing) 0")
				tc.change(w)
			}
		})
	}
}

// TestEarlierStatus has a Site that nothing can observe and that has no Deployment, and a status of a provider that did not record whether it had one.
func TestEarlierStatus(t *testing.T) {
	const missing, elsewhere = "WorkloadMissing | Missing(WorkloadMissing) 0", "Serving | NotObserved(WorkloadMissing) 0"
	cases := map[string]struct {
		reason string
		state  v1alpha1.HealthState
		seen   *bool
		want   string
	}{
		"Available":   {reason: "A Deployment that had pods was there.", state: v1alpha1.HealthAvailable, want: missing},
		"Scaled":      {reason: "A Deployment that was scaled to zero was there.", state: v1alpha1.HealthScaledToZero, want: missing},
		"Missing":     {reason: "A Deployment that is missing may have been there.", state: v1alpha1.HealthMissing, want: missing},
		"NotObserved": {reason: "A Site that counted by its delivery had no Deployment.", state: v1alpha1.HealthNotObserved, want: elsewhere},
		"Recorded":    {reason: "A record that there was none goes before the state.", state: v1alpha1.HealthAvailable, seen: new(bool), want: elsewhere},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.editSite(func(s *catalogv1alpha1.Site) {
				s.Spec.Engine = catalogv1alpha1.SiteEngine{Type: catalogv1alpha1.EngineNone, UnobservedIsLive: new(true)}
			})
			h := w.get()
			h.Status.AtProvider.Sites = []v1alpha1.SiteHealthState{{Name: "edge1", State: tc.state, WorkloadSeen: tc.seen}}
			w.must(w.kube.Status().Update(t.Context(), h))
			for range 2 {
				w.reconcile()
				w.clock = w.clock.Add(time.Minute)
			}
			w.expect(tc.reason, tc.want)
		})
	}
}

// TestMovedAway has a Site with an engine whose workload moves to a cluster that nothing can observe.
func TestMovedAway(t *testing.T) {
	w := newWorld(t)
	w.deployed(newImage, 1, 2)
	w.until(serves)
	w.must(w.cluster.Resource(apps("deployments")).Namespace("team-a").Delete(t.Context(), "shop", metav1.DeleteOptions{}))
	w.c.pool.Forget(key())
	w.editSite(func(s *catalogv1alpha1.Site) {
		s.Spec.Engine = catalogv1alpha1.SiteEngine{Type: catalogv1alpha1.EngineNone, UnobservedIsLive: new(true)}
	})
	for range 2 {
		w.reconcile()
		w.clock = w.clock.Add(time.Minute)
	}
	w.expect("A delivered revision counts as live once the Site says that its workload runs elsewhere.", "Serving | NotObserved(WorkloadMissing) 0")
}

// TestEngineEndsToReport has the engine of an unreachable Site report a fault: the SiteSync wakes the SiteHealth, whose state becomes unknown.
func TestEngineEndsToReport(t *testing.T) {
	w := newWorld(t)
	s := newSync()
	w.must(w.kube.Create(t.Context(), s))
	wake := waker{kube: w.kube}
	w.deployed(newImage, 1, 2)
	w.until(serves)
	if got := wake.requestsForSync(t.Context(), s); len(got) > 0 {
		t.Errorf("A SiteSync wakes a SiteHealth that sees all of its Sites: %v", got)
	}
	w.editSite(func(s *catalogv1alpha1.Site) { s.Spec.Cluster = kubeconfigIn("none") })
	w.reconcile()
	w.clock = w.clock.Add(still)
	w.reconcile()
	w.expect("The engine reports that the pods are healthy.", "Serving | NotObserved(KubeconfigGone) 0")
	if got := wake.requestsForSync(t.Context(), s); len(got) != 1 {
		t.Errorf("A SiteSync wakes the SiteHealth of its claim that cannot see a Site: %v", got)
	}
	s.Status.AtProvider.Sites[0].State = v1alpha1.SiteSyncing
	w.must(w.kube.Update(t.Context(), s))
	w.reconcile()
	w.clock = w.clock.Add(time.Minute)
	w.reconcile()
	w.expect("The engine reports a fault.", "KubeconfigGone | NotObserved(KubeconfigGone) 0")
}

// TestSyncsOfOtherClaims observes an unreachable Site in a namespace with a hundred SiteSyncs of other claims: none of them is read.
func TestSyncsOfOtherClaims(t *testing.T) {
	w := newWorld(t)
	w.editSite(func(s *catalogv1alpha1.Site) { s.Spec.Cluster = kubeconfigIn("none") })
	w.must(w.kube.Create(t.Context(), newSync()))
	for i := range 100 {
		s := newSync()
		s.SetName(fmt.Sprintf("other-%d", i))
		s.Spec.ForProvider.ClaimRef.Name = s.GetName()
		w.must(w.kube.Create(t.Context(), s))
	}
	counter := &cacheclient.Counter{Client: w.kube}
	w.c.kube = counter
	w.reconcile()
	w.expect("The SiteSync of the claim counts.", "Serving | NotObserved(KubeconfigGone) 0")
	if counter.Listed == 0 || counter.Listed > 4 { // The quick look reads the SiteSync too.
		t.Errorf("An event reads the SiteSync of its claim, and no SiteSync of the namespace's other claims: it read %d objects", counter.Listed)
	}
}
