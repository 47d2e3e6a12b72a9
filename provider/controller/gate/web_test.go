package gate

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/fetch"
	"github.com/intentplane/intentplane/provider/gates/prometheus"
)

// A truster asks servers whose certificates no system trusts, and which a web check cannot name.
type truster struct {
	prometheus.Doer

	bundle []byte
}

func (d truster) Do(ctx context.Context, r fetch.Request) (fetch.Answer, error) {
	r.Credentials.CABundle = d.bundle
	return d.Doer.Do(ctx, r)
}

// bundleOf a server is its certificate.
func bundleOf(s *httptest.Server) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
}

// shop answers as the applications that are judged do, rightly and wrongly.
func shop() *http.ServeMux {
	mux, kind := http.NewServeMux(), "application/json"
	says := func(kind, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			_, _ = w.Write([]byte(body))
		}
	}
	mux.Handle("/good", says(kind, `{"orders":{"failed":1,"total":400},"canary":"c4n4ry"}`))
	mux.Handle("/bad", says(kind, `{"orders":{"failed":40,"total":400},"canary":"c4n4ry"}`))
	mux.Handle("/page", says("text/html; charset=utf-8", `<html>c4n4ry</html>`))
	mux.Handle("/liar", says(kind, `<html>c4n4ry</html>`))
	mux.Handle("/large", says(kind, `{"orders":{"failed":1,"total":400},"rest":"`+strings.Repeat("a", 10<<20)+`"}`))
	mux.Handle("/gone", http.NotFoundHandler())
	mux.Handle("/metadata", http.RedirectHandler("https://169.254.169.254/latest/meta-data", http.StatusFound))
	return mux
}

// webCheck returns a check that two valid answers of a server decide, and that an error fails.
func webCheck(name, address, expression string) v1alpha1.GateCheck {
	c := quick(name)
	c.Type, c.Prometheus, c.Threshold, c.ConsecutiveErrorLimit = "Web", nil, "<= 0.01", new(int32(0))
	c.Web = &deploymentv1alpha1.WebCheck{URL: address, Expression: textOrDefault(expression, "answer.orders.failed / answer.orders.total")}
	return c
}

// allow checks to ask these hosts.
func (w *world) allow(hosts ...string) {
	w.Helper()
	c := &configv1alpha1.ClusterProviderConfig{}
	w.must(w.kube.Get(w.Context(), types.NamespacedName{Name: "default"}, c))
	c.Spec.Policy.WebCheckHosts = hosts
	w.must(w.kube.Update(w.Context(), c))
}

// A webCase is a check of a Gate, and its result.
type webCase struct {
	reason     string
	address    string
	expression string
	want       v1alpha1.CheckPhase
	value      string
	message    string
	// silent is true if the check must ask no server.
	silent bool
}

