package gitdelivery

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
)

// An end is how the deletion of a delivery goes.
type end struct {
	reason string
	// state prepares the delivery.
	state func(w *world)
	// was is the reason that it has then.
	was xpv2.ConditionReason
	// blocked is the reason why it does not end by itself. Empty if it does.
	blocked xpv2.ConditionReason
	// dirs and theirs are the directories and files that the repository still has.
	dirs   map[string]tree.Files
	theirs map[string]string
	// nothing is true if the repository has no branch.
	nothing bool
}

func ends() map[string]end {
	delivered := func(continuation func(w *world)) func(w *world) {
		return func(w *world) {
			w.create(w.first())
			w.reconcile("web")
			continuation(w)
			_ = w.try("web") // It is in the condition.
		}
	}
	return map[string]end{
		"Delivered": {reason: "A deletion removes the delivered directory.", state: delivered(func(*world) {}), was: v1alpha1.ReasonDelivered},
		"Emptied": {
			reason: "A deletion removes nothing from an emptied repository.", was: v1alpha1.ReasonOrderBehind, nothing: true,
			state: delivered(func(w *world) {
				for _, ref := range []string{stateRef, "refs/heads/main"} {
					_, err := w.git.Git(w.Context(), repo, "update-ref", "-d", ref)
					w.must(err)
				}
				w.restart()
			}),
		},
		"BranchDeleted": {
			reason: "A deletion writes nothing where the branch is gone.", was: v1alpha1.ReasonDiverged, nothing: true,
			state: delivered(func(w *world) {
				_, err := w.git.Git(w.Context(), repo, "branch", "other", "main")
				w.must(err)
				_, err = w.git.Git(w.Context(), repo, "update-ref", "-d", "refs/heads/main")
				w.must(err)
			}),
		},
		"Diverged": {
			reason: "A history that was rewritten has nothing of ours", was: v1alpha1.ReasonDiverged,
			state: delivered(func(w *world) { w.reset("main~1") }),
		},
		"Drifted": {
			reason: "A deletion removes a directory with the changes of another user.", was: v1alpha1.ReasonDrifted,
			state: delivered(func(w *world) {
				w.change(func(d *v1alpha1.GitDelivery) { d.Spec.ForProvider.DriftPolicy = v1alpha1.DriftReport })
				w.push(map[string]string{webAtE1 + "/configmap.yaml": "changed: true\n"})
			}),
		},
		"StateLost": {
			reason: "Without a state our directories are known by their markers", was: v1alpha1.ReasonOrderBehind,
			state: delivered(func(w *world) { w.deleteState(); w.restart() }),
		},
		"StateUntrusted": {
			reason: "A deletion with an untrusted state removes the directories with the claim's marker.", was: v1alpha1.ReasonStateUntrusted,
			state: delivered(func(w *world) { w.forgeAll(map[string]string{"owner.json": "{}"}); w.restart() }),
		},
		"OrderBehind": {
			reason: "A deletion removes the directories of newer orders than its own.", was: v1alpha1.ReasonOrderBehind,
			state: delivered(func(w *world) {
				w.reorder(2, "b")
				w.reconcile("web")
				w.reorder(1, "a")
			}),
		},
		"TreeGone": {
			reason: "A rollback to a lost tree does not block the deletion.", was: v1alpha1.ReasonTreeGone,
			state: delivered(func(w *world) {
				w.change(func(d *v1alpha1.GitDelivery) {
					setWish(d, order(2, "b"))
					d.Spec.ForProvider.Trees = []v1alpha1.Tree{restore("edge1", webAtE1, "never")}
				})
			}),
		},
		"SiteGone": {
			reason: "A Site is not needed to leave it", was: v1alpha1.ReasonSiteMissing,
			state: delivered(func(w *world) {
				w.engine("edge1")
				s := &catalogv1alpha1.Site{}
				w.must(w.kube.Get(w.Context(), client.ObjectKey{Name: "edge1"}, s))
				w.must(w.kube.Delete(w.Context(), s))
				w.reorder(2, "b")
			}),
		},
		"WrittenAhead": {
			reason: "An order that only the state knows is forgotten", was: v1alpha1.ReasonPolicyDenied,
			state: func(w *world) {
				w.must(w.git.Configure(w.Context(), repo, "receive.advertiseAtomic", "false"))
				w.hook("update", `case "$1" in refs/heads/main) echo "not allowed" >&2; exit 1;; esac`)
				w.create(w.first())
				_ = w.try("web") // It is in the condition.
			},
		},
		"PolicyDenied": {
			reason: "A server that refuses the push blocks the deletion, until it accepts the push.", was: v1alpha1.ReasonPolicyDenied, blocked: "Deleting",
			state: delivered(func(w *world) {
				w.hook("update", `case "$1" in refs/heads/main) echo "not allowed" >&2; exit 1;; esac`)
				w.reorder(2, "b")
			}),
			dirs: map[string]tree.Files{webAtE1: files("a")},
		},
		"Unavailable": {
			reason: "A server that does not answer holds up the deletion.", was: v1alpha1.ReasonUnreachable, blocked: v1alpha1.ReasonUnreachable,
			state: delivered(func(w *world) { w.git.Fail(repo, http.StatusServiceUnavailable) }),
			dirs:  map[string]tree.Files{webAtE1: files("a")},
		},
		"NeverSeen": {
			reason: "A server that never answered does not block the deletion: the repository has no delivered directory.", was: v1alpha1.ReasonMemoryUnknown,
			state: func(w *world) {
				w.git.Fail(repo, http.StatusServiceUnavailable)
				w.create(w.first())
				_ = w.try("web") // It is in the condition.
			},
		},
		"StateRefused": {
			reason: "Where nothing was ever delivered nothing is left", was: v1alpha1.ReasonStateRefused,
			state: func(w *world) {
				w.must(w.git.Configure(w.Context(), repo, "receive.hideRefs", "refs/intentplane"))
				w.configure(func(c *configv1alpha1.ProviderConfigSpec) { c.Git.State.Form = configv1alpha1.StateRef })
				w.create(w.first())
				_ = w.try("web") // It is in the condition.
			},
		},
		"NotOwner": {
			reason: "A deletion leaves the files of another user.", was: v1alpha1.ReasonNotOwner,
			state: func(w *world) {
				w.push(map[string]string{webAtE1 + "/theirs.yaml": "x: 1\n"})
				w.create(w.first())
				_ = w.try("web") // It is in the condition.
			},
			theirs: map[string]string{webAtE1 + "/theirs.yaml": "x: 1\n"},
		},
		"Invalid": {
			reason: "An invalid tree does not block the deletion.", was: v1alpha1.ReasonInvalid,
			state: delivered(func(w *world) {
				w.change(func(d *v1alpha1.GitDelivery) {
					setWish(d, order(2, "b"))
					d.Spec.ForProvider.Trees[0].Files = []byte("no archive")
				})
			}),
		},
		"Conflict": {
			reason: "A locked ref blocks the deletion, until it is unlocked.", was: v1alpha1.ReasonConflict, blocked: "Deleting",
			state: delivered(func(w *world) {
				w.must(os.WriteFile(filepath.Join(w.git.Path(repo), "refs", "heads", "main.lock"), nil, 0o600))
				w.reorder(2, "b")
			}),
			dirs: map[string]tree.Files{webAtE1: files("a")},
		},
		"OwnedElsewhere": {
			reason: "A deletion leaves the directory of another cluster.", was: v1alpha1.ReasonOwnedElsewhere,
			state: delivered(func(w *world) { w.rebuild("cluster-2", ""); w.create(w.first()) }),
			dirs:  map[string]tree.Files{webAtE1: files("a")},
		},
	}
}

