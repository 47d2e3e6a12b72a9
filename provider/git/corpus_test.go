//go:build !race

package git

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/intentplane/intentplane/provider/git/budget"
	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/provider/git/objects"
	"github.com/intentplane/intentplane/test/hostile"
)

// Limits of the processor time and memory of one method on a hostile graph, with the meter of one directory, a tenth of a plan's. A client also reads the pack
// of its server, and its limits are higher. One goroutine reads the graphs: the race detector would find nothing, and take ten times as long.
const (
	maxCorpusTime = 5 * time.Second
	maxClientTime = 20 * time.Second
	maxCorpusMiB  = 32
	maxClientMiB  = 128
)

// A corpus is a hostile graph and the client of its server.
type corpus struct {
	hostile.Graph

	client *Client
	view   objects.View
}

func newCorpus(t *testing.T, g hostile.Graph) *corpus {
	t.Helper()
	s := hostile.NewGitOf(g)
	t.Cleanup(s.Stop)
	c, err := NewClient(Remote{URL: s.RepositoryURL(), Branch: "main", StateRef: hostile.StateRef}, budget.New())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	byID := map[plumbing.Hash]objects.Object{}
	for _, o := range g.Objects {
		byID[plumbing.NewHash(o.ID())] = objects.NewObject(plumbing.ObjectType(o.Kind), o.Data) // The kinds are the object types of packs.
	}
	v, err := objects.NewView(t.Context(), objects.NewMeter(), "", plumbing.NewHash(g.Commit), byID)
	if err != nil {
		t.Fatal(err)
	}
	return &corpus{Graph: g, client: c, view: v}
}

// snapshot returns a snapshot whose branch and state are the graph.
func (c *corpus) snapshot(m *objects.Meter) *Snapshot {
	s := &Snapshot{target: c.client.snapshotTarget(), branch: c.view, state: stateView{View: c.view}, seen: c.view.Commit, history: objects.NewHistory()}
	return s.withMeter(m)
}

// arguments returns the arguments of methods that read the graph with a meter, and with texts for methods that read no path.
func (c *corpus) arguments(ctx context.Context, m *objects.Meter, texts ...string) func(reflect.Type, int) any {
	values := map[reflect.Type]any{
		reflect.TypeFor[context.Context](): ctx,
		reflect.TypeFor[*Snapshot]():       c.snapshot(m),
		reflect.TypeFor[*Commit]():         &Commit{view: c.view.Open(m)},
		reflect.TypeFor[*MessageLog]():     (*MessageLog)(nil),
		reflect.TypeFor[[]string]():        c.Paths,
		reflect.TypeFor[*Proposal]():       c.proposal(m),
		reflect.TypeFor[WantedTree]():      WantedTree{ID: otherID, RetainedDir: c.Paths[1], Path: c.Paths[0], Without: hostile.Marker, Derive: deriveNothing},

		reflect.TypeFor[func(string, []byte)]():            func(string, []byte) {},
		reflect.TypeFor[func(string, map[string][]byte)](): func(string, map[string][]byte) {},
	}
	return func(t reflect.Type, n int) any {
		if t.Kind() != reflect.String {
			return values[t]
		}
		return texts[min(n, len(texts)-1)]
	}
}

// proposal returns a proposal that makes the refs of an empty repository.
func (c *corpus) proposal(m *objects.Meter) *Proposal {
	dated := change(Change{})
	return &Proposal{before: &Snapshot{target: c.client.snapshotTarget()}, after: c.snapshot(m), author: dated.Author, when: dated.When}
}

// otherID is of nothing in the graphs.
const otherID = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

func deriveNothing(map[string][]byte) (map[string][]byte, bool) { return nil, false }

// TestHostileGraphs calls all exported methods of snapshots and commits on all hostile graphs.
func TestHostileGraphs(t *testing.T) {
	for g := range hostile.Graphs() {
		t.Run(g.Name, func(t *testing.T) {
			c := newCorpus(t, g)
			readers := map[string]func(m *objects.Meter) any{
				"Snapshot": func(m *objects.Meter) any { return c.snapshot(m) },
				"Commit":   func(m *objects.Meter) any { return &Commit{view: c.view.Open(m)} },
			}
			for kind, reader := range readers {
				for _, m := range hostile.Methods(reader(nil)) {
					t.Run(kind+"/"+m.Name, func(t *testing.T) { c.tryReader(t, reader, m) })
				}
			}
		})
	}
}

