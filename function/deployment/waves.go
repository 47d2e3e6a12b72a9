package deployment

import (
	"fmt"
	"slices"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/function/catalog"
)

// A wavesError is the error for invalid waves of a spec.
type wavesError struct{ message string }

// Error names the field.
func (e *wavesError) Error() string { return e.message }

func invalidWave(i int, format string, args ...any) error {
	return &wavesError{message: fmt.Sprintf("spec.deliveryConfig.waves[%d]: ", i) + fmt.Sprintf(format, args...)}
}

// planSteps brings a revision to the Sites of one wave after the other, and at last to the Sites in no wave. A wave without Sites adds no step.
func planSteps(waves []deploymentv1alpha1.Wave, places []catalog.Place) ([]ledger.Step, error) {
	in, err := waveOfSites(waves, places)
	if err != nil {
		return nil, err
	}
	steps := make([]ledger.Step, len(waves)+1)
	for _, p := range places {
		n, ok := in[p.Site.GetName()]
		if !ok {
			n = len(waves)
		}
		steps[n].Sites = append(steps[n].Sites, p.Site.GetName())
	}
	return slices.DeleteFunc(steps, func(s ledger.Step) bool { return len(s.Sites) == 0 }), nil
}

// waveOfSites returns the index of the wave of each Site.
func waveOfSites(waves []deploymentv1alpha1.Wave, places []catalog.Place) (map[string]int, error) {
	in := map[string]int{}
	for i, w := range waves {
		if err := checkSitesChosen(i, w, places); err != nil {
			return nil, err
		}
		for _, p := range places {
			name := p.Site.GetName()
			if !isInWave(w, p) {
				continue
			}
			if previous, ok := in[name]; ok {
				return nil, invalidWave(i, "Site %q is in wave %q too", name, waves[previous].Name)
			}
			in[name] = i
		}
	}
	return in, nil
}

// checkSitesChosen returns an error for a Site that was not selected: a Site with a misspelt name would come last, and not first.
func checkSitesChosen(i int, w deploymentv1alpha1.Wave, places []catalog.Place) error {
	for _, name := range w.Sites {
		if !slices.ContainsFunc(places, func(p catalog.Place) bool { return p.Site.GetName() == string(name) }) {
			return invalidWave(i, "Site %q is not among the chosen ones", name)
		}
	}
	return nil
}

// isInWave is true for a Site of a wave.
func isInWave(w deploymentv1alpha1.Wave, p catalog.Place) bool {
	if len(w.MatchLabels) == 0 {
		return slices.Contains(w.Sites, deploymentv1alpha1.SiteName(p.Site.GetName()))
	}
	labels := p.Site.GetLabels()
	for key, value := range w.MatchLabels {
		if label, ok := labels[key]; !ok || label != string(value) {
			return false
		}
	}
	return true
}
