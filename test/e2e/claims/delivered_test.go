package claims

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/test/scene"
)

// TestPluginShowsWhatIsDelivered compares the files that "artifacts" writes with the files of the branch, and shows by "diff" the changes that a file
// would cause.
func TestPluginShowsWhatIsDelivered(t *testing.T) {
	t.Parallel()
	for name, shape := range shapesOfClaims() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := scene.New(t, cp, "edge1", "edge2")
			o := shape.describe(s, "shop", intentWithReplicas(s, 2, "edge1", "edge2"))
			s.Succeed(o.DeepCopy())
			out := filepath.Join(t.TempDir(), "out")
			s.Program("", s.Built("kubectl-intent"), "artifacts", "shop", "--to", out, "--namespace", s.Namespace, "--kubeconfig", cp.Kubeconfig)
			files := filesOfExamples(s, out)
			for _, site := range []string{"edge1", "edge2"} {
				delivered := s.FilesBelow(s.Directory(site, "shop"))
				delete(delivered, ".intentplane")
				if diff := cmp.Diff(delivered, filesBelowDir(files, s.Site(site))); diff != "" || len(delivered) < 4 {
					t.Errorf("%s: -delivered, +files of artifacts:\n%s", site, diff)
				}
			}
			sameFile, otherFile := filepath.Join(t.TempDir(), "same.yaml"), filepath.Join(t.TempDir(), "other.yaml")
			writeYAMLFile(s, sameFile, o)
			writeYAMLFile(s, otherFile, shape.describe(s, "shop", intentWithReplicas(s, 5, "edge1")))
			wantOutputOfDiff(s, sameFile, 0)
			wantOutputOfDiff(s, otherFile, 1, "-  replicas: 2\n+  replicas: 5\n", "--- a/"+s.Directory("edge2", "shop"))
		})
	}
}
