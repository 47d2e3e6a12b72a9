// Package gates compiles what a deployment is judged by into the checks of Gates: one for each Site, with all that it takes to measure.
package gates

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/expression"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/apis/promql"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/function/catalog"
	"github.com/intentplane/intentplane/function/memo"
)

// Bounds of what Gates travel with. The schema has the first one too.
const (
	maxChecks      = 200
	maxBytes       = 512 << 10
	maxQueryLength = 4096

	// maxFilled is what all queries together may weigh, where each counts for each Site that it is filled for.
	maxFilled = 1_000_000

	// maxRead is how many queries, and how many expressions, a Compiler remembers to have read.
	maxRead = 1000

	// overhead is what an object says about a check beside its texts.
	overhead = 500
)

// Input is what checks are compiled from.
type Input struct {
	// Service of the intent, and Namespace of the claim: what the placeholders of queries stand for.
	Service, Namespace string

	// Config of the gates, with the objectives of the intent among its thresholds, and with defaults.
	Config deploymentv1alpha1.GatesConfig

	// Objectives are the fields that say those thresholds which the intent holds, such as "spec.intent", by the name of the metric.
	Objectives map[string]string

	// Blueprint whose metrics the thresholds are for.
	Blueprint *catalogv1alpha1.Blueprint

	// Places that were chosen.
	Places []catalog.Place

	// Plan in which the revision goes out. Each step has a Gate of its own.
	Plan []rolloutv1alpha1.Step
}

// Checks are all checks of a revision, by Site.
type Checks []rolloutv1alpha1.GateCheck

// At returns the checks of one step.
func (c Checks) At(step rolloutv1alpha1.Step) []rolloutv1alpha1.GateCheck {
	var out []rolloutv1alpha1.GateCheck
	for _, check := range c {
		if slices.Contains(step.Sites, check.Site) {
			out = append(out, check)
		}
	}
	return out
}

// A Compiler compiles gates. It remembers queries that were read and filled, which takes longer than all else. It may be used by several
// goroutines.
type Compiler struct {
	queries     *promql.Reader
	expressions *expression.Reader
	filled      *memo.Memo[string]
	loopback    bool
}

// An Option changes a Compiler.
type Option func(*Compiler)

// WithLoopback says whether checks may ask Prometheus servers on the provider's own machine. It is for tests.
func WithLoopback(allowed bool) Option { return func(c *Compiler) { c.loopback = allowed } }

// NewCompiler returns a Compiler that remembers so many bytes of filled queries.
func NewCompiler(bytes int, opts ...Option) *Compiler {
	c := &Compiler{queries: promql.NewReader(maxRead), expressions: expression.NewReader(maxRead), filled: memo.New[string](bytes)}
	for _, o := range opts {
		o(c)
	}
	return c
}

// Compile returns what a revision is judged by: for each Site its metrics by name, then the checks, then the post check. Gates that are
// off have none. It returns an error that names the field for what could not be judged.
func (c *Compiler) Compile(in Input) (Checks, error) {
	if in.Config.Enabled != nil && !*in.Config.Enabled {
		return nil, nil
	}
	if err := checkNames(in.Config); err != nil {
		return nil, err
	}
	all, err := c.sayings(in)
	if err != nil {
		return nil, err
	}
	if err := c.weigh(all, len(in.Places)); err != nil {
		return nil, err
	}
	var (
		out     Checks
		refused refusals
	)
	for _, p := range sortedPlaces(in.Places) {
		at, problems := c.place(in, p, all)
		out, refused = append(out, at...), append(refused, problems...)
	}
	if err := refused.err(); err != nil {
		return nil, err
	}
	return out, out.fit(in.Plan)
}

// refusals are all that is wrong with the checks of a deployment, so that a user need not mend one Site after the other.
type refusals []error

// maxRefusals is how many refusals are named.
const maxRefusals = 10

// err joins refusals in their order, each of which is named once. It is nil without any.
func (r refusals) err() error {
	texts, named := []string{}, map[string]bool{}
	for _, e := range r {
		if text := e.Error(); !named[text] {
			named[text] = true
			texts = append(texts, text)
		}
	}
	if len(texts) == 0 {
		return nil
	}
	if more := len(texts) - maxRefusals; more > 0 {
		texts = append(texts[:maxRefusals], fmt.Sprintf("and %d more", more))
	}
	return errors.New(strings.Join(texts, "; "))
}

// sayings are the checks for whichever Site, as they were said.
func (c *Compiler) sayings(in Input) ([]pathed, error) {
	metrics, err := objectives(in)
	if err != nil {
		return nil, err
	}
	own, err := c.ownChecks(in)
	return append(metrics, own...), err
}

