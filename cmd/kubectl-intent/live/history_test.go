package live

import (
	"strings"
	"testing"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/samples"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
	"github.com/intentplane/intentplane/test/cli"
)

func TestHistory(t *testing.T) {
	cases := map[string]struct {
		reason string
		denied string
		args   []string
		code   int
		says   []string
		not    string
	}{
		"All": {
			reason: "The revisions of the ledger are shown, with the reason for a rejection.",
			says:   []string{"7         8d21c0e  Rejected", "GateFailed: latency_p99 at edge2", "5         5f77a90  Verified (target)"},
		},
		"One": {reason: "One revision is shown alone.", args: []string{"--revision=5"}, says: []string{"5         5f77a90"}, not: "Rejected"},
		"Never": {
			reason: "A revision that the ledger does not remember is an error.",
			args:   []string{"--revision=2"}, code: terminal.ExitInvalid, says: []string{"the ledger does not remember revision 2"},
		},
		"JSON": {reason: "A script gets the revisions.", args: []string{"-o", "json"}, says: []string{`"number": 7`, `"reason": "GateFailed"`}},
		"Wide": {
			reason: "A wide history is not cut.",
			args:   []string{"-o", "wide"}, says: []string{"7         8d21c0e  Rejected", "GateFailed: latency_p99 at edge2 is 812ms, not <= 500ms"},
		},
		"Blind": {
			reason: "Without GitDeliveries the command cannot read a ledger, and the user sees that.",
			denied: "gitdeliveries.delivery.intentplane.dev", says: []string{"7 ", "Not read:   gitdeliveries.delivery.intentplane.dev"},
			not: "5f77a90",
		},
		"Another": {
			reason: "A name that nothing has is an error.",
			args:   []string{"-n", "team-z"}, code: terminal.ExitInvalid, says: []string{"has no Application, no IntentDeployment"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			server := &cli.Server{Denied: map[string]bool{tc.denied: true}}
			kubeconfig := cli.ServeSamples(t, server, map[string]*samples.Sample{"team-a": samples.RollingBack()})
			out, problems, code := runIntent("", append([]string{"history", "shop", "--kubeconfig", kubeconfig}, tc.args...)...)
			if code != tc.code || tc.not != "" && strings.Contains(out, tc.not) {
				t.Errorf("\n%s\nhistory: want %d and not %q, got %d:\n%s%s", tc.reason, tc.code, tc.not, code, out, problems)
			}
			for _, want := range tc.says {
				if !strings.Contains(out+problems, want) {
					t.Errorf("\n%s\nhistory: want %q, got:\n%s%s", tc.reason, want, out, problems)
				}
			}
		})
	}
}
