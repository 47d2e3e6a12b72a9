package gitdelivery

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/xcrd"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/tree"
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
		t.Errorf("The condition says that the address is refused, and does not show the server's answer.\nmessage: %s", m)
	}
}

// TestDeliveryWritesItselfAlone collects the kinds of objects that a first delivery writes. Each write counts where hundreds are made at once.
func TestDeliveryWritesItselfAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	inner, ok := w.kube.(client.WithWatch)
	if !ok {
		t.Fatal("The client cannot watch.")
	}
	w.create(w.first())
	got := map[string]bool{}
	w.kube = interceptor.NewClient(inner, interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			got[fmt.Sprintf("%T", o)] = true
			return c.Create(ctx, o, opts...)
		},
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
			got[fmt.Sprintf("%T", o)] = true
			return c.Update(ctx, o, opts...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			got[fmt.Sprintf("%T", o)] = true
			return c.Patch(ctx, o, p, opts...)
		},
	})
	w.reconcile("web")
	w.expect("web", v1alpha1.ReasonDelivered)
	if diff := cmp.Diff(map[string]bool{"*v1alpha1.GitDelivery": true}, got); diff != "" {
		t.Errorf("\nA first delivery writes itself, and no other object.\nkinds that it writes: -want, +got:\n%s", diff)
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
	t.Parallel()
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
				w.Errorf("events: want an event with %s, got %q", branchOfState, got)
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

// compose the first delivery, of a composite that lives in namespace team-a.
func (w *world) compose() *unstructured.Unstructured {
	w.Helper()
	w.must(w.kube.Create(w.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team-a"}}))
	xr := &unstructured.Unstructured{}
	xr.SetAPIVersion("intentplane.dev/v1alpha1")
	xr.SetKind("IntentDeployment")
	xr.SetNamespace("team-a")
	xr.SetName("web")
	xr.SetUID("web-uid")
	w.must(w.kube.Create(w.Context(), xr))
	w.create(composedBy(xr, w.first()))
	w.reconcile("web")
	return xr
}

func composedBy(xr *unstructured.Unstructured, d *v1alpha1.GitDelivery) *v1alpha1.GitDelivery {
	isController := true
	d.SetLabels(map[string]string{xcrd.LabelKeyNamePrefixForComposed: xr.GetName()})
	d.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: xr.GetAPIVersion(), Kind: xr.GetKind(), Name: xr.GetName(), UID: xr.GetUID(), Controller: &isController}})
	return d
}

// remove the delivery, as a user does, and reconcile it until it is gone.
func (w *world) remove() {
	w.Helper()
	w.must(w.kube.Delete(w.Context(), w.get("web")))
	for range 3 {
		if w.gone("web") {
			return
		}
		w.reconcile("web")
	}
	if !w.gone("web") {
		w.Fatalf("object: want it gone: %v", w.get("web").Status)
	}
}

func TestDeleteWhileCompositeLives(t *testing.T) {
	t.Parallel()
	tell(t, map[string]story{
		"Retained": {reason: "A deleted GitDelivery of a living composite removes nothing, and the next one goes on without a commit.", run: func(w *world) {
			xr := w.compose()
			w.remove()
			w.count(1)
			w.holds(map[string]tree.Files{webAtE1: files("a")}, nil)

			w.create(composedBy(xr, w.first()))
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
			w.count(1)
			if h := w.ledgerOf("web"); h.LastNumber != 1 {
				w.Errorf("order of the next object: want revision 1, got %v", h)
			}
		}},
		"RepositoryDown": {reason: "A GitDelivery of a living composite goes also while its repository cannot be reached.", run: func(w *world) {
			w.compose()
			w.git.Fail(repo, http.StatusServiceUnavailable)
			w.remove()
		}},
		"NotDesired": {reason: "A GitDelivery that the composite does not ask for any more takes its directories along.", run: func(w *world) {
			w.compose()
			w.change(func(d *v1alpha1.GitDelivery) { d.SetLabels(nil) })
			w.remove()
			w.holds(nil, nil)
		}},
		"CompositeDeleted": {reason: "The deletion of the composite takes the directories along.", run: func(w *world) {
			w.must(w.kube.Delete(w.Context(), w.compose()))
			w.remove()
			w.holds(nil, nil)
		}},
		"Superseded": {reason: "A GitDelivery whose repository the deployment left goes when the composite deletes it, and then with its directories.", run: func(w *world) {
			w.compose()
			w.change(func(d *v1alpha1.GitDelivery) {
				d.SetAnnotations(map[string]string{v1alpha1.AnnotationSuperseded: "true"})
			})
			w.must(w.kube.Delete(w.Context(), w.get("web")))
			w.reconcile("web")
			w.synced("web", corev1.ConditionFalse)
			w.holds(map[string]tree.Files{webAtE1: files("a")}, nil)
			w.change(func(d *v1alpha1.GitDelivery) { d.SetLabels(nil) })
			w.remove()
			w.holds(nil, nil)
		}},
	})
}
