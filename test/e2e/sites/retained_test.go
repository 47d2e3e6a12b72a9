package sites

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/scene"
)

// TestRetainedArtifacts keeps the evidence of a rejection: the files, and after a restart of the provider, which forgot them, their place in Git. It
// runs before the parallel tests.
func TestRetainedArtifacts(t *testing.T) {
	r := newUnobservedTrial(t)
	r.Succeed(r.describeJudged(1, 1))
	r.target.Set("error_ratio", bad)
	r.awaitOutcome(r.setRetention(r.describeJudged(2, 60), true), "Succeeded", "RolledBack")
	report, files := r.awaitReport(2)
	if diff := cmp.Diff(report.Trees[0].Tree, tree.ID(files)); diff != "" {
		t.Errorf("files of the report, -want (id), +got:\n%s", diff)
	}

	o := r.setRetention(r.describeJudged(3, 60), false)
	r.Reach(o, "revision 3 rolled back", func(u *unstructured.Unstructured) bool {
		return scene.Number(u, "status", "revision") == 3 && scene.Field(u, "status", "outcome") == "RolledBack"
	})
	cp.KillProvider()
	r.Apply(r.setRetention(o, true))
	r.Must(cp.StartProvider(t.Context(), controlplane.Program{}))
	report, files = r.awaitReport(3)
	if got := report.Trees[0]; files != nil || got.Withheld == "" {
		t.Errorf("want a note about the withheld files, got %+v and %v", got, files)
	}
	storedFiles, err := r.Git.Git(t.Context(), r.Namespace, "ls-tree", "-r", "--name-only", "refs/intentplane/test/state")
	r.Must(err)
	if want := r.Namespace + "/" + claim + "/record.trees/" + report.Trees[0].Tree + "/"; !strings.Contains(storedFiles, want) {
		t.Errorf("files of the state: want some below %s, got:\n%s", want, storedFiles)
	}
}
