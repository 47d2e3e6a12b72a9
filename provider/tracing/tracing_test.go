package tracing

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	collectorpb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// A receiver is a collector that keeps the spans it receives over OTLP and HTTP.
type receiver struct {
	*httptest.Server

	mu    sync.Mutex
	spans []*tracepb.Span
	// headers of the last request, and attributes of its process.
	headers  http.Header
	resource map[string]string
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(r.receive))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) receive(w http.ResponseWriter, q *http.Request) {
	b, err := io.ReadAll(q.Body)
	m := &collectorpb.ExportTraceServiceRequest{}
	if err != nil || q.URL.Path != "/v1/traces" || proto.Unmarshal(b, m) != nil {
		http.Error(w, "not OTLP", http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.headers, r.resource = q.Header, map[string]string{}
	for _, rs := range m.GetResourceSpans() {
		for _, a := range rs.GetResource().GetAttributes() {
			r.resource[a.GetKey()] = a.GetValue().GetStringValue()
		}
		for _, ss := range rs.GetScopeSpans() {
			r.spans = append(r.spans, ss.GetSpans()...)
		}
	}
	out, _ := proto.Marshal(&collectorpb.ExportTraceServiceResponse{})
	w.Header().Set("Content-Type", "application/x-protobuf")
	_, _ = w.Write(out)
}

// lines returns a line for each span that was received, below the names of their parents.
func (r *receiver) lines() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	names := map[string]string{}
	for _, s := range r.spans {
		names[string(s.GetSpanId())] = s.GetName()
	}
	var out []string
	for _, s := range r.spans {
		parts := []string{fmt.Sprintf("%s/%s %s", names[string(s.GetParentSpanId())], s.GetName(), time.Duration(s.GetEndTimeUnixNano()-s.GetStartTimeUnixNano()))}
		for _, a := range s.GetAttributes() {
			parts = append(parts, a.GetKey()+"="+a.GetValue().GetStringValue())
		}
		if s.GetStatus().GetCode() == tracepb.Status_STATUS_CODE_ERROR {
			parts = append(parts, "error="+s.GetStatus().GetMessage())
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
	r := newReceiver(t)
	revision := Revision{
		UID: "u1", Number: 2, Root: Span{Began: at(0), Ended: at(9), Failure: "GateFailed", Attributes: map[string]string{"deployment": "shop", "commit": ""}},
		Spans: []Span{{Name: "push", Key: "push", Began: at(1), Ended: at(3)}, {Name: "sync", Key: "sync edge1", Began: at(4), Ended: at(3)}},
	}
	rollback := Revision{UID: "u1", Number: 2, Spans: []Span{{Name: "rollback", Key: "rollback", Began: at(9), Ended: at(12)}}}
	other := Revision{UID: "u2", Number: 2, Root: Span{Began: at(0), Ended: at(1)}}
	export(t, r.URL, revision)
	// Another process goes on.
	export(t, r.URL+"/", rollback, other)
	want := []string{"/revision 1s", "/revision 9s deployment=shop error=GateFailed", "revision/push 2s", "revision/rollback 3s", "revision/sync 0s"}
	if diff := cmp.Diff(want, r.lines()); diff != "" {
		t.Errorf("spans that were received: -want, +got:\n%s", diff)
	}
	traces := map[string]int{}
	for _, s := range r.spans {
		traces[string(s.GetTraceId())]++
	}
	if len(traces) != 2 {
		t.Errorf("Two processes export one trace of a revision, and another deployment has another: want 2 traces, got %d", len(traces))
	}
	if got := r.headers.Get("X-Tenant"); got != "team-a" {
		t.Errorf("The headers come from the environment: got %q", got)
	}
	if diff := cmp.Diff(map[string]string{"service.name": serviceName, "service.version": "v1.2.3", "k8s.cluster.name": "prod"}, r.resource); diff != "" {
		t.Errorf("attributes of the process: -want, +got:\n%s", diff)
	}
}

// TestExportWithoutCollector ends with spans that no collector takes.
func TestExportWithoutCollector(t *testing.T) {
	r := newReceiver(t)
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
