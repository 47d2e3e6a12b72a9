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
	e.note.steady = e.note.trusted(mc).Hear(r.Report, r.Healthy(), f.now, stabilization(mc))
	f.ready, f.again = e.note.steady.Ready, soonest(e.note.steady.Due(stabilization(mc)), r.Again)
	var done time.Time
	e.note.carried, f.carried, done = e.note.carried.see(r.Topology, f.now, stabilization(mc))
	f.again = soonest(f.again, done)
}

// parts of the cluster: as they should be, as they are, and who else has one of that name.
func (e *external) parts(ctx context.Context, f *facts) error {
	if f.mc.Spec.ForProvider.Type == v1alpha1.TypeExisting {
		return nil
	}
	version, missing := clusterapi.Version(ctx, e.home)
	if missing != "" {
		f.lacks = readiness.Blocker{By: readiness.Subject{Kind: kindCluster, Name: f.mc.Spec.ForProvider.Cluster.Name}, Reason: missing, Message: "Cluster API cannot be used"}
		version = readiness.NewestContract() // What CAPT has is looked for all the same, and nothing is made.
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
	e.workspaces(ctx, f)
	return nil
}

// workspaces of the names that CAPT gives them have to be free: it takes what is there for its own.
func (e *external) workspaces(ctx context.Context, f *facts) {
	c, name := f.mc.Spec.ForProvider.CAPT, f.mc.Spec.ForProvider.Cluster.Name
	if c == nil || meta.WasDeleted(f.mc) {
		return
	}
	of := map[string][]string{kindCAPTControlPlane: {name + "-eks-controlplane", name + "-kubeconfig"}}
	if c.VPC.TemplateRef != nil {
		of[kindCAPTCluster] = []string{name + "-vpc"}
	}
	for i := range f.parts {
		p := &f.parts[i]
		// Of what was made once they are its own, and what was just made need not be seen yet.
		if f.taken != "" || p.live != nil || p.resource.Resource == "" || recorded(f.mc, p.want.GetKind()) != "" {
			continue
		}
		e.free(ctx, f, p, of[p.want.GetKind()])
	}
}

// free says whether the Workspaces of a part that is not there are not there either.
func (e *external) free(ctx context.Context, f *facts, p *part, names []string) {
	for _, name := range names {
		ref := engines.Ref{Resource: schema.GroupVersionResource{Group: "tf.upbound.io", Version: "v1beta1", Resource: "workspaces"}, Kind: "Workspace", Name: name}
		found, missing := clusterapi.Found(e.home.Get(ctx, ref))
		if found == nil && missing != readiness.ReasonObjectMissing && missing != readiness.ReasonKindMissing {
			f.lacks = readiness.Blocker{By: readiness.Subject{Kind: ref.Kind, Name: name}, Reason: missing, Message: "it cannot be told whether its name is free"}
		}
		if found == nil {
			continue
		}
		if f.found(p, e.fetch(ctx, p)); p.live != nil || p.unknown != "" {
			return // It was made a moment ago.
		}
		f.taken = fmt.Sprintf("%s is there already, and CAPT would take it for this cluster's. Take another name, or have it deleted", ref)
		return
	}
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
	name := f.mc.Spec.ForProvider.Cluster.Name
	return map[string]any{
		"infrastructureRef": v.NewReference(infrastructure.Resource.GroupVersion(), kindCAPTCluster, namespace(f.mc), name),
		"controlPlaneRef":   v.NewReference(plane.Resource.GroupVersion(), kindCAPTControlPlane, namespace(f.mc), name),
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
	ref := p.ref()
	is := seenAs(clusterapi.Found(e.home.Get(ctx, ref)))
	if meta.WasDeleted(f.mc) && is.unknown == "" {
		// What watches told may be old, and nobody comes back for what is left.
		is = e.fetch(ctx, p)
	}
	f.found(p, is)
	if p.resource.Group == readiness.Group || p.live != nil || meta.WasDeleted(f.mc) {
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

// fetch a part as it is now.
func (e *external) fetch(ctx context.Context, p *part) seen {
	return seenAs(clusterapi.Found(e.home.Fetch(ctx, p.ref())))
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
