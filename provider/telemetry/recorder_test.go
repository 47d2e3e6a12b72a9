package telemetry

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

// TestStartAtZero checks that each counter exists with 0 before anything is counted, and so do gauges that alerts read.
func TestStartAtZero(t *testing.T) {
	r := prometheus.NewRegistry()
	if _, err := New(r); err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{
		nameRollbacks: 1, nameUnreachable: 1, nameOutcomes: 3, nameValidations: 2, nameTransitions: 22, nameClusterMoves: 19, nameCanaries: 8, nameCanarySteps: 4,
		nameOperations: 30, nameSourceLooks: 15, nameSourceHooks: 5, nameMeasurements: 28, namePruned: 15, nameBuilds: 8, nameNotifications: 3, nameNotifyPending: 1,
	}
	for _, f := range Families() {
		got, err := testutil.GatherAndCount(r, f.Name)
		if err != nil || got == 0 && f.Type() == "counter" {
			t.Errorf("%s has no series from the start: %v", f.Name, err)
		}
		if want, isFixed := counts[f.Name]; isFixed && got != want {
			t.Errorf("%s: want %d series from the start, got %d", f.Name, want, got)
		}
	}
	found, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		for _, m := range f.GetMetric() {
			if v := m.GetCounter().GetValue(); v != 0 {
				t.Errorf("%s begins at %v", f.GetName(), v)
			}
		}
	}
}

// constantsOf returns the values of constants in the files of a directory, sorted.
func constantsOf(t *testing.T, dir string, isWanted func(name, typ string) bool) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			v, ok := n.(*ast.ValueSpec)
			if !ok || len(v.Values) != 1 {
				return true
			}
			typ := ""
			if named, ok := v.Type.(*ast.Ident); ok {
				typ = named.Name
			}
			text, isText := v.Values[0].(*ast.BasicLit)
			if isText && isWanted(v.Names[0].Name, typ) {
				value, err := strconv.Unquote(text.Value)
				if err != nil {
					t.Fatal(err)
				}
				out = append(out, value)
			}
			return true
		})
	}
	slices.Sort(out)
	return out
}

// TestCounterSeries compares the values of labels with the constants of the counting packages: a missing value begins with its first count.
func TestCounterSeries(t *testing.T) {
	ofType := func(want string) func(name, typ string) bool { return func(_, typ string) bool { return typ == want } }
	withPrefix := func(want string) func(name, typ string) bool {
		return func(name, _ string) bool { return strings.HasPrefix(name, want) }
	}
	cases := map[string]struct {
		reason   string
		metric   string
		label    int
		dir      string
		isWanted func(name, typ string) bool
		besides  []string
	}{
		"Operations": {reason: "Both operations are counted.", metric: nameOperations, dir: "provider/repository", isWanted: withPrefix("Operation")},
		"Classes": {
			reason: "An operation has a class, or succeeds.",
			metric: nameOperations, label: 1, dir: "provider/git/failure", isWanted: ofType("Class"), besides: []string{Succeeded},
		},
		"Looks": {
			reason: "Looks at a repository with source code are counted, too.",
			metric: nameSourceLooks, dir: "provider/git/failure", isWanted: ofType("Class"), besides: []string{Succeeded},
		},
		"Outcomes": {reason: "A measurement has an outcome.", metric: nameMeasurements, label: 1, dir: "provider/gates", isWanted: ofType("Outcome")},
		"Verdicts": {reason: "An item of a plan has a verdict.", metric: namePruned, dir: "provider/prune", isWanted: ofType("Verdict")},
		"KeepReasons": {
			reason: "An item that is kept has a reason.",
			metric: namePruned, label: 1, dir: "provider/prune", isWanted: ofType("Reason"), besides: []string{None},
		},
		"Hooks": {reason: "A hook has a result.", metric: nameSourceHooks, dir: "provider/hooks", isWanted: withPrefix("Result")},
		"BuildReasons": {
			reason: "A build that failed has a reason.",
			metric: nameBuilds, label: 1, dir: "apis/build/v1alpha1", isWanted: withPrefix("ReasonFailure"), besides: []string{""},
		},
	}
	series := counterSeries()
	maps.Copy(series, buildSeries())
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, row := range series[tc.metric] {
				got = append(got, row[tc.label])
			}
			slices.Sort(got)
			want := append(constantsOf(t, tc.dir, tc.isWanted), tc.besides...)
			slices.Sort(want)
			if diff := cmp.Diff(want, slices.Compact(got)); diff != "" {
				t.Errorf("\n%s\n%s begins with other values: -constants, +series:\n%s", tc.reason, tc.metric, diff)
			}
		})
	}
}

// TestCheckTypes compares the types of checks with the types that a Gate may have.
func TestCheckTypes(t *testing.T) {
	text, err := os.ReadFile("../../apis/deployment/v1alpha1/gates_types.go")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`// Type of the check\.\n(?:\t//.*\n)*\t// \+kubebuilder:validation:Enum=(\S+)\n`).FindStringSubmatch(string(text))
	if len(found) != 2 {
		t.Fatal("cannot find the types of checks in their API")
	}
	if diff := cmp.Diff(strings.Split(found[1], ";"), gateCheckTypes()); diff != "" {
		t.Errorf("checkTypes(): -API, +got:\n%s", diff)
	}
}