func (c *corpus) tryReader(t *testing.T, reader func(*objects.Meter) any, m reflect.Method) {
	t.Helper()
	for _, texts := range [][]string{{"", hostile.Marker}, {c.Paths[len(c.Paths)-1], hostile.Marker}, {hostile.Marker}} {
		meter := objects.NewMeter().ForDirectory()
		expectBounded(t, m, hostile.Cost{Processor: maxCorpusTime, MiB: maxCorpusMiB}, func() error {
			return hostile.Call(reader(meter), m, c.arguments(t.Context(), meter, texts...))
		})
		if !hostile.Takes(m, reflect.TypeFor[context.Context]()) {
			return // It has nothing to walk through, whatever its texts are.
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for class, call := range map[failure.Class]func() error{
		failure.ClassTransient: func() error {
			return hostile.Call(reader(objects.NewMeter()), m, c.arguments(ended, objects.NewMeter(), c.Paths[0], hostile.Marker))
		},
		failure.ClassTooCostly: func() error {
			return hostile.Call(reader(&objects.Meter{}), m, c.arguments(t.Context(), &objects.Meter{}, c.Paths[0], hostile.Marker))
		},
		failure.ClassUnknown: func() error {
			return hostile.Call(reader(nil), m, c.arguments(t.Context(), nil, c.Paths[0], hostile.Marker))
		},
	} {
		if err := call(); failure.ClassOf(err) != class {
			t.Errorf("\nA method ends with its context, with its meter, and without one.\n%s(...): want class %s, got %v", m.Name, class, err)
		}
	}
}

func expectBounded(t *testing.T, m reflect.Method, limit hostile.Cost, call func() error) {
	t.Helper()
	var err error
	cost := hostile.Measure(func() { err = call() })
	if !hostile.Takes(m, reflect.TypeFor[context.Context]()) {
		limit = hostile.Cost{Processor: time.Second, MiB: 1}
	}
	t.Logf("%.3f s, %.1f MiB: %v", cost.Processor.Seconds(), cost.MiB, err)
	if cost.Processor > limit.Processor || cost.MiB > limit.MiB {
		t.Errorf("\nNo graph makes a method cost more than %s of a processor and %.0f MiB.\n%s(...): %s, %.1f MiB", limit.Processor, limit.MiB, m.Name, cost.Processor, cost.MiB)
	}
}

// clientTexts are the texts of methods of a client that read no path.
func (c *corpus) clientTexts(method string) []string {
	switch method {
	case "Contains":
		return []string{otherID}
	case "FetchCommit":
		return []string{c.Commit}
	case "ReadMessagesBetween":
		return []string{c.Commit, otherID, ""}
	}
	return []string{c.Paths[len(c.Paths)-1], hostile.Marker}
}

// TestHostileServers calls all exported methods of a client whose server sends a hostile graph.
func TestHostileServers(t *testing.T) {
	for g := range hostile.Graphs() {
		t.Run(g.Name, func(t *testing.T) {
			c := newCorpus(t, g)
			for _, m := range hostile.Methods(c.client) {
				t.Run(m.Name, func(t *testing.T) { c.tryClient(t, m) })
			}
		})
	}
}

func (c *corpus) tryClient(t *testing.T, m reflect.Method) {
	t.Helper()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	texts := c.clientTexts(m.Name)
	limit := hostile.Cost{Processor: maxClientTime, MiB: maxClientMiB}
	expectBounded(t, m, limit, func() error {
		return hostile.Call(c.client, m, c.arguments(t.Context(), objects.NewMeter().ForDirectory(), texts...))
	})
	if hostile.Takes(m, reflect.TypeFor[context.Context]()) {
		if err := hostile.Call(c.client, m, c.arguments(ended, objects.NewMeter(), texts...)); !failure.IsTransient(err) {
			t.Errorf("\nIt ends when the context does.\n%s(...): %v", m.Name, err)
		}
	}
	// A look has a meter of its own.
	isReader := hostile.Takes(m, reflect.TypeFor[*Snapshot]()) || hostile.Takes(m, reflect.TypeFor[*Commit]())
	if !isReader || m.Name == "Look" {
		return
	}
	if err := hostile.Call(c.client, m, c.arguments(t.Context(), &objects.Meter{}, texts...)); failure.ClassOf(err) != failure.ClassTooCostly {
		t.Errorf("\nIt ends when the meter of its reader is spent.\n%s(...): %v", m.Name, err)
	}
}

// TestQuestions looks for a tree in more commits than one plan may ask for.
func TestQuestions(t *testing.T) {
	s := hostile.NewGitWithoutObjects()
	t.Cleanup(s.Stop)
	c, err := NewClient(Remote{URL: s.RepositoryURL(), Branch: "main", StateRef: hostile.StateRef}, budget.New())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	commits := []string{}
	for n := range 4_100 {
		commits = append(commits, fmt.Sprintf("%040x", n+1))
	}
	_, ok, err := c.ReadTree(t.Context(), (&Snapshot{}).Open(), WantedTree{ID: otherID, RetainedDir: "x.trees", Path: "x", Commits: commits})
	if failure.ClassOf(err) != failure.ClassTooCostly || ok || !strings.Contains(err.Error(), "4000 requests") {
		t.Errorf("\nA plan asks its server four thousand questions.\nReadTree(...): %t, %v", ok, err)
	}
}
