package main

import (
	"strings"

	"github.com/alecthomas/kong"
)

// commandExamples returns the examples of each command, which its help shows. A test runs them.
func commandExamples() map[string][]string {
	return map[string][]string{
		"abort":                 {"kubectl intent abort shop -n team-a --reason latency", "kubectl intent abort shop --dry-run=client -o yaml"},
		"approve":               {"kubectl intent approve shop -n team-a", "kubectl intent approve shop --wait --timeout 30m"},
		"artifacts":             {"kubectl intent artifacts shop -n team-a", "kubectl intent artifacts shop --to delivered --fetch"},
		"blueprint create":      {"kubectl intent blueprint create examples/blueprints/web --name web --version 1.1.0 --to web.yaml"},
		"blueprint test":        {"kubectl intent blueprint test examples/blueprints/batch", "kubectl intent blueprint test examples/quickstart/20-blueprint.yaml -o json"},
		"blueprints":            {"kubectl intent blueprints -n team-a", "kubectl intent blueprints web"},
		"completion":            {"kubectl-intent completion bash"},
		"diff":                  {"kubectl intent diff examples/quickstart/40-claim.yaml", "kubectl intent diff claim.yaml --fetch", "kubectl intent diff shop --checkout fleet --revision 5 --revision 7"},
		"digest":                {"kubectl intent digest examples/quickstart/40-claim.yaml"},
		"doctor":                {"kubectl intent doctor", "kubectl intent doctor --pre"},
		"explain":               {"kubectl intent explain --claim shop -n team-a", "kubectl intent explain examples/quickstart/40-claim.yaml --live"},
		"history":               {"kubectl intent history shop -n team-a", "kubectl intent history shop --revision 5", "kubectl intent history shop --checkout fleet"},
		"import analysis":       {"kubectl intent import analysis examples/import/analysistemplate.yaml --arg service-name={{service}} --site-server"},
		"import metrictemplate": {"kubectl intent import metrictemplate examples/import/metrictemplate.yaml examples/import/canary.yaml --arg target={{service}} --site-server"},
		"logs":                  {"kubectl intent logs shop latency_p99 -n team-a", "kubectl intent logs api --build --follow"},
		"look":                  {"kubectl intent look api -n team-a", "kubectl intent look api --no-wait"},
		"promote":               {"kubectl intent promote shop -n team-a", "kubectl intent promote shop --full --wait"},
		"prune":                 {"kubectl intent prune platform -n team-a --dry-run", "kubectl intent prune --directories --config default -n team-a"},
		"refresh":               {"kubectl intent refresh shop -n team-a", "kubectl intent refresh shop --no-wait"},
		"render":                {"kubectl intent render --claim shop -n team-a", "kubectl intent render examples/quickstart/40-claim.yaml --site examples/quickstart/10-sites.yaml --blueprint examples/quickstart/20-blueprint.yaml --to rendered"},
		"retry":                 {"kubectl intent retry shop -n team-a --wait", "kubectl intent retry shop --dry-run=client -o yaml"},
		"rollback":              {"kubectl intent rollback shop -n team-a --wait", "kubectl intent rollback shop --to-revision 5 --reason latency"},
		"sites":                 {"kubectl intent sites -n team-a", "kubectl intent sites -o wide"},
		"state list":            {"kubectl intent state list -A"},
		"state show":            {"kubectl intent state show platform -n team-a"},
		"state export":          {"kubectl intent state export platform -n team-a"},
		"status":                {"kubectl intent status shop -n team-a", "kubectl intent status -A --stuck", "kubectl intent status shop --watch"},
		"validate":              {"kubectl intent validate examples/quickstart", "kubectl intent validate examples/quickstart/40-claim.yaml --live --strict"},
		"version":               {"kubectl intent version", "kubectl intent version --client"},
		"why":                   {"kubectl intent why shop -n team-a", "kubectl intent why workloadclusters/edge1 -o json"},
		"wait":                  {"kubectl intent wait shop -n team-a --timeout 30m", "kubectl intent wait shop --for=step=2", "kubectl intent wait shop --for=digest=examples/quickstart/40-claim.yaml"},
	}
}

// addExamples makes the help of each command show its examples.
func addExamples(root *kong.Node) {
	all := commandExamples()
	for _, command := range root.Leaves(false) {
		if lines := all[examplesKey(command)]; len(lines) > 0 {
			command.Detail = "Examples:\n\n    " + strings.Join(lines, "\n    ")
		}
	}
}

// examplesKey names a command without its arguments.
func examplesKey(command *kong.Node) string {
	var words []string
	for n := command; n.Parent != nil; n = n.Parent {
		words = append([]string{n.Name}, words...)
	}
	return strings.Join(words, " ")
}
