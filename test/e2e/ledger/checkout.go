package ledger

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/intentplane/intentplane/test/controlplane/toolbox"
	"github.com/intentplane/intentplane/test/patience"
)

// cloneRepository makes a clone as a user does, with the ref of the state.
func (d *deployment) cloneRepository(repository string) string {
	d.T.Helper()
	checkout := filepath.Join(d.T.TempDir(), repository)
	for _, args := range [][]string{{"clone", "-q", d.Git.Path(repository), checkout}, {"-C", checkout, "fetch", "-q", "origin", "refs/intentplane/*:refs/intentplane/*"}} {
		if out, err := exec.CommandContext(d.T.Context(), "git", args...).CombinedOutput(); err != nil {
			d.T.Fatalf("git %q: %v: %s", args, err, out)
		}
	}
	return checkout
}

// runPluginOffline runs the plugin where it can reach no cluster, and returns its output.
func (d *deployment) runPluginOffline(code int, args ...string) string {
	d.T.Helper()
	return d.runPluginWith("/nowhere", code, args...)
}

// runPluginWith runs the plugin with a kubeconfig, and returns its output.
func (d *deployment) runPluginWith(kubeconfig string, code int, args ...string) string {
	d.T.Helper()
	root, err := toolbox.Root()
	d.Must(err)
	c := exec.CommandContext(d.T.Context(), filepath.Join(root, "_output", "bin", "kubectl-intent"), append(args, "-n", d.Namespace, "--kubeconfig="+kubeconfig)...)
	out, err := c.CombinedOutput()
	if c.ProcessState == nil || c.ProcessState.ExitCode() != code {
		d.T.Errorf("kubectl intent %q: want exit code %d: %v:\n%s", args, code, err, out)
	}
	return string(out)
}

// awaitVerdictEvent waits for the event about a verdict on a revision.
func (d *deployment) awaitVerdictEvent(reason, says, revision string) {
	d.T.Helper()
	d.Until("event "+reason, patience.Limit, func() bool {
		out := d.Inside("get", "events", "--field-selector", "reason="+reason, "-o", `jsonpath={range .items[*]}{.metadata.annotations.intentplane\.dev/revision} {.message}{"\n"}{end}`)
		return slices.ContainsFunc(strings.Split(out, "\n"), func(line string) bool { return strings.HasPrefix(line, revision+" ") && strings.Contains(line, says) })
	})
}

// wantColumns compares the columns behind the name of the deployment: a rollback does not read as a success in the first one of them.
func (d *deployment) wantColumns(want ...string) {
	d.T.Helper()
	got := strings.Fields(d.Inside("get", "--no-headers", "intentdeployments.claims.intentplane.dev", d.describeShop(2).GetName()))
	if len(got) <= len(want) || !slices.Equal(got[1:len(want)+1], want) {
		d.T.Errorf("kubectl get: want the columns %q, got %q", want, got)
	}
}

func (d *deployment) wantInOrder(out string, says ...string) {
	d.T.Helper()
	rest := out
	for _, want := range says {
		_, after, found := strings.Cut(rest, want)
		if !found {
			d.T.Errorf("want %q in this order, got:\n%s", says, out)
			return
		}
		rest = after
	}
}