func webCases(s, elsewhere string) map[string]webCase {
	near, host := strings.Replace(s, "127.0.0.1", "localhost", 1), strings.TrimPrefix(s, "https://")
	denied := `web.url: host "` + strings.TrimPrefix(near, "https://") + `" is not among the webCheckHosts of a ClusterProviderConfig`
	return map[string]webCase{
		"Passed": {reason: "An expression over the answer is held against the threshold.", address: s + "/good", want: v1alpha1.CheckPassed, value: "0.0025"},
		"Failed": {
			reason:  "A value beyond the threshold fails the check.",
			address: s + "/bad", want: v1alpha1.CheckFailed, value: "0.1", message: "the value is beyond the threshold",
		},
		"NotAllowed": {reason: "A server that is not allowed is not asked.", address: near + "/good", want: v1alpha1.CheckError, message: denied, silent: true},
		"NotHTTPS": {
			reason:  "A server is not asked without encryption.",
			address: "http://" + host + "/good", want: v1alpha1.CheckError,
			message: "web.url: must be an https address with a host, and without a user", silent: true,
		},
		"Refused": {
			reason:  "An address that is allowed is looked at before it is reached.",
			address: "https://169.254.169.254/good", want: v1alpha1.CheckError,
			message: `checks may not ask the host "169.254.169.254": it is a link-local address, where clouds serve metadata`, silent: true,
		},
		"Metadata": {
			reason:  "A redirect to the metadata of a cloud is not followed.",
			address: s + "/metadata", want: v1alpha1.CheckError, message: fetch.ProblemRedirect + ": it leads to https://169.254.169.254",
		},
		"Elsewhere": {
			reason:  "A redirect to another allowed server is not followed.",
			address: elsewhere + "/", want: v1alpha1.CheckError, message: fetch.ProblemRedirect + ": it leads to " + s, silent: true,
		},
		"HTML": {
			reason:  "A page of HTML is not an answer.",
			address: s + "/page", want: v1alpha1.CheckError, message: "the answer is not said to be JSON: an HTML page",
		},
		"Liar":  {reason: "A page that claims to be JSON is not an answer.", address: s + "/liar", want: v1alpha1.CheckError, message: "the answer is not JSON"},
		"Large": {reason: "An answer of ten megabytes is not read.", address: s + "/large", want: v1alpha1.CheckError, message: fetch.ProblemLarge},
		"Status": {
			reason:  "An answer with a status other than 200 does not count.",
			address: s + "/gone", want: v1alpha1.CheckError,
			message: "the server does not answer with status 200: status 404 Not Found: 404 page not found",
		},
		"Missing": {
			reason:  "An error does not repeat the content of the answer.",
			address: s + "/good", expression: "answer.canary.more", want: v1alpha1.CheckError, message: "the expression cannot be evaluated over the answer",
		},
		"Nonsense": {
			reason:  "A check whose expression is not CEL sends no request.",
			address: s + "/good", expression: "answer.", want: v1alpha1.CheckError,
			message: "web.expression: is not CEL that checks may use: Syntax error: no viable alternative at input '.'", silent: true,
		},
	}
}

// TestWebCheck has a Gate for each of them, since the first failure ends a Gate.
func TestWebCheck(t *testing.T) {
	visits, mux := &sync.Map{}, shop()
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		visits.Store(r.URL.RawQuery, r.Header.Get("Authorization"))
		mux.ServeHTTP(w, r)
	}))
	defer s.Close()
	// All servers of httptest have the same certificate.
	elsewhere := httptest.NewTLSServer(http.RedirectHandler(s.URL+"/good?Elsewhere", http.StatusTemporaryRedirect))
	defer elsewhere.Close()
	for name, tc := range webCases(s.URL, elsewhere.URL) {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, webCheck(name, tc.address+"?"+name, tc.expression))
			w.allow(strings.TrimPrefix(s.URL, "https://"), strings.TrimPrefix(elsewhere.URL, "https://"), "169.254.169.254")
			servers := w.c.clientFor
			w.c.clientFor = func(namespace string) prometheus.Doer { return truster{Doer: servers(namespace), bundle: bundleOf(s)} }
			w.judged()
			observation := w.get().Status.AtProvider
			r := observation.Checks[0]
			if diff := cmp.Diff([]string{string(tc.want), string(tc.want), tc.value}, []string{string(observation.Verdict), string(r.Phase), r.Value}); diff != "" {
				t.Errorf("%s\nverdict, phase and value: -want, +got:\n%s", tc.reason, diff)
			}
			if message, _, _ := strings.Cut(r.Message, ": ERROR"); message != tc.message {
				t.Errorf("%s\nmessage: want %q, got %q", tc.reason, tc.message, r.Message)
			}
			visited, found := visits.Load(name)
			if found == tc.silent || found && visited != "" {
				t.Errorf("%s\nasked: %t, with credentials %q", tc.reason, found, visited)
			}
			all, err := json.Marshal(w.get())
			w.must(err)
			if strings.Contains(string(all), "c4n4ry") {
				t.Errorf("the Gate repeats an answer:\n%s", all)
			}
		})
	}
}
