package readiness

import (
	"slices"
	"strings"

	"github.com/gobuffalo/flect"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/version"
)

const (
	// Group of Cluster.
	Group = "cluster.x-k8s.io"

	labelCluster     = Group + "/cluster-name"
	annotationPaused = Group + "/paused"
)

// A Contract is a version of what Cluster API asks of its providers. Versions of Cluster are called the same.
type Contract string

// Contracts, which are also the versions of Cluster.
const (
	V1Beta1 Contract = "v1beta1"
	V1Beta2 Contract = "v1beta2"
)

// contracts that can be read, the newest first.
func contracts() []Contract { return []Contract{V1Beta2, V1Beta1} }

// DefinitionOf names the CustomResourceDefinition of a kind. Cluster API asks its providers to name it so.
func DefinitionOf(group, kind string) string {
	return flect.Pluralize(strings.ToLower(kind)) + "." + group
}

// ClusterVersion is the newest version of Cluster that a definition serves and that can be read here. It is empty if there is none.
func ClusterVersion(definition *unstructured.Unstructured) Contract {
	served := servedVersions(definition)
	for _, c := range contracts() {
		if slices.Contains(served, string(c)) {
			return c
		}
	}
	return ""
}

// ContractOf is the newest contract that a kind's definition says it follows, and that a Cluster of a version can be joined with, and
// the version of the kind that follows it. Both are empty if there is none. An old core does not know a new contract.
func ContractOf(definition *unstructured.Unstructured, cluster Contract) (Contract, string) {
	served := servedVersions(definition)
	for _, c := range contracts() {
		if cluster == V1Beta1 && c != V1Beta1 {
			continue
		}
		if v := newest(definition.GetLabels()[Group+"/"+string(c)], served); v != "" {
			return c, v
		}
	}
	return "", ""
}

// newest of the versions in a label that are served.
func newest(label string, served []string) string {
	versions := slices.DeleteFunc(strings.Split(label, "_"), func(v string) bool { return !slices.Contains(served, v) })
	if len(versions) == 0 {
		return ""
	}
	return slices.MaxFunc(versions, version.CompareKubeAwareVersionStrings)
}

func servedVersions(definition *unstructured.Unstructured) []string {
	versions, _, _ := unstructured.NestedSlice(definition.Object, "spec", "versions")
	var out []string
	for _, v := range versions {
		m, ok := v.(map[string]any)
		name, _ := m["name"].(string)
		if served, _ := m["served"].(bool); ok && served {
			out = append(out, name)
		}
	}
	return out
}
