package gitdelivery

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/provider/trailers"
)

// back is the order of a way back from a rejected revision.
func back(revision int64, request string, attempt int32, target int64) wish {
	o := order(revision, request)
	o.Attempt, o.Target = attempt, target
	o.Verdict = &ledger.Verdict{Result: ledger.VerdictRejected, Reason: "GateFailed"}
	return o
}

func verified(o wish) wish {
	o.Verdict = &ledger.Verdict{Result: ledger.VerdictVerified}
	return o
}

func restore(site, path, says string) v1alpha1.Tree {
	return v1alpha1.Tree{
		Site: site, Branch: "main", Path: path, Layout: catalogv1alpha1.LayoutKustomization,
		Action: v1alpha1.ActionRestore, Tree: tree.ID(files(says)),
	}
}

// ask requests a revision with the given trees.
func (w *world) ask(o wish, trees ...v1alpha1.Tree) {
	w.Helper()
	w.change(func(d *v1alpha1.GitDelivery) {
		d.Spec.ForProvider.Trees = trees
		setWish(d, o)
	})
	w.reconcile("web")
}

// twoRevisions delivers a verified revision 1, and then revision 2.
func (w *world) twoRevisions() {
	w.Helper()
	w.create(w.first())
	w.reconcile("web")
	w.ask(verified(order(1, "a")), desired(w.T, "edge1", webAtE1, "a"))
	w.ask(order(2, "b"), desired(w.T, "edge1", webAtE1, "b"))
	w.expect("web", v1alpha1.ReasonDelivered)
	w.count(2)
}

// collect removes unreachable objects from the repository, and restarts the provider.
func (w *world) collect() {
	w.Helper()
	_, err := w.git.Git(w.Context(), repo, "-c", "gc.reflogExpire=now", "gc", "--prune=now", "--quiet")
	w.must(err)
	w.restart()
}

// deleteState deletes the state, like a user who may push any ref.
func (w *world) deleteState() {
	w.Helper()
	_, err := w.git.Git(w.Context(), repo, "update-ref", "-d", stateRef)
	w.must(err)
}

