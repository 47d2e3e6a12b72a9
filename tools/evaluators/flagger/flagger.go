package flagger

import (
	"cmp"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	flaggerv1 "github.com/fluxcd/flagger/pkg/apis/flagger/v1beta1"

	"github.com/intentplane/intentplane/tools/evaluators"
)

// Judge returns the verdict about a series of answers of Prometheus, to the metric of a canary: with iterations it is blue/green, with a match too an A/B test,
// and without them its weight rises. Flagger panics at a series without a number.
func Judge(canary *flaggerv1.Canary, template *flaggerv1.MetricTemplate, answers []evaluators.Answer) (v evaluators.Verdict) {
	defer func() {
		if recover() != nil {
			v = evaluators.Panic
		}
	}()
	server := &prometheus{answers: answers}
	http.DefaultClient.Transport = server
	c := &Controller{flaggerInformers: informers{MetricInformer: templates{one: template}}}
	cd, mesh := canary.DeepCopy(), &routes{}
	cd.Status.Phase = flaggerv1.CanaryPhaseProgressing
	for !server.isOver {
		mesh.advance(c, cd)
		switch {
		case server.isOver:
			return evaluators.None
		case c.isRolledBack:
			return evaluators.Failed
		case cd.Status.Phase == flaggerv1.CanaryPhasePromoting:
			return evaluators.Passed
		}
	}
	return evaluators.None
}

// advance lets a canary advance once. Its mesh is Istio unless it names another provider.
func (r *routes) advance(c *Controller, cd *flaggerv1.Canary) {
	provider := cmp.Or(cd.Spec.Provider, flaggerv1.IstioProvider)
	c.advance(cd, &status{}, r, nil, provider, r.isMirrored, true, r.weight, 100-r.weight, c.maxWeight(cd), time.Now(), nil)
}

// status keeps the status of a canary as Flagger's controllers of targets do.
type status struct{}

// IsPrimaryReady is always true: the pods of the stable version run.
func (*status) IsPrimaryReady(*flaggerv1.Canary) (bool, error) { return true, nil }

// IsCanaryReady is always true: the pods of the canary run.
func (*status) IsCanaryReady(*flaggerv1.Canary) (bool, error) { return true, nil }

// GetMetadata returns no labels and ports, which no verdict needs.
func (*status) GetMetadata(*flaggerv1.Canary) (string, string, map[string]int32, error) {
	return "", "", nil, nil
}

// SyncStatus does nothing: the canary has its status in memory.
func (*status) SyncStatus(*flaggerv1.Canary, flaggerv1.CanaryStatus) error { return nil }

// SetStatusFailedChecks sets the number of failed checks.
func (*status) SetStatusFailedChecks(cd *flaggerv1.Canary, n int) error {
	cd.Status.FailedChecks = n
	return nil
}

// SetStatusWeight does nothing: the routes have the weight.
func (*status) SetStatusWeight(*flaggerv1.Canary, int) error { return nil }

// SetStatusIterations sets the number of iterations.
func (*status) SetStatusIterations(cd *flaggerv1.Canary, n int) error {
	cd.Status.Iterations = n
	return nil
}

// SetStatusPhase sets the phase.
func (*status) SetStatusPhase(cd *flaggerv1.Canary, p flaggerv1.CanaryPhase) error {
	cd.Status.Phase = p
	return nil
}

// Initialize returns that the target exists.
func (*status) Initialize(*flaggerv1.Canary) (bool, error) { return true, nil }

// Promote does nothing: the verdict is known by then.
func (*status) Promote(*flaggerv1.Canary) error { return nil }

// HasTargetChanged is always false: a series is about one version.
func (*status) HasTargetChanged(*flaggerv1.Canary) (bool, error) { return false, nil }

// HaveDependenciesChanged is always false: a series is about one configuration.
func (*status) HaveDependenciesChanged(*flaggerv1.Canary) (bool, error) { return false, nil }

// ScaleToZero does nothing: the verdict is known by then.
func (*status) ScaleToZero(*flaggerv1.Canary) error { return nil }

// ScaleFromZero does nothing: the pods of the canary run.
func (*status) ScaleFromZero(*flaggerv1.Canary) error { return nil }

// Finalize does nothing: no canary is deleted.
func (*status) Finalize(*flaggerv1.Canary) error { return nil }

// routes keep the share of requests that go to a canary, and whether a mesh mirrors requests to it.
type routes struct {
	weight     int
	isMirrored bool
}

// Reconcile does nothing: the routes are in memory.
func (*routes) Reconcile(*flaggerv1.Canary) error { return nil }

// SetRoutes sets the weight of the canary, and whether it gets copies of requests.
func (r *routes) SetRoutes(_ *flaggerv1.Canary, _, canaryWeight int, isMirrored bool) error {
	r.weight, r.isMirrored = canaryWeight, isMirrored
	return nil
}

// GetRoutes returns the weights of the stable version and of the canary, and whether the canary gets copies of requests.
func (r *routes) GetRoutes(*flaggerv1.Canary) (int, int, bool, error) {
	return 100 - r.weight, r.weight, r.isMirrored, nil
}

// Finalize does nothing: no canary is deleted.
func (*routes) Finalize(*flaggerv1.Canary) error { return nil }

// prometheus gives one answer after the other.
type prometheus struct {
	answers []evaluators.Answer
	next    int
	isOver  bool

	// isRedirected is true if the present answer redirected already.
	isRedirected bool
}

// RoundTrip answers a query.
func (p *prometheus) RoundTrip(r *http.Request) (*http.Response, error) {
	if p.next >= len(p.answers) {
		p.isOver = true
		return nil, errors.New("the series is over")
	}
	a := p.answers[p.next]
	if p.isRedirected = a.Kind == evaluators.Redirect && !p.isRedirected; p.isRedirected {
		return response(r, http.StatusTemporaryRedirect, http.Header{"Location": {r.URL.String()}}, ""), nil
	}
	p.next++
	if a.Kind == evaluators.Unanswered {
		return nil, errors.New("connection refused")
	}
	warnings := ""
	if a.Kind == evaluators.Warning {
		warnings = `"warnings":["PromQL warning: x"],`
	}
	code, body := http.StatusOK, `{"status":"success",`+warnings+`"data":{"resultType":"vector","result":[`+seriesOf(a)+`]}}`
	if a.Kind == evaluators.RefusedQuery {
		code, body = http.StatusBadRequest, `{"status":"error","errorType":"bad_data","error":"a parse error"}`
	}
	return response(r, code, http.Header{}, body), nil
}

func response(r *http.Request, code int, header http.Header, body string) *http.Response {
	return &http.Response{StatusCode: code, Request: r, Header: header, Body: io.NopCloser(strings.NewReader(body))}
}

func seriesOf(a evaluators.Answer) string {
	if a.Kind == evaluators.Histogram {
		return `{"metric":{},"histogram":[1,{"count":"1","sum":"1"}]}`
	}
	var out []string
	for _, v := range a.Values() {
		out = append(out, `{"metric":{},"value":[1,"`+strconv.FormatFloat(v, 'g', -1, 64)+`"]}`)
	}
	return strings.Join(out, ",")
}
