package deployment

import (
	"fmt"
	"slices"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/function/phase"
)

// view has the values that a scenario compares.
type view struct {
	Phase    deploymentv1alpha1.Phase
	Ready    bool
	Revision int64
	Sites    string
	// Trees as repository-less lines: revision, Site and action, sorted.
	Trees []string
}

func (w *world) view(out *Output) view {
	w.t.Helper()
	v := view{Phase: out.Status.Phase, Ready: out.Ready, Revision: out.Status.Revision, Sites: out.Status.Delivery.SitesReady}
	for _, d := range w.deliveries(out) {
		for _, t := range d.Spec.ForProvider.Trees {
			v.Trees = append(v.Trees, fmt.Sprintf("%d %s %s", askedPosition(d).Revision, t.Site, t.Action))
		}
	}
	slices.Sort(v.Trees)
	return v
}

func (w *world) want(reason string, out *Output, want view) {
	w.t.Helper()
	if diff := cmp.Diff(want, w.view(out)); diff != "" {
		w.t.Fatalf("\n%s\nRun(...): -want, +got:\n%s\n%s", reason, diff, out.Status.Message)
	}
}

func conditionOf(out *Output, typ string) phase.Condition {
	i := slices.IndexFunc(out.Conditions, func(c phase.Condition) bool { return c.Type == typ })
	return out.Conditions[i]
}

func (w *world) wantCondition(reason string, out *Output, typ string, status corev1.ConditionStatus, conditionReason string) {
	w.t.Helper()
	c := conditionOf(out, typ)
	if c.Status != status || c.Reason != conditionReason {
		w.t.Errorf("\n%s\nRun(...): want %s=%s/%s, got %+v", reason, typ, status, conditionReason, c)
	}
}

// wantFrozen checks that the desired resources equal the observed resources, in every field but one: the mandate names the spec that the
// function read.
func (w *world) wantFrozen(reason string, out *Output) {
	w.t.Helper()
	if len(out.Resources) != len(w.in.Observed) {
		w.t.Errorf("\n%s\nRun(...): %d resources desired, %d observed", reason, len(out.Resources), len(w.in.Observed))
	}
	for name, o := range w.in.Observed {
		want := o.DeepCopy()
		delete(want.Object, "status")
		unstructured.RemoveNestedField(want.Object, "metadata", "name")
		unstructured.RemoveNestedField(want.Object, "metadata", "generation")
		unstructured.RemoveNestedField(want.Object, "metadata", "managedFields")
		if diff := cmp.Diff(withoutMandatedSpec(want), withoutMandatedSpec(out.Resources[name].Object)); diff != "" {
			w.t.Errorf("\n%s\nRun(...): %s: -want, +got:\n%s", reason, name, diff)
		}
	}
}

// withoutMandatedSpec returns an object without the digest of the spec in its mandate.
func withoutMandatedSpec(u *unstructured.Unstructured) *unstructured.Unstructured {
	out := u.DeepCopy()
	if out != nil {
		unstructured.RemoveNestedField(out.Object, "spec", "forProvider", "mandate", "spec")
	}
	return out
}
