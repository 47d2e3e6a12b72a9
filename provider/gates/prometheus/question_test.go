package prometheus

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/promql"
	"github.com/intentplane/intentplane/provider/fetch"
)

const text = `rate(errors_total{job="shop"}[1m])`

func at() time.Time { return time.Unix(1790000000, 500_000_000).UTC() }

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"status":"success","data":{"resultType":"vector","result":[{"value":[1790000000.5,"0.25"]}]}}`))
	f.Add([]byte(`{"status":"success","data":{"resultType":"scalar","result":[1,"NaN"]}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		a := decodeAnswer(fetch.Answer{Status: http.StatusOK, Body: body}, fetch.Credentials{})
		if a.Problem != "" && len(a.Values) > 0 {
			t.Errorf("%q has a problem and values", body)
		}
		if len(a.Values) > 0 && a.At.IsZero() {
			t.Errorf("%q has values of no time", body)
		}
	})
}

// server answers with 1, and records the queries.
func server(t *testing.T, requests *[]string) Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		*requests = append(*requests, strings.Join([]string{r.Method, r.URL.Path, r.Form.Get("query"), r.Form.Get("lookback_delta"), r.Form.Get("stats"), r.Form.Get("time")}, "|"))
		_, _ = fmt.Fprintf(w, `{"status":"success","data":{"resultType":"scalar","result":[%d,"1"]}}`, time.Now().Unix())
	}))
	t.Cleanup(s.Close)
	base, err := Base(s.URL + "/prom/")
	if err != nil {
		t.Fatal(err)
	}
	return Server{Base: base}
}

func newClient(t *testing.T, o fetch.Options) *fetch.Client {
	t.Helper()
	c, err := fetch.New(o, fetch.NewMeasurementAccount())
	if err != nil {
		t.Fatal(err)
	}
	return c.ForNamespace("team-a")
}

func TestQueryAnswers(t *testing.T) {
	cases := map[string]struct {
		reason string
		query  string
		stats  bool
		live   time.Duration
		lead   time.Duration
		want   string
		early  bool
	}{
		"Window": {reason: "A window is all that a server looks at.", query: text, live: 2 * time.Minute, lead: 61 * time.Second, want: "||"},
		"Young": {
			reason: "A server does not look further back than the subject is live.",
			query:  "up", live: 6 * time.Second, lead: 6 * time.Second, want: "|5s|", early: true,
		},
		"Older": {reason: "Which it may a little later.", query: "up", live: 31 * time.Second, lead: 6 * time.Second, want: "|30s|", early: true},
		"NotYet": {
			reason: "A question is early until the shortest lookback lies in the life of the subject.",
			query:  "up", live: 31*time.Second - 1, lead: 6 * time.Second, want: "|15s|", early: true,
		},
		"Settled": {reason: "After a minute no data means something.", query: "up", live: 61 * time.Second, lead: 6 * time.Second, want: "|60s|"},
		"Old": {
			reason: "The server looks back as far as it does by default once the subject is old enough.",
			query:  "up", live: time.Hour, lead: 6 * time.Second, want: "|300s|",
		},
		"Offset": {
			reason: "The offset of a query shortens the window that is left since the revision was live.",
			query:  "up offset 1m", live: 91 * time.Second, lead: 66 * time.Second, want: "|30s|", early: true,
		},
		"MinSamples": {reason: "Samples are counted where that matters.", query: "1", stats: true, live: time.Hour, want: "||true"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			requests := []string{}
			q, err := NewQuestion(newClient(t, fetch.Options{Loopback: true}), promql.NewReader(10), server(t, &requests), tc.query, tc.stats)
			if err != nil {
				t.Fatal(err)
			}
			a := q.Ask(t.Context(), tc.live)
			if a.Problem != "" || len(a.Values) != 1 || a.Early != tc.early {
				t.Errorf("%s\nAsk(...): %+v", tc.reason, a)
			}
			// The query has no time, so that the server uses its own.
			if diff := cmp.Diff([]string{"POST|/prom/api/v1/query|" + tc.query + tc.want + "|"}, requests); diff != "" {
				t.Errorf("%s\nAsk(...): -want, +got:\n%s", tc.reason, diff)
			}
			if q.Lead() != tc.lead {
				t.Errorf("%s\nLead(): want %s, got %s", tc.reason, tc.lead, q.Lead())
			}
		})
	}
}

