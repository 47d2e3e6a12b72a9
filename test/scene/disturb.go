package scene

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
)

// often is how often is looked at what cannot be watched.
const often = 100 * time.Millisecond

// Until waits, longer than patience where that is not enough, until something is so that cannot be watched.
func (s *Scene) Until(what string, patience time.Duration, is func() bool) {
	s.T.Helper()
	tick, end := time.NewTicker(often), time.NewTimer(patience)
	defer tick.Stop()
	defer end.Stop()
	for !is() {
		select {
		case <-tick.C:
		case <-end.C:
			s.T.Fatalf("%s: not within %s", what, patience)
		}
	}
}

// Run runs kubectl as the administrator, and returns what it printed. It fails the test when kubectl fails.
func (s *Scene) Run(args ...string) string {
	s.T.Helper()
	ctx, cancel := s.Context()
	defer cancel()
	out, err := s.Kubectl(ctx, args...)
	s.Must(err)
	return out
}

// Now returns an object as it is.
func (s *Scene) Now(o *unstructured.Unstructured) *unstructured.Unstructured {
	s.T.Helper()
	now := o.DeepCopy()
	s.Must(s.Client.Get(s.T.Context(), client.ObjectKeyFromObject(o), now))
	return now
}

// Patch changes an object by a JSON merge patch, or its status when subresource says so.
func (s *Scene) Patch(o *unstructured.Unstructured, patch string, subresource ...string) {
	s.T.Helper()
	p := client.RawPatch(types.MergePatchType, []byte(patch))
	for _, name := range subresource {
		s.Must(s.Client.SubResource(name).Patch(s.T.Context(), o.DeepCopy(), p))
		return
	}
	s.Must(s.Client.Patch(s.T.Context(), o.DeepCopy(), p))
}

// DeliveryNamed describes a GitDelivery of the scene by its name alone.
func (s *Scene) DeliveryNamed(name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetAPIVersion(deliveryv1alpha1.GroupVersion.String())
	o.SetKind("GitDelivery")
	o.SetNamespace(s.Namespace)
	o.SetName(name)
	return o
}

// AwaitDelivery waits until the one GitDelivery of the scene fulfils a condition, and returns it. It may be another object in the end
// than at the beginning.
func (s *Scene) AwaitDelivery(what string, is func(d *deliveryv1alpha1.GitDelivery) bool) *deliveryv1alpha1.GitDelivery {
	s.T.Helper()
	var found *deliveryv1alpha1.GitDelivery
	s.Until("GitDelivery "+what, Patience, func() bool {
		all := s.Deliveries()
		if len(all) == 1 && is(&all[0]) {
			found = &all[0]
		}
		return found != nil
	})
	return found
}

// XR is the composite of a claim.
func (s *Scene) XR(claim *unstructured.Unstructured) *unstructured.Unstructured {
	s.T.Helper()
	o := &unstructured.Unstructured{}
	o.SetAPIVersion(Field(claim, "spec", "resourceRef", "apiVersion"))
	o.SetKind(Field(claim, "spec", "resourceRef", "kind"))
	o.SetName(Field(claim, "spec", "resourceRef", "name"))
	return s.Now(o)
}

// Unstructured is an object without its type.
func (s *Scene) Unstructured(o client.Object) *unstructured.Unstructured {
	s.T.Helper()
	u, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	s.Must(err)
	return &unstructured.Unstructured{Object: u}
}
