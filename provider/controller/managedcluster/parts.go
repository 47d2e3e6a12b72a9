package managedcluster

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
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

	// digestLength is how many bytes of a digest tell what was applied from what is wanted.
	digestLength = 8
)

// object of the cluster's name, with our labels. It has no owner: core and CAPT set those, and take no other for one of theirs.
func object(mc *v1alpha1.ManagedCluster, apiVersion, kind string, spec map[string]any) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	o.SetAPIVersion(apiVersion)
	o.SetKind(kind)
	o.SetNamespace(namespace(mc))
	o.SetName(mc.Spec.ForProvider.Cluster.Name)
	o.SetLabels(ownerLabels(mc))
	return o
}

// ownerLabels say which ManagedCluster made an object, and of which composite it is.
func ownerLabels(mc *v1alpha1.ManagedCluster) map[string]string {
	out := mc.Marks()
	out[v1alpha1.LabelOwner] = string(mc.GetUID())
	return out
}

// seal an object with a digest of what is wanted of it. By it a field that is not wanted any more is noticed: server-side apply then
// removes it, and what others wrote stays.
func seal(o *unstructured.Unstructured) *unstructured.Unstructured {
	sum := sha256.New()
	for _, v := range []any{o.GetLabels(), o.GetAnnotations(), o.Object["spec"]} {
		// What is made here can be encoded, with sorted keys.
		_ = json.NewEncoder(sum).Encode(v) //nolint:errchkjson // See above.
	}
	annotations := o.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[v1alpha1.AnnotationApplied] = hex.EncodeToString(sum.Sum(nil)[:digestLength])
	o.SetAnnotations(annotations)
	return o
}

// captCluster is the network, as CAPT has it. CAPT itself writes workspaceTemplateApplyName.
func captCluster(mc *v1alpha1.ManagedCluster, k clusterapi.Kind) *unstructured.Unstructured {
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
	return seal(object(mc, k.Resource.GroupVersion().String(), kindCAPTCluster, spec))
}

// captControlPlane is the control plane, as CAPT has it. CAPT itself writes controlPlaneEndpoint and workspaceTemplateApplyName.
func captControlPlane(mc *v1alpha1.ManagedCluster, k clusterapi.Kind) *unstructured.Unstructured {
	p := mc.Spec.ForProvider.CAPT
	config := map[string]any{"region": p.Region}
	if a := p.ControlPlane.EndpointAccess; a != nil {
		config["endpointAccess"] = map[string]any{"public": a.Public == nil || *a.Public, "private": a.Private == nil || *a.Private}
	}
	spec := map[string]any{
		"version": versionOf(mc), "workspaceTemplateRef": templateRef(mc, p.ControlPlane.TemplateRef), "controlPlaneConfig": config,
	}
	if len(p.ControlPlane.Tags) > 0 {
		tags := map[string]any{}
		for key, value := range p.ControlPlane.Tags {
			tags[key] = string(value)
		}
		spec["additionalTags"] = tags
	}
	return seal(object(mc, k.Resource.GroupVersion().String(), kindCAPTControlPlane, spec))
}

// versionOf a cluster, as Cluster API writes it: its webhook puts a v before one that has none, and would do so for ever.
func versionOf(mc *v1alpha1.ManagedCluster) string {
	return "v" + strings.TrimPrefix(mc.Spec.ForProvider.Version, "v")
}

func templateRef(mc *v1alpha1.ManagedCluster, ref v1alpha1.TemplateReference) map[string]any {
	return map[string]any{"name": ref.Name, "namespace": orOwn(mc, ref.Namespace)}
}

func orOwn(mc *v1alpha1.ManagedCluster, ns string) string {
	if ns == "" {
		return namespace(mc)
	}
	return ns
}

// cluster of a version, with labels and annotations by which others select it.
func cluster(mc *v1alpha1.ManagedCluster, v readiness.Contract, spec map[string]any) *unstructured.Unstructured {
	o := object(mc, readiness.Group+"/"+string(v), kindCluster, spec)
	labels := map[string]string{}
	for key, value := range mc.Spec.ForProvider.Labels {
		labels[key] = string(value)
	}
	maps.Copy(labels, o.GetLabels())
	o.SetLabels(labels)
	annotations := map[string]string{}
	for key, value := range mc.Spec.ForProvider.Annotations {
		annotations[key] = string(value)
	}
	o.SetAnnotations(annotations)
	return seal(o)
}

// topology of a cluster with a ClusterClass. It returns an error if a variable is no JSON.
func topology(mc *v1alpha1.ManagedCluster, v readiness.Contract) (map[string]any, error) {
	t := mc.Spec.ForProvider.Topology
	out, err := v.NewTopology(namespace(mc), t.ClassRef.Name)
	if err != nil {
		return nil, err
	}
	out["version"] = versionOf(mc)
	if t.ControlPlane.Replicas != nil {
		out["controlPlane"] = map[string]any{"replicas": int64(*t.ControlPlane.Replicas)}
	}
	var workers []any
	for _, w := range t.Workers {
		one := map[string]any{"class": w.Class, "name": w.Name}
		if w.Replicas != nil {
			one["replicas"] = int64(*w.Replicas)
		}
		workers = append(workers, one)
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

// says is true if an object has all that is wanted of it. What others added does not matter.
func says(live, want any) bool {
	switch w := want.(type) {
	case map[string]any:
		l, ok := live.(map[string]any)
		for key, value := range w {
			if ok = ok && says(l[key], value); !ok {
				return false
			}
		}
		return ok
	case []any:
		l, ok := live.([]any)
		return ok && (saysNamed(l, w) || slices.EqualFunc(l, w, says))
	}
	// CAPT writes its objects without what is false.
	return number(live) == number(want) || live == nil && want == false
}

// saysNamed finds each element that is wanted by its name. Others have theirs between them, such as the variables that a ClusterClass has
// defaults for.
func saysNamed(live, want []any) bool {
	for _, w := range want {
		name := nameOf(w)
		if i := slices.IndexFunc(live, func(l any) bool { return nameOf(l) == name }); name == "" || i < 0 || !says(live[i], w) {
			return false
		}
	}
	return len(want) > 0
}

func nameOf(v any) string {
	m, _ := v.(map[string]any)
	name, _ := m["name"].(string)
	return name
}

// number makes numbers of JSON comparable.
func number(v any) any {
	if n, ok := v.(int64); ok {
		return float64(n)
	}
	return v
}

// carries is true if an object has the labels, annotations and spec that are wanted of it.
func carries(live, want *unstructured.Unstructured) bool {
	return says(text(live.GetLabels()), text(want.GetLabels())) && says(text(live.GetAnnotations()), text(want.GetAnnotations())) &&
		says(live.Object["spec"], want.Object["spec"])
}

func text(m map[string]string) map[string]any {
	out := map[string]any{}
	for key, value := range m {
		out[key] = value
	}
	return out
}
