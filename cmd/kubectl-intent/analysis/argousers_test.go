package analysis

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestNotesOfUsers converts a template beside an object that refers to it.
func TestNotesOfUsers(t *testing.T) {
	const noted = "a check has the value of its template: say --arg job=VALUE for another one"
	cases := map[string]struct {
		reason, kind, spec string
		args               map[string]string
		want               []string
	}{
		"Background": {
			reason: "A Rollout gives another value to an argument in the background.", kind: "Rollout",
			spec: "strategy: {canary: {analysis: {templates: [{templateName: t}], args: [{name: job, value: b}]}}}",
			want: []string{"Rollout shop: spec.strategy.canary.analysis.args[0]: " + noted},
		},
		"Step": {
			reason: "A step of a Rollout gives another value to an argument.", kind: "Rollout",
			spec: "strategy: {canary: {steps: [{pause: {}}, {analysis: {templates: [{templateName: t}], args: [{name: job, value: b}]}}]}}",
			want: []string{"Rollout shop: spec.strategy.canary.steps[1].analysis.args[0]: " + noted},
		},
		"Promotion": {
			reason: "An analysis before a promotion gives another value to an argument.", kind: "Rollout",
			spec: "strategy: {blueGreen: {prePromotionAnalysis: {templates: [{templateName: t}], args: [{name: job, value: b}]}}}",
			want: []string{"Rollout shop: spec.strategy.blueGreen.prePromotionAnalysis.args[0]: " + noted},
		},
		"StepExperiment": {
			reason: "An Experiment within a step gives another value to an argument.", kind: "Rollout",
			spec: "strategy: {canary: {steps: [{experiment: {analyses: [{name: a, templateName: t, args: [{name: job, value: b}]}]}}]}}",
			want: []string{"Rollout shop: spec.strategy.canary.steps[0].experiment.analyses[0].args[0]: " + noted},
		},
		"Experiment": {
			reason: "An Experiment gives another value to an argument.", kind: "Experiment",
			spec: "analyses: [{name: a, templateName: t, args: [{name: job, value: b}]}]",
			want: []string{"Experiment shop: spec.analyses[0].args[0]: " + noted},
		},
		"DryRun": {
			reason: "A dry run of a Rollout decides nothing, and a check decides.", kind: "Rollout",
			spec: "strategy: {canary: {analysis: {templates: [{templateName: t}], dryRun: [{metricName: m}]}}}",
			want: []string{"Rollout shop: spec.strategy.canary.analysis.dryRun: a check decides: remove the checks of metrics that are dry runs"},
		},
		"DryRunOfExperiment": {
			reason: "An Experiment has dry runs beside its analyses.", kind: "Experiment",
			spec: "analyses: [{name: a, templateName: t}]\n  dryRun: [{metricName: m}]",
			want: []string{"Experiment shop: spec.dryRun: a check decides: remove the checks of metrics that are dry runs"},
		},
		"Given": {
			reason: "A value of the command line counts for each reference.", kind: "Rollout", args: map[string]string{"job": "b"},
			spec: "strategy: {canary: {analysis: {templates: [{templateName: t}], args: [{name: job, value: b}]}}}",
		},
		"Plain": {
			reason: "A reference without arguments changes nothing.", kind: "Rollout",
			spec: "strategy: {canary: {analysis: {templates: [{templateName: t}]}}}",
		},
		"Container": {
			reason: "The arguments of a container are not the arguments of a template.", kind: "Rollout",
			spec: "template: {spec: {containers: [{name: a, args: [--job, b]}]}}",
		},
		"Foreign": {
			reason: "A kind that refers to no template is passed over.", kind: "Workflow",
			spec: "templates: [{name: a}]\n  args: [{name: job, value: b}]",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			template := "apiVersion: argoproj.io/v1alpha1\nkind: AnalysisTemplate\nmetadata: {name: t}\nspec:\n  args: [{name: job, value: a}]\n" +
				"  metrics:\n  - name: m\n    successCondition: result == 1\n    provider: {prometheus: {query: 'scalar(up{job=\"{{args.job}}\"})'}}\n"
			user := "apiVersion: argoproj.io/v1alpha1\nkind: " + tc.kind + "\nmetadata: {name: shop}\nspec:\n  " + tc.spec + "\n"
			alone, err := FromArgoRollouts(texts([]string{template}), Options{Args: tc.args})
			if err != nil {
				t.Fatalf("\n%s\nFromArgoRollouts(...): %v", tc.reason, err)
			}
			got, err := FromArgoRollouts(texts([]string{template, user}), Options{Args: tc.args})
			if err != nil {
				t.Fatalf("\n%s\nFromArgoRollouts(...): %v", tc.reason, err)
			}
			if diff := cmp.Diff(append(alone.Notes, tc.want...), got.Notes); diff != "" {
				t.Errorf("\n%s\nNotes: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
