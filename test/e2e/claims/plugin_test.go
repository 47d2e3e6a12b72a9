package claims

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

// TestPluginReadsTheCluster shows that the plugin, which reads claim and catalog from the API server, renders the delivered
// files.
func TestPluginReadsTheCluster(t *testing.T) {
	t.Parallel()
	for name, shape := range shapesOfClaims() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := scene.New(t, cp, "edge1", "edge2")
			o := shape.describe(s, "shop", intentWithReplicas(s, 2, "edge1", "edge2"))
			s.Succeed(o)
			plugin := func(args ...string) []string {
				return append(args, "--claim", "shop", "--namespace", s.Namespace, "--kubeconfig", cp.Kubeconfig)
			}
			out := t.TempDir()
			s.Program("", s.Built("kubectl-intent"), plugin("render", "--to", out)...)
			files := filesOfExamples(s, out)
			for _, site := range []string{"edge1", "edge2"} {
				delivered := s.FilesBelow(s.Directory(site, "shop"))
				delete(delivered, ".intentplane")
				if diff := cmp.Diff(delivered, filesBelowDir(files, s.Site(site))); diff != "" || len(delivered) < 4 {
					t.Errorf("%s: -delivered, +rendered from the cluster:\n%s", site, diff)
				}
			}
			if got := s.Program("", s.Built("kubectl-intent"), plugin("explain")...); !strings.Contains(got, s.Site("edge2")) {
				t.Errorf("explain does not know where it goes:\n%s", got)
			}
			refused, err := exec.CommandContext(t.Context(), s.Built("kubectl-intent"), plugin("render", "--as", "nobody")...).CombinedOutput()
			exit := &exec.ExitError{}
			if !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(string(refused), "/shop: ask for the right to") {
				t.Errorf("the error of a user without the right to read: %v: %s", err, refused)
			}
		})
	}
}

// TestPluginAsks shows that the plugin requests the decision of a person, reports the end, and that its requests are deleted with the
// deployment.
func TestPluginAsks(t *testing.T) {
	t.Parallel()
	for name, shape := range shapesOfClaims() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := scene.New(t, cp, "edge1")
			o := shape.describe(s, "shop", intentWithReplicas(s, 1, "edge1"))
			s.Succeed(o)
			plugin := func(args ...string) []string {
				return append(args, "shop", "--namespace", s.Namespace, "--kubeconfig", cp.Kubeconfig, "--wait")
			}
			output := s.Program("", s.Built("kubectl-intent"), plugin("retry")...)
			if !strings.Contains(output, "\nDone: Revision 2 was verified.") {
				t.Errorf("retry --wait says:\n%s", output)
			}
			awaitRevision(s, o, 2)
			s.Succeed(shape.describe(s, "shop", intentWithReplicas(s, 2, "edge1")))
			output = s.Program("", s.Built("kubectl-intent"), plugin("rollback", "--to-revision=1")...)
			if !strings.Contains(output, "/shop-rollback-3-") || !strings.Contains(output, "\nDone: A user asked for the rollback") {
				t.Errorf("rollback --wait says:\n%s", output)
			}
			for _, wrong := range []struct{ request, says string }{
				{"abort", "cannot be aborted: it was judged already"},
				{"promote", "no step pauses or waits for a user"},
				{"promote --full", "cannot be released: the revision was judged already"},
				{"promote --step=1", "step 1 of revision 4 cannot be released: the revision was judged already"},
				{"rollback --to-revision=9", "revision 9 cannot be rolled back to"},
				{"rollback --to-revision=1", "there is nothing to roll back"},
			} {
				refused, err := exec.CommandContext(t.Context(), s.Built("kubectl-intent"), plugin(strings.Fields(wrong.request)...)...).CombinedOutput()
				exit := &exec.ExitError{}
				if !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(string(refused), wrong.says) || strings.Contains(string(refused), "created") {
					t.Errorf("%s: a request that would be refused is not created: %v: %s", wrong.request, err, refused)
				}
			}
			s.Delete(o)
			s.Until("the requests go with their deployment", patience.Limit, func() bool { return s.Inside("get", "rolloutrequests", "-o", "name") == "" })
		})
	}
}
