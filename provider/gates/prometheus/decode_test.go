package prometheus

import (
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/provider/fetch"
	"github.com/intentplane/intentplane/provider/gates"
)

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
		"Vector": {
			reason: "A vector of one series has one value.",
			body:   vector(`[{"metric":{"a":"b"},"value":[1790000000.5,"0.25"]}]`), want: gates.Answer{Values: []float64{0.25}, At: at()},
		},
		"Scalar": {
			reason: "A scalar has one value with its time, as a series has.",
			body:   `{"status":"success","data":{"resultType":"scalar","result":[1790000000.5,"3"]}}`,
			want:   gates.Answer{Values: []float64{3}, At: at()},
		},
		"Empty": {reason: "An empty vector is an answer without data.", body: vector(`[]`), want: gates.Answer{}},
		"Many": {
			reason: "An answer of several series keeps all their values.",
			body:   vector(`[{"value":[1790000000.5,"1"]},{"value":[1790000000.5,"2"]}]`), want: gates.Answer{Values: []float64{1, 2}, At: at()},
		},
		"Samples": {
			reason: "The number of samples is part of the answer.",
			body:   `{"status":"success","data":{"resultType":"vector","result":[],"stats":{"samples":{"totalQueryableSamples":7}}}}`,
			want:   gates.Answer{Samples: &n},
		},
		"Null": {reason: "Nothing is not an empty list.", body: vector(`null`), want: gates.Answer{Problem: problemForeign}},
		"NoResult": {
			reason: "An answer without a result is not understood.",
			body:   `{"status":"success","data":{"resultType":"vector"}}`, want: gates.Answer{Problem: problemForeign},
		},
		"NoValue": {reason: "A series without a value is not one of 0.", body: vector(`[{"metric":{}}]`), want: gates.Answer{Problem: problemForeign}},
		"HalfValue": {
			reason: "A value without its number is not Prometheus's.",
			body:   vector(`[{"value":[1790000000.5]}]`), want: gates.Answer{Problem: problemForeign},
		},
		"NullValue": {reason: "A value that is null is rejected.", body: vector(`[{"value":[1790000000.5,null]}]`), want: gates.Answer{Problem: problemForeign}},
		"BareValue": {
			reason: "A value is a text in Prometheus's JSON, and not a number.",
			body:   vector(`[{"value":[1790000000.5,0]}]`), want: gates.Answer{Problem: problemForeign},
		},
		"NoNumber": {
			reason: "A value that is not the text of a number is not Prometheus's.",
			body:   vector(`[{"value":[1790000000.5,"good"]}]`), want: gates.Answer{Problem: problemForeign},
		},
		"NoTime":   {reason: "A value at the time 0 is not Prometheus's.", body: vector(`[{"value":[0,"1"]}]`), want: gates.Answer{Problem: problemForeign}},
		"LateTime": {reason: "A time that no clock can show is rejected.", body: vector(`[{"value":[1e300,"1"]}]`), want: gates.Answer{Problem: problemForeign}},
		"Histogram": {
			reason: "A histogram is not a number to judge.",
			body:   vector(`[{"histogram":[1790000000.5,{"count":"1","sum":"1"}]}]`), want: gates.Answer{Problem: problemHistogram},
		},
		"Matrix": {
			reason: "A matrix is not one value, and is rejected.",
			body:   `{"status":"success","data":{"resultType":"matrix","result":[]}}`, want: gates.Answer{Problem: problemForeign},
		},
		"Text": {
			reason: "A text instead of a number is rejected.",
			body:   `{"status":"success","data":{"resultType":"string","result":[1790000000.5,"1"]}}`, want: gates.Answer{Problem: problemForeign},
		},
		"Incomplete": {
			reason: "A backend of which a part did not answer is unavailable.",
			body:   `{"status":"success","warnings":["a store is down"],"data":{"resultType":"vector","result":[]}}`,
			want:   gates.Answer{Problem: problemIncomplete + ": a store is down", Unavailable: true},
		},
		"OddWarning": {
			reason: "A warning that is no text is not about the query.",
			body:   `{"status":"success","warnings":[{}],"data":{"resultType":"vector","result":[]}}`,
			want:   gates.Answer{Problem: problemIncomplete, Unavailable: true},
		},
		"OddWarnings": {
			reason: "Warnings that are no list are not written by Prometheus.",
			body:   `{"status":"success","warnings":"x","data":{"resultType":"vector","result":[]}}`,
			want:   gates.Answer{Problem: problemForeign, Unavailable: true},
		},
		"Warned": {
			reason: "A warning about the query is an error of the query.",
			body:   `{"status":"success","warnings":["PromQL warning: bucket label \"le\" is missing"],"data":{"resultType":"vector","result":[]}}`,
			want:   gates.Answer{Problem: problemWarning},
		},
		"WarnedTwice": {
			reason: "A warning about the query does not hide one about the backend.",
			body:   `{"status":"success","warnings":["PromQL warning: x","a store is down"],"data":{"resultType":"vector","result":[]}}`,
			want:   gates.Answer{Problem: problemIncomplete + ": a store is down", Unavailable: true},
		},
		"OldNotes": {
			reason: "A version that lists notes among its warnings gives an answer, too.",
			body:   `{"status":"success","warnings":["PromQL info: metric might not be a counter"],"data":{"resultType":"vector","result":[{"value":[1790000000.5,"1"]}]}}`,
			want:   gates.Answer{Values: []float64{1}, At: at()},
		},
		"NotesBeside": {
			reason: "A note does not hide a warning about the query.",
			body:   `{"status":"success","warnings":["PromQL info: a","PromQL warning: b"],"data":{"resultType":"vector","result":[]}}`,
			want:   gates.Answer{Problem: problemWarning},
		},
		"NoteOutage": {
			reason: "A note does not hide a warning that a store is down.",
			body:   `{"status":"success","infos":["PromQL info: a"],"warnings":["PromQL info: a","a store is down"],"data":{"resultType":"vector","result":[]}}`,
			want:   gates.Answer{Problem: problemIncomplete + ": a store is down", Unavailable: true},
		},
		"Partial": {
			reason: "An answer that VictoriaMetrics calls partial lacks the data of a node.",
			body:   `{"status":"success","isPartial":true,"data":{"resultType":"vector","result":[{"value":[1790000000.5,"1"]}]}}`,
			want:   gates.Answer{Problem: problemIncomplete, Unavailable: true},
		},
		"OddPartial": {
			reason: "An answer that does not read as complete is an outage of the backend.",
			body:   `{"status":"success","isPartial":"yes","data":{"resultType":"vector","result":[]}}`,
			want:   gates.Answer{Problem: problemIncomplete, Unavailable: true},
		},
		"Whole": {
			reason: "An answer that VictoriaMetrics calls whole is one.",
			body:   `{"status":"success","isPartial":false,"data":{"resultType":"vector","result":[{"value":[1790000000.5,"1"]}]}}`,
			want:   gates.Answer{Values: []float64{1}, At: at()},
		},
		"Notes": {
			reason: "Notes about a query are not errors.",
			body:   `{"status":"success","infos":["not a counter"],"data":{"resultType":"vector","result":[]}}`, want: gates.Answer{},
		},
		"Omitted": {
			reason: "A list of warnings that the server cut goes on with warnings about the query.",
			body:   `{"status":"success","warnings":["PromQL warning: x","3 more warning annotations omitted"],"data":{"resultType":"vector","result":[]}}`,
			want:   gates.Answer{Problem: problemWarning},
		},
		"OmittedNotes": {
			reason: "A list of notes that the server cut goes on with notes.",
			body: `{"status":"success","warnings":["PromQL info: x","3 more info annotations omitted"],` +
				`"data":{"resultType":"vector","result":[{"value":[1790000000.5,"1"]}]}}`,
			want: gates.Answer{Values: []float64{1}, At: at()},
		},
		"OmittedLike": {
			reason: "A warning about the backend may have the words of a cut list.",
			body:   `{"status":"success","warnings":["store-1: 3 more info annotations omitted"],"data":{"resultType":"vector","result":[]}}`,
			want:   gates.Answer{Problem: problemIncomplete + ": store-1: 3 more info annotations omitted", Unavailable: true},
		},
		"NotesAlone": {
			reason: "Notes may stand in a list of their own, whatever their form.",
			body:   `{"status":"success","infos":{"PromQL info: x":1},"data":{"resultType":"vector","result":[{"value":[1790000000.5,"1"]}]}}`,
			want:   gates.Answer{Values: []float64{1}, At: at()},
		},
		"NoWarnings": {
			reason: "An empty list of warnings warns of nothing.",
			body:   `{"status":"success","warnings":[],"isPartial":null,"data":{"resultType":"vector","result":[{"value":[1790000000.5,"1"]}]}}`,
			want:   gates.Answer{Values: []float64{1}, At: at()},
		},
		"SmallPromQL": {
			reason: "A warning that only looks as if it were about the query is about the backend.",
			body:   `{"status":"success","warnings":["promql info: x"],"data":{"resultType":"vector","result":[]}}`,
			want:   gates.Answer{Problem: problemIncomplete + ": promql info: x", Unavailable: true},
		},
		"Thanos": {
			reason: "The warning of Thanos about a store loses its set of labels.",
			body: `{"status":"success","warnings":["No StoreAPIs matched {tenant=\"b\"}: rpc error: code = Unavailable desc = store-1"],` +
				`"data":{"resultType":"vector","result":[{"value":[1790000000.5,"1"]}]}}`,
			want: gates.Answer{Problem: problemIncomplete + ": No StoreAPIs matched …: rpc error: code = Unavailable desc = store-1", Unavailable: true},
		},
		"Cortex": {
			reason: "The warning of Cortex that an answer may be partial is an outage of a part.",
			body:   `{"status":"success","warnings":["Query result may contain partial data."],"data":{"resultType":"vector","result":[]}}`,
			want:   gates.Answer{Problem: problemIncomplete + ": Query result may contain partial data.", Unavailable: true},
		},
		"ErrorBeside": {
			reason: "An error beside a success says that something is missing.",
			body:   `{"status":"success","error":"a node is down","data":{"resultType":"vector","result":[{"value":[1790000000.5,"1"]}]}}`,
			want:   gates.Answer{Problem: problemIncomplete + ": a node is down", Unavailable: true},
		},
		"Canceled": {
			reason: "A query that ends with its server is an outage.",
			status: 499, body: `{"status":"error","errorType":"canceled","error":"query was canceled in expression evaluation"}`,
			want: gates.Answer{Problem: problemUnavailable + ": status 499: query was canceled in expression evaluation", Unavailable: true},
		},
		"MimirBusy": {
			reason: "A server that is too busy gives no answer, whatever its status.",
			status: 422, body: `{"status":"error","errorType":"too_many_requests","error":"the request has been rejected (err-mimir-tenant-max-request-rate)"}`,
			want: gates.Answer{
				Problem:     problemUnavailable + ": status 422 Unprocessable Entity: the request has been rejected (err-mimir-tenant-max-request-rate)",
				Unavailable: true,
			},
		},
		"VictoriaMetrics": {
			reason: "An error of VictoriaMetrics has its status as its type.",
			status: 422, body: `{"status":"error","errorType":"422","error":"duplicate series {team-b}"}`, want: gates.Answer{Problem: problemRefused},
		},
		"DeniedPartial": {
			reason: "VictoriaMetrics refuses a partial answer with the status 503.",
			status: 503, body: `{"status":"error","errorType":"503","error":"cannot fetch series: cannot connect to vmstorage-1:8401"}`,
			want: gates.Answer{
				Problem:     problemUnavailable + ": status 503 Service Unavailable: cannot fetch series: cannot connect to vmstorage-1:8401",
				Unavailable: true,
			},
		},
		"HTML": {
			reason: "A page of a proxy is no answer.",
			body:   `<html>Sign in</html>`, want: gates.Answer{Problem: problemForeign + ": an HTML page", Unavailable: true},
		},
		"Nothing": {reason: "An empty answer is an outage of the backend.", want: gates.Answer{Problem: problemForeign, Unavailable: true}},
		"Other": {
			reason: "JSON of another form is an outage of the backend.",
			body:   `{"ok":true}`, want: gates.Answer{Problem: problemForeign, Unavailable: true},
		},
		"Two": {
			reason: "Two answers in one body are an outage of the backend.",
			body:   vector(`[]`) + vector(`[]`), want: gates.Answer{Problem: problemForeign, Unavailable: true},
		},
		"Refused": {
			reason: "An error of the query is repeated.",
			status: 400, body: `{"status":"error","errorType":"bad_data","error":"unknown\n\u001b[31m function"}`,
			want: gates.Answer{Problem: problemRefused + ": unknown [31m function"},
		},
		"Execution": {
			reason: "An error of the data is not repeated: the data may be of another tenant.",
			status: 422, body: `{"status":"error","errorType":"execution","error":"duplicate series: [{namespace=\"team-b\"}]"}`,
			want: gates.Answer{Problem: problemExecution},
		},
		"ThanosAbort": {
			reason: "Thanos without partial answers calls an outage of a store an error of the data.",
			status: 422,
			body: `{"status":"error","errorType":"execution",` +
				`"error":"expanding series: proxy Series(): rpc error: code = Aborted desc = store {tenant=\"b\"} is down"}`,
			want: gates.Answer{
				Problem:     problemUnavailable + ": status 422 Unprocessable Entity: expanding series: proxy Series(): rpc error: code = Aborted desc = store … is down",
				Unavailable: true,
			},
		},
		"MimirCode": {
			reason: "Mimir and Cortex have a status of HTTP as the code of a call to another part.",
			status: 422, body: `{"status":"error","errorType":"execution","error":"expanding series: rpc error: code = Code(503) desc = {team-b}"}`,
			want: gates.Answer{
				Problem:     problemUnavailable + ": status 422 Unprocessable Entity: expanding series: rpc error: code = Code(503) desc = …",
				Unavailable: true,
			},
		},
		"MimirLimit": {
			reason: "A limit of the query is no outage.",
			status: 422, body: `{"status":"error","errorType":"execution","error":"expanding series: rpc error: code = Code(422) desc = {team-b}"}`,
			want: gates.Answer{Problem: problemExecution},
		},
		"LateCall": {
			reason: "A remote read that ran out of time is an outage of the remote server.",
			status: 422, body: `{"status":"error","errorType":"execution","error":"expanding series: context deadline exceeded"}`,
			want: gates.Answer{
				Problem:     problemUnavailable + ": status 422 Unprocessable Entity: expanding series: context deadline exceeded",
				Unavailable: true,
			},
		},
		"BrokenRule": {
			reason: "A call that another part of the server refused for its content is an error of the data.",
			status: 422, body: `{"status":"error","errorType":"execution","error":"rpc error: code = InvalidArgument desc = {team-b}"}`,
			want: gates.Answer{Problem: problemExecution},
		},
		"Slow": {
			reason: "The words about an outage leave out labels of series, which may be others'.",
			status: 503, body: `{"status":"error","errorType":"timeout","error":"query timed out in {team-b}"}`,
			want: gates.Answer{Problem: problemUnavailable + ": status 503 Service Unavailable: query timed out in …", Unavailable: true},
		},
		"RefusedAuth": {
			reason: "An error of the query loses the credentials of the request.",
			status: 400, body: `{"status":"error","errorType":"bad_data","error":"token abc is not valid, db_password=x"}`,
			want: gates.Answer{Problem: problemRefused + ": token [redacted] is not valid, db_password=[redacted]"},
		},
		"Unknown": {
			reason: "An error of an unknown type is a refusal of the query.",
			status: 422, body: `{"status":"error","errorType":"other","error":"{team-b}"}`, want: gates.Answer{Problem: problemRefused},
		},
		"Unbounded": {
			reason: "More than two series say no more than two do.",
			body:   vector(`[{"value":[1790000000.5,"1"]},{"value":[1790000000.5,"2"]}` + strings.Repeat(`,{"value":[1790000000.5,"3"]}`, 9) + `]`),
			want:   gates.Answer{Values: []float64{1, 2}, At: at()},
		},
		"Denied": {
			reason: "An answer 401 is reported as wrong credentials, with the words of the server and without ours.",
			status: 401, body: `{"status":"error","errorType":"x","error":"token abc is wrong"}`,
			want: gates.Answer{Problem: problemDenied + ": status 401 Unauthorized: token [redacted] is wrong", Unavailable: true},
		},
		"Down": {
			reason: "An error of the server itself is an outage of the backend.",
			status: 503, body: `{"status":"error","errorType":"unavailable","error":"starting"}`,
			want: gates.Answer{Problem: problemUnavailable + ": status 503 Service Unavailable: starting", Unavailable: true},
		},
		"Gateway": {
			reason: "A gateway that cannot reach the backend reports an outage.",
			status: 502, body: `<html>`,
			want: gates.Answer{Problem: problemUnavailable + ": status 502 Bad Gateway: an HTML page", Unavailable: true},
		},
		"WrongStatus": {
			reason: "Success with another HTTP status is an outage of the backend.",
			status: 202, body: vector(`[]`), want: gates.Answer{Problem: problemForeign + ": status 202 Accepted", Unavailable: true},
		},
		"Skew": {
			reason: "A server's clock is compared with itself only.",
			date:   at().Add(30 * time.Second), body: vector(`[{"value":[1790000000.5,"1"]}]`), want: gates.Answer{Values: []float64{1}, At: at()},
		},
		"TooMany": {
			reason: "A server that wants fewer questions is unavailable.",
			status: 429, body: `slow down`,
			want: gates.Answer{Problem: problemUnavailable + ": status 429 Too Many Requests: slow down", Unavailable: true},
		},
		"NotThere": {
			reason: "A page that says that nothing is there is not written by Prometheus.",
			status: 404, body: `404 page not found`,
			want: gates.Answer{Problem: problemForeign + ": status 404 Not Found: 404 page not found", Unavailable: true},
		},
		"Old": {
			reason: "An answer that was kept is of another time.",
			date:   at().Add(2 * time.Minute), body: vector(`[{"value":[1790000000.5,"1"]}]`), want: gates.Answer{Problem: problemStale, Unavailable: true},
		},
		"Ahead": {
			reason: "An answer is stale as well when the server's clock is behind ours.",
			date:   at().Add(-2 * time.Minute), body: vector(`[{"value":[1790000000.5,"1"]}]`), want: gates.Answer{Problem: problemStale, Unavailable: true},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if tc.status == 0 {
				tc.status = http.StatusOK
			}
			got := decodeAnswer(fetch.Answer{Status: tc.status, Date: tc.date, Body: []byte(tc.body)}, fetch.Credentials{Token: "abc"})
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\ndecode(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestDecodeIsBounded decodes the largest answers that are read at all.
func TestDecodeIsBounded(t *testing.T) {
	fill := func(form, kind string) string {
		return fmt.Sprintf(form, strings.Repeat(kind, (fetch.MaxBytes-200)/len(kind)))
	}
	for name, body := range map[string]string{
		"series":   fill(`{"status":"success","data":{"resultType":"vector","result":[{"value":[1,"1"]}%s]}}`, ",{}"),
		"pair":     fill(`{"status":"success","data":{"resultType":"scalar","result":[1,"1"%s]}}`, ",[]"),
		"warnings": fill(`{"status":"success","warnings":[""%s],"data":{"resultType":"vector","result":[]}}`, `,""`),
		"unknown":  fill(`{"status":"success","infos":[""%s],"data":{"resultType":"vector","result":[]}}`, `,{}`),
		"errors":   fill(`{"errors":[""%s]}`, `,""`),
		"labels":   fill(`{"status":"success","data":{"resultType":"vector","result":[{"metric":{"a":""%s},"value":[1,"1"]}]}}`, `,"a":""`),
	} {
		var baseline, final runtime.MemStats
		runtime.ReadMemStats(&baseline)
		_ = decodeAnswer(fetch.Answer{Status: http.StatusOK, Body: []byte(body)}, fetch.Credentials{})
		runtime.ReadMemStats(&final)
		if took := final.TotalAlloc - baseline.TotalAlloc; took > 12*fetch.MaxBytes {
			t.Errorf("%s: %d bytes took %d", name, len(body), took)
		}
	}
}
