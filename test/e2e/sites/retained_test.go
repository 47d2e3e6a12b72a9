package sites

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/scene"
)

// retains says whether reports of rejected revisions are kept.
func (r *trial) retains(o *unstructured.Unstructured, retain bool) *unstructured.Unstructured {
	return r.Set(o, retain, "spec", "rollbackConfig", "retainFailedArtifacts")
}

// A retained report, as its summary says it.
type retained struct {
	Reason string `json:"reason"`
	Trees  []struct {
		Site     string `json:"site"`
		Path     string `json:"path"`
		Tree     string `json:"tree"`
		Withheld string `json:"withheld"`
	} `json:"trees"`
}

// report about a revision, once it is there, with the files of edge1's tree, if it has any.
func (r *trial) report(revision int) (retained, tree.Files) {
	r.T.Helper()
	cm, key := &corev1.ConfigMap{}, client.ObjectKey{Namespace: r.Namespace, Name: fmt.Sprintf("%s-failed-r%d", claim, revision)}
	r.Until("there is "+key.String(), scene.Patience, func() bool { return r.Client.Get(r.T.Context(), key, cm) == nil })
	out := retained{}
	r.must(json.Unmarshal([]byte(cm.Data["summary.json"]), &out))
	if out.Reason != "GateFailed" || len(out.Trees) != 1 || out.Trees[0].Site != r.Site("edge1") || out.Trees[0].Path != r.Directory("edge1", claim) {
		r.T.Fatalf("report about revision %d: want one tree of edge1 whose gate failed, got %+v", revision, out)
	}
	packed, ok := cm.BinaryData[r.Site("edge1")+".tar.gz"]
	if !ok {
		return out, nil
	}
	files, err := tree.Decode(packed)
	r.must(err)
	return out, files
}

// TestRetained keeps what is needed to understand a rejection: the files, and after a restart of the provider, which forgot them, where in Git
// they are. It runs before the tests that run at once.
func TestRetained(t *testing.T) {
	r := unobserved(t)
	r.Succeed(r.judged(1, 1))
	r.target.Set("error_ratio", bad)
	r.outcome(r.retains(r.judged(2, 60), true), "Succeeded", "RolledBack")
	said, files := r.report(2)
	if diff := cmp.Diff(said.Trees[0].Tree, tree.ID(files)); diff != "" {
		t.Errorf("files of the report, -want (id), +got:\n%s", diff)
	}

	o := r.retains(r.judged(3, 60), false)
	r.Reach(o, "revision 3 rolled back", func(u *unstructured.Unstructured) bool {
		return scene.Number(u, "status", "revision") == 3 && scene.Field(u, "status", "outcome") == "RolledBack"
	})
	cp.KillProvider()
	r.Apply(r.retains(o, true))
	r.must(cp.StartProvider(t.Context(), controlplane.Program{}))
	said, files = r.report(3)
	if got := said.Trees[0]; files != nil || got.Withheld == "" {
		t.Errorf("want what became of the files, got %+v and %v", got, files)
	}
	kept, err := r.Git.Git(t.Context(), r.Namespace, "ls-tree", "-r", "--name-only", "refs/intentplane/test/state")
	r.must(err)
	if want := r.Namespace + "/" + claim + "/record.trees/" + said.Trees[0].Tree + "/"; !strings.Contains(kept, want) {
		t.Errorf("files of the state: want some below %s, got:\n%s", want, kept)
	}
}
