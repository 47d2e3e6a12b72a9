package sites

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/scene"
)

// TestWebCheck judges claims by web servers, through Crossplane. The provider trusts the certificate of the servers as one of the system's.
func TestWebCheck(t *testing.T) {
	t.Parallel()
	s := &stage{Scene: scene.New(t, cp, "edge1")}
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"state": %q}`, strings.Trim(r.URL.Path, "/"))
	}))
	t.Cleanup(server.Close)
	closed := httptest.NewTLSServer(http.NotFoundHandler())
	closed.Close()
	hosts := []any{strings.TrimPrefix(server.URL, "https://"), strings.TrimPrefix(closed.URL, "https://")}
	s.Apply(s.Set(s.ClusterProviderConfig(), hosts, "spec", "policy", "webCheckHosts"))
	cases := map[string]struct {
		reason string
		url    string
		phase  string
		want   map[string]any
	}{
		"good": {
			reason: "An answer that the expression takes for good passes.", url: server.URL + "/good", phase: "Succeeded",
			want: map[string]any{"passed": true, "value": "1"},
		},
		"bad": {
			reason: "An answer that the expression takes for bad rejects the revision.", url: server.URL + "/bad", phase: "Failed",
			want: map[string]any{"passed": false, "value": "0", "message": "the value is beyond the threshold"},
		},
		"silent": {
			reason: "A web server that does not answer may be the delivered workload, so its silence is an error.", url: closed.URL + "/good", phase: "Failed",
			want: map[string]any{"passed": false, "message": "Error: the server does not answer"},
		},
	}
	for name, tc := range cases {
		check := map[string]any{
			"name": "state", "type": "Web", "web": map[string]any{"url": tc.url, "expression": `answer.state == "good"`}, "threshold": "== 1",
			"initialDelay": "1s", "interval": "1s", "count": int64(2),
		}
		o := s.Set(s.Claim(name, s.intentForSites(name, 1, "edge1")), []any{check}, "spec", "gatesConfig", "checks")
		s.Apply(s.Set(o, map[string]any{"kind": "ClusterProviderConfig", "name": s.Namespace}, "spec", "deliveryConfig", "gitOpsRepo"))
	}
	for name, tc := range cases {
		observed := s.AwaitPhase(s.Claim(name, ""), tc.phase)
		got, _, err := unstructured.NestedSlice(observed.Object, "status", "validationResults")
		s.Must(err)
		want := map[string]any{"name": "state", "site": s.Site("edge1"), "threshold": "== 1"}
		maps.Copy(want, tc.want)
		if diff := cmp.Diff([]any{want}, got); diff != "" {
			t.Errorf("%s\nstatus.validationResults of %s: -want, +got:\n%s", tc.reason, name, diff)
		}
	}
}
