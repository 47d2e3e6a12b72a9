package gitdelivery

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/test/gitserver"
)

// forgeAll replaces the state by a state with the files of another user.
func (w *world) forgeAll(files map[string]string) {
	w.Helper()
	_, err := w.git.Commit(w.Context(), repo, "forged", files, "Forge")
	w.must(err)
	_, err = w.git.Git(w.Context(), repo, "update-ref", stateRef, "refs/heads/forged")
	w.must(err)
	_, err = w.git.Git(w.Context(), repo, "update-ref", "-d", "refs/heads/forged")
	w.must(err)
}

// rekey lets the configuration sign with another key, and trust no other.
func (w *world) rekey() {
	w.Helper()
	_, key, err := gitserver.NewSSHKey()
	w.must(err)
	s := &corev1.Secret{}
	w.must(w.kube.Get(w.Context(), client.ObjectKey{Namespace: "intentplane", Name: "signing"}, s))
	s.Data["identity"] = key
	w.must(w.kube.Update(w.Context(), s))
}

func (w *world) stateTip() string {
	w.Helper()
	refs, err := w.git.Refs(w.Context(), repo)
	w.must(err)
	return refs[stateRef]
}

// TestForgedMemory forges the state while nothing else remembers anything.
func TestForgedMemory(t *testing.T) {
	t.Parallel()
	tell(t, map[string]story{
		"ObjectLost": {reason: "A new object learns the last order from our commits, and not from the forged state.", run: func(w *world) {
			w.sign()
			w.twoRevisions()
			w.forge(9)
			w.lose("web")
			w.restart()
			w.starts("b")
			w.expect("web", v1alpha1.ReasonOrderBehind)
			observed := w.get("web").Status.AtProvider
			if diff := cmp.Diff(int64(2), observed.Ledger.LastNumber); diff != "" {
				w.Errorf("order: -want, +got:\n%s", diff)
			}
			w.ask(order(3, "b"), desired(w.T, "edge1", webAtE1, "b"))
			w.expect("web", v1alpha1.ReasonDelivered)
			w.count(2)
			w.held(files("b"))
		}},
		"Tree": {reason: "A tree that only a forged state holds is not a rollback target.", run: func(w *world) {
			w.sign()
			w.twoRevisions()
			evil := map[string]string{}
			for name, content := range files("evil") {
				evil["claims.intentplane.dev/team-a/web/record.trees/"+tree.ID(files("evil"))+"/"+name] = string(content)
			}
			w.forgeAll(evil)
			w.forget()
			w.restart()
			w.ask(order(3, "c"), restore("edge1", webAtE1, "evil"))
			w.expect("web", v1alpha1.ReasonTreeGone)
			w.holds(map[string]tree.Files{webAtE1: files("b")}, nil)
			w.count(2)
		}},
		"TreeWithoutKey": {reason: "Without a key it is: that is why the configuration says StateUnsigned", run: func(w *world) {
			w.twoRevisions()
			evil := map[string]string{}
			for name, content := range files("evil") {
				evil["claims.intentplane.dev/team-a/web/record.trees/"+tree.ID(files("evil"))+"/"+name] = string(content)
			}
			w.forgeAll(evil)
			w.restart()
			w.ask(back(2, "b", 1, 1), restore("edge1", webAtE1, "evil"))
			w.expect("web", v1alpha1.ReasonDelivered)
		}},
		"Others": {reason: "The first delivery recovers all records, so that a deleted claim continues its revision numbers.", run: func(w *world) {
			w.sign()
			w.create(w.first())
			api := delivery("api", order(7, "x"), desired(w.T, "edge1", "clusters/edge1/team-a/api", "x"))
			api.Spec.ForProvider.ClaimRef.Name = "api"
			w.create(api.DeepCopy())
			w.reconcile("web")
			w.reconcile("api")
			w.must(w.kube.Delete(w.Context(), w.get("api")))
			w.reconcile("api")
			w.reconcile("api")
			w.forgeAll(map[string]string{"x": "y"})
			w.restart()
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
			setWish(api, order(1, "x"))
			w.create(api)
			w.reconcile("api")
			w.expect("api", v1alpha1.ReasonOrderBehind)
		}},
		"Commits": {reason: "With signed commits, the trailers of unsigned commits do not count.", run: func(w *world) {
			w.sign()
			w.twoRevisions()
			_, err := w.git.Commit(w.Context(), repo, "main", map[string]string{"x": "y"}, forgery("prod", "cluster-1", 9))
			w.must(err)
			w.disaster()
			w.starts("b")
			w.expect("web", v1alpha1.ReasonOrderBehind)
			if diff := cmp.Diff(int64(2), w.get("web").Status.AtProvider.Ledger.LastNumber); diff != "" {
				w.Errorf("order: -want, +got:\n%s", diff)
			}
		}},
		"KeyIsNew": {reason: "A state from before the key still counts.", run: func(w *world) {
			w.twoRevisions()
			w.sign()
			w.lose("web")
			w.restart()
			w.starts("b")
			w.expect("web", v1alpha1.ReasonOrderBehind)
			if diff := cmp.Diff(int64(2), w.get("web").Status.AtProvider.Ledger.LastNumber); diff != "" {
				w.Errorf("order: -want, +got:\n%s", diff)
			}
		}},
		"OtherCluster": {reason: "Two clusters with different keys do not rewrite each other's state: the second one writes nothing", run: func(w *world) {
			w.sign()
			w.twoRevisions()
			tip := w.stateTip()
			w.rebuild("cluster-2", "")
			w.rekey()
			w.restart()
			for _, name := range []string{"web", "api"} {
				d := delivery(name, order(1, "z"), desired(w.T, "edge2", "clusters/edge2/team-a/"+name, "z"))
				d.Spec.ForProvider.ClaimRef.Name = name
				w.create(d)
				w.reconcile(name)
				w.expect(name, v1alpha1.ReasonOwnedElsewhere)
			}
			w.count(2)
			if diff := cmp.Diff(tip, w.stateTip()); diff != "" {
				w.Errorf("state: -want, +got:\n%s", diff)
			}
		}},
		"TakenOver": {reason: "A rebuilt cluster, whose key is another one, goes on from the commits", run: func(w *world) {
			w.sign()
			w.twoRevisions()
			w.rebuild("cluster-2", "cluster-1")
			w.rekey()
			w.restart()
			w.starts("b")
			w.expect("web", v1alpha1.ReasonOrderBehind)
			w.ask(order(3, "b"), desired(w.T, "edge1", webAtE1, "b"))
			w.expect("web", v1alpha1.ReasonDelivered)
			w.rebuild("cluster-1", "")
			w.restart()
			w.starts("b")
			w.expect("web", v1alpha1.ReasonOwnedElsewhere)
		}},
	})
}

// TestGroupAfterForgery delivers for many at once where the state was forged.
func TestGroupAfterForgery(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.sign()
	names := []string{"a", "b", "c"}
	for _, name := range names {
		d := delivery(name, order(3, name), desired(w.T, "edge1", "clusters/edge1/team-a/"+name, name))
		d.Spec.ForProvider.ClaimRef.Name = name
		w.create(d)
		w.reconcile(name)
	}
	w.forgeAll(map[string]string{"x": "y"})
	w.restart()
	for _, name := range names {
		w.reconcile(name)
		w.expect(name, v1alpha1.ReasonDelivered)
	}
	w.count(len(names))
	got, err := w.git.Files(w.Context(), repo, stateRef)
	w.must(err)
	for _, name := range names {
		if entry := got["claims.intentplane.dev/team-a/"+name+"/ledger.json"]; !strings.Contains(entry, `"number": 3`) {
			t.Errorf("state of %s: want revision 3, got %q", name, entry)
		}
	}
}
