package prometheus

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/intentplane/intentplane/provider/fetch"
	"github.com/intentplane/intentplane/provider/gates"
)

const (
	// maxSkew is how far the time of an answer may be from the date that the same server gives it.
	maxSkew = time.Minute

	// maxSeconds is the latest time that an answer may be of: the year 9999.
	maxSeconds = 253402300799

	// maxSeries is how many series are looked at. One is judged, and any more are an error.
	maxSeries = 2

	// pairSize is how many things a value comes with: its time, and itself.
	pairSize = 2
)

// Types of errors: errors of the text of a query, and errors of the data.
const (
	typeBadData   = "bad_data"
	typeExecution = "execution"
)

// outageTypes are the types of errors about the server itself. Prometheus ends a query with the type canceled and the status 499 where the server stops.
func outageTypes() []string {
	return []string{"canceled", "internal", "timeout", "too_many_requests", "unavailable"}
}

// omitted matches the last annotation of a list that the server has cut (util/annotations).
var omitted = regexp.MustCompile(`^[0-9]+ more (warning|info) annotations omitted$`)

// brokenCall matches the error of a call to another part of the server (gRPC), which Thanos repeats as an error of the data where it gives no partial answers.
// Mimir and Cortex have the status of HTTP as its code. A call that ran out of time may have no code.
var brokenCall = regexp.MustCompile(
	`rpc error: code = (?:(?:Aborted|Canceled|DeadlineExceeded|Internal|ResourceExhausted|Unavailable)\b|Code\((?:429|5[0-9]{2})\))|` +
		`\bcontext (?:canceled|deadline exceeded)\b`,
)

// Beginnings of annotations that are about the query, and not about the backend.
const (
	queryWarning = "PromQL warning:"
	queryInfo    = "PromQL info:"
)

// Problems of an answer.
const (
	problemForeign     = "the answer is not one of Prometheus"
	problemDenied      = "the server does not accept the credentials"
	problemRefused     = "the server refuses the query"
	problemExecution   = "the server cannot evaluate the query over its data"
	problemUnavailable = "the server has trouble of its own"
	problemIncomplete  = "the server warns that the answer may be incomplete"
	problemWarning     = "the server warns about the query"
	problemHistogram   = "the query gives a histogram, and not a number"
	problemStale       = "the answer is not of the time at which the server gave it"
)

// An envelope is the body of an answer of the HTTP API.
type envelope struct {
	Status    string          `json:"status"`
	ErrorType string          `json:"errorType"`
	Error     string          `json:"error"`
	Warnings  json.RawMessage `json:"warnings"`
	// IsPartial is true where VictoriaMetrics left out the data of a node that did not answer.
	IsPartial json.RawMessage `json:"isPartial"`
	Data      struct {
		ResultType string          `json:"resultType"`
		Result     json.RawMessage `json:"result"`
		Stats      *struct {
			Samples *struct {
				Total *int64 `json:"totalQueryableSamples"`
			} `json:"samples"`
		} `json:"stats"`
	} `json:"data"`
}

// decodeAnswer decodes the answer of a server to a request with credentials. An unknown form is an error.
func decodeAnswer(response fetch.Answer, k fetch.Credentials) gates.Answer {
	if problem := outageProblem(response.Status); problem != "" {
		return outageAnswer(problem, response.Words(k))
	}
	e := envelope{}
	d := json.NewDecoder(bytes.NewReader(response.Body))
	if err := d.Decode(&e); err != nil || d.Decode(&struct{}{}) != io.EOF {
		return outageAnswer(problemForeign, response.Words(k))
	}
	switch {
	case e.Status == "error" && isServerOutage(e):
		return outageAnswer(problemUnavailable, response.Words(k))
	case e.Status == "error" && e.ErrorType != "":
		return gates.Answer{Problem: describeRefusal(e, k)}
	case response.Status != http.StatusOK || e.Status != "success":
		return outageAnswer(problemForeign, response.Words(k))
	}
	if partial := string(e.IsPartial); partial != "" && partial != "false" && partial != "null" || e.Error != "" {
		return outageAnswer(problemIncomplete, fetch.CleanWords(e.Error, k))
	}
	if a := warningAnswer(e.Warnings, k); a.Problem != "" {
		return a
	}
	a := decodeValues(e.Data.ResultType, e.Data.Result)
	if e.Data.Stats != nil && e.Data.Stats.Samples != nil {
		a.Samples = e.Data.Stats.Samples.Total
	}
	if !a.At.IsZero() && !response.Date.IsZero() && a.At.Sub(response.Date).Abs() > maxSkew {
		return outageAnswer(problemStale, "") // A cache in front of the server returned it.
	}
	return a
}

// isServerOutage reports whether an error is about the server itself, or about a part of it that did not answer.
func isServerOutage(e envelope) bool {
	return slices.Contains(outageTypes(), e.ErrorType) || e.ErrorType == typeExecution && brokenCall.MatchString(e.Error)
}

