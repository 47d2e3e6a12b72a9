package compile

import (
	"maps"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/memo"
	"github.com/intentplane/intentplane/function/intent"
	"github.com/intentplane/intentplane/function/intent/objective"
)

// ReadIntent reads the intent of a spec, and adds the objectives that it names to the gates of that spec. It also returns the field that holds
// the intent, which is empty for a malformed intent. It returns an error, whose reason ReasonOf returns, for an intent that cannot be parsed,
// and for an intent that contradicts the gates.
func ReadIntent(s *deploymentv1alpha1.IntentDeploymentSpec) (intent.Intent, string, error) {
	return readIntentWith(s, intent.FromText)
}

// readIntentWith is ReadIntent with a function that reads a text.
func readIntentWith(s *deploymentv1alpha1.IntentDeploymentSpec, fromText func(string) (intent.Intent, error)) (intent.Intent, string, error) {
	i, field, err := decodeIntent(*s, fromText)
	if err != nil {
		return i, "", terminalProblem(deploymentv1alpha1.ReasonInvalidIntent, deploymentv1alpha1.PhaseCompiling, err)
	}
	if s.GatesConfig, err = withObjectives(s.GatesConfig, i, field); err != nil {
		err = terminalProblem(deploymentv1alpha1.ReasonInvalidIntent, deploymentv1alpha1.PhaseCompiling, err)
	}
	return i, field, err
}

// decodeIntent decodes the intent from the field that holds it.
func decodeIntent(s deploymentv1alpha1.IntentDeploymentSpec, fromText func(string) (intent.Intent, error)) (intent.Intent, string, error) {
	switch {
	case s.Intent != nil && s.Expectation != nil, s.Intent == nil && s.Expectation == nil:
		return intent.Intent{}, "spec", errors.New("spec: exactly one of intent and expectation must be set")
	case s.Expectation != nil:
		i, err := intent.FromExpectation(s.Expectation)
		return i, "spec.expectation", err
	}
	i, err := fromText(*s.Intent)
	return i, "spec.intent", err
}

// intentFactor is the approximate ratio of the size of an intent to the size of its text.
const intentFactor = 4

// ReadIntent is the function ReadIntent with a cache.
func (c *Compiler) ReadIntent(s *deploymentv1alpha1.IntentDeploymentSpec) (intent.Intent, string, error) {
	return readIntentWith(s, c.intentOfText)
}

// intentOfText returns the intent of a text. Nearly every call is given the same text again: the result is shared, and no caller may change it.
func (c *Compiler) intentOfText(text string) (intent.Intent, error) {
	return c.intents.Remember(memo.KeyOf(text), func() (intent.Intent, int, error) {
		i, err := intent.FromText(text)
		return i, intentFactor * len(text), err
	})
}

// withObjectives returns the gates with the objectives of the intent among their thresholds. Thresholds that an intent could have said
// are in its words, so that it does not matter where one was said. It returns an error when one metric has two values.
func withObjectives(g deploymentv1alpha1.GatesConfig, i intent.Intent, field string) (deploymentv1alpha1.GatesConfig, error) {
	all := make(map[string]deploymentv1alpha1.Threshold, len(g.SLOThresholds)+len(i.SLOs))
	for _, metric := range slices.Sorted(maps.Keys(g.SLOThresholds)) {
		path := "spec.gatesConfig.sloThresholds." + metric
		threshold, err := objective.Threshold(metric, string(g.SLOThresholds[metric]))
		if err != nil {
			return g, errors.Wrap(err, path)
		}
		if value, ok := i.SLOs[metric]; ok && value != threshold {
			return g, errors.Errorf("%s says %q, and the %s of %s is %q: set only one of them", path, threshold, metric, field, value)
		}
		all[metric] = deploymentv1alpha1.Threshold(threshold)
	}
	for metric, threshold := range i.SLOs {
		all[metric] = deploymentv1alpha1.Threshold(threshold)
	}
	if len(all) > 0 {
		g.SLOThresholds = all
	}
	return g, nil
}
