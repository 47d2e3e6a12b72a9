package managedcluster

import (
	"context"
	"fmt"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/intentplane/intentplane/apis/cluster/v1alpha1"
	"github.com/intentplane/intentplane/provider/clusters/clusterapi"
	"github.com/intentplane/intentplane/provider/clusters/desired"
	"github.com/intentplane/intentplane/provider/clusters/readiness"
	"github.com/intentplane/intentplane/provider/engines"
	"github.com/intentplane/intentplane/provider/instant"
)

// Groups of the kinds of CAPT.
const (
	groupInfrastructure = "infrastructure.cluster.x-k8s.io"
	groupControlPlane   = "controlplane.cluster.x-k8s.io"
)

// gatherFacts reads the facts about a ManagedCluster. It returns an error if the API server of the control plane cannot be read.
func (e *external) gatherFacts(ctx context.Context, mc *v1alpha1.ManagedCluster) (facts, error) {
	f := facts{mc: mc, now: e.now()}
	var err error
	// A cluster that is not allowed any more can still be deleted.
	if f.denied, err = e.deniedReason(ctx, mc); err != nil {
		return f, err
	}
	if f.denied != "" && !meta.WasDeleted(mc) {
		return f, e.gatherDenied(ctx, &f)
	}
	e.readCluster(ctx, &f)
	if err := e.gatherParts(ctx, &f); err != nil {
		return f, err
	}
	if err := e.gatherReservation(ctx, &f); err != nil {
		return f, err
	}
	f.site, err = e.observeSite(ctx, mc)
	return f, err
}

// gatherDenied reads the facts about a cluster whose spec violates a limit. Nothing is written. The Cluster that was observed before is
// observed again, so that its conditions stay true; any other Cluster is reported as unknown.
func (e *external) gatherDenied(ctx context.Context, f *facts) error {
	mc := f.mc
	recorded, p := mc.Status.AtProvider.UID, mc.Spec.ForProvider.Cluster
	if recorded != "" && desired.NamespaceOrOwn(mc, p.Namespace) == desired.Namespace(mc) {
		e.readCluster(ctx, f)
	}
	if f.report.Conditions == nil || f.report.UID != "" && f.report.UID != recorded {
		f.report = readiness.Read(readiness.Input{
			Cluster: readiness.Lacks(readiness.Subject{Kind: desired.KindCluster, Name: p.Name}, string(v1alpha1.ReasonPolicyDenied)),
		})
	}
	var err error
	f.site, err = e.observeSite(ctx, mc)
	return err
}

// readCluster observes the cluster, and decides whether it counts as ready.
func (e *external) readCluster(ctx context.Context, f *facts) {
	mc, p := f.mc, f.mc.Spec.ForProvider
	r := clusterapi.Read(ctx, e.management, e.prober, clusterapi.Want{
		Namespace: desired.Namespace(mc), Name: p.Cluster.Name, Limits: e.limits, Initialized: recordedInitialized(mc),
		Held: &e.note.held, SecretVersion: e.secretVersion(ctx, mc),
		Options: readiness.Options{MinReadyWorkers: int64(p.Readiness.MinReadyWorkers), AllowExec: p.Readiness.AllowExec},
	}, f.now)
	f.report = r.Report
	e.note.steady = e.note.trustedReadiness(mc).Observe(r.Report, r.Healthy(), f.now, stabilizationPeriod(mc))
	f.ready, f.again = e.note.steady.Ready, instant.Earliest(e.note.steady.Due(stabilizationPeriod(mc)), r.Again)
	var done time.Time
	e.note.topology, f.topologyDone, done = e.note.topology.observeTopology(r.Topology, f.now, stabilizationPeriod(mc))
	f.again = instant.Earliest(f.again, done)
}

