package load

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// newRequests are the requests of two deployments, and a request that belongs to none.
func newRequests() []Request {
	timestamp := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	return []Request{
		{
			Deployment: "a/web", Resource: "gitdeliveries", Name: "web-1", Verb: "create", Manager: "core", Code: 201, Bytes: 100, At: timestamp,
			Took: time.Millisecond,
		},
		{Deployment: "a/web", Resource: "gitdeliveries", Name: "web-1", Verb: "patch", Manager: "core", Code: 200, Bytes: 100, Effect: Nothing, At: timestamp},
		{Deployment: "a/web", Resource: "gitdeliveries", Name: "web-1", Verb: "get", Manager: "core", Code: 200, At: timestamp},
		{Deployment: "a/web", Resource: "events", Name: "web.1", Verb: "create", Manager: "core", Code: 201, Bytes: 9, At: timestamp},
		{Deployment: "a/db", Resource: "gitdeliveries", Name: "db-1", Verb: "update", Manager: "provider", Code: 409, At: timestamp.Add(2 * time.Second)},
		{Resource: "leases", Name: "core", Verb: "update", Manager: "core", Code: 200, Bytes: 10, At: timestamp},
	}
}

func TestTallyRequests(t *testing.T) {
	want := &Tally{Deployments: 2, Writes: 3, Events: 1, Nothing: 1, Conflicts: 1, Bytes: 200, Took: time.Millisecond}
	got := TallyRequests(newRequests())
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("TallyRequests(...): -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(1.5, got.EachOf(got.Writes)); diff != "" {
		t.Errorf("EachOf(...): -want, +got:\n%s", diff)
	}
}

func TestPrintWrites(t *testing.T) {
	want := []string{
		"ms object verb manager code bytes took ms effect changed",
		"0 gitdeliveries web-1 create core 201 100 1.0",
		"0 gitdeliveries web-1 patch core 200 100 0.0 nothing",
		"0 events web.1 create core 201 9 0.0",
		"2000 gitdeliveries db-1 update provider 409 0 0.0",
	}
	out := &strings.Builder{}
	if err := PrintWrites(out, newRequests()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, linesOf(out.String())); diff != "" {
		t.Errorf("PrintWrites(...): -want, +got:\n%s", diff)
	}
}

func TestPrintSummary(t *testing.T) {
	want := []string{
		"each object verb manager code effect bytes each ms each",
		"0.5 events create core 201 0 0.0",
		"0.5 gitdeliveries create core 201 50 0.5",
		"0.5 gitdeliveries patch core 200 nothing 50 0.0",
		"0.5 gitdeliveries update provider 409 0 0.0",
	}
	out := &strings.Builder{}
	if err := PrintSummary(out, newRequests()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, linesOf(out.String())); diff != "" {
		t.Errorf("PrintSummary(...): -want, +got:\n%s", diff)
	}
}

// linesOf returns the lines of a table, with one space between words.
func linesOf(table string) []string {
	var out []string
	for line := range strings.Lines(table) {
		out = append(out, strings.Join(strings.Fields(line), " "))
	}
	return out
}
