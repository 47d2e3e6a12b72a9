package objects

import (
	"context"
	"reflect"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/test/hostile"
)

// Limits of the processor time and memory of one method on a hostile graph, with the meter of one directory, a tenth of a plan's.
const (
	maxCorpusTime = 5 * time.Second
	maxCorpusMiB  = 32
)

// graphObjects returns the objects of a graph by their ids.
func graphObjects(g hostile.Graph) map[plumbing.Hash]Object {
	out := map[plumbing.Hash]Object{}
	for _, o := range g.Objects {
		object := NewObject(plumbing.ObjectType(o.Kind), o.Data)
		out[object.ID] = object
	}
	return out
}

// graphView returns the view of a graph, which has an object that nothing uses.
func graphView(t *testing.T, g hostile.Graph) View {
	t.Helper()
	v, err := NewView(t.Context(), NewMeter(), "", plumbing.NewHash(g.Commit), graphObjects(g))
	if err != nil {
		t.Fatal(err)
	}
	unused := NewObject(plumbing.BlobObject, []byte("unused"))
	return v.AddObjects(map[plumbing.Hash]Object{unused.ID: unused})
}

// graphArgument returns the arguments of methods that read a graph at a path.
func graphArgument(ctx context.Context, g hostile.Graph, path string) func(t reflect.Type, n int) any {
	root := NewRoot()
	_ = root.Place(g.Paths[0]+"/new/file", File([]byte("new"))) // All paths are valid.
	tree := NewObject(plumbing.TreeObject, g.Objects[len(g.Objects)-2].Data)
	commit := NewObject(plumbing.CommitObject, g.Objects[len(g.Objects)-1].Data)
	values := map[reflect.Type]any{
		reflect.TypeFor[context.Context]():          ctx,
		reflect.TypeFor[plumbing.Hash]():            tree.ID,
		reflect.TypeFor[plumbing.ObjectType]():      plumbing.TreeObject,
		reflect.TypeFor[bool]():                     true,
		reflect.TypeFor[int]():                      100_000,
		reflect.TypeFor[*Node]():                    root,
		reflect.TypeFor[*Meter]():                   NewMeter().ForDirectory(),
		reflect.TypeFor[CommitInfo]():               CommitInfo{When: time.Unix(1, 0)},
		reflect.TypeFor[map[plumbing.Hash]Object](): map[plumbing.Hash]Object{tree.ID: tree, commit.ID: commit},
	}
	return func(t reflect.Type, n int) any {
		switch {
		case t.Kind() != reflect.String:
			return values[t]
		case n == 0:
			return path
		}
		return hostile.Marker
	}
}

// TestHostileGraphs calls all exported methods of a view on all hostile graphs. A method that takes no context has nothing to walk through.
func TestHostileGraphs(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for g := range hostile.Graphs() {
		v := graphView(t, g)
		for _, m := range hostile.Methods(v) {
			t.Run(g.Name+"/"+m.Name, func(t *testing.T) {
				for _, path := range []string{"", g.Paths[len(g.Paths)-1]} {
					expectBounded(t, v.Open(NewMeter().ForDirectory()), m, graphArgument(t.Context(), g, path))
				}
				if !hostile.Takes(m, reflect.TypeFor[context.Context]()) {
					return
				}
				path := g.Paths[0]
				expectClass(t, v.Open(NewMeter()), m, graphArgument(ended, g, path), failure.ClassTransient, "It ends when the context does.")
				expectClass(t, v.Open(&Meter{}), m, graphArgument(t.Context(), g, path), failure.ClassTooCostly, "It ends when the meter is spent.")
				expectClass(t, v.Open(nil), m, graphArgument(t.Context(), g, path), failure.ClassUnknown, "It refuses to read without a meter.")
			})
		}
	}
}

func expectBounded(t *testing.T, v View, m reflect.Method, argument func(reflect.Type, int) any) {
	t.Helper()
	var err error
	cost := hostile.Measure(func() { err = hostile.Call(v, m, argument) })
	limit := hostile.Cost{Processor: maxCorpusTime, MiB: maxCorpusMiB}
	if !hostile.Takes(m, reflect.TypeFor[context.Context]()) {
		limit = hostile.Cost{Processor: time.Second, MiB: 1}
	}
	t.Logf("%.3f s, %.1f MiB: %v", cost.Processor.Seconds(), cost.MiB, err)
	if cost.Processor > limit.Processor || cost.MiB > limit.MiB {
		t.Errorf("\nNo graph makes a method cost more than %s of a processor and %.0f MiB.\n%s(...): %s, %.1f MiB", limit.Processor, limit.MiB, m.Name, cost.Processor, cost.MiB)
	}
}

func expectClass(t *testing.T, v View, m reflect.Method, argument func(reflect.Type, int) any, want failure.Class, reason string) {
	t.Helper()
	if err := hostile.Call(v, m, argument); failure.ClassOf(err) != want {
		t.Errorf("\n%s\n%s(...): want class %s, got %v", reason, m.Name, want, err)
	}
}

// TestZeroView has a view that no constructor made.
func TestZeroView(t *testing.T) {
	if _, _, err := (View{}).Find(t.Context(), "a"); failure.ClassOf(err) != failure.ClassUnknown {
		t.Errorf("\nA zero View refuses to be read.\nFind(...): %v", err)
	}
}