// gatherParts adds the objects of the cluster: desired, observed, and whether another owner has one of that name.
func (e *external) gatherParts(ctx context.Context, f *facts) error {
	if f.mc.Spec.ForProvider.Type == v1alpha1.TypeExisting {
		return nil
	}
	version, missing := clusterapi.Version(ctx, e.management)
	if missing != "" {
		f.unsupported = readiness.Blocker{By: readiness.Subject{Kind: desired.KindCluster, Name: f.mc.Spec.ForProvider.Cluster.Name}, Reason: missing, Message: "Cluster API cannot be used"}
		version = readiness.NewestContract() // CAPT's objects are still read, and none is created.
	}
	spec := map[string]any{}
	if f.mc.Spec.ForProvider.CAPT != nil {
		spec = e.gatherCAPTParts(ctx, f, version)
	}
	if f.mc.Spec.ForProvider.Topology != nil {
		var err error
		if spec, err = desired.NewTopologySpec(f.mc, version); err != nil {
			return err
		}
	}
	p := part{want: desired.NewCluster(f.mc, version, spec), unknown: unknownReason(missing)}
	if missing == "" {
		p.resource = schema.GroupVersionResource{Group: readiness.Group, Version: string(version), Resource: "clusters"}
	}
	f.parts = append(f.parts, p)
	for i := range f.parts {
		e.observePart(ctx, f, &f.parts[i])
	}
	e.checkWorkspaceNames(ctx, f)
	return nil
}

// checkWorkspaceNames requires that the names that CAPT gives to its Workspaces are free: CAPT adopts any Workspace of
// that name.
func (e *external) checkWorkspaceNames(ctx context.Context, f *facts) {
	c, name := f.mc.Spec.ForProvider.CAPT, f.mc.Spec.ForProvider.Cluster.Name
	if c == nil || meta.WasDeleted(f.mc) {
		return
	}
	namesByKind := map[string][]string{desired.KindCAPTControlPlane: {name + "-eks-controlplane", name + "-kubeconfig"}}
	if c.VPC.TemplateRef != nil {
		namesByKind[desired.KindCAPTCluster] = []string{name + "-vpc"}
	}
	for i := range f.parts {
		p := &f.parts[i]
		// An object that exists owns its Workspaces. An object that was just made may not be in the cache yet.
		if f.taken != "" || p.live != nil || p.resource.Resource == "" || recordedUID(f.mc, p.want.GetKind()) != "" {
			continue
		}
		e.requireFreeWorkspaces(ctx, f, p, namesByKind[p.want.GetKind()])
	}
}

// requireFreeWorkspaces records the first Workspace that exists although its part does not.
func (e *external) requireFreeWorkspaces(ctx context.Context, f *facts, p *part, names []string) {
	for _, name := range names {
		ref := engines.Ref{Resource: schema.GroupVersionResource{Group: "tf.upbound.io", Version: "v1beta1", Resource: "workspaces"}, Kind: "Workspace", Name: name}
		found, missing := clusterapi.Found(e.management.Get(ctx, ref))
		if found == nil && missing != readiness.ReasonObjectMissing && missing != readiness.ReasonKindMissing {
			f.unsupported = readiness.Blocker{By: readiness.Subject{Kind: ref.Kind, Name: name}, Reason: missing, Message: "cannot determine whether its name is free"}
		}
		if found == nil {
			continue
		}
		if f.recordLookup(p, e.fetchUncachedPart(ctx, p)); p.live != nil || p.unknown != "" {
			return // The part was created a moment ago, so the Workspace belongs to it.
		}
		f.taken = fmt.Sprintf("%s exists already, and CAPT would adopt it for this cluster. Choose another name, or ask an administrator to delete it", ref)
		return
	}
}

// unknownReason returns the reason why it is unknown whether an object exists. If its kind is not served, the object does not exist.
func unknownReason(missing string) string {
	if missing == readiness.ReasonKindMissing {
		return ""
	}
	return missing
}

