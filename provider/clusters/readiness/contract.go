package readiness

import (
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/gobuffalo/flect"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
)

const (
	// Group of Cluster.
	Group = "cluster.x-k8s.io"

	labelCluster     = Group + "/cluster-name"
	annotationPaused = Group + "/paused"
)

// A Contract is a version of the contract between Cluster API and its providers. Versions of Cluster have the same names. Code outside this
// file reads fields and signals through the Contract, and compares it with no version.
type Contract string

// Contracts, which are also the versions of Cluster.
const (
	V1Beta1 Contract = "v1beta1"
	V1Beta2 Contract = "v1beta2"
)

// PublishedAPIVersion is the apiVersion of Cluster in the references that the provider publishes. Readers look at its group only. It does
// not follow the newest contract: that would change every published Site.
const PublishedAPIVersion = Group + "/" + string(V1Beta2)

// supportedLayouts lists every contract that can be read, the newest first. A new contract is its constant and its entry here.
func supportedLayouts() []layout {
	return []layout{
		{
			contract:                  V1Beta2,
			joins:                     []Contract{V1Beta2, V1Beta1},
			infrastructureProvisioned: signal{flag: []string{"status", "initialization", "infrastructureProvisioned"}},
			controlPlaneInitialized:   signal{flag: []string{"status", "initialization", "controlPlaneInitialized"}},
			controlPlaneAvailable: signal{
				condition: typeControlPlaneAvailable, conditions: []string{"status", "conditions"},
				flag: []string{"status", "initialization", "controlPlaneInitialized"},
			},
			conditions:          []string{"status", "conditions"},
			replicas:            []string{"status"},
			topologyClass:       []string{"classRef", "name"},
			topologyNamespace:   []string{"classRef", "namespace"},
			failure:             []string{"status", "deprecated", "v1beta1"},
			infrastructureReady: signal{flag: []string{"status", "initialization", "provisioned"}},
			controlPlaneReady: signal{
				condition: typeAvailable, conditions: []string{"status", "conditions"},
				flag: []string{"status", "initialization", "controlPlaneInitialized"},
			},
		},
		{
			contract:                  V1Beta1,
			joins:                     []Contract{V1Beta1}, // A core of this version does not know newer contracts.
			infrastructureProvisioned: signal{flag: []string{"status", "infrastructureReady"}},
			controlPlaneInitialized:   signal{condition: TypeControlPlaneInitialized, conditions: []string{"status", "conditions"}},
			controlPlaneAvailable: signal{
				condition: typeControlPlaneAvailable, conditions: []string{"status", "v1beta2", "conditions"},
				flag: []string{"status", "controlPlaneReady"},
			},
			conditions:          []string{"status", "v1beta2", "conditions"},
			replicas:            []string{"status", "v1beta2"},
			topologyClass:       []string{"class"},
			topologyNamespace:   []string{"classNamespace"},
			versionedReferences: true,
			failure:             []string{"status"},
			infrastructureReady: signal{flag: []string{"status", "ready"}},
			controlPlaneReady:   signal{flag: []string{"status", "ready"}},
		},
	}
}

// A layout has the field paths of one version, for reads and writes here. The layout of an unknown version is empty: nothing of it reports
// that it is ready.
type layout struct {
	contract Contract
	// joins are the contracts of providers that a Cluster of this version can be joined with, the newest first.
	joins []Contract

	// Signals of the Cluster.
	infrastructureProvisioned, controlPlaneInitialized, controlPlaneAvailable signal
	// conditions of the kind that came with v1beta2.
	conditions []string
	// replicas holds the counts of control planes and workers.
	replicas []string
	// topologyClass and topologyNamespace are the fields of spec.topology that name the ClusterClass.
	topologyClass, topologyNamespace []string
	// versionedReferences is true if a reference holds apiVersion and namespace, and false if it holds apiGroup alone.
	versionedReferences bool
	// failure holds failureReason and failureMessage, of a Cluster and of its providers' objects.
	failure []string

	// Signals of the providers' objects.
	infrastructureReady, controlPlaneReady signal
}

// A signal is how an object reports one thing: by a condition, or by a flag where it has no such condition.
type signal struct {
	condition  string
	conditions []string
	flag       []string
}

// layoutOfContract returns where a contract has its fields.
func (c Contract) layoutOfContract() layout {
	for _, l := range supportedLayouts() {
		if l.contract == c {
			return l
		}
	}
	return layout{}
}

// NewestContract that is supported.
func NewestContract() Contract { return supportedLayouts()[0].contract }

// ReferencedGroup returns the API group of a reference in a Cluster of this version.
func (c Contract) ReferencedGroup(reference map[string]string) string {
	if !c.layoutOfContract().versionedReferences {
		return reference["apiGroup"]
	}
	group, _, _ := strings.Cut(reference["apiVersion"], "/")
	return group
}

// NewReference returns the reference from a Cluster of this version to an object of its namespace.
func (c Contract) NewReference(gv schema.GroupVersion, kind, namespace, name string) map[string]any {
	if c.layoutOfContract().versionedReferences {
		return map[string]any{"apiVersion": gv.String(), "kind": kind, "namespace": namespace, "name": name}
	}
	return map[string]any{"apiGroup": gv.Group, "kind": kind, "name": name}
}

// NewTopology returns spec.topology of a Cluster of this version, with the ClusterClass that it names.
func (c Contract) NewTopology(namespace, class string) (map[string]any, error) {
	l, out := c.layoutOfContract(), map[string]any{}
	if l.contract == "" {
		return nil, errors.Errorf("cannot write a Cluster of version %q: it is not supported", c)
	}
	if err := unstructured.SetNestedField(out, class, l.topologyClass...); err != nil {
		return nil, errors.Wrap(err, "cannot set the name of the ClusterClass")
	}
	if err := unstructured.SetNestedField(out, namespace, l.topologyNamespace...); err != nil {
		return nil, errors.Wrap(err, "cannot set the namespace of the ClusterClass")
	}
	return out, nil
}

// DefinitionOf names the CustomResourceDefinition of a kind. Cluster API asks its providers to name it so.
func DefinitionOf(group, kind string) string {
	return flect.Pluralize(strings.ToLower(kind)) + "." + group
}

// ClusterVersion is the newest version of Cluster that a definition serves and that can be read here. It is empty if there is none.
func ClusterVersion(definition *unstructured.Unstructured) Contract {
	served := servedVersions(definition)
	for _, l := range supportedLayouts() {
		if slices.Contains(served, string(l.contract)) {
			return l.contract
		}
	}
	return ""
}

// ContractOf is the newest contract that a kind's definition says it follows, and that a Cluster of a version can be joined with, and
// the version of the kind that follows it. Both are empty if there is none.
func ContractOf(definition *unstructured.Unstructured, cluster Contract) (Contract, string) {
	served := servedVersions(definition)
	for _, c := range cluster.layoutOfContract().joins {
		if v := newestVersion(definition.GetLabels()[Group+"/"+string(c)], served); v != "" {
			return c, v
		}
	}
	return "", ""
}

// newestVersion returns the newest of the versions in a label that are served.
func newestVersion(label string, served []string) string {
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
