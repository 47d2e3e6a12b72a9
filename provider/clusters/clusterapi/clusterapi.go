// Package clusterapi reads the objects of a Cluster API cluster: the Cluster, the objects that it refers to, and the objects
// behind them, such as Workspaces. Package readiness interprets them.
//
// Everything but the kubeconfig is watched, so the owner that read it is woken by a change of any of it, and of the definitions of their
// kinds. The kubeconfig is read when it is needed, and its credentials are not kept.
package clusterapi

import (
	"context"
	"slices"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/provider/clusters"
	"github.com/intentplane/intentplane/provider/clusters/readiness"
	"github.com/intentplane/intentplane/provider/engines"
)

const (
	kindCluster = "Cluster"
	kindApply   = "WorkspaceTemplateApply"
	kindSpace   = "Workspace"
)

// A Management is the cluster that Cluster API runs in.
type Management interface {
	// Get returns an object of a kind that is watched, or nil.
	Get(ctx context.Context, ref engines.Ref) (*unstructured.Unstructured, error)
	// Only returns an object that is watched alone, or nil.
	Only(ctx context.Context, ref engines.Ref) (*unstructured.Unstructured, error)
	// Fetch returns an object that is not watched, or nil.
	Fetch(ctx context.Context, ref engines.Ref) (*unstructured.Unstructured, error)
}

// An Asker asks API servers whether they are ready, and says when to ask again.
type Asker interface {
	Ask(ctx context.Context, kubeconfig []byte) (readiness.Answer, time.Time)
}

// A Want is the cluster that is read.
type Want struct {
	// Namespace and Name of the Cluster.
	Namespace, Name string
	// Options of the caller.
	Options readiness.Options
	// Initialized are the conditions that were latched in earlier reads.
	Initialized readiness.Initialized
	// Limits of the kubeconfig.
	Limits clusters.Limits
	// Held, if it is not nil, caches the kubeconfig's reading. Its Secret is not read again while that has the resource version SecretVersion
	// and its API server need not be asked.
	Held          *Held
	SecretVersion string
}

// A Held is the cached reading of a kubeconfig, with the answer of its API server. It holds no credentials.
type Held struct {
	version    string
	kubeconfig readiness.Kubeconfig
	again      time.Time
}

// isSecretCurrent is true while a Secret need not be read again.
func (h *Held) isSecretCurrent(version string, now time.Time) bool {
	return h != nil && version != "" && h.version == version && (h.again.IsZero() || now.Before(h.again))
}

// rememberKubeconfig caches the reading of a version of the Secret.
func (h *Held) rememberKubeconfig(version string, k readiness.Kubeconfig, nextAsk time.Time) {
	if h != nil {
		*h = Held{version: version, kubeconfig: k.WithoutData(), again: nextAsk}
	}
}

// A Reading is the result of Read.
type Reading struct {
	readiness.Report

	// Again is when the API server should be asked again. Zero if there is nothing to ask.
	Again time.Time
}

// Read a cluster. Unreadable objects are in the report.
func Read(ctx context.Context, m Management, a Asker, w Want, now time.Time) Reading {
	r := reader{management: m, want: w}
	in := readiness.Input{Options: w.Options, Initialized: w.Initialized, Now: now}
	in.Cluster = r.readCluster(ctx)
	if in.Cluster.Missing != "" {
		return Reading{Report: readiness.Read(in)}
	}
	in.Infrastructure = r.readReferred(ctx, in.Cluster, "infrastructureRef")
	in.ControlPlane = r.readReferred(ctx, in.Cluster, "controlPlaneRef")
	in.Behind = r.readAppliedObjects(ctx, in.Infrastructure, in.ControlPlane)
	var nextAsk time.Time
	in.Kubeconfig, nextAsk = r.readKubeconfig(ctx, a, now)
	return Reading{Report: readiness.Read(in), Again: nextAsk}
}

type reader struct {
	management Management
	want       Want
	version    readiness.Contract
}

