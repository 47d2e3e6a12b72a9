package deployment

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// stageFiles are the values of the stages, each with the only file whose functions may change it.
func stageFiles() map[string]string {
	return map[string]string{"Observed": "observe.go", "Compiled": "compile.go", "Decision": "decide.go"}
}

// foreignPointers returns the functions of a source file that take a pointer to the value of a stage of another file.
func foreignPointers(t *testing.T, name string, source any) []string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), name, source, 0)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	ast.Inspect(f, func(n ast.Node) bool {
		fields, function := parametersOf(n)
		for _, p := range fields {
			pointer, _ := p.Type.(*ast.StarExpr)
			if pointer == nil {
				continue
			}
			pointed, _ := pointer.X.(*ast.Ident)
			if pointed == nil || stageFiles()[pointed.Name] == "" || stageFiles()[pointed.Name] == name {
				continue
			}
			out = append(out, function+" takes *"+pointed.Name)
		}
		return true
	})
	return out
}

// parametersOf returns the receiver and the parameters of a function, and its name.
func parametersOf(n ast.Node) ([]*ast.Field, string) {
	switch f := n.(type) {
	case *ast.FuncDecl:
		if f.Recv == nil {
			return nil, f.Name.Name
		}
		return f.Recv.List, f.Name.Name
	case *ast.FuncType:
		return f.Params.List, "a function"
	}
	return nil, ""
}

// TestStagesTakeValues checks that no function outside its stage's file can change the value of a stage.
func TestStagesTakeValues(t *testing.T) {
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		for _, violation := range foreignPointers(t, e.Name(), nil) {
			t.Errorf("%s: %s: only functions of the stage's own file may change it", e.Name(), violation)
		}
	}
}

