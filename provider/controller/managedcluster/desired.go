package managedcluster

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/apis/cluster/v1alpha1"
	"github.com/intentplane/intentplane/provider/clusters/clusterapi"
	"github.com/intentplane/intentplane/provider/clusters/readiness"
)

const (
	kindCluster          = "Cluster"
	kindCAPTCluster      = "CAPTCluster"
	kindCAPTControlPlane = "CAPTControlPlane"

	groupInfrastructure = "infrastructure.cluster.x-k8s.io"
	groupControlPlane   = "controlplane.cluster.x-k8s.io"

	// digestLength is the number of bytes of the digest of the desired state in an annotation.
	digestLength = 8
)

// newObject returns an object with the cluster's name and the owner's labels. It has no owner reference: Cluster API and CAPT set owner
// references, and adopt no object that has another one.
func newObject(mc *v1alpha1.ManagedCluster, apiVersion, kind string, spec map[string]any) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	o.SetAPIVersion(apiVersion)
	o.SetKind(kind)
	o.SetNamespace(clusterNamespace(mc))
	o.SetName(mc.Spec.ForProvider.Cluster.Name)
	o.SetLabels(ownerLabels(mc))
	return o
}

// ownerLabels returns the labels with the ManagedCluster of an object, and its composite.
func ownerLabels(mc *v1alpha1.ManagedCluster) map[string]string {
	out := mc.Marks()
	out[v1alpha1.LabelOwner] = string(mc.GetUID())
	return out
}

// setAppliedDigest annotates an object with a digest of its desired state. The digest differs when a field is not desired any more:
// server-side apply then removes that field, and leaves the fields of other controllers.
func setAppliedDigest(o *unstructured.Unstructured) *unstructured.Unstructured {
	sum := sha256.New()
	for _, v := range []any{o.GetLabels(), o.GetAnnotations(), o.Object["spec"]} {
		_ = json.NewEncoder(sum).Encode(v) //nolint:errchkjson // Encoding cannot fail here, and sorts keys.
	}
	meta.AddAnnotations(o, map[string]string{v1alpha1.AnnotationApplied: hex.EncodeToString(sum.Sum(nil)[:digestLength])})
	return o
}

// newCAPTCluster returns CAPT's object of the network. CAPT itself writes workspaceTemplateApplyName.
func newCAPTCluster(mc *v1alpha1.ManagedCluster, k clusterapi.Kind) *unstructured.Unstructured {
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
	return setAppliedDigest(newObject(mc, k.Resource.GroupVersion().String(), kindCAPTCluster, spec))
}

// newCAPTControlPlane returns CAPT's object of the control plane. CAPT itself writes controlPlaneEndpoint and workspaceTemplateApplyName.
func newCAPTControlPlane(mc *v1alpha1.ManagedCluster, k clusterapi.Kind) *unstructured.Unstructured {
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
	return setAppliedDigest(newObject(mc, k.Resource.GroupVersion().String(), kindCAPTControlPlane, spec))
}

// normalizedVersion returns the version of Kubernetes with a leading v. Cluster API's webhook adds it to a version without one, and the two
// would differ for ever.
func normalizedVersion(mc *v1alpha1.ManagedCluster) string {
	return "v" + strings.TrimPrefix(mc.Spec.ForProvider.Version, "v")
}

func templateRef(mc *v1alpha1.ManagedCluster, ref v1alpha1.TemplateReference) map[string]any {
	return map[string]any{"name": ref.Name, "namespace": namespaceOrOwn(mc, ref.Namespace)}
}

func namespaceOrOwn(mc *v1alpha1.ManagedCluster, ns string) string {
	if ns == "" {
		return clusterNamespace(mc)
	}
	return ns
}