// TestAskWithoutServer asks servers that cannot be asked, behind a path that may be a secret.
func TestAskWithoutServer(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }))
	t.Cleanup(s.Close)
	near := newClient(t, fetch.Options{Loopback: true})
	cases := map[string]struct {
		reason string
		doer   Doer
		base   string
		want   string
	}{
		"Silent": {
			reason: "An outage names the server without its path.", doer: near, base: "http://127.0.0.1:1/c4n4ry",
			want: "the server does not answer (http://127.0.0.1:1)",
		},
		"Status": {
			reason: "A status that says that the server failed is an outage.", doer: near, base: s.URL + "/c4n4ry",
			want: problemUnavailable + ": status 502 Bad Gateway (" + s.URL + ")",
		},
		"Refused": {
			reason: "A server that may not be asked gives no verdict, whether the Site or the claim named it.",
			doer:   newClient(t, fetch.Options{}), base: "http://127.0.0.1:9090/c4n4ry",
			want: `checks may not ask the host "127.0.0.1": it is a loopback address, which is the provider's own machine (http://127.0.0.1:9090)`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			base, err := Base(tc.base)
			if err != nil {
				t.Fatal(err)
			}
			q, err := NewQuestion(tc.doer, promql.NewReader(10), Server{Base: base}, "up", false)
			if err != nil {
				t.Fatal(err)
			}
			got := q.Ask(t.Context(), time.Hour)
			if diff := cmp.Diff(tc.want, got.Problem); diff != "" || !got.Unavailable {
				t.Errorf("%s\nAsk(...): unavailable %t, -want problem, +got problem:\n%s", tc.reason, got.Unavailable, diff)
			}
		})
	}
}

func TestKey(t *testing.T) {
	requests := []string{}
	s := server(t, &requests)
	key := func(k fetch.Credentials, query string, live time.Duration) string {
		q, err := NewQuestion(nil, promql.NewReader(10), Server{Base: s.Base, Credentials: k}, query, false)
		if err != nil {
			t.Fatal(err)
		}
		return q.Key(live)
	}
	firstKey := key(fetch.Credentials{Token: "a"}, "up", time.Hour)
	for name, otherKey := range map[string]string{
		"another token": key(fetch.Credentials{Token: "b"}, "up", time.Hour), "another query": key(fetch.Credentials{Token: "a"}, "down", time.Hour),
		"another age": key(fetch.Credentials{Token: "a"}, "up", time.Minute),
	} {
		if otherKey == firstKey {
			t.Errorf("%s is the same question", name)
		}
	}
	if firstKey != key(fetch.Credentials{Token: "a"}, "up", 2*time.Hour) {
		t.Error("the same question has another key")
	}
	if strings.Contains(key(fetch.Credentials{Token: "hunter2"}, "up", 0), "hunter2") {
		t.Error("a key holds a token")
	}
}

func TestBase(t *testing.T) {
	cases := map[string]struct {
		reason  string
		address string
		ok      bool
	}{
		"Good":        {reason: "The address of Prometheus may have a path.", address: "https://prometheus.example.org/prom", ok: true},
		"Scheme":      {reason: "A file is not an address of Prometheus.", address: "file:///etc/passwd"},
		"Socket":      {reason: "The address of a socket is refused.", address: "unix:///var/run/docker.sock"},
		"Credentials": {reason: "Credentials in the address of Prometheus are refused.", address: "https://u:hunter2@prometheus.example.org"},
		"Disguise":    {reason: "A text that looks like a host may be a user.", address: "https://prometheus.example.org@evil.example.org"},
		"Query":       {reason: "A query is ours to make.", address: "https://prometheus.example.org?query=1"},
		"Nothing":     {reason: "An address without a host is refused.", address: "https://"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := Base(tc.address)
			if (err == nil) != tc.ok {
				t.Errorf("%s\nBase(%q): %v", tc.reason, tc.address, err)
			}
			if err != nil && strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error shows a password: %v", err)
			}
		})
	}
}
