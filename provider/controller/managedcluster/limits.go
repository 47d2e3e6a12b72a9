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
)

// denied says which limit the spec is against. It acts with the administrator's credentials, so it stays in its own namespace, and
// builds only from what the configuration allows.
func (e *external) denied(ctx context.Context, mc *v1alpha1.ManagedCluster) (string, error) {
	p := mc.Spec.ForProvider
	if ns := p.Cluster.Namespace; ns != "" && ns != namespace(mc) {
		return "spec.forProvider.cluster.namespace: it is not the namespace of the ManagedCluster", nil
	}
	if p.Topology != nil && orOwn(mc, p.Topology.ClassRef.Namespace) != namespace(mc) {
		return "spec.forProvider.topology.classRef.namespace: it is not the namespace of the ManagedCluster", nil
	}
	if path := p.Reserved(); path != "" {
		return "spec.forProvider." + path + ": what is of cluster.x-k8s.io or intentplane.dev is not for users to set", nil
	}
	if p.CAPT != nil {
		if message := elsewhereTemplate(mc); message != "" {
			return message, nil
		}
	}
	if p.Type == v1alpha1.TypeExisting && !p.Site.Publish {
		return "", nil // Nothing is made.
	}
	c, message, err := e.configuration(ctx, mc)
	if err != nil || message != "" {
		return message, err
	}
	if message := deniedSite(mc, c); message != "" {
		return message, nil
	}
	if message := deniedTemplate(mc, c); message != "" {
		return message, nil
	}
	return deniedCAPT(p.CAPT, c), nil
}

// deniedCAPT says which value of a cluster of CAPT the configuration does not allow. CAPT acts with the platform's cloud credentials.
func deniedCAPT(p *v1alpha1.CAPT, c *configv1alpha1.ProviderConfigSpec) string {
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

// deniedTemplate says which template may not be used: whoever writes a ProviderConfig could allow themselves anything.
func deniedTemplate(mc *v1alpha1.ManagedCluster, c *configv1alpha1.ProviderConfigSpec) string {
	ts := templates(mc)
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

// elsewhereTemplate says which template is in another namespace. CAPT looks for both in the namespace of the cluster, whatever is written.
func elsewhereTemplate(mc *v1alpha1.ManagedCluster) string {
	c := mc.Spec.ForProvider.CAPT
	refs := map[string]string{"controlPlane": c.ControlPlane.TemplateRef.Namespace}
	if ref := c.VPC.TemplateRef; ref != nil {
		refs["vpc"] = ref.Namespace
	}
	for _, of := range slices.Sorted(maps.Keys(refs)) {
		if orOwn(mc, refs[of]) != namespace(mc) {
			return "spec.forProvider.capt." + of + ".templateRef.namespace: CAPT looks for it in the namespace of the cluster only"
		}
	}
	return ""
}

// templates that a cluster is built from.
func templates(mc *v1alpha1.ManagedCluster) []configv1alpha1.NamespacedName {
	c := mc.Spec.ForProvider.CAPT
	if c == nil {
		return nil
	}
	out := []configv1alpha1.NamespacedName{{Namespace: namespace(mc), Name: c.ControlPlane.TemplateRef.Name}}
	if ref := c.VPC.TemplateRef; ref != nil {
		out = append(out, configv1alpha1.NamespacedName{Namespace: orOwn(mc, ref.Namespace), Name: ref.Name})
	}
	return out
}

// configuration that a ManagedCluster names, or why it may not use it. One that does not exist allows nothing, or its limits could be
// got around by naming no configuration at all.
func (e *external) configuration(ctx context.Context, mc *v1alpha1.ManagedCluster) (*configv1alpha1.ProviderConfigSpec, string, error) {
	ref := mc.GetProviderConfigReference()
	if ref == nil {
		return nil, "spec.providerConfigRef: it has to name a configuration", nil
	}
	spec, err := e.specOf(ctx, mc)
	if kerrors.IsNotFound(err) {
		return nil, "spec.providerConfigRef: " + ref.Kind + " " + ref.Name + " does not exist", nil
	}
	if err != nil {
		return nil, "", errors.Wrapf(err, "cannot get %s %q", ref.Kind, ref.Name)
	}
	if err := policy.CheckConfig(ref.Kind, spec, namespace(mc)); err != nil {
		return nil, err.Error(), nil //nolint:nilerr // A refusal is an answer.
	}
	return spec, "", nil
}

func (e *external) specOf(ctx context.Context, mc *v1alpha1.ManagedCluster) (*configv1alpha1.ProviderConfigSpec, error) {
	ref := mc.GetProviderConfigReference()
	if ref.Kind == policy.KindClusterProviderConfig {
		c := &configv1alpha1.ClusterProviderConfig{}
		return &c.Spec, e.kube.Get(ctx, client.ObjectKey{Name: ref.Name}, c)
	}
	c := &configv1alpha1.ProviderConfig{}
	return &c.Spec, e.kube.Get(ctx, client.ObjectKey{Namespace: namespace(mc), Name: ref.Name}, c)
}
