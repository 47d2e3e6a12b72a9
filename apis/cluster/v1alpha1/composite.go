package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
)

// MarkComposite is a label of the objects that a composed ManagedCluster made, and an annotation of its Site. Its value is the UID of the
// composite. A ManagedCluster that was deleted while its composite lives is composed again, with another UID: by this mark it recognizes
// the objects of its predecessor.
const MarkComposite = "cluster.intentplane.dev/composite"

// CompositeUID returns the UID of the composite that controls the ManagedCluster, or "" if it has none.
func (c *ManagedCluster) CompositeUID() string {
	if ref := metav1.GetControllerOf(c); ref != nil {
		return string(ref.UID)
	}
	return ""
}

// Made reports whether an object was made by this ManagedCluster, or by its predecessor of the same composite. It takes the UID of the
// ManagedCluster that the object names, and the labels or annotations that have its marks. The caller has to refuse objects in another namespace
// than the ManagedCluster's own.
func (c *ManagedCluster) Made(uid string, marks map[string]string) bool {
	composite := c.CompositeUID()
	return uid == string(c.GetUID()) || composite != "" && marks[MarkComposite] == composite
}

// Marks returns the labels of the objects of the ManagedCluster, beside the UID of the ManagedCluster.
func (c *ManagedCluster) Marks() map[string]string {
	if uid := c.CompositeUID(); uid != "" {
		return map[string]string{MarkComposite: uid}
	}
	return map[string]string{}
}

// Published reports whether a Site was published by this ManagedCluster, or by its predecessor of the same name and composite.
func (c *ManagedCluster) Published(s *catalogv1alpha1.Site) bool {
	o := s.Spec.Owner
	if o == nil || o.APIGroup != Group {
		return false
	}
	named := o.Namespace == c.GetNamespace() && o.Name == c.GetName()
	return o.UID == string(c.GetUID()) || named && c.Made(o.UID, s.GetAnnotations())
}
