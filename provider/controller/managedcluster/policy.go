package managedcluster

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/apis/cluster/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/provider/clusters/desired"
)

// deniedReason returns the limit that the spec violates, or "". The controller acts with the administrator's credentials, so it stays in the namespace of the
// ManagedCluster, and builds only clusters that the configuration allows.
func (e *external) deniedReason(ctx context.Context, mc *v1alpha1.ManagedCluster) (string, error) {
	p := mc.Spec.ForProvider
	if ns := p.Cluster.Namespace; ns != "" && ns != desired.Namespace(mc) {
		return "spec.forProvider.cluster.namespace: it is not the namespace of the ManagedCluster", nil
	}
	if p.Topology != nil && desired.NamespaceOrOwn(mc, p.Topology.ClassRef.Namespace) != desired.Namespace(mc) {
		return "spec.forProvider.topology.classRef.namespace: it is not the namespace of the ManagedCluster", nil
	}
	if path := p.Reserved(); path != "" {
		return "spec.forProvider." + path + ": users cannot set labels and annotations of cluster.x-k8s.io and intentplane.dev", nil
	}
	if p.CAPT != nil {
		if message := deniedTemplateNamespace(mc); message != "" {
			return message, nil
		}
	}
	if p.Type == v1alpha1.TypeExisting && !p.Site.Publish {
		return "", nil // The controller makes no object.
	}
	c, message, err := e.allowedConfig(ctx, mc)
	if err != nil || message != "" {
		return message, err
	}
	if message := deniedSiteReason(mc, c); message != "" {
		return message, nil
	}
	if message := deniedTemplate(mc, c); message != "" {
		return message, nil
	}
	return deniedCAPTValue(p.CAPT, c), nil
}

// deniedCAPTValue returns the value of a cluster of CAPT that the configuration does not allow, or "". CAPT acts with the platform's cloud credentials.
func deniedCAPTValue(p *v1alpha1.CAPT, c *configv1alpha1.ProviderConfigSpec) string {
	const field = "spec.forProvider.capt."
	if p == nil {
		return ""
	}
	if err := policy.CheckRegion(c, p.Region); err != nil {
		return field + "region: " + err.Error()
	}
	if id := p.VPC.ExistingID; id != "" {
		if err := policy.CheckVPC(c, id); err != nil {
			return field + "vpc.existingID: " + err.Error()
		}
	}
	for _, key := range slices.Sorted(maps.Keys(p.ControlPlane.Tags)) {
		if err := policy.CheckTagKey(c, key); err != nil {
			return field + "controlPlane.tags: " + err.Error()
		}
	}
	return ""
}

// deniedTemplate returns the forbidden template, or "". Only a ClusterProviderConfig allows templates: a tenant who may write a ProviderConfig could allow any.
func deniedTemplate(mc *v1alpha1.ManagedCluster, c *configv1alpha1.ProviderConfigSpec) string {
	ts := desired.Templates(mc)
	if len(ts) > 0 && mc.GetProviderConfigReference().Kind != policy.KindClusterProviderConfig {
		return "spec.providerConfigRef: templates are allowed by a ClusterProviderConfig only"
	}
	for _, t := range ts {
		if !slices.Contains(c.Policy.WorkspaceTemplates, t) {
			return fmt.Sprintf("spec.policy.workspaceTemplates of the configuration does not name %s/%s", t.Namespace, t.Name)
		}
	}
	return ""
}

// deniedTemplateNamespace returns the template in another namespace, or "". CAPT ignores the namespace of a reference, and looks for it in the namespace of the
// cluster.
func deniedTemplateNamespace(mc *v1alpha1.ManagedCluster) string {
	c := mc.Spec.ForProvider.CAPT
	refs := map[string]string{"controlPlane": c.ControlPlane.TemplateRef.Namespace}
	if ref := c.VPC.TemplateRef; ref != nil {
		refs["vpc"] = ref.Namespace
	}
	for _, reference := range slices.Sorted(maps.Keys(refs)) {
		if desired.NamespaceOrOwn(mc, refs[reference]) != desired.Namespace(mc) {
			return "spec.forProvider.capt." + reference + ".templateRef.namespace: CAPT looks for it in the namespace of the cluster only"
		}
	}
	return ""
}

// allowedConfig returns the configuration that a ManagedCluster names, or the reason why the ManagedCluster may not use it. A configuration that does
// not exist allows nothing: otherwise a tenant could avoid all limits by naming none.
func (e *external) allowedConfig(ctx context.Context, mc *v1alpha1.ManagedCluster) (*configv1alpha1.ProviderConfigSpec, string, error) {
	ref := mc.GetProviderConfigReference()
	if ref == nil {
		return nil, "spec.providerConfigRef: it has to name a configuration", nil
	}
	spec, err := e.readConfigSpec(ctx, mc)
	if kerrors.IsNotFound(err) {
		return nil, "spec.providerConfigRef: " + ref.Kind + " " + ref.Name + " does not exist", nil
	}
	if err != nil {
		return nil, "", errors.Wrapf(err, "cannot get %s %q", ref.Kind, ref.Name)
	}
	if err := policy.CheckConfig(ref.Kind, spec, desired.Namespace(mc)); err != nil {
		return nil, err.Error(), nil //nolint:nilerr // The refusal is returned as a message.
	}
	return spec, "", nil
}

func (e *external) readConfigSpec(ctx context.Context, mc *v1alpha1.ManagedCluster) (*configv1alpha1.ProviderConfigSpec, error) {
	ref := mc.GetProviderConfigReference()
	if ref.Kind == policy.KindClusterProviderConfig {
		c := &configv1alpha1.ClusterProviderConfig{}
		return &c.Spec, e.kube.Get(ctx, client.ObjectKey{Name: ref.Name}, c)
	}
	c := &configv1alpha1.ProviderConfig{}
	return &c.Spec, e.kube.Get(ctx, client.ObjectKey{Namespace: desired.Namespace(mc), Name: ref.Name}, c)
}