// A Kind is one of a provider of Cluster API.
type Kind struct {
	// Resource of the kind, in the version that follows the contract.
	Resource schema.GroupVersionResource
	// Contract that it follows.
	Contract readiness.Contract
}

// Version of Cluster that is served. If there is none that is known here, it returns why, one of the reasons of readiness.
func Version(ctx context.Context, m Management) (readiness.Contract, string) {
	definition, missing := definitionOf(ctx, m, "clusters."+readiness.Group)
	if missing != "" {
		return "", missing
	}
	if v := readiness.ClusterVersion(definition); v != "" {
		return v, ""
	}
	return "", readiness.ReasonVersionUnknown
}

// KindOf a provider, as a Cluster of a version is joined with it. If it cannot be, it returns why, one of the reasons of readiness.
func KindOf(ctx context.Context, m Management, cluster readiness.Contract, group, kind string) (Kind, string) {
	definition, missing := definitionOf(ctx, m, readiness.DefinitionOf(group, kind))
	if missing != "" {
		return Kind{}, missing
	}
	contract, version := readiness.ContractOf(definition, cluster)
	if contract == "" {
		return Kind{}, readiness.ReasonContractUnknown
	}
	plural, _, _ := unstructured.NestedString(definition.Object, "spec", "names", "plural")
	return Kind{Resource: schema.GroupVersionResource{Group: group, Version: version, Resource: plural}, Contract: contract}, ""
}

func definitionOf(ctx context.Context, m Management, name string) (*unstructured.Unstructured, string) {
	definition, missing := Found(m.Only(ctx, engines.Ref{
		Resource: schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"},
		Kind:     "CustomResourceDefinition", Name: name,
	}))
	if missing == readiness.ReasonObjectMissing {
		missing = readiness.ReasonKindMissing
	}
	return definition, missing
}

// deniedReasons are of a management cluster that does not let the provider read.
func deniedReasons() []string {
	return []string{v1alpha1.SiteReasonAccessDenied, v1alpha1.SiteReasonProviderAccessDenied, v1alpha1.SiteReasonKubeconfigDenied}
}

// Found returns the object, or the reason of readiness for which it is missing.
func Found(u *unstructured.Unstructured, err error) (*unstructured.Unstructured, string) {
	var failure *clusters.Error
	switch {
	case errors.As(err, &failure) && failure.Reason == v1alpha1.SiteReasonEngineNotInstalled:
		return nil, readiness.ReasonKindMissing
	case errors.As(err, &failure) && slices.Contains(deniedReasons(), failure.Reason):
		return nil, readiness.ReasonAccessDenied
	case err != nil:
		return nil, readiness.ReasonUnreachable
	case u == nil:
		return nil, readiness.ReasonObjectMissing
	}
	return u, ""
}

func (r *reader) readCluster(ctx context.Context) readiness.Object {
	subject := readiness.Subject{Kind: kindCluster, Name: r.want.Name}
	version, missing := Version(ctx, r.management)
	if r.version = version; missing != "" {
		return readiness.Lacks(subject, missing)
	}
	return r.readSubjectObject(ctx, subject, schema.GroupVersionResource{Group: readiness.Group, Version: string(r.version), Resource: "clusters"}, r.version)
}

func (r *reader) readSubjectObject(ctx context.Context, s readiness.Subject, resource schema.GroupVersionResource, c readiness.Contract) readiness.Object {
	u, missing := Found(r.management.Get(ctx, engines.Ref{Resource: resource, Kind: s.Kind, Namespace: r.want.Namespace, Name: s.Name}))
	if missing != "" {
		return readiness.Lacks(s, missing)
	}
	return readiness.Found(u, c)
}

// readReferred reads the object of any kind that the Cluster refers to, in the Cluster's namespace. Only kinds of Cluster API's providers are
// read: they name their contract.
func (r *reader) readReferred(ctx context.Context, cluster readiness.Object, field string) readiness.Object {
	ref, _, _ := unstructured.NestedStringMap(cluster.Object, "spec", field)
	subject := readiness.Subject{Kind: ref["kind"], Name: ref["name"]}
	if subject.Kind == "" || subject.Name == "" {
		return readiness.NotReferenced()
	}
	kind, missing := KindOf(ctx, r.management, r.version, r.version.ReferencedGroup(ref), subject.Kind)
	if missing != "" {
		return readiness.Lacks(subject, missing)
	}
	return r.readSubjectObject(ctx, subject, kind.Resource, kind.Contract)
}