// newCluster returns the Cluster, with the labels and annotations of the spec, by which others select it.
func newCluster(mc *v1alpha1.ManagedCluster, v readiness.Contract, spec map[string]any) *unstructured.Unstructured {
	o := newObject(mc, readiness.Group+"/"+string(v), kindCluster, spec)
	labels := plainTexts(mc.Spec.ForProvider.Labels)
	maps.Copy(labels, o.GetLabels())
	o.SetLabels(labels)
	o.SetAnnotations(plainTexts(mc.Spec.ForProvider.Annotations))
	return setAppliedDigest(o)
}

func plainTexts[V ~string](values map[string]V) map[string]string {
	out := map[string]string{}
	for key, value := range values {
		out[key] = string(value)
	}
	return out
}

// newTopologySpec returns the spec of a Cluster with a ClusterClass. It returns an error if a variable is not valid JSON.
func newTopologySpec(mc *v1alpha1.ManagedCluster, v readiness.Contract) (map[string]any, error) {
	t := mc.Spec.ForProvider.Topology
	out, err := v.NewTopology(clusterNamespace(mc), t.ClassRef.Name)
	if err != nil {
		return nil, err
	}
	out["version"] = normalizedVersion(mc)
	if t.ControlPlane.Replicas != nil {
		out["controlPlane"] = map[string]any{"replicas": int64(*t.ControlPlane.Replicas)}
	}
	var workers []any
	for _, w := range t.Workers {
		worker := map[string]any{"class": w.Class, "name": w.Name}
		if w.Replicas != nil {
			worker["replicas"] = int64(*w.Replicas)
		}
		workers = append(workers, worker)
	}
	if len(workers) > 0 {
		out["workers"] = map[string]any{"machineDeployments": workers}
	}
	var variables []any
	for _, x := range t.Variables {
		var value any
		if err := json.Unmarshal(x.Value.Raw, &value); err != nil {
			return nil, errors.Wrapf(err, "cannot read variable %q", x.Name)
		}
		variables = append(variables, map[string]any{"name": x.Name, "value": value})
	}
	if len(variables) > 0 {
		out["variables"] = variables
	}
	return map[string]any{"topology": out}, nil
}

// containsAll reports whether an observed value has all that is desired. Fields of other controllers do not matter.
func containsAll(live, want any) bool {
	switch w := want.(type) {
	case map[string]any:
		l, ok := live.(map[string]any)
		for key, value := range w {
			if ok = ok && containsAll(l[key], value); !ok {
				return false
			}
		}
		return ok
	case []any:
		l, ok := live.([]any)
		return ok && (containsAllByName(l, w) || slices.EqualFunc(l, w, containsAll))
	}
	// CAPT omits fields that are false.
	return comparableNumber(live) == comparableNumber(want) || live == nil && want == false
}

// containsAllByName compares each desired element with the observed one of its name. There may be others between them, such as the
// variables that a ClusterClass has defaults for.
func containsAllByName(live, want []any) bool {
	for _, w := range want {
		name := elementName(w)
		if i := slices.IndexFunc(live, func(l any) bool { return elementName(l) == name }); name == "" || i < 0 || !containsAll(live[i], w) {
			return false
		}
	}
	return len(want) > 0
}

func elementName(v any) string {
	m, _ := v.(map[string]any)
	name, _ := m["name"].(string)
	return name
}

// comparableNumber returns integers as float64, as JSON decodes them.
func comparableNumber(v any) any {
	if n, ok := v.(int64); ok {
		return float64(n)
	}
	return v
}

// hasDesiredState reports whether an object has the desired labels, annotations and spec.
func hasDesiredState(live, want *unstructured.Unstructured) bool {
	return containsAll(anyMap(live.GetLabels()), anyMap(want.GetLabels())) && containsAll(anyMap(live.GetAnnotations()), anyMap(want.GetAnnotations())) &&
		containsAll(live.Object["spec"], want.Object["spec"])
}

func anyMap(m map[string]string) map[string]any {
	out := map[string]any{}
	for key, value := range m {
		out[key] = value
	}
	return out
}