// gatherCAPTParts adds CAPT's objects, and returns the spec of the Cluster that refers to them.
func (e *external) gatherCAPTParts(ctx context.Context, f *facts, v readiness.Contract) map[string]any {
	infrastructure := e.gatherCAPTPart(ctx, f, v, desired.NewCAPTCluster, groupInfrastructure, desired.KindCAPTCluster)
	plane := e.gatherCAPTPart(ctx, f, v, desired.NewCAPTControlPlane, groupControlPlane, desired.KindCAPTControlPlane)
	for _, t := range desired.Templates(f.mc) {
		ref := engines.Ref{Resource: schema.GroupVersionResource{Group: groupInfrastructure, Version: "v1beta1", Resource: "workspacetemplates"}, Kind: "WorkspaceTemplate", Namespace: t.Namespace, Name: t.Name}
		if _, missing := clusterapi.Found(e.management.Only(ctx, ref)); missing == readiness.ReasonObjectMissing {
			f.templates = append(f.templates, ref.String())
		}
	}
	name := f.mc.Spec.ForProvider.Cluster.Name
	return map[string]any{
		"infrastructureRef": v.NewReference(infrastructure.Resource.GroupVersion(), desired.KindCAPTCluster, desired.Namespace(f.mc), name),
		"controlPlaneRef":   v.NewReference(plane.Resource.GroupVersion(), desired.KindCAPTControlPlane, desired.Namespace(f.mc), name),
	}
}

// gatherCAPTPart adds an object of a kind of CAPT, and returns the kind. If the kind cannot be used, the cluster cannot be made.
func (e *external) gatherCAPTPart(ctx context.Context, f *facts, v readiness.Contract, want func(*v1alpha1.ManagedCluster, string) *unstructured.Unstructured, group, kind string) clusterapi.Kind {
	k, missing := clusterapi.KindOf(ctx, e.management, v, group, kind)
	if missing != "" && f.unsupported.Reason == "" {
		f.unsupported = kindBlocker(kind, missing)
	}
	f.parts = append(f.parts, part{resource: k.Resource, want: want(f.mc, k.Resource.GroupVersion().String()), unknown: unknownReason(missing)})
	return k
}

func kindBlocker(kind, reason string) readiness.Blocker {
	return readiness.Blocker{By: readiness.Subject{Kind: "definition of", Name: kind}, Reason: reason, Message: "a cluster of CAPT cannot be made"}
}

// observePart observes a part. CAPT's names have to be unique over all namespaces, since its Workspaces are cluster-scoped.
func (e *external) observePart(ctx context.Context, f *facts, p *part) {
	if p.resource.Resource == "" {
		return
	}
	ref := p.objectRef()
	result := newLookupResult(clusterapi.Found(e.management.Get(ctx, ref)))
	if meta.WasDeleted(f.mc) && result.unknown == "" {
		// The cache may be stale, and an object that is missed now is never deleted.
		result = e.fetchUncachedPart(ctx, p)
	}
	f.recordLookup(p, result)
	if p.resource.Group == readiness.Group || p.live != nil || meta.WasDeleted(f.mc) {
		return // An object of another namespace that was made later changes nothing.
	}
	all, err := e.management.Everywhere(ctx, ref)
	if err != nil {
		p.unknown = readiness.ReasonUnreachable
		return
	}
	if conflict := findInOtherNamespace(all, p.want.GetNamespace()); conflict != nil {
		f.taken = fmt.Sprintf("another namespace has a %s of that name, and CAPT's names have to be unique over all of them", conflict.GetKind())
	}
}

// fetchUncachedPart reads a part past the cache.
func (e *external) fetchUncachedPart(ctx context.Context, p *part) lookupResult {
	return newLookupResult(clusterapi.Found(e.management.Fetch(ctx, p.objectRef())))
}

// findInOtherNamespace returns an object of another namespace, or nil.
func findInOtherNamespace(all []*unstructured.Unstructured, ns string) *unstructured.Unstructured {
	for _, o := range all {
		if o.GetNamespace() != ns {
			return o
		}
	}
	return nil
}

// A managementCluster reads the cluster that Cluster API runs in.
type managementCluster interface {
	clusterapi.Management

	// Everywhere returns the objects of a name in all namespaces.
	Everywhere(ctx context.Context, ref engines.Ref) ([]*unstructured.Unstructured, error)
}
