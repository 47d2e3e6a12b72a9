package request

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
	"github.com/intentplane/intentplane/test/cli"
)

// TestConfirm has the program ask a person before it changes a running deployment, and ask no script.
func TestConfirm(t *testing.T) {
	cases := map[string]struct {
		reason   string
		isScript bool
		answer   string
		args     []string
		asks     string
		want     int
	}{
		"Yes": {
			reason: "A request is made once the user says yes.",
			answer: "y\n", args: []string{"abort", "shop"}, asks: "Give up revision 4 of shop? [y/N] ", want: 1,
		},
		"No": {
			reason: "No request is made when the user says no.",
			answer: "n\n", args: []string{"abort", "shop"}, asks: "Give up revision 4 of shop? [y/N] ",
		},
		"Return": {
			reason: "No request is made when the user says nothing.",
			answer: "\n", args: []string{"retry", "shop"}, asks: "Deliver revision 4 of shop again, as a new revision? [y/N] ",
		},
		"End": {
			reason: "No request is made when the input ends.",
			args:   []string{"rollback", "shop"}, asks: "Roll shop back from revision 4 to revision 1? [y/N] ",
		},
		"Flag":       {reason: "Nothing is asked with --yes.", args: []string{"abort", "shop", "--yes"}, want: 1},
		"Script":     {reason: "Nothing is asked where no person answers.", isScript: true, args: []string{"rollback", "shop"}, want: 1},
		"Promotion":  {reason: "A promotion goes on with the user's own request, and needs no confirmation.", args: []string{"approve", "shop"}, want: 1},
		"DryRun":     {reason: "Nothing is asked about a request that is only printed.", args: []string{"abort", "shop", "--dry-run=client"}},
		"Impossible": {reason: "Nothing is asked about a request that would be refused.", args: []string{"rollback", "shop", "--to-revision", "9"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			server := &cli.Server{Objects: []*unstructured.Unstructured{
				cli.ClaimWith(t, "{revision: 4, liveRevision: 2, update: {blueprint: web-1.1.0}}"), cli.Parse(t, strings.ReplaceAll(history, "%s", "shop")),
			}}
			out := &strings.Builder{}
			s := &terminal.Streams{In: strings.NewReader(tc.answer), Out: out, IsInteractive: !tc.isScript}
			problems, code := cli.RunWith(&commands{}, s, append(tc.args, "--kubeconfig", server.Start(t))...)
			if len(server.Made) != tc.want || (code == 0) != (tc.want == 1 || name == "DryRun") || !strings.HasPrefix(problems, tc.asks) {
				t.Errorf("\n%s\nrun(%q): want %d requests after %q, got %d and %d:\n%s%s", tc.reason, tc.args, tc.want, tc.asks, len(server.Made), code, out, problems)
			}
			if tc.asks == "" && strings.Contains(problems, "[y/N]") {
				t.Errorf("\n%s\nrun(%q): the user is asked: %s", tc.reason, tc.args, problems)
			}
		})
	}
}