func TestRestore(t *testing.T) {
	t.Parallel()
	tell(t, map[string]story{
		"Back": {reason: "A tree of the history is restored in a commit with its own message, and no file comes through the object.", run: func(w *world) {
			w.twoRevisions()
			w.ask(back(2, "b", 1, 1), restore("edge1", webAtE1, "a"))
			w.expect("web", v1alpha1.ReasonDelivered)
			w.count(3)
			w.holds(map[string]tree.Files{webAtE1: files("a")}, nil)
			got := w.commits()[0].Trailers
			want := map[string]string{trailers.Revision: "2", trailers.Attempt: "1", trailers.Verdict: "Rejected GateFailed", trailers.Target: "1"}
			for name, value := range want {
				if diff := cmp.Diff(value, got[name]); diff != "" {
					w.Errorf("trailer %s: -want, +got:\n%s", name, diff)
				}
			}
			observed := w.get("web").Status.AtProvider
			if diff := cmp.Diff(ledger.Position{Epoch: 1, Revision: 2, Attempt: 1}, observed.Ledger.Position()); diff != "" {
				w.Errorf("order: -want, +got:\n%s", diff)
			}
			if diff := cmp.Diff([]v1alpha1.HistoryTree{{Site: "edge1", Tree: tree.ID(files("b"))}}, observed.History[1].Trees); diff != "" {
				w.Errorf("trees of the revision in the history: -want, +got:\n%s", diff)
			}
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
			w.count(3)
		}},
		"Drift": {reason: "Drift of a restored directory is restored.", run: func(w *world) {
			w.twoRevisions()
			w.ask(back(2, "b", 1, 1), restore("edge1", webAtE1, "a"))
			w.push(map[string]string{webAtE1 + "/configmap.yaml": "changed: true\n"})
			w.restart()
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDriftRestored)
			w.holds(map[string]tree.Files{webAtE1: files("a")}, nil)
		}},
		"Collected": {reason: "A forced push and a garbage collection on the server do not affect the rollback", run: func(w *world) {
			w.twoRevisions()
			w.reset("main~2")
			w.collect()
			w.diverge(configv1alpha1.DivergenceReapply)
			w.ask(back(2, "b", 1, 1), restore("edge1", webAtE1, "a"))
			w.expect("web", v1alpha1.ReasonDelivered)
			w.count(1)
			w.holds(map[string]tree.Files{webAtE1: files("a")}, nil)
		}},
		"TenRevisionsAgo": {reason: "The newest verified revision is kept however old it is", run: func(w *world) {
			w.twoRevisions()
			for n := int64(3); n <= 13; n++ {
				w.reorder(n, "b")
				w.reconcile("web")
			}
			w.reset("main~2")
			w.collect()
			w.diverge(configv1alpha1.DivergenceReapply)
			w.ask(back(13, "b", 1, 1), restore("edge1", webAtE1, "a"))
			w.expect("web", v1alpha1.ReasonDelivered)
			w.holds(map[string]tree.Files{webAtE1: files("a")}, nil)
		}},
		"StateLost": {reason: "Without the state the tree is looked for in the commits of the history", run: func(w *world) {
			w.twoRevisions()
			w.deleteState()
			w.restart()
			w.ask(back(2, "b", 1, 1), restore("edge1", webAtE1, "a"))
			w.expect("web", v1alpha1.ReasonDelivered)
			w.holds(map[string]tree.Files{webAtE1: files("a")}, nil)
		}},
		"Gone": {reason: "A lost tree has reason TreeGone, and the provider writes nothing.", run: func(w *world) {
			w.twoRevisions()
			w.reset("main~2")
			w.deleteState()
			w.collect()
			w.diverge(configv1alpha1.DivergenceReapply)
			w.ask(back(2, "b", 1, 1), restore("edge1", webAtE1, "a"))
			w.expect("web", v1alpha1.ReasonTreeGone)
			w.synced("web", corev1.ConditionTrue)
			w.count(0)
			w.ask(order(3, "c"), desired(w.T, "edge1", webAtE1, "c"))
			w.expect("web", v1alpha1.ReasonDelivered)
		}},
		"Unknown": {reason: "A tree that the claim never had is not found, although another claim has it", run: func(w *world) {
			w.twoRevisions()
			otherDelivery := delivery("api", order(1, "x"), desired(w.T, "edge1", "clusters/edge1/team-a/api", "x"))
			otherDelivery.Spec.ForProvider.ClaimRef.Name = "api"
			w.create(otherDelivery)
			w.reconcile("api")
			w.ask(back(2, "b", 1, 1), restore("edge1", webAtE1, "x"))
			w.expect("web", v1alpha1.ReasonTreeGone)
		}},
		"PolicyChanged": {reason: "A restored tree is refused by a limit that was set since its delivery.", run: func(w *world) {
			w.twoRevisions()
			s := &catalogv1alpha1.Site{}
			w.must(w.kube.Get(w.Context(), client.ObjectKey{Name: "edge1"}, s))
			s.Spec.TargetNamespaces.Allowed = []string{"other"}
			w.must(w.kube.Update(w.Context(), s))
			w.ask(back(2, "b", 1, 1), restore("edge1", webAtE1, "a"))
			w.expect("web", v1alpha1.ReasonPolicyDenied)
			w.count(2)
		}},
		"Forged": {reason: "A forged tree in the state is refused by the same limits as a tenant's tree.", run: func(w *world) {
			w.twoRevisions()
			f := files("a")
			f["configmap.yaml"] = bytes.ReplaceAll(f["configmap.yaml"], []byte("team-a"), []byte("kube-system"))
			_, err := w.git.Git(w.Context(), repo, "update-ref", "refs/heads/tmp", stateRef)
			w.must(err)
			forged := map[string]string{}
			for name, content := range f {
				forged["claims.intentplane.dev/team-a/web/record.trees/"+tree.ID(f)+"/"+name] = string(content)
			}
			tip, err := w.git.Commit(w.Context(), repo, "tmp", forged, "Forge")
			w.must(err)
			_, err = w.git.Git(w.Context(), repo, "update-ref", stateRef, tip)
			w.must(err)
			r := restore("edge1", webAtE1, "a")
			r.Tree = tree.ID(f)
			w.ask(back(2, "b", 1, 1), r)
			w.expect("web", v1alpha1.ReasonPolicyDenied)
			w.count(2)
		}},
		"Files": {reason: "A restored tree with files is refused.", run: func(w *world) {
			w.twoRevisions()
			r := desired(w.T, "edge1", webAtE1, "a")
			r.Action = v1alpha1.ActionRestore
			w.ask(back(2, "b", 1, 1), r)
			w.expect("web", v1alpha1.ReasonInvalid)
		}},
		"NoTree": {reason: "A restore without a tree is refused.", run: func(w *world) {
			w.twoRevisions()
			r := restore("edge1", webAtE1, "a")
			r.Tree = ""
			w.ask(back(2, "b", 1, 1), r)
			w.expect("web", v1alpha1.ReasonInvalid)
		}},
		"NotOwner": {reason: "A restore into a directory of another owner is refused.", run: func(w *world) {
			w.twoRevisions()
			_, err := w.git.Remove(w.Context(), repo, "main", []string{webAtE1}, "Remove")
			w.must(err)
			theirs := map[string]string{webAtE1 + "/theirs.yaml": "x: 1\n"}
			w.push(theirs)
			w.ask(back(2, "b", 1, 1), restore("edge1", webAtE1, "a"))
			w.expect("web", v1alpha1.ReasonNotOwner)
			w.holds(nil, theirs)
		}},
		"Crash": {reason: "A provider that dies between push and status makes no second commit", run: func(w *world) {
			w.twoRevisions()
			previous := w.get("web")
			w.git.AfterPush(repo, func() { previous = w.get("web") })
			w.ask(back(2, "b", 1, 1), restore("edge1", webAtE1, "a"))
			w.restoreStatus(previous)
			w.git.AfterPush(repo, nil)
			w.restart()
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
			w.count(3)
		}},
	})
}

