package desired

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/apis/cluster/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
)

// NewCAPTCluster returns CAPT's object of the network. CAPT itself writes workspaceTemplateApplyName.
func NewCAPTCluster(mc *v1alpha1.ManagedCluster, apiVersion string) *unstructured.Unstructured {
	p := mc.Spec.ForProvider.CAPT
	spec := map[string]any{"region": p.Region}
	if ref := p.VPC.TemplateRef; ref != nil {
		spec["vpcTemplateRef"] = templateRef(mc, *ref)
	}
	if p.VPC.ExistingID != "" {
		spec["existingVpcId"] = p.VPC.ExistingID
	}
	if p.VPC.RetainOnDelete {
		spec["retainVpcOnDelete"] = true
	}
	return setAppliedDigest(newClusterObject(mc, apiVersion, KindCAPTCluster, spec))
}

// NewCAPTControlPlane returns CAPT's object of the control plane. CAPT itself writes controlPlaneEndpoint and workspaceTemplateApplyName.
func NewCAPTControlPlane(mc *v1alpha1.ManagedCluster, apiVersion string) *unstructured.Unstructured {
	p := mc.Spec.ForProvider.CAPT
	config := map[string]any{"region": p.Region}
	if a := p.ControlPlane.EndpointAccess; a != nil {
		config["endpointAccess"] = map[string]any{"public": a.Public == nil || *a.Public, "private": a.Private == nil || *a.Private}
	}
	spec := map[string]any{
		"version": normalizedVersion(mc), "workspaceTemplateRef": templateRef(mc, p.ControlPlane.TemplateRef), "controlPlaneConfig": config,
	}
	if len(p.ControlPlane.Tags) > 0 {
		tags := map[string]any{}
		for key, value := range p.ControlPlane.Tags {
			tags[key] = string(value)
		}
		spec["additionalTags"] = tags
	}
	return setAppliedDigest(newClusterObject(mc, apiVersion, KindCAPTControlPlane, spec))
}

func templateRef(mc *v1alpha1.ManagedCluster, ref v1alpha1.TemplateReference) map[string]any {
	return map[string]any{"name": ref.Name, "namespace": NamespaceOrOwn(mc, ref.Namespace)}
}

// Templates returns the templates that a cluster is built from.
func Templates(mc *v1alpha1.ManagedCluster) []configv1alpha1.NamespacedName {
	c := mc.Spec.ForProvider.CAPT
	if c == nil {
		return nil
	}
	out := []configv1alpha1.NamespacedName{{Namespace: Namespace(mc), Name: c.ControlPlane.TemplateRef.Name}}
	if ref := c.VPC.TemplateRef; ref != nil {
		out = append(out, configv1alpha1.NamespacedName{Namespace: NamespaceOrOwn(mc, ref.Namespace), Name: ref.Name})
	}
	return out
}
