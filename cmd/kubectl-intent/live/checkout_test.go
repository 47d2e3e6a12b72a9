package live

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/samples"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
	"github.com/intentplane/intentplane/test/gitserver"
)

// newCheckout makes a repository whose state remembers a deployment.
func newCheckout(t *testing.T, isHome bool) string {
	t.Helper()
	s, err := gitserver.New(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	files, err := samples.RollingBack().StateFiles(isHome)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.CreateRepo(t.Context(), "fleet", map[string]string{"README.md": "Not ours.\n"}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.CommitRef(t.Context(), "fleet", "refs/intentplane/edge/state", files, "state"); err != nil {
		t.Fatal(err)
	}
	return s.Path("fleet")
}

func TestCheckout(t *testing.T) {
	home, follower := newCheckout(t, true), newCheckout(t, false)
	nowhere := filepath.Join(t.TempDir(), "nowhere")
	cases := map[string]struct {
		reason string
		args   []string
		code   int
		says   []string
		lack   string
	}{
		"History": {
			reason: "The history can be read from a clone alone.",
			args:   []string{"history", "shop", "--checkout", home},
			says: []string{
				"As refs/intentplane/edge/state of the clone", "7         8d21c0e  Rejected", "GateFailed: latency_p99 at edge2",
				"6         -        Withdrawn", "5         5f77a90  Verified (target)  2/2",
			},
		},
		"One": {
			reason: "One revision is shown alone.",
			args:   []string{"history", "intentdeployments.intentplane.dev/shop", "-n", "team-a", "--checkout", home, "--revision=5"},
			says:   []string{"5         5f77a90"}, lack: "Rejected",
		},
		"Forgotten": {
			reason: "A revision that the ledger does not remember is an error.",
			args:   []string{"history", "shop", "--checkout", home, "--revision=2"}, code: terminal.ExitInvalid,
			says: []string{"does not remember revision 2"},
		},
		"JSON": {
			reason: "A script gets the revisions.",
			args:   []string{"history", "shop", "--checkout", home, "-o", "json"}, says: []string{`"number": 7`, `"reason": "GateFailed"`},
		},
		"Follower": {
			reason: "A repository that is not the home says where the ledger is.",
			args:   []string{"history", "shop", "--checkout", follower},
			says:   []string{"The ledger is in the\nrepository of fleet", "7         8d21c0e  Rejected", "5         5f77a90"}, lack: "Withdrawn",
		},
		"Nowhere": {
			reason: "A folder that is not a clone makes a wrong command line.",
			args:   []string{"history", "shop", "--checkout", nowhere}, code: terminal.ExitUsage, says: []string{"cannot open a clone"},
		},
		"Plane": {
			reason: "A missing control plane remembers nothing.",
			args:   []string{"history", "shop", "--checkout", home, "--control-plane=other"}, code: terminal.ExitInvalid,
			says: []string{"remembers no deployment shop"},
		},
		"Diff": {
			reason: "Two revisions are compared as rendered objects.",
			args:   []string{"diff", "shop", "--revision=5", "--revision=7", "--checkout", home}, code: terminal.ExitInvalid,
			says: []string{"clusters/edge1/team-a/shop/deployment.yaml", "-  replicas: 2\n+  replicas: 3\n"},
		},
		"Back": {
			reason: "The order of the revisions is that of the command line.",
			args:   []string{"diff", "shop", "--revision=7", "--revision=5", "--checkout", home}, code: terminal.ExitInvalid,
			says: []string{"-  replicas: 3\n+  replicas: 2\n"},
		},
		"Same": {
			reason: "A revision does not differ from itself.",
			args:   []string{"diff", "shop", "--revision=5", "--revision=5", "--checkout", home}, lack: "@@",
		},
		"Unnamed": {
			reason: "A revision whose trees are not named is not taken for an empty revision.",
			args:   []string{"diff", "shop", "--revision=5", "--revision=6", "--checkout", home}, code: terminal.ExitInvalid,
			says: []string{"does not name the files of revision 6"},
		},
		"Alone": {
			reason: "One revision is compared with nothing.",
			args:   []string{"diff", "shop", "--revision=5", "--checkout", home}, code: terminal.ExitUsage,
			says: []string{"--revision N --revision M"},
		},
		"NoClone": {
			reason: "The files of earlier revisions are in the repository alone.",
			args:   []string{"diff", "shop", "--revision=5", "--revision=7"}, code: terminal.ExitUsage, says: []string{"--checkout"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			out, problems, code := runIntent("", append(tc.args, "--kubeconfig", nowhere)...)
			if code != tc.code || tc.lack != "" && strings.Contains(out, tc.lack) {
				t.Errorf("\n%s\nrun(%q): want %d and not %q, got %d:\n%s%s", tc.reason, tc.args, tc.code, tc.lack, code, out, problems)
			}
			for _, want := range tc.says {
				if !strings.Contains(out+problems, want) {
					t.Errorf("\n%s\nrun(%q): want %q, got:\n%s%s", tc.reason, tc.args, want, out, problems)
				}
			}
		})
	}
}
