package live

import (
	"strings"
	"testing"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/samples"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
	"github.com/intentplane/intentplane/test/cli"
)

func TestLogsOfCheck(t *testing.T) {
	cases := map[string]struct {
		reason string
		denied string
		args   []string
		code   int
		says   []string
		lack   string
	}{
		"Check": {
			reason: "Each Site is shown with value, threshold and the query of the failed check.",
			args:   []string{"latency_p99"},
			says: []string{
				"latency_p99  revision 7  step 1", "edge1          Passed       0.1%       <= 1%",
				"edge2          Failed       812ms      <= 500ms     5 of 5", "Asked:      latency_p99",
			},
			lack: "error_rate",
		},
		"JSON": {
			reason: "A script gets all fields.",
			args:   []string{"latency_p99", "-o", "json"}, says: []string{`"value": "812ms"`, `"threshold": "\u003c= 500ms"`, `"step": 1`},
		},
		"Unknown": {
			reason: "The error names the checks that there are.",
			args:   []string{"cpu"}, code: terminal.ExitInvalid, says: []string{"shop has no check cpu, but error_rate, latency_p99"},
		},
		"Unread": {
			reason: "Where Gates may not be read, the deployment's results stand for them, or the error says why there is nothing.",
			denied: "gates.rollout.intentplane.dev", args: []string{"latency_p99"},
			says: []string{"latency_p99  revision 7\n", "edge2          Failed       812ms"},
		},
		"None": {
			reason: "A check has to be named.",
			code:   terminal.ExitUsage, says: []string{"name a check, or say --build: kubectl intent explain --claim shop lists the checks. "},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			server := &cli.Server{Denied: map[string]bool{tc.denied: true}}
			s := samples.RollingBack()
			kubeconfig := cli.ServeSamples(t, server, map[string]*samples.Sample{"team-a": s})
			out, problems, code := runIntent("", append([]string{"logs", "shop", "--kubeconfig", kubeconfig}, tc.args...)...)
			if code != tc.code || tc.lack != "" && strings.Contains(out, tc.lack) {
				t.Errorf("\n%s\nlogs: want %d and not %q, got %d:\n%s%s", tc.reason, tc.code, tc.lack, code, out, problems)
			}
			for _, want := range tc.says {
				if !strings.Contains(out+problems, want) {
					t.Errorf("\n%s\nlogs: want %q, got:\n%s%s", tc.reason, want, out, problems)
				}
			}
		})
	}
}
