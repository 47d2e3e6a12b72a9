package prometheus

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/promql"
	"github.com/intentplane/intentplane/provider/gates"
	"github.com/intentplane/intentplane/provider/gates/fetch"
)

const text = `rate(errors_total{job="shop"}[1m])`

func at() time.Time { return time.Unix(1790000000, 500_000_000).UTC() }

func TestDecode(t *testing.T) {
	vector := func(series string) string {
		return `{"status":"success","data":{"resultType":"vector","result":` + series + `}}`
	}
	n := int64(7)
	cases := map[string]struct {
		reason string
		status int
		date   time.Time
		body   string
		want   gates.Answer
	}{
		"Vector":      {reason: "A vector of one series has one value.", body: vector(`[{"metric":{"a":"b"},"value":[1790000000.5,"0.25"]}]`), want: gates.Answer{Values: []float64{0.25}, At: at()}},
		"Scalar":      {reason: "A scalar has one value with its time, as a series has.", body: `{"status":"success","data":{"resultType":"scalar","result":[1790000000.5,"3"]}}`, want: gates.Answer{Values: []float64{3}, At: at()}},
		"Empty":       {reason: "An empty vector is an answer without data.", body: vector(`[]`), want: gates.Answer{}},
		"Many":        {reason: "An answer of several series keeps all their values.", body: vector(`[{"value":[1790000000.5,"1"]},{"value":[1790000000.5,"2"]}]`), want: gates.Answer{Values: []float64{1, 2}, At: at()}},
		"Samples":     {reason: "The number of samples is part of the answer.", body: `{"status":"success","data":{"resultType":"vector","result":[],"stats":{"samples":{"totalQueryableSamples":7}}}}`, want: gates.Answer{Samples: &n}},
		"Null":        {reason: "Nothing is not an empty list.", body: vector(`null`), want: gates.Answer{Problem: problemForeign}},
		"NoResult":    {reason: "An answer without a result is not understood.", body: `{"status":"success","data":{"resultType":"vector"}}`, want: gates.Answer{Problem: problemForeign}},
		"NoValue":     {reason: "A series without a value is not one of 0.", body: vector(`[{"metric":{}}]`), want: gates.Answer{Problem: problemForeign}},
		"HalfValue":   {reason: "A value without its number is not Prometheus's.", body: vector(`[{"value":[1790000000.5]}]`), want: gates.Answer{Problem: problemForeign}},
		"NullValue":   {reason: "A value that is null is rejected.", body: vector(`[{"value":[1790000000.5,null]}]`), want: gates.Answer{Problem: problemForeign}},
		"BareValue":   {reason: "A value is a text in Prometheus's JSON, and not a number.", body: vector(`[{"value":[1790000000.5,0]}]`), want: gates.Answer{Problem: problemForeign}},
		"NoNumber":    {reason: "A value that is not the text of a number is not Prometheus's.", body: vector(`[{"value":[1790000000.5,"good"]}]`), want: gates.Answer{Problem: problemForeign}},
		"NoTime":      {reason: "A value at the time 0 is not Prometheus's.", body: vector(`[{"value":[0,"1"]}]`), want: gates.Answer{Problem: problemForeign}},
		"LateTime":    {reason: "A time that no clock can show is rejected.", body: vector(`[{"value":[1e300,"1"]}]`), want: gates.Answer{Problem: problemForeign}},
		"Histogram":   {reason: "A histogram is not a number to judge.", body: vector(`[{"histogram":[1790000000.5,{"count":"1","sum":"1"}]}]`), want: gates.Answer{Problem: problemHistogram}},
		"Matrix":      {reason: "A matrix is not one value, and is rejected.", body: `{"status":"success","data":{"resultType":"matrix","result":[]}}`, want: gates.Answer{Problem: problemForeign}},
		"Text":        {reason: "A text instead of a number is rejected.", body: `{"status":"success","data":{"resultType":"string","result":[1790000000.5,"1"]}}`, want: gates.Answer{Problem: problemForeign}},
		"Incomplete":  {reason: "A backend of which a part did not answer is unavailable.", body: `{"status":"success","warnings":["a store is down"],"data":{"resultType":"vector","result":[]}}`, want: gates.Answer{Problem: problemIncomplete, Unavailable: true}},
		"OddWarning":  {reason: "A warning that is no text is not about the query.", body: `{"status":"success","warnings":[{}],"data":{"resultType":"vector","result":[]}}`, want: gates.Answer{Problem: problemIncomplete, Unavailable: true}},
		"OddWarnings": {reason: "Warnings that are no list are not written by Prometheus.", body: `{"status":"success","warnings":"x","data":{"resultType":"vector","result":[]}}`, want: gates.Answer{Problem: problemForeign, Unavailable: true}},
		"Warned":      {reason: "A warning about the query is an error of the query.", body: `{"status":"success","warnings":["PromQL warning: bucket label \"le\" is missing"],"data":{"resultType":"vector","result":[]}}`, want: gates.Answer{Problem: problemWarning}},
		"WarnedTwice": {reason: "A warning about the query does not hide one about the backend.", body: `{"status":"success","warnings":["PromQL warning: x","a store is down"],"data":{"resultType":"vector","result":[]}}`, want: gates.Answer{Problem: problemIncomplete, Unavailable: true}},
		"Notes":       {reason: "Notes about a query are none.", body: `{"status":"success","infos":["not a counter"],"data":{"resultType":"vector","result":[]}}`, want: gates.Answer{}},
		"HTML":        {reason: "A page of a proxy is no answer.", body: `<html>Sign in</html>`, want: gates.Answer{Problem: problemForeign, Unavailable: true}},
		"Nothing":     {reason: "An empty answer is an outage of the backend.", want: gates.Answer{Problem: problemForeign, Unavailable: true}},
		"Other":       {reason: "JSON of another form is an outage of the backend.", body: `{"ok":true}`, want: gates.Answer{Problem: problemForeign, Unavailable: true}},
		"Two":         {reason: "Two answers in one body are an outage of the backend.", body: vector(`[]`) + vector(`[]`), want: gates.Answer{Problem: problemForeign, Unavailable: true}},
		"Refused":     {reason: "What is wrong with a query is repeated.", status: 400, body: `{"status":"error","errorType":"bad_data","error":"unknown\n\u001b[31m function"}`, want: gates.Answer{Problem: problemRefused + ": unknown [31m function"}},
		"Execution":   {reason: "What is wrong with the data is not: it may be others'.", status: 422, body: `{"status":"error","errorType":"execution","error":"duplicate series: [{namespace=\"team-b\"}]"}`, want: gates.Answer{Problem: problemExecution}},
		"Slow":        {reason: "A query that timed out is an outage of the backend.", status: 503, body: `{"status":"error","errorType":"timeout","error":"query timed out in {team-b}"}`, want: gates.Answer{Problem: problemUnavailable, Unavailable: true}},
		"Unknown":     {reason: "An error of an unknown type is a refusal of the query.", status: 422, body: `{"status":"error","errorType":"other","error":"{team-b}"}`, want: gates.Answer{Problem: problemRefused}},
		"Unbounded":   {reason: "More than two series say no more than two do.", body: vector(`[{"value":[1790000000.5,"1"]},{"value":[1790000000.5,"2"]}` + strings.Repeat(`,{"value":[1790000000.5,"3"]}`, 9) + `]`), want: gates.Answer{Values: []float64{1, 2}, At: at()}},
		"Denied":      {reason: "An answer 401 is reported as wrong credentials, without the server's text.", status: 401, body: `{"status":"error","errorType":"x","error":"token abc is wrong"}`, want: gates.Answer{Problem: problemDenied, Unavailable: true}},
		"Down":        {reason: "Trouble of a server is said so.", status: 503, body: `{"status":"error","errorType":"unavailable","error":"starting"}`, want: gates.Answer{Problem: problemUnavailable, Unavailable: true}},
		"Gateway":     {reason: "A gateway that cannot reach the backend reports an outage.", status: 502, body: `<html>`, want: gates.Answer{Problem: problemUnavailable, Unavailable: true}},
		"WrongStatus": {reason: "Success with another status is none.", status: 202, body: vector(`[]`), want: gates.Answer{Problem: problemForeign, Unavailable: true}},
		"Skew":        {reason: "A server's clock is compared with itself only.", date: at().Add(30 * time.Second), body: vector(`[{"value":[1790000000.5,"1"]}]`), want: gates.Answer{Values: []float64{1}, At: at()}},
		"TooMany":     {reason: "A server that wants fewer questions is unavailable.", status: 429, body: `slow down`, want: gates.Answer{Problem: problemUnavailable, Unavailable: true}},
		"NotThere":    {reason: "A page that says that nothing is there is not written by Prometheus.", status: 404, body: `404 page not found`, want: gates.Answer{Problem: problemForeign, Unavailable: true}},
		"Old":         {reason: "An answer that was kept is of another time.", date: at().Add(2 * time.Minute), body: vector(`[{"value":[1790000000.5,"1"]}]`), want: gates.Answer{Problem: problemStale}},
		"Ahead":       {reason: "An answer is stale as well when the server's clock is behind ours.", date: at().Add(-2 * time.Minute), body: vector(`[{"value":[1790000000.5,"1"]}]`), want: gates.Answer{Problem: problemStale}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if tc.status == 0 {
				tc.status = http.StatusOK
			}
			got := decodeAnswer(fetch.Answer{Status: tc.status, Date: tc.date, Body: []byte(tc.body)})
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\ndecode(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestDecodeIsBounded decodes the largest answers that are read at all.
func TestDecodeIsBounded(t *testing.T) {
	fill := func(form, of string) string {
		return fmt.Sprintf(form, strings.Repeat(of, (fetch.MaxBytes-200)/len(of)))
	}
	for name, body := range map[string]string{
		"series":   fill(`{"status":"success","data":{"resultType":"vector","result":[{"value":[1,"1"]}%s]}}`, ",{}"),
		"pair":     fill(`{"status":"success","data":{"resultType":"scalar","result":[1,"1"%s]}}`, ",[]"),
		"warnings": fill(`{"status":"success","warnings":[""%s],"data":{"resultType":"vector","result":[]}}`, `,""`),
		"unknown":  fill(`{"status":"success","infos":[""%s],"data":{"resultType":"vector","result":[]}}`, `,{}`),
		"labels":   fill(`{"status":"success","data":{"resultType":"vector","result":[{"metric":{"a":""%s},"value":[1,"1"]}]}}`, `,"a":""`),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_ = decodeAnswer(fetch.Answer{Status: http.StatusOK, Body: []byte(body)})
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > 12*fetch.MaxBytes {
			t.Errorf("%s: %d bytes took %d", name, len(body), took)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"status":"success","data":{"resultType":"vector","result":[{"value":[1790000000.5,"0.25"]}]}}`))
	f.Add([]byte(`{"status":"success","data":{"resultType":"scalar","result":[1,"NaN"]}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		a := decodeAnswer(fetch.Answer{Status: http.StatusOK, Body: body})
		if a.Problem != "" && len(a.Values) > 0 {
			t.Errorf("%q has a problem and values", body)
		}
		if len(a.Values) > 0 && a.At.IsZero() {
			t.Errorf("%q has values of no time", body)
		}
	})
}

// server answers with 1, and remembers what it was asked.
func server(t *testing.T, asked *[]string) Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		*asked = append(*asked, strings.Join([]string{r.Method, r.URL.Path, r.Form.Get("query"), r.Form.Get("lookback_delta"), r.Form.Get("stats"), r.Form.Get("time")}, "|"))
		_, _ = fmt.Fprintf(w, `{"status":"success","data":{"resultType":"scalar","result":[%d,"1"]}}`, time.Now().Unix())
	}))
	t.Cleanup(s.Close)
	base, err := Base(s.URL + "/prom/")
	if err != nil {
		t.Fatal(err)
	}
	return Server{Base: base}
}

