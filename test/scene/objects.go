package scene

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
)

// Apply applies an object. It fails the test when the object is refused.
func (s *Scene) Apply(o *unstructured.Unstructured) {
	s.T.Helper()
	s.Must(s.ApplyObject(s.T.Context(), o.DeepCopy())) // Fields that the server adds to it cannot be applied again.
}

// Refused applies an object, and fails the test unless it is refused. It returns the refusal, or nothing: subtests call it, which cannot end the test of the scene.
func (s *Scene) Refused(o *unstructured.Unstructured) string {
	s.T.Helper()
	err := s.ApplyObject(s.T.Context(), o.DeepCopy())
	if err == nil {
		s.T.Errorf("%s %s was not refused", o.GetKind(), o.GetName())
		return ""
	}
	return err.Error()
}

// Delete deletes an object, without waiting for its end.
func (s *Scene) Delete(o *unstructured.Unstructured) {
	s.T.Helper()
	s.Must(client.IgnoreNotFound(s.Client.Delete(s.T.Context(), o.DeepCopy())))
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

// Now returns an object as it is.
func (s *Scene) Now(o *unstructured.Unstructured) *unstructured.Unstructured {
	s.T.Helper()
	now := o.DeepCopy()
	s.Must(s.Client.Get(s.T.Context(), client.ObjectKeyFromObject(o), now))
	return now
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

// DeliveryNamed describes a GitDelivery of the scene by its name alone.
func (s *Scene) DeliveryNamed(name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetAPIVersion(deliveryv1alpha1.GroupVersion.String())
	o.SetKind("GitDelivery")
	o.SetNamespace(s.Namespace)
	o.SetName(name)
	return o
}

// NewDelivery describes a GitDelivery that a user makes by hand.
func (s *Scene) NewDelivery(d *deliveryv1alpha1.GitDelivery) *unstructured.Unstructured {
	s.T.Helper()
	m, err := runtime.DefaultUnstructuredConverter.ToUnstructured(d)
	s.Must(err)
	spec, _, err := unstructured.NestedMap(m, "spec")
	s.Must(err)
	return s.newUnstructured(deliveryv1alpha1.GroupVersion.String(), "GitDelivery", s.Namespace, d.GetName(), spec)
}

// ClusterProviderConfig describes one with a name of the scene's own, and the same spec as the scene's ProviderConfig.
func (s *Scene) ClusterProviderConfig() *unstructured.Unstructured {
	o := s.ProviderConfig()
	o.SetKind("ClusterProviderConfig")
	o.SetNamespace("")
	o.SetName(s.Namespace)
	return o
}

// Delivery returns the single GitDelivery of the scene. It fails the test when there is not just one.
func (s *Scene) Delivery() *deliveryv1alpha1.GitDelivery {
	s.T.Helper()
	all := s.Deliveries()
	if len(all) != 1 {
		s.T.Fatalf("want one GitDelivery, found %d", len(all))
	}
	return &all[0]
}

// Deliveries returns all GitDeliveries of the scene.
func (s *Scene) Deliveries() []deliveryv1alpha1.GitDelivery {
	s.T.Helper()
	l := &unstructured.UnstructuredList{}
	l.SetAPIVersion(deliveryv1alpha1.GroupVersion.String())
	l.SetKind("GitDeliveryList")
	s.Must(s.Client.List(s.T.Context(), l, client.InNamespace(s.Namespace)))
	out := make([]deliveryv1alpha1.GitDelivery, len(l.Items))
	for i := range l.Items {
		s.Must(runtime.DefaultUnstructuredConverter.FromUnstructured(l.Items[i].Object, &out[i]))
	}
	return out
}

// Raw returns the single GitDelivery of the scene with all of its fields, managed fields too.
func (s *Scene) Raw() *unstructured.Unstructured {
	s.T.Helper()
	return s.Now(s.DeliveryNamed(s.Delivery().GetName()))
}
