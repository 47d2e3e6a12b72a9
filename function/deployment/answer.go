package deployment

import (
	"slices"

	"github.com/intentplane/intentplane/function/phase"
)

// answer returns what follows from the stages of a call, without the resources.
func answer(in Input, o Observed, k Compiled, d Decision) *Output {
	status := statusInput(in, o, k, d)
	status.Requests = requestResults(&status, in, o, k)
	again := o.recheck.joinWith(k.recheck)
	return &Output{
		Needs:      slices.Clone(k.needs),
		Status:     phase.Status(&status, &in.Status, in.Now),
		Conditions: phase.Conditions(&status),
		Ready:      phase.Ready(&status),
		Dated:      again.isDated,
		Wait:       again.wait,
		Stages:     k.timer.stages,
	}
}

// statusInput returns what the status is made of.
func statusInput(in Input, o Observed, k Compiled, d Decision) phase.Input {
	return phase.Input{
		Claim: in.Claim, Digest: o.specDigest, GatesDisabled: !*in.Spec.GatesConfig.Enabled, Unobserving: o.unobserving,
		Compilation: k.Compilation, Decision: d.Decision, Comparison: d.Comparison,
	}
}