// TestForeignPointers checks that TestStagesTakeValues finds each violation.
func TestForeignPointers(t *testing.T) {
	cases := map[string]struct {
		reason string
		file   string
		source string
		want   []string
	}{
		"Value": {reason: "A function may take the value of another stage.", file: "decide.go", source: "func a(o Observed) {}"},
		"Own":   {reason: "A function may take a pointer to the value of its own stage.", file: "decide.go", source: "func a(d *Decision) {}"},
		"Foreign": {
			reason: "A function may take no pointer to the value of another stage.",
			file:   "decide.go", source: "func a(o *Observed) {}", want: []string{"a function takes *Observed"},
		},
		"Receiver": {
			reason: "A method of another file may have no pointer receiver.",
			file:   "requests.go", source: "func (k *Compiled) a() {}", want: []string{"a takes *Compiled"},
		},
		"Literal": {
			reason: "A function literal may take no pointer either.",
			file:   "gates.go", source: "var a = func(d *Decision) {}", want: []string{"a function takes *Decision"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, foreignPointers(t, tc.file, "package deployment\n"+tc.source)); diff != "" {
				t.Errorf("\n%s\nforeignPointers(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// A snapshot is a copy of all that later stages could write into, though they have no pointer to it.
type snapshot struct {
	Retained   map[string]Resource
	Deliveries map[string]*deliveryv1alpha1.GitDelivery
	Sync       *deliveryv1alpha1.SiteSync
	Gates      map[string]*rolloutv1alpha1.Gate
	State      ledger.State
	Compiled   map[string]*deliveryv1alpha1.GitDelivery
	Sites      []map[string]bool
	Status     *deploymentv1alpha1.IntentDeploymentStatus
}

func snapshotOf(in Input, o Observed, k Compiled) snapshot {
	return snapshot{
		Retained: copyResources(o.retained), Deliveries: copyObjects(o.deliveries), Sync: o.sync.DeepCopy(), Gates: copyObjects(o.gates),
		State: *o.state.DeepCopy(), Compiled: copyObjects(k.deliveries), Status: in.Status.DeepCopy(),
		Sites: []map[string]bool{copyMap(k.unobserved), copyMap(k.chosen), copyMap(k.clustered)},
	}
}

func copyMap[V any](in map[string]V) map[string]V {
	out := make(map[string]V, len(in))
	maps.Copy(out, in)
	return out
}

func copyObjects[T runtime.Object](in map[string]T) map[string]T {
	out := make(map[string]T, len(in))
	for name, o := range in {
		out[name] = o.DeepCopyObject().(T)
	}
	return out
}

func copyResources(in map[string]Resource) map[string]Resource {
	out := make(map[string]Resource, len(in))
	for name, r := range in {
		out[name] = Resource{Object: r.Object.DeepCopy(), Ready: r.Ready}
	}
	return out
}

// TestStagesLeaveEarlierValuesAlone checks that later stages do not change the result of a stage, also behind its pointers and maps.
func TestStagesLeaveEarlierValuesAlone(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(*world)
	}{
		"First":     {reason: "The first revision leaves earlier values alone.", change: func(*world) {}},
		"Steady":    {reason: "A call that changes nothing leaves earlier values alone.", change: func(w *world) { w.settle() }},
		"Next":      {reason: "A new intent leaves earlier values alone.", change: func(w *world) { w.settle(); w.say(`{"service": "shop", "sites": ["edge2"]}`) }},
		"Renderer":  {reason: "A deferred renderer leaves earlier values alone.", change: deferRenderer},
		"Moved":     {reason: "A delivery to another repository leaves earlier values alone.", change: moveRepository},
		"Rejected":  {reason: "A rollback leaves earlier values alone.", change: rejectSecond},
		"Problem":   {reason: "A problem of the spec leaves earlier values alone.", change: func(w *world) { w.settle(); w.say("{}") }},
		"Suspended": {reason: "A suspended deployment leaves earlier values alone.", change: suspendSecond},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.call()
			tc.change(w)
			in := w.in
			in.Spec = *w.in.Spec.DeepCopy()
			in.Spec.Default()
			o, err := w.core.observe(in)
			if err != nil {
				t.Fatal(err)
			}
			k, err := w.core.compileDesired(t.Context(), in, o)
			if err != nil {
				t.Fatal(err)
			}
			original := snapshotOf(in, o, k)
			d, err := makeDecision(in, o, k)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(original, snapshotOf(in, o, k)); diff != "" {
				t.Errorf("\n%s\ndecide(...): -before, +after:\n%s", tc.reason, diff)
			}
			decided, desired := copyResources(d.retained), copyObjects(d.Desired)
			buildOutput(in, o, k, d)
			if diff := cmp.Diff(original, snapshotOf(in, o, k)); diff != "" {
				t.Errorf("\n%s\nanswer(...): -before, +after:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(decided, d.retained) + cmp.Diff(desired, d.Desired); diff != "" {
				t.Errorf("\n%s\nanswer(...): the decision: -before, +after:\n%s", tc.reason, diff)
			}
		})
	}
}

// deferRenderer lets a new renderer wait for approval.
func deferRenderer(w *world) {
	w.manual()
	w.settle()
	w.upgrade("# newer")
}

// moveRepository lets the deployment go to another repository.
func moveRepository(w *world) {
	w.settle()
	o := w.object("ClusterProviderConfig", "default").DeepCopy()
	o.SetName("other")
	w.objects = append(w.objects, o)
	w.set("ClusterProviderConfig", "other", "https://git.example.org/other.git", "spec", "git", "url")
	w.in.Spec.DeliveryConfig.GitOpsRepo.Name = "other"
	w.call()
}

// rejectSecond lets a repository refuse the second revision.
func rejectSecond(w *world) {
	w.settle()
	w.say(`{"service": "shop", "sites": ["edge1", "edge2"], "replicas": 3}`)
	w.apply(w.call())
	w.refuseWith("PolicyDenied")
	w.deliver()
}

// suspendSecond suspends a deployment whose intent changes.
func suspendSecond(w *world) {
	w.settle()
	w.in.Spec.Suspend = new(true)
	w.say(`{"service": "shop", "sites": ["edge1", "edge2"], "replicas": 3}`)
}
