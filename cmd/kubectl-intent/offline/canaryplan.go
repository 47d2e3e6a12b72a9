package offline

import (
	"fmt"
	"io"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/utils/ptr"

	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
	"github.com/intentplane/intentplane/function/compile"
	"github.com/intentplane/intentplane/function/offline"
)

// A PlanReport is how the next revision of a deployment goes out, where all of its Sites run another one.
type PlanReport struct {
	// File, and the number of the document in it.
	File     string `json:"file"`
	Document int    `json:"document"`

	// Namespace and Name of the deployment.
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`

	// Waves in their order.
	Waves []WaveReport `json:"waves"`
}

// A WaveReport is how a revision goes out to the Sites of a wave.
type WaveReport struct {
	// Name of the wave. Empty for the Sites that are in none.
	Name string `json:"name,omitempty"`

	// Sites of the wave.
	Sites []string `json:"sites"`

	// Steps of the wave.
	Steps []StepReport `json:"steps"`
}

// A StepReport is one step of a revision.
type StepReport struct {
	// Step, counted from 1 over all waves, as in status.canary.step.
	Step int `json:"step"`

	// Weight of the requests that the revision gets, and the share that its pods are enough for, both in percent.
	Weight int32 `json:"weight"`
	Ahead  int32 `json:"ahead"`

	// Gate says whether a Gate judges the step, and Pause how long it lasts at least: a duration, or Manual.
	Gate  bool   `json:"gate"`
	Pause string `json:"pause,omitempty"`
}

// addCanaryPlan adds the plan of a deployment that has one.
func (v *validation) addCanaryPlan(finding Finding, in compile.Deployment, c *offline.Compiled) error {
	waves, err := c.PlanCanary(in)
	if err != nil || len(waves) == 0 {
		return err
	}
	out, n := PlanReport{File: finding.File, Document: finding.Document, Namespace: finding.Namespace, Name: finding.Name}, 1
	for _, w := range waves {
		report := WaveReport{Name: w.Name, Sites: w.Sites}
		for _, s := range w.Steps {
			report.Steps = append(report.Steps, StepReport{Step: n, Weight: ptr.Deref(s.Weight, 100), Ahead: ptr.Deref(s.Ahead, 100), Gate: s.Gate, Pause: s.Pause})
			n++
		}
		out.Waves = append(out.Waves, report)
	}
	v.report.Plans = append(v.report.Plans, out)
	return nil
}

// printTextLines prints a line for each wave, and a total.
func (p PlanReport) printTextLines(w io.Writer) error {
	name, total := terminal.QuoteInvisible(strings.TrimPrefix(p.Namespace+"/"+p.Name, "/")), 0
	for _, wave := range p.Waves {
		total += len(wave.Steps)
		if _, err := fmt.Fprintf(w, "%s %s\n", name, terminal.QuoteInvisible(wave.String())); err != nil {
			return errors.Wrap(err, "cannot print")
		}
	}
	_, err := fmt.Fprintf(w, "%s goes out in %d steps of at most %d\n", name, total, ledger.MaxSteps)
	return errors.Wrap(err, "cannot print")
}

// String returns the Sites of a wave and its steps.
func (w WaveReport) String() string {
	steps := make([]string, 0, len(w.Steps))
	for _, s := range w.Steps {
		steps = append(steps, s.String())
	}
	name := "wave " + w.Name
	if w.Name == "" {
		name = "Sites in no wave"
	}
	return fmt.Sprintf("%s (%s) has %d steps: %s", name, strings.Join(w.Sites, ", "), len(w.Steps), strings.Join(steps, ", "))
}

// String returns the number of a step, its weight, and its waits.
func (s StepReport) String() string {
	var waits []string
	if s.Gate {
		waits = append(waits, "gate")
	}
	switch s.Pause {
	case "":
	case ledger.PauseManual:
		waits = append(waits, "until a user promotes it")
	default:
		waits = append(waits, "pause "+s.Pause)
	}
	if len(waits) > 0 {
		return fmt.Sprintf("%d: %d %% (%s)", s.Step, s.Weight, strings.Join(waits, ", "))
	}
	return fmt.Sprintf("%d: %d %%", s.Step, s.Weight)
}
