package subject_test

import (
	"strings"
	"testing"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/live"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/request"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/samples"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/wait"
	"github.com/intentplane/intentplane/test/cli"
)

// commands are the commands that the tests run, by the names that they have in the program.
type commands struct {
	Abort    request.Abort    `cmd:""`
	Approve  request.Approve  `cmd:""`
	History  live.History     `cmd:""`
	Retry    request.Retry    `cmd:""`
	Rollback request.Rollback `cmd:""`
	Status   live.Status      `cmd:""`
	Wait     wait.Command     `cmd:""`
	Why      live.Why         `cmd:""`
}

// runIntent returns the output of a command line, and its exit code.
func runIntent(in string, args ...string) (out, problems string, code int) {
	return cli.Run(&commands{}, in, args...)
}

// TestApplicationCommands runs all commands that look at an Application.
func TestApplicationCommands(t *testing.T) {
	cases := map[string]struct {
		reason string
		args   []string
		denied string
		code   int
		says   []string
		not    string
	}{
		"Status": {
			reason: "An Application has its own phase, with its pods.",
			args:   []string{"status", "shop"},
			says:   []string{"shop  team-a  Application intentplane.dev", "Degraded", "image shop:2.0  serving 1/2", "Flux 0/2"},
			not:    "IntentDeployment",
		},
		"Deployment": {
			reason: "A user who names the deployment sees the deployment.",
			args:   []string{"status", "intentdeployments/shop"}, says: []string{"IntentDeployment intentplane.dev", "Succeeded"}, not: "Degraded",
		},
		"List": {
			reason: "A deployment that an Application composed is not listed beside it.",
			args:   []string{"status", "-A", "-o", "name"}, says: []string{"application.intentplane.dev/shop\n"}, not: "intentdeployment",
		},
		"BlindList": {
			reason: "A user who may not read Applications sees the deployments.",
			denied: "applications.intentplane.dev", args: []string{"status", "-o", "name"},
			says: []string{"intentdeployment.intentplane.dev/shop\n"}, not: "application",
		},
		"Stuck": {
			reason: "An Application whose pods crash needs a person.",
			args:   []string{"status", "--stuck"}, says: []string{"shop  Degraded  7    7     1/2", "CrashLoopBackOff"},
		},
		"Why": {
			reason: "The chain leads from the Application to the Site.",
			args:   []string{"why", "shop"},
			says: []string{
				"Cause:      Site edge2: CrashLoopBackOff", "Who acts:   the author", "└─ Application shop", "└─ SiteHealth shop: CrashLoopBackOff",
			},
		},
		"BlindWhy": {
			reason: "A user who may not read Applications is shown the deployment, and sees the unread kind.",
			denied: "applications.intentplane.dev", args: []string{"why", "shop"},
			says: []string{"IntentDeployment intentplane.dev", "Not read:   applications.intentplane.dev: the user may not read them"},
		},
		"History": {
			reason: "The history is that of the deployment.",
			args:   []string{"history", "shop"}, says: []string{"7         8d21c0e  Verified", "5         5f77a90"},
		},
		"Retry": {
			reason: "A retry is requested of the deployment.",
			args:   []string{"retry", "shop", "--dry-run=client", "-o", "yaml"}, says: []string{"kind: IntentDeployment", "name: shop"},
		},
		"Rollback": {
			reason: "A rollback is asked of the deployment, by the name of the Application in either group.",
			args:   []string{"rollback", "applications.claims.intentplane.dev/shop", "--to-revision=5", "--dry-run=client", "-o", "yaml"},
			says:   []string{"kind: IntentDeployment", "name: shop", "toRevision: 5", "action: RollbackTo"},
		},
		"Abort": {
			reason: "A revision of an Application without a verdict is given up in its deployment.",
			args:   []string{"abort", "applications/shop", "--dry-run=client", "-o", "yaml"}, code: 1, says: []string{"revision 7"},
		},
		"Approve": {
			reason: "An Application whose deployment has no update gets a message about it.",
			args:   []string{"approve", "shop", "--dry-run=client"}, code: 1, says: []string{"no update waits"},
		},
		"Wait": {
			reason: "A wait takes its time while a Site does not serve.",
			args:   []string{"wait", "shop", "--timeout=500ms"}, code: terminal.ExitTimedOut,
			says: []string{"Degraded: 1 of 2 Sites serve the image."},
		},
		"Live": {
			reason: "Sites that are live are reached before their pods serve.",
			args:   []string{"wait", "shop", "--for=live"}, says: []string{"Degraded: 1 of 2 Sites"},
		},
		"None": {
			reason: "A name that nothing has is an error.",
			args:   []string{"status", "shap"}, code: terminal.ExitInvalid,
			says: []string{`has no Application, no IntentDeployment, no WorkloadCluster and no Bundle "shap"`},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			server := &cli.Server{Denied: map[string]bool{tc.denied: true}}
			out, problems, code := runIntent("", append(tc.args, "--kubeconfig", cli.ServeApplication(t, server, samples.Crashing()))...)
			if code != tc.code || tc.not != "" && strings.Contains(out, tc.not) {
				t.Errorf("\n%s\nrun(%q): want %d and not %q, got %d:\n%s%s", tc.reason, tc.args, tc.code, tc.not, code, out, problems)
			}
			for _, want := range tc.says {
				if !strings.Contains(out+problems, want) {
					t.Errorf("\n%s\nrun(%q): want %q, got:\n%s%s", tc.reason, tc.args, want, out, problems)
				}
			}
		})
	}
}
