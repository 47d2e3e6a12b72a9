// Package tracing exports a trace of each revision of a deployment over OTLP, from the request to the proof that it runs and the verdict on it.
//
// The IDs of a trace and of its spans are derived from the deployment's UID and the revision: processes share no state, and a process that began after
// the revision did exports the same trace.
package tracing

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// tracesPath is where a collector receives traces, below the endpoint of all signals.
const tracesPath = "/v1/traces"

// serviceName is the name of the provider in traces.
const serviceName = "provider-intentplane"

// rootKey is the key of the span that holds the others of a revision.
const rootKey = "revision"

// A Revision is one revision of a deployment, as far as it went.
type Revision struct {
	// UID of the deployment, Epoch of its ledger, and Number of the revision. The IDs of the trace and of its spans follow from them. A ledger that was lost
	// continues in another epoch, which may have a revision of the number again.
	UID    string
	Epoch  int64
	Number int64

	// Root holds the other spans. Its name and its key are set by the Exporter. One without a start is not exported: an earlier process did.
	Root Span

	// Spans below the root.
	Spans []Span
}

// A Span is one part of the history of a revision.
type Span struct {
	// Name names the operation, such as push. Spans of several Sites or steps share it.
	Name string

	// Key is unique in the revision. The ID follows from it.
	Key string

	// Began and Ended are in the resolution of statuses, which is a second. A span that would end before it began has no length.
	Began, Ended time.Time

	// Failure says in one word why it failed. Empty means that it did not.
	Failure string

	// Attributes by name. Empty values are left out.
	Attributes map[string]string
}

// An Exporter exports traces. It holds a bounded number of spans while the collector cannot be reached, and drops later ones.
type Exporter struct {
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
}

// New returns an Exporter for a collector, by the endpoint that it has for all signals, such as http://collector:4318. Headers, certificates and the
// attributes of the process come from the environment of OpenTelemetry (OTEL_EXPORTER_OTLP_*, OTEL_RESOURCE_ATTRIBUTES).
func New(ctx context.Context, endpoint, version string) (*Exporter, error) {
	u, err := CheckEndpoint(endpoint)
	if err != nil {
		return nil, err
	}
	u.Path = strings.TrimSuffix(u.Path, "/") + tracesPath
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(u.String()))
	if err != nil {
		return nil, errors.Wrap(err, "cannot prepare the export of traces")
	}
	metadata, err := resource.New(ctx, resource.WithFromEnv(), resource.WithAttributes(attribute.String("service.name", serviceName), attribute.String("service.version", version)))
	if err != nil {
		return nil, errors.Wrap(err, "cannot read the attributes of the process")
	}
	p := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(metadata), sdktrace.WithIDGenerator(identities{}), sdktrace.WithSampler(sdktrace.AlwaysSample()))
	return &Exporter{provider: p, tracer: p.Tracer("github.com/intentplane/intentplane/provider/tracing")}, nil
}

// CheckEndpoint returns an error for text that is not the URL of a collector. One with a password is refused, since errors would show it.
func CheckEndpoint(endpoint string) (*url.URL, error) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("the OTLP endpoint must be a URL such as http://collector:4318")
	}
	if u.User != nil {
		return nil, errors.New("the OTLP endpoint must have no user: set OTEL_EXPORTER_OTLP_HEADERS")
	}
	return u, nil
}

// Export queues the spans of a revision.
func (e *Exporter) Export(r Revision) {
	id := deriveTraceID(r)
	root := trace.NewSpanContext(trace.SpanContextConfig{TraceID: id, SpanID: deriveSpanID(id, rootKey), TraceFlags: trace.FlagsSampled, Remote: true})
	if !r.Root.Began.IsZero() {
		r.Root.Name, r.Root.Key = rootKey, rootKey
		e.exportSpan(context.Background(), id, r.Root)
	}
	for _, s := range r.Spans {
		e.exportSpan(trace.ContextWithSpanContext(context.Background(), root), id, s)
	}
}

func (e *Exporter) exportSpan(ctx context.Context, id trace.TraceID, s Span) {
	attributes := make([]attribute.KeyValue, 0, len(s.Attributes))
	for name, value := range s.Attributes {
		if value != "" {
			attributes = append(attributes, attribute.String(name, value))
		}
	}
	ctx = context.WithValue(ctx, identityKey{}, identity{trace: id, span: deriveSpanID(id, s.Key)})
	_, span := e.tracer.Start(ctx, s.Name, trace.WithTimestamp(s.Began), trace.WithAttributes(attributes...))
	if s.Failure != "" {
		span.SetStatus(codes.Error, s.Failure)
	}
	ended := s.Ended
	if ended.Before(s.Began) {
		ended = s.Began
	}
	span.End(trace.WithTimestamp(ended))
}

// Start waits until the context ends, and exports queued spans. It makes an Exporter a Runnable of a manager.
func (e *Exporter) Start(ctx context.Context) error {
	<-ctx.Done()
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	// The provider does not fail when its collector cannot be reached.
	_ = e.provider.Shutdown(limited)
	return nil
}

// shutdownTimeout is how long the end of the provider waits for a collector.
const shutdownTimeout = 5 * time.Second

// deriveTraceID returns the ID of the trace of a revision: one for each revision of each epoch.
func deriveTraceID(r Revision) trace.TraceID {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q epoch %d revision %d", r.UID, r.Epoch, r.Number))
	return trace.TraceID(sum[:16])
}

func deriveSpanID(id trace.TraceID, key string) trace.SpanID {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %q", id, key))
	return trace.SpanID(sum[:8])
}

type identityKey struct{}

// identity has the IDs with which a span is exported.
type identity struct {
	trace trace.TraceID
	span  trace.SpanID
}

// identities gives spans the IDs that their contexts hold.
type identities struct{}

// NewIDs returns the IDs of a root.
func (identities) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	id, _ := ctx.Value(identityKey{}).(identity)
	return id.trace, id.span
}

// NewSpanID returns the ID of a span below another one.
func (identities) NewSpanID(ctx context.Context, _ trace.TraceID) trace.SpanID {
	id, _ := ctx.Value(identityKey{}).(identity)
	return id.span
}
