package sites

import (
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/test/collector"
	"github.com/intentplane/intentplane/test/patience"
)

// spans is the collector to which the provider exports traces.
var spans = collector.New()

// wantRevisionTraces reads the collector's spans of a revision that succeeded, and of the next one, which was rolled back.
func (s *stage) wantRevisionTraces() {
	s.T.Helper()
	want := map[string][]string{
		"1": {"/revision", "revision/gate", "revision/order", "revision/push", "revision/sync", "revision/verdict"},
		"2": {
			"/revision: GateFailed", "revision/gate: Failed", "revision/order", "revision/push", "revision/rollback", "revision/sync", "revision/verdict: GateFailed",
		},
	}
	var got map[string][]string
	s.Until("the collector has the last span", patience.Limit, func() bool {
		got = s.receivedSpans()
		return slices.Contains(got["2"], "revision/rollback")
	})
	if diff := cmp.Diff(want, got); diff != "" {
		s.T.Errorf("spans of each revision: -want, +got:\n%s", diff)
	}
}

// receivedSpans returns the spans of each revision of the claim, below the names of their parents and with their failures.
func (s *stage) receivedSpans() map[string][]string {
	all := spans.Spans()
	revisions := map[string]string{}
	for _, span := range all {
		if span.Attributes["k8s.namespace.name"] == s.Namespace && span.Attributes["intentplane.deployment"] == claim {
			revisions[span.Trace] = span.Attributes["intentplane.revision"]
		}
	}
	out := map[string][]string{}
	for _, span := range all {
		if revision, ok := revisions[span.Trace]; ok {
			line := strings.TrimSuffix(span.Parent+"/"+span.Name+": "+span.Failure, ": ")
			out[revision] = append(out[revision], line)
			slices.Sort(out[revision])
		}
	}
	return out
}