// outageAnswer is an answer that the server could not give, with its words about that.
func outageAnswer(problem, words string) gates.Answer {
	return gates.Answer{Problem: fetch.WithWords(problem, words), Unavailable: true}
}

// outageProblem returns why the server could not look at the query at all. It is empty for a status that answers the query, such as 400.
func outageProblem(status int) string {
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return problemDenied
	case status >= http.StatusInternalServerError, status == http.StatusTooManyRequests, status == http.StatusRequestTimeout:
		return problemUnavailable
	}
	return ""
}

// warningAnswer returns the problem of an answer with warnings, and no problem without warnings. A warning that is not about the query says that a part of the
// backend did not answer, as a store of Thanos or a remote read: that is an outage of it. Prometheus begins warnings about the query with queryWarning, and
// notes about it, which older versions list among the warnings, with queryInfo (util/annotations). A note is not an error.
func warningAnswer(list json.RawMessage, k fetch.Credentials) gates.Answer {
	if len(list) == 0 || string(list) == "null" {
		return gates.Answer{}
	}
	d := json.NewDecoder(bytes.NewReader(list))
	if begin, err := d.Token(); err != nil || begin != json.Delim('[') {
		return outageAnswer(problemForeign, "")
	}
	out := gates.Answer{}
	for d.More() {
		text := ""
		err := d.Decode(&text)
		switch kind := annotationOf(text); {
		case err != nil || kind == "":
			return outageAnswer(problemIncomplete, fetch.CleanWords(text, k))
		case kind == queryWarning:
			out.Problem = problemWarning
		}
	}
	return out
}

// annotationOf returns whether an annotation is a warning or a note about the query, and "" for an annotation about the backend.
func annotationOf(text string) string {
	for _, kind := range []string{queryInfo, queryWarning} {
		if strings.HasPrefix(text, kind) {
			return kind
		}
	}
	if found := omitted.FindStringSubmatch(text); found != nil {
		return map[string]string{"info": queryInfo, "warning": queryWarning}[found[1]]
	}
	return ""
}

// describeRefusal repeats the server's error about the text of a query, without the credentials of the request, but not its errors about the data: the labels
// of series that it shows there may belong to another tenant.
func describeRefusal(e envelope, k fetch.Credentials) string {
	switch {
	case e.ErrorType == typeExecution:
		return problemExecution
	case e.ErrorType != typeBadData:
		return problemRefused
	}
	return fetch.WithWords(problemRefused, fetch.CleanWords(e.Error, k))
}

// firstElements returns the first items of a list: a list that is long is not held a second time. It is false for a value that is not a list.
func firstElements(n int, list json.RawMessage) ([]json.RawMessage, bool) {
	d := json.NewDecoder(bytes.NewReader(list))
	if begin, err := d.Token(); err != nil || begin != json.Delim('[') {
		return nil, false
	}
	out := make([]json.RawMessage, 0, n)
	for len(out) < n && d.More() {
		item := json.RawMessage{}
		if d.Decode(&item) != nil {
			return nil, false
		}
		out = append(out, item)
	}
	return out, true
}

// decodeValues decodes the values of a result at one time.
func decodeValues(kind string, result json.RawMessage) gates.Answer {
	switch kind {
	case "vector":
		return decodeVector(result)
	case "scalar":
		return withParsedSample(gates.Answer{}, result)
	}
	return gates.Answer{Problem: problemForeign}
}

// decodeVector has the values of up to two series: more say no more.
func decodeVector(result json.RawMessage) gates.Answer {
	series, ok := firstElements(maxSeries, result)
	if !ok {
		return gates.Answer{Problem: problemForeign}
	}
	a := gates.Answer{}
	for _, sample := range series {
		s := struct {
			Value     json.RawMessage `json:"value"`
			Histogram json.RawMessage `json:"histogram"`
		}{}
		if json.Unmarshal(sample, &s) != nil {
			return gates.Answer{Problem: problemForeign}
		}
		if s.Histogram != nil {
			return gates.Answer{Problem: problemHistogram}
		}
		if a = withParsedSample(a, s.Value); a.Problem != "" {
			break
		}
	}
	return a
}

// withParsedSample adds a pair of a time and a value, which is a text. Anything else would be read as 0.
func withParsedSample(a gates.Answer, pair json.RawMessage) gates.Answer {
	parts, ok := firstElements(pairSize+1, pair)
	if !ok || len(parts) != pairSize {
		return gates.Answer{Problem: problemForeign}
	}
	seconds, text := 0.0, ""
	if json.Unmarshal(parts[0], &seconds) != nil || seconds <= 0 || seconds > maxSeconds || json.Unmarshal(parts[1], &text) != nil {
		return gates.Answer{Problem: problemForeign}
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return gates.Answer{Problem: problemForeign}
	}
	a.Values, a.At = append(a.Values, v), time.UnixMilli(int64(seconds*1000)).UTC()
	return a
}
