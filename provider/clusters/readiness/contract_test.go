package readiness

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// definition returns a CustomResourceDefinition with these versions. A version after a minus sign is not served.
func definition(labels map[string]string, versions ...string) *unstructured.Unstructured {
	list := []any{}
	for _, v := range versions {
		served := v[0] != '-'
		if !served {
			v = v[1:]
		}
		list = append(list, map[string]any{"name": v, "served": served})
	}
	u := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"versions": list}}}
	u.SetLabels(labels)
	return u
}

func TestContractOf(t *testing.T) {
	oldLabel, newLabel := "cluster.x-k8s.io/v1beta1", "cluster.x-k8s.io/v1beta2"
	cases := map[string]struct {
		reason  string
		labels  map[string]string
		served  []string
		cluster Contract
		want    string
	}{
		"Old": {
			reason: "A provider of contract v1beta1, such as CAPT, is read by that contract.",
			labels: map[string]string{oldLabel: "v1beta1"}, served: []string{"v1beta1"}, cluster: V1Beta2, want: "v1beta1/v1beta1",
		},
		"New": {
			reason: "The newest contract of a kind that has two is taken.",
			labels: map[string]string{oldLabel: "v1beta1", newLabel: "v1beta2"}, served: []string{"v1beta1", "v1beta2"}, cluster: V1Beta2,
			want: "v1beta2/v1beta2",
		},
		"OldCore": {
			reason: "A Cluster v1beta1 is joined with contract v1beta1, whatever else the kind follows.",
			labels: map[string]string{oldLabel: "v1beta1", newLabel: "v1beta2"}, served: []string{"v1beta1", "v1beta2"}, cluster: V1Beta1,
			want: "v1beta1/v1beta1",
		},
		"Several": {
			reason: "The newest served version of the versions in the label is taken.",
			labels: map[string]string{oldLabel: "v1alpha4_v1beta1_v1_v1beta2"}, served: []string{"v1", "v1beta1", "v1beta2", "v1alpha4"},
			cluster: V1Beta2, want: "v1beta1/v1",
		},
		"NotServed": {
			reason: "A version that is not served is skipped, and the next contract is taken.",
			labels: map[string]string{newLabel: "v1beta2", oldLabel: "v1beta1"}, served: []string{"-v1beta2", "v1beta1"}, cluster: V1Beta2,
			want: "v1beta1/v1beta1",
		},
		"NoLabel": {reason: "A definition without the label follows no known contract.", served: []string{"v1beta1"}, cluster: V1Beta2, want: "/"},
		"Future": {
			reason: "A contract that is not in the list is not taken.",
			labels: map[string]string{"cluster.x-k8s.io/v1": "v1"}, served: []string{"v1"}, cluster: V1Beta2, want: "/",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, v := ContractOf(definition(tc.labels, tc.served...), tc.cluster)
			if diff := cmp.Diff(tc.want, string(c)+"/"+v); diff != "" {
				t.Errorf("\n%s\nContractOf(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
	for served, want := range map[string]Contract{"v1beta1": V1Beta1, "v1beta2": V1Beta2, "v2": "", "-v1beta2": ""} {
		if got := ClusterVersion(definition(nil, served)); got != want {
			t.Errorf("ClusterVersion() of %s: want %q, got %q", served, want, got)
		}
	}
	if got := ClusterVersion(definition(nil, "v1beta1", "v1beta2")); got != V1Beta2 {
		t.Errorf("ClusterVersion(): want the newest, got %q", got)
	}
	for kind, want := range map[string]string{"CAPTControlPlane": "captcontrolplanes.g", "KubeadmControlPlane": "kubeadmcontrolplanes.g", "DockerCluster": "dockerclusters.g", "Proxy": "proxies.g"} {
		if got := DefinitionOf("g", kind); got != want {
			t.Errorf("DefinitionOf(%s): want %s, got %s", kind, want, got)
		}
	}
}

func TestContractWrites(t *testing.T) {
	gv := schema.GroupVersion{Group: "g", Version: "v9"}
	cases := map[string]struct {
		reason              string
		contract            Contract
		reference, topology map[string]any
	}{
		"V1Beta1": {
			reason: "A Cluster v1beta1 refers to a version and a namespace, and names its class in two fields.", contract: V1Beta1,
			reference: map[string]any{"apiVersion": "g/v9", "kind": "K", "namespace": "n", "name": "c1"},
			topology:  map[string]any{"class": "small", "classNamespace": "n"},
		},
		"V1Beta2": {
			reason: "A Cluster v1beta2 refers to a group, and names its class in one field.", contract: V1Beta2,
			reference: map[string]any{"apiGroup": "g", "kind": "K", "name": "c1"},
			topology:  map[string]any{"classRef": map[string]any{"name": "small", "namespace": "n"}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			reference := tc.contract.NewReference(gv, "K", "n", "c1")
			if diff := cmp.Diff(tc.reference, reference); diff != "" {
				t.Errorf("\n%s\nNewReference(): -want, +got:\n%s", tc.reason, diff)
			}
			read := map[string]string{}
			for field, value := range reference {
				read[field] = stringOrEmpty(value)
			}
			if got := tc.contract.ReferencedGroup(read); got != "g" {
				t.Errorf("\n%s\nReferencedGroup(%v): want g, got %q", tc.reason, read, got)
			}
			topology, err := tc.contract.NewTopology("n", "small")
			if diff := cmp.Diff(tc.topology, topology); diff != "" || err != nil {
				t.Errorf("\n%s\nNewTopology(): error %v, -want, +got:\n%s", tc.reason, err, diff)
			}
		})
	}
	if _, err := Contract("v1").NewTopology("n", "small"); err == nil {
		t.Error("NewTopology() of a contract that is not supported: want an error, got none")
	}
}

// TestUnknownContract shows that an object of a contract that is not in the list is never ready.
func TestUnknownContract(t *testing.T) {
	in := good(V1Beta2, V1Beta2)
	in.Infrastructure.Contract, in.ControlPlane.Contract = "v1", "v1"
	r := Read(in)
	for _, conditionType := range []string{TypeInfrastructureReady, TypeControlPlaneReady} {
		if c := r.Condition(conditionType); c.Status == True {
			t.Errorf("Read(): condition %s of a provider with an unknown contract: want not True, got %s", conditionType, c.Status)
		}
	}
}

// TestContractsAreInOneFile finds code that names a version of the contract. Code asks a Contract instead, so that a new version is one
// entry of layouts.
func TestContractsAreInOneFile(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	for _, dir := range []string{"provider", "function", "apis", "cmd"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, "readiness/contract.go") {
				return err
			}
			for _, location := range versionsNamed(t, path) {
				t.Errorf("%s names a contract version of Cluster API: add its fields to layout in readiness/contract.go", location)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// versionsNamed returns where a file names one of the constants of the contracts, or compares one as a text.
func versionsNamed(t *testing.T, path string) []string {
	t.Helper()
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	ast.Inspect(f, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && (id.Name == "V1Beta1" || id.Name == "V1Beta2") {
			out = append(out, set.Position(id.Pos()).String())
		}
		if text, ok := n.(*ast.BasicLit); ok && (text.Value == `"v1beta2"` || text.Value == `"cluster.x-k8s.io/v1beta1"` || text.Value == `"cluster.x-k8s.io/v1beta2"`) {
			out = append(out, set.Position(text.Pos()).String())
		}
		return true
	})
	return out
}
