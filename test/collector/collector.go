// Package collector receives spans as an OpenTelemetry collector does: over OTLP and HTTP.
package collector

import (
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"time"

	collectorpb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// maxBody is how many bytes of an export are read.
const maxBody = 4 << 20

// A Span is a received span.
type Span struct {
	// Trace is the ID of the trace. Parent is the name of the span above, and empty for a root.
	Trace, Parent, Name string

	Took       time.Duration
	Attributes map[string]string

	// Failure is the message of a span with the status Error.
	Failure string
}

// A Collector keeps the spans that it receives. It is safe for concurrent use.
type Collector struct {
	*httptest.Server

	mu    sync.Mutex
	spans []*tracepb.Span
	// headers of the last request, and attributes of its process.
	headers  http.Header
	resource map[string]string
}

// New starts a collector.
func New() *Collector {
	c := &Collector{}
	c.Server = httptest.NewServer(http.HandlerFunc(c.receiveSpans))
	return c
}

func (c *Collector) receiveSpans(w http.ResponseWriter, q *http.Request) {
	b, err := io.ReadAll(http.MaxBytesReader(w, q.Body, maxBody))
	m := &collectorpb.ExportTraceServiceRequest{}
	if err != nil || q.URL.Path != "/v1/traces" || proto.Unmarshal(b, m) != nil {
		http.Error(w, "not OTLP", http.StatusBadRequest)
		return
	}
	c.recordSpans(q.Header, m)
	out, _ := proto.Marshal(&collectorpb.ExportTraceServiceResponse{})
	w.Header().Set("Content-Type", "application/x-protobuf")
	_, _ = w.Write(out)
}

func (c *Collector) recordSpans(headers http.Header, m *collectorpb.ExportTraceServiceRequest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.headers, c.resource = headers, map[string]string{}
	for _, rs := range m.GetResourceSpans() {
		for _, a := range rs.GetResource().GetAttributes() {
			c.resource[a.GetKey()] = a.GetValue().GetStringValue()
		}
		for _, ss := range rs.GetScopeSpans() {
			c.spans = append(c.spans, ss.GetSpans()...)
		}
	}
}

// Headers returns the headers of the last request.
func (c *Collector) Headers() http.Header {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.headers.Clone()
}

// Process returns the attributes of the process that sent the last request.
func (c *Collector) Process() map[string]string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.resource)
}

// Spans returns the spans received until now.
func (c *Collector) Spans() []Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	names := map[string]string{}
	for _, s := range c.spans {
		names[string(s.GetSpanId())] = s.GetName()
	}
	out := make([]Span, 0, len(c.spans))
	for _, s := range slices.Clone(c.spans) {
		out = append(out, convertSpan(s, names[string(s.GetParentSpanId())]))
	}
	return out
}

func convertSpan(s *tracepb.Span, parent string) Span {
	out := Span{
		Trace: string(s.GetTraceId()), Parent: parent, Name: s.GetName(), Attributes: map[string]string{},
		Took: time.Duration(s.GetEndTimeUnixNano() - s.GetStartTimeUnixNano()),
	}
	for _, a := range s.GetAttributes() {
		out.Attributes[a.GetKey()] = a.GetValue().GetStringValue()
	}
	if s.GetStatus().GetCode() == tracepb.Status_STATUS_CODE_ERROR {
		out.Failure = s.GetStatus().GetMessage()
	}
	return out
}