// weigh what is filled for so many Sites. It returns an error for more than can be filled in a call.
func (c *Compiler) weigh(all []pathed, sites int) error {
	weight := 0
	for _, said := range all {
		if said.Prometheus == nil {
			continue
		}
		t, err := c.queries.Parse(said.Prometheus.Query)
		if err != nil {
			return errors.Wrap(err, said.path+": prometheus.query")
		}
		if !t.Constant() && said.Site == "" {
			weight += t.Weight() * sites
		}
		if weight > maxFilled {
			return errors.Errorf("%s: prometheus.query: the regular expressions of all queries take too long to compile for %d Sites", said.path, sites)
		}
	}
	return nil
}

// fit returns an error, with the numbers, when there is more to judge than Gates hold.
func (c Checks) fit(plan []rolloutv1alpha1.Step) error {
	for i, step := range plan {
		if n := len(c.At(step)); n > maxChecks {
			return errors.Errorf("spec.gatesConfig: step %d of %d has %d checks at %d Sites, more than the %d of one Gate: "+
				"say fewer checks, or more waves", i+1, len(plan), n, len(step.Sites), maxChecks)
		}
	}
	total := 0
	for _, check := range c {
		total += bytesOf(check)
	}
	if total > maxBytes {
		return errors.Errorf("spec.gatesConfig: %d checks have about %d bytes, more than the %d that fit: keep scripts in a ConfigMap", len(c), total, maxBytes)
	}
	return nil
}

// bytesOf a check, where each character of its texts may be escaped.
func bytesOf(c rolloutv1alpha1.GateCheck) int {
	text := 0
	switch {
	case c.Prometheus != nil:
		text = len(c.Prometheus.Query)
	case c.Job != nil:
		text = len(c.Job.Script)
	case c.Web != nil:
		text = len(c.Web.URL) + len(c.Web.Expression)
	}
	return overhead + 2*text
}

func sortedPlaces(places []catalog.Place) []catalog.Place {
	return slices.SortedFunc(slices.Values(places), func(a, b catalog.Place) int {
		return strings.Compare(a.Site.GetName(), b.Site.GetName())
	})
}

// A pathed check knows where it was said.
type pathed struct {
	path string
	// own is true for what the deployment says, and not its Blueprint.
	own bool
	// rules that the deployment says for a metric. Bounds hold them, and not what its Blueprint says.
	rules deploymentv1alpha1.MetricRules
	deploymentv1alpha1.Check
}

// place returns the checks of one Site, and all that is wrong with them there.
func (c *Compiler) place(in Input, p catalog.Place, all []pathed) (Checks, refusals) {
	var (
		out     Checks
		refused refusals
	)
	for _, said := range all {
		if said.Site != "" && said.Site != p.Site.GetName() {
			continue
		}
		if err := checkBounds(p, said); err != nil {
			refused = append(refused, err)
			continue
		}
		check, err := c.at(in, p, said)
		if err != nil {
			refused = append(refused, errors.Wrapf(err, "%s: Site %q", said.path, p.Site.GetName()))
			continue
		}
		ref := &xpv2.ProviderConfigReference{Kind: p.ConfigRef.Kind, Name: p.ConfigRef.Name}
		out = append(out, rolloutv1alpha1.GateCheck{Check: check, ProviderConfigReference: ref})
	}
	return out, refused
}

// at is a check for one Site. It shares nothing with what was said.
func (c *Compiler) at(in Input, p catalog.Place, said pathed) (deploymentv1alpha1.Check, error) {
	check := *said.DeepCopy()
	check.Site = p.Site.GetName()
	if q := check.Prometheus; q != nil {
		var err error
		if q.Query, err = c.fill(q.Query, promql.Values{Service: in.Service, Namespace: in.Namespace, Site: check.Site}); err != nil {
			return check, errors.Wrap(err, "query")
		}
	}
	if err := c.allow(p, &check); err != nil || !said.own {
		return check, err
	}
	return check, policy.CheckOwnQuery(&p.Site, &p.Config, &check)
}

// allow a check at a place. It returns an error, which names the field, for one that may not be made there.
func (c *Compiler) allow(p catalog.Place, check *deploymentv1alpha1.Check) error {
	if err := policy.CheckGateCheck(&p.Site, p.ConfigRef.Kind, &p.Config, check); err != nil || c.loopback {
		return err
	}
	return policy.CheckMetricsServer(&p.Site, p.ConfigRef.Kind, &p.Config, check)
}

// fill puts values into a query.
func (c *Compiler) fill(query string, v promql.Values) (string, error) {
	k := memo.Key(sha256.Sum256(fmt.Appendf(nil, "%q%q%q%q", query, v.Service, v.Namespace, v.Site)))
	if filled, ok := c.filled.Get(k); ok {
		return filled, nil
	}
	t, err := c.queries.Parse(query)
	if err != nil {
		return "", err
	}
	filled, err := t.Fill(v)
	if err != nil {
		return "", err
	}
	if n := utf8.RuneCountInString(filled); n > maxQueryLength {
		return "", errors.Errorf("has %d characters with its values, more than %d", n, maxQueryLength)
	}
	c.filled.Put(k, filled, len(filled))
	return filled, nil
}
