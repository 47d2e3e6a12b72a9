package sites

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/promserver"
	"github.com/intentplane/intentplane/test/scene"
)

// TestPrometheusLies lets nothing pass while the server is slow, lies, or has no data. When it tells the truth again, all goes on.
func TestPrometheusLies(t *testing.T) {
	t.Parallel()
	r := unobserved(t)
	lies := map[string]promserver.Lie{
		"silence": promserver.LieSilence, "html": promserver.LieHTML, "garbage": promserver.LieGarbage,
		"nan": promserver.LieNaN, "empty": promserver.LieEmpty, "replay": promserver.LieReplay,
	}
	liars, claims := map[string]*promserver.Liar{}, map[string]*unstructured.Unstructured{}
	for name, lie := range lies {
		liar, err := promserver.NewLiar(r.server.URL(), lie)
		r.must(err)
		t.Cleanup(liar.Close)
		r.Apply(r.Set(r.NewSite(name), map[string]any{"prometheus": map[string]any{"address": liar.URL()}}, "spec", "metrics"))
		check := map[string]any{
			"name": "errors", "type": "Prometheus", "prometheus": map[string]any{"query": `max(error_ratio{job="shop"})`}, "threshold": "<= 0.05", "initialDelay": "1s", "interval": "1s",
			"count": int64(2), "timeout": "5m", "consecutiveErrorLimit": int64(100), "noData": "Inconclusive", "inconclusiveLimit": int64(100),
		}
		o := r.Set(r.Claim(name, r.intentFor(name, 1, name)), []any{check}, "spec", "gatesConfig", "checks")
		r.Apply(o)
		liars[name], claims[name] = liar, o
	}
	for name := range lies {
		r.Until("lies are told: "+name, 2*time.Minute, func() bool { return liars[name].Told() >= enoughLies(lies[name]) })
	}
	for name, o := range claims {
		u := r.Reach(o, "Validating", func(u *unstructured.Unstructured) bool { return scene.Field(u, "status", "phase") == "Validating" })
		for _, entry := range r.log(u) {
			if strings.HasSuffix(entry, ">Succeeded") || strings.HasSuffix(entry, ">Failed") {
				t.Errorf("%s was judged by lies: %s", name, entry)
			}
		}
		r.wantSeenAs(u, "InProgress", "Progressing")
	}
	for name := range lies {
		liars[name].Tell(promserver.LieNone)
	}
	for _, o := range claims {
		r.Succeed(o)
	}
}

// enoughLies are more than it takes for a verdict, if they counted. Silence takes long.
func enoughLies(lie promserver.Lie) int {
	if lie == promserver.LieSilence {
		return 2
	}
	return 5
}
