package canary

import (
	"fmt"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/function/catalog"
)

// WavesOf returns the waves of a deployment that have Sites, and at last the Sites that are in none, each with its steps. It returns an error that names the
// wave, for a Site in two waves, and for a Site that was not chosen.
func WavesOf(d deploymentv1alpha1.DeliveryConfig, places []catalog.Place) ([]Wave, error) {
	indexes, err := waveOfSites(d.Waves, places)
	if err != nil {
		return nil, err
	}
	all := make([]Wave, len(d.Waves)+1)
	for i := range all {
		all[i].Field = "spec.deliveryConfig.canary.steps"
		if d.Canary != nil {
			all[i].Steps = d.Canary.Steps
		}
	}
	for i, w := range d.Waves {
		all[i].Name = w.Name
		if len(w.Steps) > 0 {
			all[i].Steps, all[i].Field = w.Steps, fmt.Sprintf("spec.deliveryConfig.waves[%d].steps", i)
		}
	}
	for _, p := range places {
		n, ok := indexes[p.Site.GetName()]
		if !ok {
			n = len(d.Waves)
		}
		all[n].Sites = append(all[n].Sites, p.Site.GetName())
	}
	return slices.DeleteFunc(all, func(w Wave) bool { return len(w.Sites) == 0 }), nil
}

// PlanWithoutSteps brings a revision to the Sites of one wave after the other. It returns the errors of WavesOf.
func PlanWithoutSteps(waves []deploymentv1alpha1.Wave, places []catalog.Place) ([]ledger.Step, error) {
	var out []ledger.Step
	all, err := WavesOf(deploymentv1alpha1.DeliveryConfig{Waves: waves}, places)
	for _, w := range all {
		out = append(out, ledger.Step{Sites: w.Sites})
	}
	return out, err
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
			if !isSiteInWave(w, p) {
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
			return invalidWave(i, "Site %q is not a Site of the deployment", name)
		}
	}
	return nil
}

// invalidWave returns an error that names the field of a wave.
func invalidWave(i int, format string, args ...any) error {
	return errors.Wrapf(errors.Errorf(format, args...), "spec.deliveryConfig.waves[%d]", i)
}

// isSiteInWave is true for a Site of a wave.
func isSiteInWave(w deploymentv1alpha1.Wave, p catalog.Place) bool {
	if len(w.MatchLabels) == 0 {
		return slices.Contains(w.Sites, deploymentv1alpha1.SiteName(p.Site.GetName()))
	}
	return policy.HasLabels(&p.Site, w.MatchLabels)
}
