package function

import (
	"maps"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/function/intent"
)

// understand reads the intent, and puts all that it is judged by into the gates of its spec. The field that it stands in is empty for
// one that cannot be read. It returns a problem for that, and for one that says other than the gates.
func understand(s *deploymentv1alpha1.IntentDeploymentSpec) (intent.Intent, string, error) {
	i, field, err := read(*s)
	if err != nil {
		return i, "", terminal(deploymentv1alpha1.ReasonInvalidIntent, deploymentv1alpha1.PhaseCompiling, err)
	}
	if s.GatesConfig, err = judged(s.GatesConfig, i, field); err != nil {
		err = terminal(deploymentv1alpha1.ReasonInvalidIntent, deploymentv1alpha1.PhaseCompiling, err)
	}
	return i, field, err
}

// judged returns the gates with the objectives of the intent among their thresholds. Thresholds that an intent could have said
// are in its words, so that it does not matter where one was said. It returns an error when one metric has two values.
func judged(g deploymentv1alpha1.GatesConfig, i intent.Intent, field string) (deploymentv1alpha1.GatesConfig, error) {
	all := make(map[string]deploymentv1alpha1.Threshold, len(g.SLOThresholds)+len(i.SLOs))
	for _, metric := range slices.Sorted(maps.Keys(g.SLOThresholds)) {
		path := "spec.gatesConfig.sloThresholds." + metric
		threshold, err := intent.Threshold(metric, string(g.SLOThresholds[metric]))
		if err != nil {
			return g, errors.Wrap(err, path)
		}
		if said, ok := i.SLOs[metric]; ok && said != threshold {
			return g, errors.Errorf("%s says %q, and the %s of %s is %q: say one of them", path, threshold, metric, field, said)
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