func TestAsk(t *testing.T) {
	cases := map[string]struct {
		reason string
		query  string
		stats  bool
		live   time.Duration
		lead   time.Duration
		want   string
		early  bool
	}{
		"Window":     {reason: "A window is all that a server looks at.", query: text, live: 2 * time.Minute, lead: 61 * time.Second, want: "||"},
		"Young":      {reason: "A server does not look further back than the subject is live.", query: "up", live: 6 * time.Second, lead: 6 * time.Second, want: "|5s|", early: true},
		"Older":      {reason: "Which it may a little later.", query: "up", live: 31 * time.Second, lead: 6 * time.Second, want: "|30s|", early: true},
		"NotYet":     {reason: "A question is early until the shortest lookback lies in the life of the subject.", query: "up", live: 31*time.Second - 1, lead: 6 * time.Second, want: "|15s|", early: true},
		"Settled":    {reason: "After a minute no data means something.", query: "up", live: 61 * time.Second, lead: 6 * time.Second, want: "|60s|"},
		"Old":        {reason: "The server looks back as far as it does by default once the subject is old enough.", query: "up", live: time.Hour, lead: 6 * time.Second, want: "|300s|"},
		"Offset":     {reason: "The offset of a query shortens the window that is left since the revision was live.", query: "up offset 1m", live: 91 * time.Second, lead: 66 * time.Second, want: "|30s|", early: true},
		"MinSamples": {reason: "Samples are counted where that matters.", query: "1", stats: true, live: time.Hour, want: "||true"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			asked := []string{}
			q, err := NewQuestion(fetch.New(fetch.Options{Loopback: true}), promql.NewReader(10), server(t, &asked), tc.query, tc.stats)
			if err != nil {
				t.Fatal(err)
			}
			a := q.Ask(t.Context(), tc.live)
			if a.Problem != "" || len(a.Values) != 1 || a.Early != tc.early {
				t.Errorf("%s\nAsk(...): %+v", tc.reason, a)
			}
			// The server is never told what time it is.
			if diff := cmp.Diff([]string{"POST|/prom/api/v1/query|" + tc.query + tc.want + "|"}, asked); diff != "" {
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
	near := fetch.New(fetch.Options{Loopback: true})
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
			want: problemUnavailable + " (" + s.URL + ")",
		},
		"Refused": {
			reason: "A server that may not be asked, whoever named it, is no verdict on what it would have measured.",
			doer:   fetch.New(fetch.Options{}), base: "http://127.0.0.1:9090/c4n4ry",
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
	asked := []string{}
	s := server(t, &asked)
	key := func(k fetch.Credentials, query string, live time.Duration) string {
		q, err := NewQuestion(nil, promql.NewReader(10), Server{Base: s.Base, Credentials: k}, query, false)
		if err != nil {
			t.Fatal(err)
		}
		return q.Key(live)
	}
	same := key(fetch.Credentials{Token: "a"}, "up", time.Hour)
	for name, other := range map[string]string{
		"another token": key(fetch.Credentials{Token: "b"}, "up", time.Hour), "another query": key(fetch.Credentials{Token: "a"}, "down", time.Hour),
		"another age": key(fetch.Credentials{Token: "a"}, "up", time.Minute),
	} {
		if other == same {
			t.Errorf("%s is the same question", name)
		}
	}
	if same != key(fetch.Credentials{Token: "a"}, "up", 2*time.Hour) {
		t.Error("the same question is another one")
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
		"Disguise":    {reason: "What looks like a host may be a user.", address: "https://prometheus.example.org@evil.example.org"},
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