// TestKept upgrades a state that holds on to nothing, as an earlier version wrote it.
func TestKept(t *testing.T) {
	t.Parallel()
	tell(t, map[string]story{
		"Heals": {reason: "The state retains a delivered tree that it lacks, without a commit of the branch.", run: func(w *world) {
			w.twoRevisions()
			_, err := w.git.Git(w.Context(), repo, "update-ref", "refs/heads/tmp", stateRef)
			w.must(err)
			_, err = w.git.Remove(w.Context(), repo, "tmp", []string{"claims.intentplane.dev/team-a/web/record.trees"}, "Strip")
			w.must(err)
			_, err = w.git.Git(w.Context(), repo, "update-ref", stateRef, "refs/heads/tmp")
			w.must(err)
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
			w.count(2)
			w.held(files("b"))
		}},
		"Keep": {reason: "A lost state is rebuilt from the branch and its history.", run: func(w *world) {
			w.twoRevisions()
			w.deleteState()
			w.restart()
			w.ask(order(3, "c"), v1alpha1.Tree{Site: "edge1", Branch: "main", Path: webAtE1, Action: v1alpha1.ActionKeep}, desired(w.T, "edge2", webAtE2, "c"))
			w.expect("web", v1alpha1.ReasonDelivered)
			w.held(files("a"), files("b"), files("c"))
			if trees := w.get("web").Status.AtProvider.Trees; len(trees) != 2 || trees[0].Revision != 2 {
				w.Errorf("trees: want the kept one too: %v", trees)
			}
		}},
		"Deleted": {reason: "A tombstone holds on to nothing", run: func(w *world) {
			w.twoRevisions()
			w.held(files("a"), files("b"))
			w.must(w.kube.Delete(w.Context(), w.get("web")))
			w.reconcile("web")
			w.reconcile("web")
			w.held()
		}},
	})
}

// held compares the trees that the state holds on to.
func (w *world) held(want ...tree.Files) {
	w.Helper()
	got, err := w.git.Files(w.Context(), repo, stateRef)
	w.must(err)
	trees := map[string]bool{}
	for _, f := range want {
		trees[tree.ID(f)] = true
		for name, content := range f {
			if diff := cmp.Diff(string(content), got["claims.intentplane.dev/team-a/web/record.trees/"+tree.ID(f)+"/"+name]); diff != "" {
				w.Errorf("file %s that is held on to: -want, +got:\n%s", name, diff)
			}
		}
	}
	n := 0
	for path := range got {
		if strings.Contains(path, "/record.trees/") {
			n++
		}
	}
	if n != 2*len(trees) {
		w.Errorf("retained files: want the files of %d trees, got %d files", len(trees), n)
	}
}

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
	t.Parallel()
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
		"Unreachable": {reason: "An unreachable repository is read again, and its tree does not count as gone.", run: func(w *world) {
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
		"ConfigGone": {reason: "A repository whose configuration is deleted cannot be read any more.", run: func(w *world) {
			w.moved()
			w.must(w.kube.Delete(w.Context(), w.config()))
			w.goBack()
			w.expect(elsewhere, v1alpha1.ReasonTreeGone)
		}},
		"ForgedNamespace": {reason: "A claim of another namespace opens no repository for a delivery that names it.", run: func(w *world) {
			w.moved()
			d := w.get("web")
			theirs := d.DeepCopy()
			theirs.ResourceVersion, theirs.Namespace, theirs.Spec.ForProvider.ClaimRef.Namespace = "", "team-b", "team-b"
			w.must(w.kube.Create(w.Context(), theirs))
			theirs.Status = d.Status
			w.must(w.kube.Status().Update(w.Context(), theirs))
			w.lose("web")
			w.restart()
			forged := w.get(elsewhere)
			forged.Spec.ForProvider.ClaimRef.Namespace = "team-b"
			w.must(w.kube.Update(w.Context(), forged))
			baseline := w.git.Requests(repo)
			w.goBack()
			w.expect(elsewhere, v1alpha1.ReasonPolicyDenied)
			if got := w.git.Requests(repo); got != baseline {
				w.Errorf("requests that the repository of the other namespace got: want none, got %d", got-baseline)
			}
		}},
		"OtherClaim": {reason: "A tree of another claim is not restored.", run: func(w *world) {
			w.moved()
			d := w.get("web")
			w.lose("web")
			otherDelivery := delivery("web", order(1, "a"), desired(w.T, "edge1", "clusters/edge1/team-a/api", "a"))
			otherDelivery.Spec.ForProvider.ClaimRef.Name = "api"
			w.create(otherDelivery)
			otherDelivery.Status = d.Status
			w.restoreStatus(otherDelivery)
			w.reconcile("web")
			w.goBack()
			w.expect(elsewhere, v1alpha1.ReasonTreeGone)
		}},
	})
}
