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
	"github.com/intentplane/intentplane/apis/evidence"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/step"
)

const (
	benchSites     = 100
	benchRevisions = 10
)

// BenchmarkDecide decides on the rollout of a deployment to many Sites with a long history, and projects it. A call of the function does that
// beside reading its request.
func BenchmarkDecide(b *testing.B) {
	f := fleet(b)
	desired := step.Desired{Request: f.State.Current.Request, Plan: f.State.Current.Plan}
	for b.Loop() {
		in := step.Input{Versions: step.Versions{Scheme: 1, Renderer: 1}, Desired: &desired, Proof: f.Proof()}
		if e, _ := step.Step(f.State, in); e != nil {
			b.Fatalf("want no event, got %+v", e)
		}
		status := Status(f, &v1alpha1.IntentDeploymentStatus{}, now)
		if Conditions(f); status.Phase != v1alpha1.PhaseSucceeded || status.Delivery.SitesReady != "100/100" || !Ready(f) {
			b.Fatalf("phase %s, %s, ready %t", status.Phase, status.Delivery.SitesReady, Ready(f))
		}
	}
}

// fleet is a deployment in its steady state.
func fleet(b *testing.B) *Input {
	b.Helper()
	plan, trees := ledger.Step{}, []ledger.SiteTree{}
	d, s := &deliveryv1alpha1.GitDelivery{}, &deliveryv1alpha1.SiteSync{}
	for i := range benchSites {
		name := fmt.Sprintf("edge%d", i)
		plan.Sites, trees = append(plan.Sites, name), append(trees, ledger.SiteTree{Site: name, ID: "tree"})
		d.Spec.ForProvider.Trees = append(d.Spec.ForProvider.Trees, deliveryv1alpha1.Tree{
			Site: name, Branch: "main", Path: "clusters/" + name, Action: deliveryv1alpha1.ActionDesired, Tree: "tree",
		})
		d.Status.AtProvider.Trees = append(d.Status.AtProvider.Trees, deliveryv1alpha1.DeliveredTree{
			Site: name, Path: "clusters/" + name, Tree: "tree", Revision: benchRevisions,
		})
		s.Spec.ForProvider.Sites = append(s.Spec.ForProvider.Sites, deliveryv1alpha1.SiteTree{Name: name, Path: "clusters/" + name, Tree: "tree"})
		s.Status.AtProvider.Sites = append(s.Status.AtProvider.Sites, deliveryv1alpha1.SiteObservation{Name: name, State: deliveryv1alpha1.SiteLive, Commit: "c"})
	}
	verified := &ledger.Verdict{Result: ledger.VerdictVerified}
	state := ledger.State{
		Head: ledger.Head{Ledger: "l", Epoch: 1, Seq: 2 * benchRevisions}, Stable: benchRevisions, Verdict: verified,
		Current: &ledger.Revision{
			Number: benchRevisions, Request: ledger.Request{Intent: "intent", Sources: "sources", Scheme: 1, Renderer: 1}, Plan: []ledger.Step{plan},
		},
	}
	for revision := range int64(benchRevisions) {
		state.History = append(state.History, ledger.Past{Number: revision + 1, Verdict: verified, Trees: trees})
	}
	position := state.Position()
	live := []xpv2.Condition{{Type: xpv2.TypeReady, Status: corev1.ConditionTrue}, {Type: xpv2.TypeSynced, Status: corev1.ConditionTrue}}
	d.Spec.ForProvider.Position, d.Status.AtProvider.Record = &position, &deliveryv1alpha1.LedgerRecord{Position: position}
	d.SetConditions(live...)
	s.Spec.ForProvider.Position, s.Status.AtProvider.Position = &position, &position
	s.SetConditions(live...)
	observed, watched := decoded(b, d), decoded(b, s)
	return &Input{
		Digest: "digest",
		Comparison: evidence.Comparison{
			State: state, Recorded: state,
			Desired: map[string]*deliveryv1alpha1.GitDelivery{"delivery": d}, Sync: s, Unobserved: map[string]bool{},
			Observed: map[string]*deliveryv1alpha1.GitDelivery{"delivery": observed}, ObservedSync: watched,
		},
	}
}

// decoded shares no memory with its original, like a value that is decoded from a request.
func decoded[T any](b *testing.B, v *T) *T {
	b.Helper()
	text, err := json.Marshal(v)
	out := new(T)
	if err := errors.Join(err, json.Unmarshal(text, out)); err != nil {
		b.Fatal(err)
	}
	return out
}
