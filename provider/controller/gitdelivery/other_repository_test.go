package gitdelivery

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
)

const elsewhere = "elsewhere"

// moved is a claim whose revision 2 went to another repository.
func (w *world) moved() {
	w.Helper()
	w.must(w.git.CreateRepo(w.Context(), elsewhere, map[string]string{"README.md": "hello\n"}))
	c := w.config()
	c.Name, c.Spec.Git.URL = elsewhere, w.git.URL(elsewhere)
	w.must(w.kube.Create(w.Context(), c))
	w.create(w.first())
	w.reconcile("web")
	d := delivery(elsewhere, order(2, "b"), desired(w.T, "edge1", webAtE1, "b"))
	d.Spec.ProviderConfigReference.Name = elsewhere
	w.create(d)
	w.reconcile(elsewhere)
	w.expect(elsewhere, v1alpha1.ReasonDelivered)
}

// goBack orders revision 1 in the other repository.
func (w *world) goBack() {
	w.Helper()
	d := w.get(elsewhere)
	setWish(d, back(2, "b", 1, 1))
	d.Spec.ForProvider.Trees = []v1alpha1.Tree{restore("edge1", webAtE1, "a")}
	d.Generation++
	w.must(w.kube.Update(w.Context(), d))
	w.reconcile(elsewhere)
}

func TestRestoreAbroad(t *testing.T) {
	tell(t, map[string]story{
		"Moved": {reason: "A tree comes from the repository that the claim moved from, and is held on to in the new one", run: func(w *world) {
			w.moved()
			w.reset("main~1")
			w.goBack()
			w.expect(elsewhere, v1alpha1.ReasonDelivered)
			got, err := w.git.Files(w.Context(), elsewhere, "main")
			w.must(err)
			for name, content := range files("a") {
				if diff := cmp.Diff(string(content), got[webAtE1+"/"+name]); diff != "" {
					w.Errorf("file %s: -want, +got:\n%s", name, diff)
				}
			}
			w.lose("web")
			w.restart()
			w.reconcile(elsewhere)
			w.expect(elsewhere, v1alpha1.ReasonDelivered)
		}},
		"Unreachable": {reason: "A repository that does not answer is asked again, and nothing is said to be gone", run: func(w *world) {
			w.moved()
			w.restart()
			w.git.Fail(repo, http.StatusServiceUnavailable)
			w.goBack()
			w.expect(elsewhere, v1alpha1.ReasonUnreachable)
			w.git.Fail(repo, 0)
			w.restart()
			w.reconcile(elsewhere)
			w.expect(elsewhere, v1alpha1.ReasonDelivered)
		}},
		"ConfigGone": {reason: "One whose configuration is gone cannot be read any more", run: func(w *world) {
			w.moved()
			w.must(w.kube.Delete(w.Context(), w.config()))
			w.goBack()
			w.expect(elsewhere, v1alpha1.ReasonTreeGone)
		}},
		"OtherClaim": {reason: "Nobody restores what another claim had", run: func(w *world) {
			w.moved()
			d := w.get("web")
			w.lose("web")
			other := delivery("web", order(1, "a"), desired(w.T, "edge1", "clusters/edge1/team-a/api", "a"))
			other.Spec.ForProvider.ClaimRef.Name = "api"
			w.create(other)
			other.Status = d.Status
			w.restoreStatus(other)
			w.reconcile("web")
			w.goBack()
			w.expect(elsewhere, v1alpha1.ReasonTreeGone)
		}},
	})
}
