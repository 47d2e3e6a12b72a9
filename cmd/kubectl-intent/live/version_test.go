package live

import (
	"strings"
	"testing"

	"github.com/intentplane/intentplane/test/cli"
)

func TestVersion(t *testing.T) {
	cases := map[string]struct {
		reason string
		denied map[string]bool
		args   []string
		says   []string
		not    string
	}{
		"Flag": {reason: "A script gets one word.", args: []string{"--version"}, says: []string{"dev\n"}, not: "renderer"},
		"Client": {
			reason: "No cluster is asked for the versions of the program.",
			args:   []string{"version", "--client", "--kubeconfig", "/nowhere"}, says: []string{"kubectl-intent  dev\n", "renderer        "},
			not: "not read",
		},
		"Installed": {
			reason: "The versions of all parts are printed.", args: []string{"version"},
			says: []string{
				"kubectl-intent  dev\n", "function        v0.1.1  intentplane-function-intentplane\n",
				"renderer        2       of intentplane-function-intentplane\n", "provider        v0.1.0", "configuration   v0.1.0",
				"crossplane      2.4.0   crossplane-system/crossplane\n",
			},
			not: "not read",
		},
		"Unread": {
			reason: "A forbidden kind is named, and does not cause an error.", args: []string{"version"}, denied: map[string]bool{"functions.pkg.crossplane.io": true},
			says: []string{"not read: functions.pkg.crossplane.io: the user may not read them\n", "provider        v0.1.0"},
		},
		"UnreadRevision": {
			reason: "A renderer is unknown where the user may not read the FunctionRevision.",
			args:   []string{"version"}, denied: map[string]bool{"functionrevisions.pkg.crossplane.io": true},
			says: []string{
				"renderer        Unknown  of intentplane-function-intentplane: no annotation render.intentplane.dev/version was read",
				"not read: functionrevisions.pkg.crossplane.io: the user may not read them\n",
			},
		},
		"Nowhere": {
			reason: "An unreachable cluster is named, and does not cause an error.",
			args:   []string{"version", "--kubeconfig", "/nowhere"}, says: []string{"kubectl-intent  dev\n", "not read: cluster: cannot use the kubeconfig"},
		},
		"JSON": {
			reason: "A script gets the same as data.",
			args:   []string{"version", "-o", "json"},
			says:   []string{`"client": "dev"`, `"kind": "function"`, `"version": "v0.1.1"`, `"renderer": "2"`},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			server := cli.Server{Objects: cli.Installation(t), Denied: tc.denied}
			t.Setenv("KUBECONFIG", server.Start(t))
			out, problems, code := runIntent("", tc.args...)
			if code != 0 || problems != "" || tc.not != "" && strings.Contains(out, tc.not) {
				t.Errorf("\n%s\nrun(%q): want not %q, got exit code %d:\n%s%s", tc.reason, tc.args, tc.not, code, out, problems)
			}
			for _, want := range tc.says {
				if !strings.Contains(out, want) {
					t.Errorf("\n%s\nrun(%q): want %q, got:\n%s", tc.reason, tc.args, want, out)
				}
			}
		})
	}
}
