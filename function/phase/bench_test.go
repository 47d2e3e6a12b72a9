package phase

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	v1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/function/evidence"
	"github.com/intentplane/intentplane/function/rollout"
)

const (
	benchSites     = 100
	benchRevisions = 10
)

// BenchmarkDecide decides on the rollout of a deployment to many Sites with a long history, and projects it. A call of the function does that
// beside reading its request.
func BenchmarkDecide(b *testing.B) {
	f := fleet(b)
	for b.Loop() {
		all := []*deliveryv1alpha1.GitDelivery{f.Observed["delivery"]}
		current, conflict := rollout.Current(all)
		wish := rollout.Wish{Request: rollout.Request{Digest: current.Request, Intent: current.Intent, RendererVersion: current.RendererVersion, Plan: current.Plan}}
		next, _ := rollout.Next(current, conflict, wish)
		f.Order = &next
		judged := rollout.Judge(next, f.Proof())
		f.Order = &judged
		status := Status(f, &v1alpha1.IntentDeploymentStatus{}, now)
		if Conditions(f); status.Phase != v1alpha1.PhaseSucceeded || status.Delivery.SitesReady != "100/100" || !Ready(f) {
			b.Fatalf("phase %s, %s, ready %t", status.Phase, status.Delivery.SitesReady, Ready(f))
		}
	}
}

// fleet is a deployment in its steady state.
func fleet(b *testing.B) *Input {
	b.Helper()
	plan := rolloutv1alpha1.Step{}
	d, s := &deliveryv1alpha1.GitDelivery{}, &deliveryv1alpha1.SiteSync{}
	for i := range benchSites {
		name := fmt.Sprintf("edge%d", i)
		plan.Sites = append(plan.Sites, name)
		d.Spec.ForProvider.Trees = append(d.Spec.ForProvider.Trees, deliveryv1alpha1.Tree{
			Site: name, Branch: "main", Path: "clusters/" + name, Action: deliveryv1alpha1.ActionDesired, Tree: "tree",
		})
		d.Status.AtProvider.Trees = append(d.Status.AtProvider.Trees, deliveryv1alpha1.DeliveredTree{
			Site: name, Path: "clusters/" + name, Tree: "tree", Revision: benchRevisions,
		})
		s.Spec.ForProvider.Sites = append(s.Spec.ForProvider.Sites, deliveryv1alpha1.SiteTree{Name: name, Path: "clusters/" + name, Tree: "tree"})
		s.Status.AtProvider.Sites = append(s.Status.AtProvider.Sites, deliveryv1alpha1.SiteObservation{Name: name, State: deliveryv1alpha1.SiteLive, Commit: "c"})
	}
	o := rolloutv1alpha1.Order{
		Revision: benchRevisions, Request: "request", Intent: "intent", DigestScheme: 1, RendererVersion: 1,
		Plan: []rolloutv1alpha1.Step{plan}, Steps: 1, Verdict: &rolloutv1alpha1.Verdict{Result: rolloutv1alpha1.VerdictVerified},
	}
	for revision := range int64(benchRevisions) {
		was := []deliveryv1alpha1.HistoryTree{}
		for _, t := range d.Status.AtProvider.Trees {
			was = append(was, deliveryv1alpha1.HistoryTree{Site: t.Site, Tree: t.Tree})
		}
		d.Status.AtProvider.History = append(d.Status.AtProvider.History, deliveryv1alpha1.HistoryEntry{
			Revision: revision, Request: "request", Trees: was, Verdict: o.Verdict,
		})
	}
	live := []xpv2.Condition{{Type: xpv2.TypeReady, Status: corev1.ConditionTrue}, {Type: xpv2.TypeSynced, Status: corev1.ConditionTrue}}
	d.Spec.ForProvider.Order, d.Status.AtProvider.Order = o, o.DeepCopy()
	d.SetConditions(live...)
	s.Spec.ForProvider.Order, s.Status.AtProvider.Order = o, o.DeepCopy()
	s.SetConditions(live...)
	observed, watched := decoded(b, d), decoded(b, s)
	return &Input{
		Digest: "digest",
		Comparison: evidence.Comparison{
			Desired: map[string]*deliveryv1alpha1.GitDelivery{"delivery": d}, Sync: s, Unobserved: map[string]bool{},
			Observed: map[string]*deliveryv1alpha1.GitDelivery{"delivery": observed}, ObservedSync: watched,
		},
	}
}

// decoded shares no memory with what it was, as what comes with a request.
func decoded[T any](b *testing.B, v *T) *T {
	b.Helper()
	text, err := json.Marshal(v)
	out := new(T)
	if err := errors.Join(err, json.Unmarshal(text, out)); err != nil {
		b.Fatal(err)
	}
	return out
}
