package deployment

import (
	"maps"
	"slices"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/fieldpath"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/digest"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/function/compose"
	"github.com/intentplane/intentplane/function/phase"
	"github.com/intentplane/intentplane/function/rollout"
)

// observe reads the composed resources, and asks for each as it is.
func (c *Core) observe(in Input, out *Output) (*phase.Input, error) {
	d, err := digest.Spec(&in.Spec)
	if err != nil {
		return nil, err
	}
	f := &phase.Input{Claim: in.Claim, Digest: d, GatesDisabled: !*in.Spec.GatesConfig.Enabled}
	f.Desired, f.Observed = map[string]*deliveryv1alpha1.GitDelivery{}, map[string]*deliveryv1alpha1.GitDelivery{}
	f.Gates = map[string]*rolloutv1alpha1.Gate{}
	for name, o := range in.Observed {
		kept, err := compose.Retain(o)
		if err != nil {
			return nil, err
		}
		out.Resources[name] = Resource{Object: kept}
		if err := see(f, name, o); err != nil {
			return nil, errors.Wrapf(err, "cannot read composed resource %q", name)
		}
	}
	f.Unobserving = c.unobserving(in, out)
	maps.Copy(f.Desired, f.Observed)
	f.Sync = f.ObservedSync
	f.Order, _ = rollout.Current(slices.Collect(maps.Values(f.Observed)))
	return f, nil
}

// see reads a composed resource.
func see(f *phase.Input, name string, o *unstructured.Unstructured) error {
	switch o.GroupVersionKind() {
	case deliveryv1alpha1.GroupVersion.WithKind("GitDelivery"):
		f.Observed[name] = &deliveryv1alpha1.GitDelivery{}
		return runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, f.Observed[name])
	case deliveryv1alpha1.GroupVersion.WithKind("SiteSync"):
		f.ObservedSync = &deliveryv1alpha1.SiteSync{}
		return runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, f.ObservedSync)
	case rolloutv1alpha1.GroupVersion.WithKind("Gate"):
		f.Gates[name] = &rolloutv1alpha1.Gate{}
		return runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, f.Gates[name])
	}
	return nil
}

// unobserving returns the composed resources whose last change the provider has not observed for longer than its timeout, by kind and name. While
// one may still be observed in time, it says when to ask again.
func (c *Core) unobserving(in Input, out *Output) []string {
	if c.providerTimeout <= 0 {
		return nil
	}
	var late []string
	for _, name := range slices.Sorted(maps.Keys(in.Observed)) {
		o := in.Observed[name]
		changed := changedAt(o)
		if o.GetDeletionTimestamp() != nil || changed.IsZero() || observedGeneration(o) >= o.GetGeneration() {
			continue
		}
		wait := c.providerTimeout - in.Now.Sub(changed)
		out.again(max(wait, 0))
		if wait <= 0 {
			late = append(late, o.GetKind()+" "+o.GetName())
		}
	}
	return late
}

// changedAt is when something else than the status of an object was written last, as the API server notes it in managedFields.
func changedAt(o *unstructured.Unstructured) time.Time {
	var last time.Time
	for _, entry := range o.GetManagedFields() {
		if entry.Subresource == "" && entry.Time != nil && entry.Time.After(last) {
			last = entry.Time.Time
		}
	}
	return last
}

// observedGeneration is the newest generation of an object that one of its conditions speaks of.
func observedGeneration(o *unstructured.Unstructured) int64 {
	var conditions []metav1.Condition
	if err := fieldpath.Pave(o.Object).GetValueInto("status.conditions", &conditions); err != nil {
		return 0
	}
	var newest int64
	for _, c := range conditions {
		newest = max(newest, c.ObservedGeneration)
	}
	return newest
}
