package gitdelivery

import (
	"fmt"
	"strings"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// settle makes as many Sites as a claim can have, and a configuration that lets it.
func (w *world) settle() {
	w.Helper()
	c := &configv1alpha1.ClusterProviderConfig{}
	w.must(w.kube.Get(w.Context(), client.ObjectKey{Name: "default"}, c))
	c.Spec.Policy.MaxSites = new(int32(mostSites))
	w.must(w.kube.Update(w.Context(), c))
	for i := range mostSites {
		w.must(w.kube.Create(w.Context(), site(settlement(i))))
	}
}

func settlement(i int) string { return fmt.Sprintf("place%03d", i) }

// moveAll moves all Sites to a place, with a revision that is not verified.
func (w *world) moveAll(revision int64, place string) {
	w.Helper()
	for i := range mostSites {
		s := &catalogv1alpha1.Site{}
		w.must(w.kube.Get(w.Context(), client.ObjectKey{Name: settlement(i)}, s))
		s.Spec.Repository.Path = place + "/" + s.Name
		w.must(w.kube.Update(w.Context(), s))
	}
	w.change(func(d *v1alpha1.GitDelivery) {
		d.Spec.ForProvider.Order = order(revision, place)
		d.Spec.ForProvider.Trees = nil
		for i := range mostSites {
			t := desired(w.T, settlement(i), place+"/"+settlement(i)+"/team-a/web", "a")
			d.Spec.ForProvider.Trees = append(d.Spec.ForProvider.Trees, t)
		}
	})
	w.reconcile("web")
}

// roomy checks that the status can be written, and that it has the directories of the last order.
func (w *world) roomy(place string) {
	w.Helper()
	w.expect("web", v1alpha1.ReasonDelivered)
	got := w.get("web").Status.AtProvider.Trees
	if len(got) != mostSites || !strings.HasPrefix(got[0].Path, place+"/") || !strings.HasPrefix(got[mostSites-1].Path, place+"/") {
		w.Errorf("status.atProvider.trees: want %d below %s, got %d", mostSites, place, len(got))
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

// TestMovedAll moves as many Sites as there can be.
func TestMovedAll(t *testing.T) {
	tell(t, map[string]story{
		"Once": {reason: "What was left is remembered until the order is verified, also by who comes later", run: func(w *world) {
			w.settle()
			w.create(delivery("web", order(1, "a")))
			w.moveAll(1, "a")
			w.moveAll(2, "b")
			w.roomy("b")
			w.restart()
			w.reconcile("web")
			w.roomy("b")
			w.below("a", mostSites)
			w.change(func(d *v1alpha1.GitDelivery) {
				d.Spec.ForProvider.Order.Verdict = &rolloutv1alpha1.Verdict{Result: rolloutv1alpha1.VerdictVerified}
			})
			w.reconcile("web")
			w.roomy("b")
			w.below("a", 0)
			w.below("b", mostSites)
		}},
		"TooOften": {reason: "What could not be read back is not pushed, and whoever moves them back goes on", run: func(w *world) {
			w.settle()
			w.create(delivery("web", order(1, "a")))
			for i, place := range []string{"a", "b", "c", "d"} {
				w.moveAll(int64(i+1), place)
				w.roomy(place)
			}
			w.count(4)
			w.moveAll(5, "e")
			w.expect("web", v1alpha1.ReasonTooLarge)
			want := "cannot encode state: it has more than 2000 trees. 2000 directories are left of earlier orders, and go once one is verified: " +
				"give Sites that moved their spec.repository.path back, or choose fewer"
			if said := w.get("web").GetCondition(xpv2.TypeReady).Message; said != want {
				w.Errorf("message: want %q, got %q", want, said)
			}
			w.count(4)
			w.below("e", 0)
			w.moveAll(6, "d")
			w.roomy("d")
			w.change(func(d *v1alpha1.GitDelivery) {
				d.Spec.ForProvider.Order.Verdict = &rolloutv1alpha1.Verdict{Result: rolloutv1alpha1.VerdictVerified}
			})
			w.reconcile("web")
			w.roomy("d")
			w.below("c", 0)
		}},
	})
}
