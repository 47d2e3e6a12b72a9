package tracing

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/test/collector"
)

// newCollector starts a collector that ends with the test.
func newCollector(t *testing.T) *collector.Collector {
	t.Helper()
	c := collector.New()
	t.Cleanup(c.Close)
	return c
}

// describeSpans returns a line for each span that was received, below the name of its parent.
func describeSpans(all []collector.Span) []string {
	var out []string
	for _, s := range all {
		parts := []string{fmt.Sprintf("%s/%s %s", s.Parent, s.Name, s.Took)}
		for _, name := range slices.Sorted(maps.Keys(s.Attributes)) {
			parts = append(parts, name+"="+s.Attributes[name])
		}
		if s.Failure != "" {
			parts = append(parts, "error="+s.Failure)
		}
		out = append(out, strings.Join(parts, " "))
	}
	slices.Sort(out)
	return out
}

// export lets an Exporter of its own export revisions, and end.
func export(t *testing.T, endpoint string, all ...Revision) {
	t.Helper()
	e, err := New(t.Context(), endpoint, "v1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all {
		e.Export(r)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := e.Start(ended); err != nil {
		t.Fatal(err)
	}
}

func at(second int) time.Time { return time.Date(2031, 5, 6, 14, 0, second, 0, time.UTC) }

func TestExport(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-tenant=team-a")
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "k8s.cluster.name=prod")
	r := newCollector(t)
	revision := Revision{
		UID: "u1", Number: 2, Root: Span{Began: at(0), Ended: at(9), Failure: "GateFailed", Attributes: map[string]string{"deployment": "shop", "commit": ""}},
		Spans: []Span{{Name: "push", Key: "push", Began: at(1), Ended: at(3)}, {Name: "sync", Key: "sync edge1", Began: at(4), Ended: at(3)}},
	}
	rollback := Revision{UID: "u1", Number: 2, Spans: []Span{{Name: "rollback", Key: "rollback", Began: at(9), Ended: at(12)}}}
	otherRevision := Revision{UID: "u2", Number: 2, Root: Span{Began: at(0), Ended: at(1)}}
	export(t, r.URL, revision)
	// Another process goes on.
	export(t, r.URL+"/", rollback, otherRevision)
	want := []string{"/revision 1s", "/revision 9s deployment=shop error=GateFailed", "revision/push 2s", "revision/rollback 3s", "revision/sync 0s"}
	if diff := cmp.Diff(want, describeSpans(r.Spans())); diff != "" {
		t.Errorf("spans that were received: -want, +got:\n%s", diff)
	}
	traces := map[string]int{}
	for _, s := range r.Spans() {
		traces[s.Trace]++
	}
	if len(traces) != 2 {
		t.Errorf("Two processes export one trace of a revision, and another deployment has another: want 2 traces, got %d", len(traces))
	}
	if got := r.Headers().Get("X-Tenant"); got != "team-a" {
		t.Errorf("The headers come from the environment: got %q", got)
	}
	if diff := cmp.Diff(map[string]string{"service.name": serviceName, "service.version": "v1.2.3", "k8s.cluster.name": "prod"}, r.Process()); diff != "" {
		t.Errorf("attributes of the process: -want, +got:\n%s", diff)
	}
}

// TestExportWithoutCollector ends with spans that no collector takes.
// TestTraceID distinguishes revisions of one deployment by their numbers and their epochs.
func TestTraceID(t *testing.T) {
	revision := Revision{UID: "u1", Epoch: 1, Number: 7}
	if deriveTraceID(revision) != deriveTraceID(Revision{UID: "u1", Epoch: 1, Number: 7}) {
		t.Error("traceID(...): want one trace for one revision")
	}
	for _, otherRevision := range []Revision{{UID: "u2", Epoch: 1, Number: 7}, {UID: "u1", Epoch: 2, Number: 7}, {UID: "u1", Epoch: 1, Number: 8}} {
		if deriveTraceID(revision) == deriveTraceID(otherRevision) {
			t.Errorf("traceID(...): %+v and %+v share a trace", revision, otherRevision)
		}
	}
}

func TestExportWithoutCollector(t *testing.T) {
	r := newCollector(t)
	r.Close()
	export(t, r.URL, Revision{UID: "u1", Number: 1, Root: Span{Began: at(0), Ended: at(1)}})
}

func TestCheckEndpoint(t *testing.T) {
	cases := map[string]struct {
		reason   string
		endpoint string
		want     bool
	}{
		"HTTP":     {reason: "A collector in the cluster may be asked without TLS.", endpoint: "http://collector:4318", want: true},
		"HTTPS":    {reason: "A collector may have a path.", endpoint: "https://otlp.example.org/tenant", want: true},
		"NoScheme": {reason: "A host alone is not a URL.", endpoint: "collector:4318"},
		"GRPC":     {reason: "Another protocol than HTTP is refused.", endpoint: "grpc://collector:4317"},
		"Password": {reason: "A password would be in errors, so it is refused.", endpoint: "https://ann:secret@otlp.example.org"},
		"Empty":    {reason: "No endpoint is not a URL."},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if _, err := CheckEndpoint(tc.endpoint); (err == nil) != tc.want {
				t.Errorf("\n%s\nCheckEndpoint(%q): %v", tc.reason, tc.endpoint, err)
			}
		})
	}
}
