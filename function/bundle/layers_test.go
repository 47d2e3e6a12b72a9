package bundle

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	v1alpha1 "github.com/intentplane/intentplane/apis/bundle/v1alpha1"
)

// packagesOf returns packages by lines such as "shop: db cache".
func packagesOf(lines ...string) []v1alpha1.Package {
	out := []v1alpha1.Package{}
	for _, line := range lines {
		name, needs, _ := strings.Cut(line, ":")
		p := v1alpha1.Package{Name: v1alpha1.PackageName(name)}
		for n := range strings.FieldsSeq(needs) {
			p.DependsOn = append(p.DependsOn, v1alpha1.PackageName(n))
		}
		out = append(out, p)
	}
	return out
}

func TestOrderPackages(t *testing.T) {
	type layers = map[v1alpha1.PackageName]int32
	cases := map[string]struct {
		reason   string
		packages []v1alpha1.Package
		want     layers
		problem  string
	}{
		"Alone": {reason: "A package without dependencies is in the first layer.", packages: packagesOf("a"), want: layers{"a": 1}},
		"Diamond": {
			reason:   "A package is behind the last of its dependencies.",
			packages: packagesOf("d: b c", "c: a b", "b: a", "a"), want: layers{"a": 1, "b": 2, "c": 3, "d": 4},
		},
		"Twice": {
			reason:   "A name stands in a Bundle once.",
			packages: packagesOf("a", "b", "a"), problem: `spec.packages[2].name: "a" is the name of another package already`,
		},
		"Unknown": {
			reason:   "A package depends on packages of the Bundle only.",
			packages: packagesOf("a: b"), problem: `spec.packages[a].dependsOn: the Bundle has no package "b"`,
		},
		"Itself": {
			reason:   "A package does not depend on itself.",
			packages: packagesOf("a: a"), problem: "spec.packages[a].dependsOn: the packages wait for each other: a → a",
		},
		"Cycle": {
			reason: "A cycle is named by its path, without the packages that only lead there.", packages: packagesOf("x: b", "a: c", "b: a", "c: b"),
			problem: "spec.packages[b].dependsOn: the packages wait for each other: b → a → c → b",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, problem := OrderPackages(tc.packages)
			if diff := cmp.Diff(tc.problem, problem); diff != "" {
				t.Errorf("\n%s\nOrderPackages(...): -want problem, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nOrderPackages(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestOrderPackagesAtRandom orders random graphs: either each package is in the layer behind the last of its dependencies, or the named path leads along
// dependencies back to its beginning.
func TestOrderPackagesAtRandom(t *testing.T) {
	cycles := 0
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 7))
		packages := make([]v1alpha1.Package, 1+r.IntN(12))
		for i := range packages {
			packages[i].Name = v1alpha1.PackageName(fmt.Sprintf("p%d", i))
			for j := range packages {
				if r.IntN(6) == 0 {
					packages[i].DependsOn = append(packages[i].DependsOn, v1alpha1.PackageName(fmt.Sprintf("p%d", j)))
				}
			}
		}
		layers, problem := OrderPackages(packages)
		if problem != "" {
			cycles++
			checkCycle(t, packages, problem)
			continue
		}
		for _, p := range packages {
			last := int32(0)
			for _, needed := range p.DependsOn {
				last = max(last, layers[needed])
			}
			if layers[p.Name] != last+1 {
				t.Fatalf("seed %d: %s is in layer %d behind %d", seed, p.Name, layers[p.Name], last)
			}
		}
	}
	if cycles < 100 || cycles > 1900 {
		t.Errorf("%d of 2000 graphs have a cycle: the others, or these, were hardly tested", cycles)
	}
}

func checkCycle(t *testing.T, packages []v1alpha1.Package, problem string) {
	t.Helper()
	needs := map[string]bool{}
	for _, p := range packages {
		for _, n := range p.DependsOn {
			needs[string(p.Name)+" "+string(n)] = true
		}
	}
	_, path, _ := strings.Cut(problem, "wait for each other: ")
	names := strings.Split(path, " → ")
	if len(names) < 2 || names[0] != names[len(names)-1] {
		t.Fatalf("the path is not closed: %s", problem)
	}
	for i := range len(names) - 1 {
		if !needs[names[i]+" "+names[i+1]] {
			t.Fatalf("%s does not depend on %s: %s", names[i], names[i+1], problem)
		}
	}
}
