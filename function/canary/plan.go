// Package canary plans the waves of Sites, and the steps with weights in which a revision gets the requests of the previous revision. It is pure: its inputs
// are the spec, and the Sites that the stable revision serves.
package canary

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
)

// barePause is the duration of a step without a Gate and without a pause. Crossplane lets a composite change about once in so long.
const barePause = "15s"

// Wave is a group of Sites that get the revision together.
type Wave struct {
	// Name of the wave. Empty for the Sites that are in none.
	Name string

	// Sites of the wave.
	Sites []string

	// Steps of the wave, and the field that has them.
	Steps []deploymentv1alpha1.CanaryStep
	Field string
}

// Input is the input of a plan.
type Input struct {
	// Waves in their order, each with Sites.
	Waves []Wave

	// Scale of the spec: Weight or Full. Empty means Weight.
	Scale string

	// HasChecks is true if the deployment has checks, so that a step may have a Gate.
	HasChecks bool

	// IsServed is true for a Site that the stable revision serves. Another one has nothing to share requests with, and gets the revision whole.
	IsServed func(site string) bool
}

// Plan returns the steps of a revision, wave by wave: its pods without requests, each weight with its Gate and the pause behind it, and all requests
// at the end. It returns an error that names the field, and the waves and numbers where there are too many steps.
func Plan(in Input) ([]ledger.Step, error) {
	waves, err := PlanWaves(in)
	if err != nil {
		return nil, err
	}
	var out []ledger.Step
	for _, w := range waves {
		out = append(out, w.Steps...)
	}
	return out, nil
}

// PlannedWave is a wave, and how the revision goes out to it.
type PlannedWave struct {
	// Name of the wave. Empty for the Sites that are in none.
	Name string

	// Sites of the wave.
	Sites []string

	// Steps of the revision at the Sites.
	Steps []ledger.Step
}

// PlanWaves returns the steps of each wave. It returns the errors of Plan.
func PlanWaves(in Input) ([]PlannedWave, error) {
	out, counts, total := []PlannedWave{}, make([]string, 0, len(in.Waves)), 0
	for _, w := range in.Waves {
		if err := checkWaveSteps(w); err != nil {
			return nil, err
		}
		steps := in.planWaveSteps(w)
		out = append(out, PlannedWave{Name: w.Name, Sites: w.Sites, Steps: steps})
		counts = append(counts, fmt.Sprintf("%d of %s", len(steps), describeWave(w)))
		total += len(steps)
	}
	if total > ledger.MaxSteps {
		return nil, errors.Errorf("spec.deliveryConfig.canary: the waves have %d steps together, more than %d: %s, each with one for the start of the pods",
			total, ledger.MaxSteps, strings.Join(counts, ", "))
	}
	return out, nil
}

func describeWave(w Wave) string {
	if w.Name == "" {
		return "the Sites in no wave"
	}
	return "wave " + w.Name
}

// planWaveSteps returns the steps of a wave.
func (in Input) planWaveSteps(w Wave) []ledger.Step {
	var served, remaining []string
	for _, site := range w.Sites {
		if in.IsServed(site) {
			served = append(served, site)
			continue
		}
		remaining = append(remaining, site)
	}
	if len(served) == 0 {
		return []ledger.Step{{Sites: remaining, Gate: in.HasChecks}}
	}
	out := in.weightSteps(w.Steps)
	out[0].Sites, out[len(out)-1].Sites = served, remaining
	in.setAheadOfSteps(out)
	return out
}

// weightSteps returns the steps of a canary from 0 to 100 percent: a step for each weight of the spec, with its Gate and its pause, and a last step of 100
// percent where the spec has none.
func (in Input) weightSteps(steps []deploymentv1alpha1.CanaryStep) []ledger.Step {
	out := []ledger.Step{{Weight: new(int32(0))}}
	for _, s := range steps {
		if s.Pause != nil {
			out[len(out)-1].Pause = cmp.Or(string(s.Pause.Duration), ledger.PauseManual)
			continue
		}
		out = append(out, ledger.Step{Weight: s.Weight, Gate: in.HasChecks && (s.Gate == nil || *s.Gate)})
	}
	if !out[len(out)-1].IsWhole() {
		out = append(out, ledger.Step{Weight: new(int32(100)), Gate: in.HasChecks})
	}
	for i := range out {
		if out[i].SharesRequests() && out[i].Pause == "" && !out[i].Gate {
			out[i].Pause = barePause
		}
	}
	return out
}

// setAheadOfSteps gives each step the pods of the next step.
func (in Input) setAheadOfSteps(steps []ledger.Step) {
	for i := range steps[:len(steps)-1] {
		steps[i].Ahead = new(*steps[i+1].Weight)
		if in.Scale == deploymentv1alpha1.ScaleFull {
			steps[i].Ahead = new(int32(100))
		}
	}
}

// IsServedBy returns whether a past revision serves a Site. Nil serves none.
func IsServedBy(stable *ledger.Past) func(site string) bool {
	return func(site string) bool {
		return stable != nil && slices.ContainsFunc(stable.Trees, func(t ledger.SiteTree) bool { return t.Site == site })
	}
}