// TestDeleteAnyhow deletes a delivery in each state that it may be in.
func TestDeleteAnyhow(t *testing.T) {
	t.Parallel()
	for name, tc := range ends() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			t.Log(tc.reason)
			w := newWorld(t)
			tc.state(w)
			w.expect("web", tc.was)
			w.must(w.kube.Delete(w.Context(), w.get("web")))
			_, _ = w.try("web"), w.tryLater("web")
			if tc.blocked != "" {
				w.giveUp(tc.blocked)
			}
			if !w.gone("web") {
				w.Fatalf("object: want it gone: %v", w.get("web").Status)
			}
			w.git.Fail(repo, 0)
			if !tc.nothing {
				w.holds(tc.dirs, tc.theirs)
			}
		})
	}
}

// TestDeleteForeignClaim deletes a delivery that names the claim of another namespace, whose own delivery has a directory and a ledger.
func TestDeleteForeignClaim(t *testing.T) {
	t.Parallel()
	const path = "clusters/edge1/team-b/web"
	w := newWorld(t)
	s := &catalogv1alpha1.Site{}
	w.must(w.kube.Get(w.Context(), client.ObjectKey{Name: "edge1"}, s))
	s.Spec.AllowedNamespaces = []string{"team-a", "team-b"}
	w.must(w.kube.Update(w.Context(), s))
	foreignFiles := files("a")
	foreignFiles["configmap.yaml"] = bytes.ReplaceAll(foreignFiles["configmap.yaml"], []byte("team-a"), []byte("team-b"))
	newDelivery := func(namespace string) *v1alpha1.GitDelivery {
		d := delivery("web", order(1, "a"), desired(t, "edge1", path, "a"))
		d.Namespace, d.Spec.ForProvider.ClaimRef.Namespace = namespace, "team-b"
		withFiles(t, d, foreignFiles)
		return d
	}
	theirs := newDelivery("team-b")
	w.create(theirs)
	theirRequest := reconcile.Request{NamespacedName: client.ObjectKeyFromObject(theirs)}
	_, err := w.reconciler().Reconcile(w.Context(), theirRequest)
	w.must(err)
	w.holds(map[string]tree.Files{path: foreignFiles}, nil)
	w.create(newDelivery("team-a"))
	w.reconcile("web")
	w.expect("web", v1alpha1.ReasonPolicyDenied)
	w.must(w.kube.Delete(w.Context(), w.get("web")))
	_, _ = w.try("web"), w.tryLater("web")
	if !w.gone("web") {
		t.Fatalf("object: want it gone: %v", w.get("web").Status)
	}
	w.holds(map[string]tree.Files{path: foreignFiles}, nil)
	w.restart()
	_, err = w.reconciler().Reconcile(w.Context(), theirRequest)
	w.must(err)
	w.must(w.kube.Get(w.Context(), theirRequest.NamespacedName, theirs))
	if l := theirs.Status.AtProvider.Ledger; l == nil || l.IsClosed || l.Current == nil {
		t.Errorf("\nA deletion leaves the ledger of a claim of another namespace.\nledger: want it open at revision 1, got %+v", l)
	}
	w.count(1)
}

// tryLater reconciles a delivery that may be gone.
func (w *world) tryLater(name string) error {
	if w.gone(name) {
		return nil
	}
	return w.try(name)
}

// giveUp takes the documented way out of a deletion that is blocked for a reason.
func (w *world) giveUp(want xpv2.ConditionReason) {
	w.Helper()
	w.expect("web", want)
	d := w.get("web")
	if message := d.GetCondition(xpv2.TypeReady).Message + d.GetCondition(xpv2.TypeSynced).Message; !strings.Contains(message, `spec.managementPolicies to ["Observe"]`) {
		w.Errorf("message: want the way out, got %s", message)
	}
	w.change(func(d *v1alpha1.GitDelivery) {
		d.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionObserve}
	})
	w.reconcile("web")
}
