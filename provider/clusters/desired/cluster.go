// Package desired computes the desired objects of a ManagedCluster: the objects of Cluster API and of CAPT, and the Site. It compares them with the observed
// objects. It is pure.
package desired

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/apis/cluster/v1alpha1"
	"github.com/intentplane/intentplane/provider/clusters/readiness"
)

// Kinds of the objects of a cluster.
const (
	KindCluster          = "Cluster"
	KindCAPTCluster      = "CAPTCluster"
	KindCAPTControlPlane = "CAPTControlPlane"
)

// digestLength is the number of bytes of the digest of the desired state in an annotation.
const digestLength = 8

// newClusterObject returns an object with the cluster's name and the owner's labels. It has no owner reference: Cluster API and CAPT set owner
// references, and adopt no object that has another one.
func newClusterObject(mc *v1alpha1.ManagedCluster, apiVersion, kind string, spec map[string]any) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	o.SetAPIVersion(apiVersion)
	o.SetKind(kind)
	o.SetNamespace(Namespace(mc))
	o.SetName(mc.Spec.ForProvider.Cluster.Name)
	o.SetLabels(OwnerLabels(mc))
	return o
}

// OwnerLabels returns the labels with the ManagedCluster of an object, and its composite.
func OwnerLabels(mc *v1alpha1.ManagedCluster) map[string]string {
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

// normalizedVersion returns the version of Kubernetes with a leading v. Cluster API's webhook adds it to a version without one, and the two
// would differ for ever.
func normalizedVersion(mc *v1alpha1.ManagedCluster) string {
	return "v" + strings.TrimPrefix(mc.Spec.ForProvider.Version, "v")
}

// Namespace returns the namespace of the cluster. It is always the ManagedCluster's own.
func Namespace(mc *v1alpha1.ManagedCluster) string { return mc.GetNamespace() }

// NamespaceOrOwn returns the namespace of a reference, which is the namespace of the cluster if the reference has none.
func NamespaceOrOwn(mc *v1alpha1.ManagedCluster, ns string) string {
	if ns == "" {
		return Namespace(mc)
	}
	return ns
}

// NewCluster returns the Cluster, with the labels and annotations of the spec, by which others select it.
func NewCluster(mc *v1alpha1.ManagedCluster, v readiness.Contract, spec map[string]any) *unstructured.Unstructured {
	o := newClusterObject(mc, readiness.Group+"/"+string(v), KindCluster, spec)
	labels := convertToStringMap(mc.Spec.ForProvider.Labels)
	maps.Copy(labels, o.GetLabels())
	o.SetLabels(labels)
	o.SetAnnotations(convertToStringMap(mc.Spec.ForProvider.Annotations))
	return setAppliedDigest(o)
}

func convertToStringMap[V ~string](values map[string]V) map[string]string {
	out := map[string]string{}
	for key, value := range values {
		out[key] = string(value)
	}
	return out
}

// NewTopologySpec returns the spec of a Cluster with a ClusterClass. It returns an error if a variable is not valid JSON.
func NewTopologySpec(mc *v1alpha1.ManagedCluster, v readiness.Contract) (map[string]any, error) {
	t := mc.Spec.ForProvider.Topology
	out, err := v.NewTopology(Namespace(mc), t.ClassRef.Name)
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
