package managedcluster

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

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
	if f.denied, err = e.denied(ctx, mc); err != nil {
		return f, err
	}
	if f.denied != "" && !meta.WasDeleted(mc) {
		return f, e.regard(ctx, &f)
	}
	e.read(ctx, &f)
	if err := e.parts(ctx, &f); err != nil {
		return f, err
	}
	if err := e.reservations(ctx, &f); err != nil {
		return f, err
	}
	f.site, err = e.site(ctx, mc)
	return f, err
}

// regard a cluster whose spec is against a limit. Nothing is written, and the cluster that was looked at before is looked at all the same: it is
// as well as it was. Of any other, nothing is known.
func (e *external) regard(ctx context.Context, f *facts) error {
	mc := f.mc
	was, p := mc.Status.AtProvider.UID, mc.Spec.ForProvider.Cluster
	if was != "" && orOwn(mc, p.Namespace) == namespace(mc) {
		e.read(ctx, f)
	}
	if f.report.Conditions == nil || f.report.UID != "" && f.report.UID != was {
		f.report = readiness.Read(readiness.Input{
			Cluster: readiness.Lacks(readiness.Subject{Kind: kindCluster, Name: p.Name}, string(v1alpha1.ReasonPolicyDenied)),
		})
	}
	var err error
	f.site, err = e.site(ctx, mc)
	return err
}

// read what there is of the cluster.
func (e *external) read(ctx context.Context, f *facts) {
	mc, p := f.mc, f.mc.Spec.ForProvider
	r := clusterapi.Read(ctx, e.home, e.prober, clusterapi.Want{
		Namespace: namespace(mc), Name: p.Cluster.Name, Limits: e.limits, Initialized: initialized(mc),
		Held: &e.note.held, SecretVersion: e.secretVersion(ctx, mc),
		Options: readiness.Options{MinReadyWorkers: int64(p.Readiness.MinReadyWorkers), AllowExec: p.Readiness.AllowExec},
	}, f.now)
	f.report = r.Report
	e.note.steady = e.note.steady.See(r.UID, r.Healthy(), f.now, stabilization(mc))
	f.ready, f.again = e.note.steady.Ready, soonest(e.note.steady.Due(stabilization(mc)), r.Again)
	var done time.Time
	e.note.carried, f.carried, done = e.note.carried.see(r.Topology, f.now, stabilization(mc))
	f.again = soonest(f.again, done)
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
		return nil
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
	clusters := schema.GroupVersionResource{Group: readiness.Group, Version: string(version), Resource: "clusters"}
	f.parts = append(f.parts, part{resource: clusters, want: cluster(f.mc, version, spec)})
	for i := range f.parts {
		e.find(ctx, f, &f.parts[i])
	}
	return nil
}

// capt adds CAPT's objects, and returns the spec of the Cluster that refers to them.
func (e *external) capt(ctx context.Context, f *facts, v readiness.Contract) map[string]any {
	infrastructure, missing := clusterapi.KindOf(ctx, e.home, v, groupInfrastructure, kindCAPTCluster)
	if missing != "" {
		f.lacks = lacking(kindCAPTCluster, missing)
	}
	plane, missing := clusterapi.KindOf(ctx, e.home, v, groupControlPlane, kindCAPTControlPlane)
	if missing != "" {
		f.lacks = lacking(kindCAPTControlPlane, missing)
	}
	if f.lacks.Reason != "" {
		return nil
	}
	f.parts = []part{
		{resource: infrastructure.Resource, want: captCluster(f.mc, infrastructure)},
		{resource: plane.Resource, want: captControlPlane(f.mc, plane)},
	}
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

func lacking(kind, reason string) readiness.Blocker {
	return readiness.Blocker{By: readiness.Subject{Kind: "definition of", Name: kind}, Reason: reason, Message: "a cluster of CAPT cannot be made"}
}

// find looks for a part as it is. CAPT's names have to be unique over all namespaces, since its Workspaces are in none.
func (e *external) find(ctx context.Context, f *facts, p *part) {
	ref := engines.Ref{Resource: p.resource, Kind: p.want.GetKind(), Namespace: p.want.GetNamespace(), Name: p.want.GetName()}
	live, missing := clusterapi.Found(e.home.Get(ctx, ref))
	if missing != "" && missing != readiness.ReasonObjectMissing {
		p.unknown = missing
	}
	p.live = live
	if live != nil && !ours(f.mc, live) {
		f.taken = fmt.Sprintf("%s is somebody else's. To watch it, use type Existing", ref)
	}
	if p.resource.Group == readiness.Group || live != nil {
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
