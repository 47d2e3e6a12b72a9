// Package gates compiles the thresholds and checks of a deployment into the checks of its Gates: one for each Site, with all that the provider
// needs to measure it.
package gates

import (
	"fmt"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/expression"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/memo"
	"github.com/intentplane/intentplane/apis/promql"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/function/catalog"
)

// Bounds of the checks of one deployment. The schema has the first bound, too.
const (
	maxChecks      = 200
	maxBytes       = 512 << 10
	maxQueryLength = 4096

	// maxFillWeight bounds the weight of the regular expressions of all queries, each of which counts once for each Site that it is filled for.
	maxFillWeight = 1_000_000

	// maxParsed is the number of parsed queries in the cache of a Compiler.
	maxParsed = 1000

	// expressionBytes is the memory for compiled expressions in the cache of a Compiler.
	expressionBytes = 16 << 20

	// bytesPerCheck is about how many bytes a check has beside its texts.
	bytesPerCheck = 500
)

// Input is the input of the compilation of checks.
type Input struct {
	// Service of the intent, and Namespace of the claim: the values of the placeholders of queries.
	Service, Namespace string

	// Image of the intent. Empty means the Blueprint's.
	Image string

	// Config of the gates, with the objectives of the intent among its thresholds, and with defaults.
	Config deploymentv1alpha1.GatesConfig

	// Objectives are the fields in which the intent declares thresholds, such as "spec.intent", by the name of the metric.
	Objectives map[string]string

	// Blueprint whose metrics the thresholds are for.
	Blueprint *catalogv1alpha1.Blueprint

	// Places that were chosen.
	Places []catalog.Place

	// Canary and Stable are the tracks of the steps in which two tracks get requests, for which the checks are compiled with the queries for canaries.
	// Both are empty for all other steps.
	Canary, Stable string

	// Plan of the rollout. Each step has a Gate of its own.
	Plan []ledger.Step
}

// Checks are all checks of a revision, by Site.
type Checks []rolloutv1alpha1.GateCheck

// At returns the checks of one step.
func (c Checks) At(step ledger.Step) []rolloutv1alpha1.GateCheck {
	return slices.DeleteFunc(slices.Clone(c), func(check rolloutv1alpha1.GateCheck) bool { return !slices.Contains(step.Sites, check.Site) })
}

// A Compiler compiles gates. It remembers parsed and filled queries, which take longer than all else. It may be used by several goroutines.
type Compiler struct {
	queries     *promql.Reader
	expressions *expression.Reader
	filled      *memo.Memo[string]
	loopback    bool
}

// An Option changes a Compiler.
type Option func(*Compiler)

// WithLoopback sets whether checks may ask Prometheus servers on the provider's own machine. It is for tests.
func WithLoopback(allowed bool) Option { return func(c *Compiler) { c.loopback = allowed } }

// NewCompiler returns a Compiler that remembers so many bytes of filled queries.
func NewCompiler(bytes int, opts ...Option) *Compiler {
	c := &Compiler{queries: promql.NewReader(maxParsed), expressions: expression.NewReader(expressionBytes), filled: memo.New[string](bytes)}
	for _, o := range opts {
		o(c)
	}
	return c
}

// Compile returns the checks that a revision is judged by: for each Site its metrics by name, then the checks of the deployment, then the
// post check. Gates that are off have no checks. It returns an error that names the field for a check that could never be judged.
func (c *Compiler) Compile(in Input) (Checks, error) {
	if in.Config.Enabled != nil && !*in.Config.Enabled {
		return nil, nil
	}
	if err := checkUniqueNames(in.Config); err != nil {
		return nil, err
	}
	all, err := c.collectChecks(in)
	if err != nil {
		return nil, err
	}
	if err := c.checkFillWeight(all, len(in.Places)); err != nil {
		return nil, err
	}
	var (
		out     Checks
		refused refusals
	)
	for _, p := range sortedPlaces(in.Places) {
		siteChecks, problems := c.compileAtPlace(in, p, all)
		out, refused = append(out, siteChecks...), append(refused, problems...)
	}
	if err := refused.joinRefusals(); err != nil {
		return nil, err
	}
	return out, out.checkSizeLimits(in.Plan)
}

// refusals are all problems of the checks of a deployment, so that a user can repair all Sites at once.
type refusals []error

// maxRefusals is the greatest number of refusals in a message.
const maxRefusals = 10

// joinRefusals returns one error that names each refusal once, in their order, or nil without refusals.
func (r refusals) joinRefusals() error {
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
	if remaining := len(texts) - maxRefusals; remaining > 0 {
		texts = append(texts[:maxRefusals], fmt.Sprintf("and %d more", remaining))
	}
	return errors.New(strings.Join(texts, "; "))
}

