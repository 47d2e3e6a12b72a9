package managedcluster

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/apis/cluster/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/provider/clusters/clusterapi"
	"github.com/intentplane/intentplane/provider/clusters/readiness"
	"github.com/intentplane/intentplane/provider/engines"
)

// gather the facts about a ManagedCluster. It returns an error if the control plane's API server cannot be asked.
func (e *external) gather(ctx context.Context, mc *v1alpha1.ManagedCluster) (facts, error) {
	f := facts{mc: mc, now: e.now()}
	var err error
	// What is not allowed any more is deleted all the same.
	if f.denied, err = e.denied(ctx, mc); err != nil || f.denied != "" && !meta.WasDeleted(mc) {
		return f, err
	}
	p := mc.Spec.ForProvider
	r := clusterapi.Read(ctx, e.home, e.prober, clusterapi.Want{
		Namespace: namespace(mc), Name: p.Cluster.Name, Limits: e.limits, Initialized: initialized(mc),
		Held: &e.note.held, SecretVersion: e.secretVersion(ctx, mc),
		Options: readiness.Options{MinReadyWorkers: int64(p.Readiness.MinReadyWorkers), AllowExec: p.Readiness.AllowExec},
	}, f.now)
	f.report = r.Report
	e.note.steady = e.note.trusted(mc).Hear(r.Report, r.Healthy(), f.now, stabilization(mc))
	f.ready, f.again = e.note.steady.Ready, soonest(e.note.steady.Due(stabilization(mc)), r.Again)
	if err := e.parts(ctx, &f); err != nil {
		return f, err
	}
	f.site, err = e.site(ctx, mc)
	return f, err
}

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
	if message := deniedSite(mc); message != "" {
		return message, nil
	}
	if p.CAPT == nil {
		return "", nil
	}
	if message := elsewhereTemplate(mc); message != "" {
		return message, nil
	}
	allowed, message, err := e.allowed(ctx, mc)
	if err != nil || message != "" {
		return message, err
	}
	for _, t := range templates(mc) {
		if !slices.Contains(allowed, t) {
			return fmt.Sprintf("spec.policy.workspaceTemplates of the configuration does not name %s/%s", t.Namespace, t.Name), nil
		}
	}
	return "", nil
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

// allowed templates stand in a ClusterProviderConfig: whoever writes a ProviderConfig could allow themselves anything.
func (e *external) allowed(ctx context.Context, mc *v1alpha1.ManagedCluster) ([]configv1alpha1.NamespacedName, string, error) {
	ref := mc.GetProviderConfigReference()
	if ref == nil || ref.Kind != policy.KindClusterProviderConfig {
		return nil, "spec.providerConfigRef: templates are allowed by a ClusterProviderConfig only", nil
	}
	c := &configv1alpha1.ClusterProviderConfig{}
	err := e.kube.Get(ctx, client.ObjectKey{Name: ref.Name}, c)
	if kerrors.IsNotFound(err) {
		return nil, "spec.providerConfigRef: ClusterProviderConfig " + ref.Name + " does not exist", nil
	}
	if err != nil {
		return nil, "", errors.Wrapf(err, "cannot get ClusterProviderConfig %q", ref.Name)
	}
	if err := policy.CheckConfig(ref.Kind, &c.Spec, namespace(mc)); err != nil {
		return nil, err.Error(), nil //nolint:nilerr // A refusal is an answer.
	}
	return c.Spec.Policy.WorkspaceTemplates, "", nil
}

// parts of the cluster: as they should be, as they are, and who else has one of that name.
func (e *external) parts(ctx context.Context, f *facts) error {
	if f.mc.Spec.ForProvider.Type == v1alpha1.TypeExisting {
		return nil
	}
	version, missing := clusterapi.Version(ctx, e.home)
	if missing != "" {
		f.lacks = readiness.Blocker{By: readiness.Subject{Kind: kindCluster, Name: f.mc.Spec.ForProvider.Cluster.Name}, Reason: missing, Message: "Cluster API cannot be used"}
		version = readiness.V1Beta1 // What CAPT has is looked for all the same, and nothing is made.
	}
	spec := map[string]any{}
	if f.mc.Spec.ForProvider.CAPT != nil {
		spec = e.capt(ctx, f, version)
	}
	if f.mc.Spec.ForProvider.Topology != nil {
		var err error
		if spec, err = topology(f.mc, version); err != nil {
			return err
		}
	}
	p := part{want: cluster(f.mc, version, spec), unknown: unlessNone(missing)}
	if missing == "" {
		p.resource = schema.GroupVersionResource{Group: readiness.Group, Version: string(version), Resource: "clusters"}
	}
	f.parts = append(f.parts, p)
	for i := range f.parts {
		e.find(ctx, f, &f.parts[i])
	}
	return nil
}

