package gitdelivery

import (
	"strings"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
)

// TestNamespacedConfigIsGuarded delivers by the same server once for an administrator, and once for a namespace.
func TestNamespacedConfigIsGuarded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.guarded = true
	w.create(w.first())
	w.reconcile("web")
	w.expect("web", v1alpha1.ReasonDelivered)

	w.must(w.kube.Create(w.Context(), &configv1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "own"}, Spec: w.config().Spec}))
	d := delivery("near", order(1, "a"), desired(t, "edge2", webAtE2, "a"))
	d.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: "ProviderConfig", Name: "own"}
	w.create(d)
	_ = w.try("near") // It is in the condition.
	w.expect("near", v1alpha1.ReasonPolicyDenied)
	if m := w.get("near").GetCondition(xpv2.TypeReady).Message; strings.Contains(m, "127.0.0.1") || !strings.Contains(m, "may not reach") {
		t.Errorf("The condition says that the address is refused, and nothing of what is there.\nmessage: %s", m)
	}
}

const branchOfState = "refs/heads/intentplane-state/prod"

// statePlaces returns which of the refs exist that may hold the state.
func (w *world) statePlaces() []string {
	w.Helper()
	refs, err := w.git.Refs(w.Context(), repo)
	w.must(err)
	out := []string{}
	for _, ref := range []string{stateRef, branchOfState} {
		if refs[ref] != "" {
			out = append(out, ref)
		}
	}
	return out
}

func TestStatePlaces(t *testing.T) {
	verified := ledger.Verdict{Result: ledger.VerdictVerified}
	tell(t, map[string]story{
		"RefusedForAWhile": {reason: "A hook that refuses everything for a while, and a restart, leave the state where it is, with all that it remembers.", run: func(w *world) {
			w.create(w.first())
			w.reconcile("web")
			w.hook("pre-receive", "echo not now >&2; exit 1")
			w.change(func(d *v1alpha1.GitDelivery) { setVerdict(d, verified) })
			w.reconcile("web")
			w.hook("pre-receive", "exit 0")
			for range 3 {
				w.reconcile("web") // A refusal is not tried again at once.
			}
			w.expect("web", v1alpha1.ReasonDelivered)
			if diff := cmp.Diff([]string{stateRef}, w.statePlaces()); diff != "" {
				w.Errorf("refs with a state: -want, +got:\n%s", diff)
			}
			w.lose("web")
			w.restart()
			w.create(w.first())
			w.reconcile("web")
			if o := w.ledgerOf("web"); !o.IsVerified() {
				w.Errorf("ledger that is known after a restart: want it verified, got %+v", o)
			}
		}},
		"Twice": {reason: "A condition, and an event when it begins, name the ref of an older state that does not count, until it is retired.", run: func(w *world) {
			w.create(w.first())
			w.reconcile("web")
			_, err := w.git.Git(w.Context(), repo, "-c", "user.name=x", "-c", "user.email=x@example.org", "branch", "intentplane-state/prod", "main")
			w.must(err)
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
			if got := strings.Join(w.told["web"], "\n"); !strings.Contains(got, string(v1alpha1.ReasonStateTwice)) || !strings.Contains(got, branchOfState) {
				w.Errorf("events: want one that names %s, got %q", branchOfState, got)
			}
			unique := func() xpv2.Condition { return w.get("web").GetCondition(v1alpha1.TypeStateUnique) }
			if c := unique(); c.Status != corev1.ConditionFalse || c.Reason != v1alpha1.ReasonStateTwice || !strings.Contains(c.Message, branchOfState) {
				w.Errorf("%s: want it False, naming %s, got %+v", v1alpha1.TypeStateUnique, branchOfState, c)
			}
			w.reconcile("web")
			if n := strings.Count(strings.Join(w.told["web"], "\n"), string(v1alpha1.ReasonStateTwice)); n != 1 {
				w.Errorf("events: want one while nothing changes, got %d", n)
			}
			w.change(func(d *v1alpha1.GitDelivery) { setVerdict(d, verified) })
			w.reconcile("web")
			w.reconcile("web")
			if c := unique(); c.Status != corev1.ConditionTrue || c.Reason != v1alpha1.ReasonStateOnce {
				w.Errorf("%s: want it True once the older state was retired, got %+v", v1alpha1.TypeStateUnique, c)
			}
		}},
	})
}