// collectChecks returns all checks as they were declared, before they are completed for Sites.
func (c *Compiler) collectChecks(in Input) ([]declaredCheck, error) {
	metrics, err := compileObjectives(in)
	if err != nil {
		return nil, err
	}
	ownChecks, err := c.readOwnChecks(in)
	if err != nil {
		return nil, err
	}
	all := slices.Concat(metrics, ownChecks)
	for _, declared := range all {
		if err := c.checkCanFail(declared); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// checkFillWeight returns an error for checks that take too long to fill for so many Sites in one call.
func (c *Compiler) checkFillWeight(all []declaredCheck, sites int) error {
	weight := 0
	for _, declared := range all {
		if declared.kind.fillWeight == nil || declared.Site != "" {
			continue
		}
		cost, err := declared.kind.fillWeight(c, &declared.Check)
		if err != nil {
			return errors.Wrap(err, declared.path)
		}
		if weight += cost * sites; weight > maxFillWeight {
			return errors.Errorf("%s: the regular expressions of all queries take too long to compile for %d Sites: use fewer or simpler expressions", declared.path, sites)
		}
	}
	return nil
}

// checkSizeLimits returns an error, with the numbers, when a step has more checks than one Gate holds, or all checks have too many bytes.
func (c Checks) checkSizeLimits(plan []ledger.Step) error {
	for i, step := range plan {
		if n := len(c.At(step)); n > maxChecks {
			return errors.Errorf("spec.gatesConfig: step %d of %d has %d checks at %d Sites, more than the %d of one Gate: "+
				"use fewer checks, or more waves", i+1, len(plan), n, len(step.Sites), maxChecks)
		}
	}
	total := 0
	for i := range c {
		total += estimateBytes(&c[i])
	}
	if total > maxBytes {
		return errors.Errorf("spec.gatesConfig: %d checks have about %d bytes, more than the %d that fit: keep scripts in a ConfigMap", len(c), total, maxBytes)
	}
	return nil
}

// estimateBytes returns about how many bytes a check has in a Gate: each character of its texts may be escaped.
func estimateBytes(c *rolloutv1alpha1.GateCheck) int {
	k, _ := kindOfCheck(&c.Check)
	if k.textBytes == nil {
		return bytesPerCheck
	}
	return bytesPerCheck + 2*k.textBytes(&c.Check)
}

func sortedPlaces(places []catalog.Place) []catalog.Place {
	return slices.SortedFunc(slices.Values(places), func(a, b catalog.Place) int {
		return strings.Compare(a.Site.GetName(), b.Site.GetName())
	})
}

// A declaredCheck is a check as it was declared, before it is completed for each Site.
type declaredCheck struct {
	// path of the field that declares it, for messages.
	path string
	kind kind
	// fromDeployment is true for a check that the deployment declares, and false for a metric of its Blueprint.
	fromDeployment bool
	// rules that the deployment declares for a metric. A Site and its configuration bound these, but not the rules of the Blueprint.
	rules deploymentv1alpha1.MetricRules
	deploymentv1alpha1.Check
}

// compileAtPlace returns the checks of one Site, and all problems that they have there.
func (c *Compiler) compileAtPlace(in Input, p catalog.Place, all []declaredCheck) (Checks, refusals) {
	var (
		out     Checks
		refused refusals
	)
	for _, declared := range all {
		if declared.Site != "" && declared.Site != p.Site.GetName() {
			continue
		}
		if err := checkBounds(p, declared); err != nil {
			refused = append(refused, err)
			continue
		}
		check, err := c.compileForSite(in, p, declared)
		if err != nil {
			refused = append(refused, errors.Wrapf(err, "%s: Site %q", declared.path, p.Site.GetName()))
			continue
		}
		ref := &xpv2.ProviderConfigReference{Kind: p.ConfigRef.Kind, Name: p.ConfigRef.Name}
		out = append(out, rolloutv1alpha1.GateCheck{Check: check, ProviderConfigReference: ref})
	}
	return out, refused
}

// compileForSite completes a check for one Site. The result shares no memory with the declared check.
func (c *Compiler) compileForSite(in Input, p catalog.Place, declared declaredCheck) (deploymentv1alpha1.Check, error) {
	check := *declared.DeepCopy()
	check.Site = p.Site.GetName()
	if fill := declared.kind.fill; fill != nil {
		if err := fill(c, in, &check); err != nil {
			return check, err
		}
	}
	declared.Check = check
	return check, declared.kind.allow(c, in, p, &declared)
}