// readAppliedObjects reads the objects that CAPT's objects are made by. The kubeconfig's has no reference, and its name follows from the Cluster's.
func (r *reader) readAppliedObjects(ctx context.Context, objects ...readiness.Object) []readiness.Object {
	var out []readiness.Object
	capt := false
	for _, o := range objects {
		name := o.TemplateApplyName()
		capt = capt || name != ""
		if name != "" {
			out = append(out, r.readTemplateApply(ctx, name)...)
		}
	}
	if !capt {
		return out
	}
	kubeconfig := r.readTemplateApply(ctx, r.want.Name+"-kubeconfig-apply")
	if kubeconfig[0].Missing == readiness.ReasonObjectMissing {
		return out
	}
	return append(out, kubeconfig...)
}

func (r *reader) readTemplateApply(ctx context.Context, name string) []readiness.Object {
	applies := schema.GroupVersionResource{Group: "infrastructure.cluster.x-k8s.io", Version: "v1beta1", Resource: "workspacetemplateapplies"}
	apply := r.readSubjectObject(ctx, readiness.Subject{Kind: kindApply, Name: name}, applies, "")
	workspace := apply.WorkspaceName()
	if workspace == "" {
		return []readiness.Object{apply}
	}
	subject := readiness.Subject{Kind: kindSpace, Name: workspace}
	u, missing := Found(r.management.Get(ctx, engines.Ref{
		Resource: schema.GroupVersionResource{Group: "tf.upbound.io", Version: "v1beta1", Resource: "workspaces"}, Kind: kindSpace, Name: workspace,
	}))
	if missing != "" {
		return []readiness.Object{apply, readiness.Lacks(subject, missing)}
	}
	return []readiness.Object{apply, readiness.Found(u, "")}
}

// readKubeconfig returns the current kubeconfig with the answer of its API server.
func (r *reader) readKubeconfig(ctx context.Context, a Asker, now time.Time) (readiness.Kubeconfig, time.Time) {
	if h := r.want.Held; h.isSecretCurrent(r.want.SecretVersion, now) {
		return h.kubeconfig, h.again
	}
	version, k, nextAsk := r.fetchKubeconfig(ctx, a)
	r.want.Held.rememberKubeconfig(version, k, nextAsk)
	return k, nextAsk
}

// fetchKubeconfig reads the Secret. It returns its version, too.
func (r *reader) fetchKubeconfig(ctx context.Context, a Asker) (string, readiness.Kubeconfig, time.Time) {
	name := readiness.SecretName(r.want.Name)
	u, missing := Found(r.management.Fetch(ctx, engines.Ref{
		Resource: schema.GroupVersionResource{Version: "v1", Resource: "secrets"}, Kind: "Secret", Namespace: r.want.Namespace, Name: name,
	}))
	if missing != "" {
		return "", readiness.Kubeconfig{Secret: name, Missing: missing}, time.Time{}
	}
	s := corev1.Secret{}
	if runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &s) != nil {
		return "", readiness.Kubeconfig{Secret: name, Missing: readiness.ReasonUnreachable}, time.Time{}
	}
	k := readiness.KubeconfigFrom(name, string(s.Type), s.GetLabels(), s.Data)
	cfg, err := clusters.Parse(k.Data, r.want.Limits)
	if err != nil {
		k.Refused, k.Program = err.Error(), clusters.RunsProgram(err)
		return s.GetResourceVersion(), k, time.Time{}
	}
	k.NotAfter = readiness.Expires(cfg.CertData, cfg.BearerToken)
	var nextAsk time.Time
	k.Answer, nextAsk = a.Ask(ctx, k.Data)
	return s.GetResourceVersion(), k, nextAsk
}