// unlessNone is why nobody can tell of an object. Where its kind is not served there is none.
func unlessNone(missing string) string {
	if missing == readiness.ReasonKindMissing {
		return ""
	}
	return missing
}

// capt adds CAPT's objects, and returns the spec of the Cluster that refers to them.
func (e *external) capt(ctx context.Context, f *facts, v readiness.Contract) map[string]any {
	infrastructure := e.captPart(ctx, f, v, captCluster, groupInfrastructure, kindCAPTCluster)
	plane := e.captPart(ctx, f, v, captControlPlane, groupControlPlane, kindCAPTControlPlane)
	for _, t := range templates(f.mc) {
		ref := engines.Ref{Resource: schema.GroupVersionResource{Group: groupInfrastructure, Version: "v1beta1", Resource: "workspacetemplates"}, Kind: "WorkspaceTemplate", Namespace: t.Namespace, Name: t.Name}
		if _, missing := clusterapi.Found(e.home.Only(ctx, ref)); missing == readiness.ReasonObjectMissing {
			f.templates = append(f.templates, ref.String())
		}
	}
	return map[string]any{
		"infrastructureRef": reference(f.mc, v, infrastructure, kindCAPTCluster),
		"controlPlaneRef":   reference(f.mc, v, plane, kindCAPTControlPlane),
	}
}

// captPart adds an object of one of CAPT's kinds, and returns the kind. If that cannot be had, nothing can be made.
func (e *external) captPart(ctx context.Context, f *facts, v readiness.Contract, want func(*v1alpha1.ManagedCluster, clusterapi.Kind) *unstructured.Unstructured, group, kind string) clusterapi.Kind {
	k, missing := clusterapi.KindOf(ctx, e.home, v, group, kind)
	if missing != "" && f.lacks.Reason == "" {
		f.lacks = lacking(kind, missing)
	}
	f.parts = append(f.parts, part{resource: k.Resource, want: want(f.mc, k), unknown: unlessNone(missing)})
	return k
}

func lacking(kind, reason string) readiness.Blocker {
	return readiness.Blocker{By: readiness.Subject{Kind: "definition of", Name: kind}, Reason: reason, Message: "a cluster of CAPT cannot be made"}
}

// find looks for a part as it is. CAPT's names have to be unique over all namespaces, since its Workspaces are in none.
func (e *external) find(ctx context.Context, f *facts, p *part) {
	if p.resource.Resource == "" {
		return
	}
	ref := engines.Ref{Resource: p.resource, Kind: p.want.GetKind(), Namespace: p.want.GetNamespace(), Name: p.want.GetName()}
	live, missing := clusterapi.Found(e.home.Get(ctx, ref))
	if meta.WasDeleted(f.mc) && (live != nil || missing == readiness.ReasonObjectMissing) {
		// What watches told may be old, and nobody comes back for what is left.
		live, missing = clusterapi.Found(e.home.Fetch(ctx, ref))
	}
	if missing != "" && missing != readiness.ReasonObjectMissing {
		p.unknown = missing
	}
	p.live = live
	if live != nil && !ours(f.mc, live) {
		f.taken = fmt.Sprintf("%s is somebody else's. To watch it, use type Existing", ref)
	}
	if p.resource.Group == readiness.Group || live != nil || meta.WasDeleted(f.mc) {
		return // Who comes later takes nothing away.
	}
	all, err := e.home.Everywhere(ctx, ref)
	if err != nil {
		p.unknown = readiness.ReasonUnreachable
		return
	}
	if other := elsewhere(all, p.want.GetNamespace()); other != nil {
		f.taken = fmt.Sprintf("another namespace has a %s of that name, and CAPT's names have to be unique over all of them", other.GetKind())
	}
}

// elsewhere is an object in another namespace that was there first.
func elsewhere(all []*unstructured.Unstructured, ns string) *unstructured.Unstructured {
	for _, o := range all {
		if o.GetNamespace() != ns {
			return o
		}
	}
	return nil
}

// A home is the management cluster.
type home interface {
	clusterapi.Management

	// Everywhere returns the objects of a name in all namespaces.
	Everywhere(ctx context.Context, ref engines.Ref) ([]*unstructured.Unstructured, error)
}
