// Package prometheus asks Prometheus servers for one number.
//
// A server is asked for the current value, by its own clock: it is compared with no other clock. How long the subject has been live decides
// when a query may be asked, and how far the server may look back for the latest sample, so that nothing counts from before.
//
// The client of Prometheus' own library is not used: it leaves out how many samples a value is made from, and reads answers of any size.
package prometheus

import (
	"context"
	"encoding/hex"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/apis/promql"
	"github.com/intentplane/intentplane/provider/fetch"
	"github.com/intentplane/intentplane/provider/gates"
)

// settled is how long a subject has to be live before the lack of data means something: until then it may not have been scraped yet.
const settled = time.Minute

// lookbackSteps returns how far a server may be let look back for the latest sample: few, so that questions stay equal. The last step is the default of a
// server.
func lookbackSteps() []time.Duration {
	return []time.Duration{promql.ShortestLookback, 15 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute}
}

// A Doer asks one question of a web server. It returns a fetch.Error.
type Doer interface {
	Do(ctx context.Context, r fetch.Request) (fetch.Answer, error)
}

// A Reader reads queries. A Reader with a cache saves much time: each observation makes the same question again.
type Reader interface {
	// ReachOf is how far a query looks back. It returns an error for a query that can never be judged.
	ReachOf(text string) (promql.Reach, error)
}

// A Server is a Prometheus server.
type Server struct {
	// Base is the address of the HTTP API.
	Base *url.URL

	// Credentials for it.
	Credentials fetch.Credentials
}

// Base parses the address of a server. It returns an error for an address that is not http or https, or holds more than host and path. The
// error holds nothing of the address: that may hold a password.
func Base(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("must be an http or https address")
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("must not hold credentials, a query or a fragment")
	}
	return u, nil
}

// Place of a server is its scheme, host and port, for messages. A path may hold a secret, and Base refuses an address with a user.
func Place(base *url.URL) string { return base.Scheme + "://" + base.Host }

// withServerPlace names the server in the problem of an answer that it could not give, so that a reader can find the failed server.
func (s Server) withServerPlace(a gates.Answer) gates.Answer {
	if a.Unavailable {
		a.Problem += " (" + Place(s.Base) + ")"
	}
	return a
}

// A Question is a query to one server.
type Question struct {
	doer   Doer
	server Server
	text   string
	reach  promql.Reach
	stats  bool
}

// NewQuestion returns a Question that asks for how many samples a value is made from, if so wanted. It returns an error for a query that
// cannot be asked.
func NewQuestion(d Doer, r Reader, s Server, text string, samples bool) (*Question, error) {
	reach, err := r.ReachOf(text)
	return &Question{doer: d, server: s, text: text, reach: reach, stats: samples}, errors.Wrap(err, "the query")
}

// Host that is asked.
func (q *Question) Host() string { return q.server.Base.Host }

// Lead is how long the subject has to be live before the question may be asked: its query then reaches back only to times at which the subject is live.
func (q *Question) Lead() time.Duration { return q.reach.Lead() }

// Key is equal for questions that have the same answer, about subjects that have been live for so long.
func (q *Question) Key(live time.Duration) string {
	digest := q.server.Credentials.Digest()
	return strings.Join([]string{
		q.server.Base.String(), hex.EncodeToString(digest[:]), q.lookbackFor(live).String(),
		strconv.FormatBool(q.stats), strconv.FormatBool(q.isQuestionEarly(live)), q.text,
	}, "\n")
}

// lookbackFor is how far the server may look for the latest sample. It is 0 where that does not matter.
func (q *Question) lookbackFor(live time.Duration) time.Duration {
	out := time.Duration(0)
	if !q.reach.Latest {
		return out
	}
	for _, l := range lookbackSteps() {
		if out == 0 || l <= live-q.reach.Offset-promql.Precision {
			out = l
		}
	}
	return out
}

func (q *Question) isQuestionEarly(live time.Duration) bool {
	return live-q.reach.Offset < settled+promql.Precision
}

// Ask the server about a subject that has been live for so long.
func (q *Question) Ask(ctx context.Context, live time.Duration) gates.Answer {
	form := url.Values{"query": {q.text}, "timeout": {fetch.Timeout.String()}}
	if l := q.lookbackFor(live); l > 0 {
		form.Set("lookback_delta", fmt.Sprintf("%ds", l/time.Second))
	}
	if q.stats {
		form.Set("stats", "true")
	}
	response, err := q.doer.Do(ctx, fetch.Request{URL: q.server.Base.JoinPath("api/v1/query"), Form: form, Credentials: q.server.Credentials})
	if err != nil {
		return q.server.withServerPlace(gates.Answer{Problem: err.Error(), Unavailable: fetch.IsOutage(err)})
	}
	a := q.server.withServerPlace(decodeAnswer(response, q.server.Credentials))
	a.Early = q.isQuestionEarly(live)
	return a
}
