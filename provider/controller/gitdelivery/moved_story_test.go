package gitdelivery

import (
	"fmt"
	"strings"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/tree"
)

// settlers are so many Sites that a status has no room for the directories of all of them twice.
const settlers = mostSites/2 + 10

// settle makes the Sites, and a configuration that lets a claim have them.
func (w *world) settle() {
	w.Helper()
	c := &configv1alpha1.ClusterProviderConfig{}
	w.must(w.kube.Get(w.Context(), client.ObjectKey{Name: "default"}, c))
	c.Spec.Policy.MaxSites = new(int32(settlers))
	w.must(w.kube.Update(w.Context(), c))
	for i := range settlers {
		w.must(w.kube.Create(w.Context(), site(settlement(i))))
	}
}

func settlement(i int) string { return fmt.Sprintf("place%03d", i) }

// moveAll moves all Sites to a place, with a revision that is not verified.
func (w *world) moveAll(revision int64, place string) {
	w.Helper()
	for i := range settlers {
		s := &catalogv1alpha1.Site{}
		w.must(w.kube.Get(w.Context(), client.ObjectKey{Name: settlement(i)}, s))
		s.Spec.Repository.Path = place + "/" + s.Name
		w.must(w.kube.Update(w.Context(), s))
	}
	w.change(func(d *v1alpha1.GitDelivery) {
		setWish(d, order(revision, place))
		d.Spec.ForProvider.Trees = nil
		for i := range settlers {
			t := desired(w.T, settlement(i), place+"/"+settlement(i)+"/team-a/web", "a")
			d.Spec.ForProvider.Trees = append(d.Spec.ForProvider.Trees, t)
		}
	})
	w.reconcile("web")
}

// roomy checks that the status has the directories of the last order, and as many former directories as it can hold.
func (w *world) roomy(place string, want int) {
	w.Helper()
	w.expect("web", v1alpha1.ReasonDelivered)
	got := w.get("web").Status.AtProvider.Trees
	if len(got) != want || !strings.HasPrefix(got[0].Path, place+"/") || !strings.HasPrefix(got[settlers-1].Path, place+"/") {
		w.Errorf("status.atProvider.trees: want %d, and those below %s first, got %d", want, place, len(got))
	}
}

func (w *world) below(place string, want int) {
	w.Helper()
	paths, err := w.git.Git(w.Context(), repo, "ls-tree", "-r", "--name-only", "main", "--", place+"/")
	w.must(err)
	if got := strings.Count(paths, "/configmap.yaml"); got != want {
		w.Errorf("directories below %s: want %d, got %d", place, want, got)
	}
}

// TestMovedAll moves more Sites than a status has room for.
func TestMovedAll(t *testing.T) {
	t.Parallel()
	tell(t, map[string]story{
		"Once": {reason: "Former directories are recorded until the order is verified, also for a restarted provider.", run: func(w *world) {
			w.settle()
			w.create(delivery("web", order(1, "a")))
			w.moveAll(1, "a")
			w.moveAll(2, "b")
			w.roomy("b", mostSites)
			w.restart()
			w.reconcile("web")
			w.roomy("b", mostSites)
			w.below("a", settlers)
			w.change(func(d *v1alpha1.GitDelivery) {
				setVerdict(d, ledger.Verdict{Result: ledger.VerdictVerified})
			})
			w.reconcile("web")
			w.roomy("b", settlers)
			w.below("a", 0)
			w.below("b", settlers)
		}},
	})
}

// TestTooManyLeft has as many directories of earlier orders as can be remembered.
func TestTooManyLeft(t *testing.T) {
	t.Parallel()
	tell(t, map[string]story{
		"Refused": {reason: "A record that could not be read back is not pushed, and a delivery whose Sites are moved back goes on.", run: func(w *world) {
			w.create(w.first())
			w.reconcile("web")
			w.litter(1999)
			w.change(func(d *v1alpha1.GitDelivery) {
				setWish(d, order(2, "b"))
				d.Spec.ForProvider.Trees = []v1alpha1.Tree{desired(w.T, "edge2", webAtE2, "b")}
			})
			refs := w.refs()
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonTooLarge)
			want := "cannot encode state: trees has more than 2000 items. 2000 directories are left of earlier revisions, and go once one is verified: " +
				"give Sites that moved their spec.repository.path back, or choose fewer"
			if diff := cmp.Diff(want, w.get("web").GetCondition(xpv2.TypeReady).Message); diff != "" {
				w.Errorf("message: -want, +got:\n%s", diff)
			}
			if diff := cmp.Diff(refs["refs/heads/main"], w.refs()["refs/heads/main"]); diff != "" {
				w.Errorf("no directory is pushed: -want, +got:\n%s", diff)
			}
			if got := w.ledgerOf("web").LastNumber; got != 2 {
				w.Errorf("the revision is recorded, so that it can be rejected: want 2, got %d", got)
			}
			w.change(func(d *v1alpha1.GitDelivery) {
				setWish(d, order(3, "c"))
				d.Spec.ForProvider.Trees = []v1alpha1.Tree{desired(w.T, "edge1", webAtE1, "c")}
			})
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
			if diff := cmp.Diff(mostSites, len(w.get("web").Status.AtProvider.Trees)); diff != "" {
				w.Errorf("status.atProvider.trees: -want, +got:\n%s", diff)
			}
			w.change(func(d *v1alpha1.GitDelivery) {
				setVerdict(d, ledger.Verdict{Result: ledger.VerdictVerified})
			})
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
			w.below("left", 0)
		}},
	})
}

// litter adds directories of the claim to the branch, and deletes the state, which is then rebuilt from the branch.
func (w *world) litter(n int) {
	w.Helper()
	fs, err := w.git.Files(w.Context(), repo, "main")
	w.must(err)
	left := map[string]string{}
	for i := range n {
		dir := fmt.Sprintf("left/%02d/%02d/team-a/web/", i/100, i%100)
		left[dir+tree.Marker], left[dir+"configmap.yaml"] = fs[webAtE1+"/"+tree.Marker], "says: nothing\n"
	}
	w.push(left)
	_, err = w.git.Git(w.Context(), repo, "update-ref", "-d", stateRef)
	w.must(err)
	w.restart()
	w.change(func(d *v1alpha1.GitDelivery) { d.Spec.ForProvider.DriftPolicy = v1alpha1.DriftRestore })
	w.reconcile("web")
	w.expect("web", v1alpha1.ReasonDelivered)
}

func (w *world) refs() map[string]string {
	w.Helper()
	refs, err := w.git.Refs(w.Context(), repo)
	w.must(err)
	return refs
}
