package sites

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/promserver"
	"github.com/intentplane/intentplane/test/scene"
)

// TestPrometheusLies passes no revision while the server is slow, returns wrong data, or has no data. When its data is correct again, all goes on.
func TestPrometheusLies(t *testing.T) {
	t.Parallel()
	r := newUnobservedTrial(t)
	lies := map[string]promserver.Lie{
		"silence": promserver.LieSilence, "html": promserver.LieHTML, "garbage": promserver.LieGarbage,
		"nan": promserver.LieNaN, "empty": promserver.LieEmpty, "replay": promserver.LieReplay,
	}
	liars, claims := map[string]*promserver.Liar{}, map[string]*unstructured.Unstructured{}
	for name, lie := range lies {
		liar, err := promserver.NewLiar(r.server.URL(), lie)
		r.Must(err)
		t.Cleanup(liar.Close)
		r.Apply(r.Set(r.NewSite(name), map[string]any{"prometheus": map[string]any{"address": liar.URL()}}, "spec", "metrics"))
		check := map[string]any{
			"name": "errors", "type": "Prometheus", "prometheus": map[string]any{"query": `max(error_ratio{job="shop"})`}, "threshold": "<= 0.05",
			"initialDelay": "1s", "interval": "3s",
			"count": int64(2), "timeout": "15m", "consecutiveErrorLimit": int64(100), "noData": "Wait",
		}
		o := r.Set(r.Claim(name, r.intentForSites(name, 1, name)), []any{check}, "spec", "gatesConfig", "checks")
		r.Apply(o)
		liars[name], claims[name] = liar, o
	}
	for name := range lies {
		r.Until("lies are answered: "+name, patience.Limit, func() bool { return liars[name].CountLies() >= sufficientLies(lies[name]) })
	}
	for name, o := range claims {
		u := r.Reach(o, "Validating", func(u *unstructured.Unstructured) bool { return scene.Field(u, "status", "phase") == "Validating" })
		for _, entry := range r.logOfTransitions(u) {
			if strings.HasSuffix(entry, ">Succeeded") || strings.HasSuffix(entry, ">Failed") {
				t.Errorf("%s was judged by lies: %s", name, entry)
			}
		}
		r.wantHealthStatus(u, "InProgress", "Progressing")
	}
	for name := range lies {
		liars[name].SetLie(promserver.LieNone)
	}
	for _, o := range claims {
		r.Succeed(o)
	}
}

// TestUnknownMetric has a metric that the server does not know. For a minute after the Site went live that may be early, and then the check
// fails.
func TestUnknownMetric(t *testing.T) {
	t.Parallel()
	r := newUnobservedTrial(t)
	const query = `max(nobody_counts{job="{{service}}"})`
	check := map[string]any{
		"name": "unknown", "type": "Prometheus", "prometheus": map[string]any{"query": query}, "threshold": "<= 0.05", "initialDelay": "1s",
		"interval": "1s", "count": int64(1),
	}
	o := r.Set(r.Claim(claim, r.intentWithReplicas(1)), []any{check}, "spec", "gatesConfig", "checks")
	r.Reach(o, "Validating", func(u *unstructured.Unstructured) bool { return scene.Field(u, "status", "phase") == "Validating" })
	observed := r.Reach(o, "judged", func(u *unstructured.Unstructured) bool { return scene.Field(u, "status", "outcome") != "" })
	got, _, err := unstructured.NestedSlice(observed.Object, "status", "validationResults")
	r.Must(err)
	want := []any{map[string]any{"name": "unknown", "site": r.Site("edge1"), "passed": false, "threshold": "<= 0.05", "message": "the answer has no data, which fails"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("status.validationResults: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(transitionLines("1", "Pending", "Compiling", "Rendering", "Delivering", "Validating", "Failed"), r.logOfTransitions(observed)[1:]); diff != "" {
		t.Errorf("transitions: -want, +got:\n%s", diff)
	}
	r.wantHealthStatus(observed, "Failed", "Degraded")
}
