package gitdelivery

import (
	"bytes"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
)

type story struct {
	reason string
	run    func(w *world)
}

func tell(t *testing.T, stories map[string]story) {
	t.Helper()
	for name, s := range stories {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			t.Log(s.reason)
			s.run(newWorld(t))
		})
	}
}

func TestDeliver(t *testing.T) {
	t.Parallel()
	tell(t, map[string]story{
		"First": {reason: "A delivery becomes one commit, and becomes ready.", run: func(w *world) {
			w.create(w.first())
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
			w.synced("web", corev1.ConditionTrue)
			w.count(1)
			w.holds(map[string]tree.Files{webAtE1: files("a")}, nil)

			observed, c := w.get("web").Status.AtProvider, w.commits()[0]
			if diff := cmp.Diff(c.ID, observed.Remote.Commit); diff != "" {
				w.Errorf("commit in status: -want, +got:\n%s", diff)
			}
			if !observed.Attempt.StartedAt.Time.Equal(c.Time) || !observed.Remote.CommitTime.Time.Equal(c.Time) || observed.Attempt.EndedAt == nil {
				w.Errorf("the date of the commit is the start of the attempt, which has ended: %v, %v", c.Time, observed.Attempt)
			}
			want := map[string]string{
				"Intentplane-Claim":         "claims.intentplane.dev/IntentDeployment team-a/web",
				"Intentplane-Control-Plane": "prod", "Intentplane-Revision": "1", "Intentplane-Step": "0",
				"Intentplane-Attempt": "0", "Intentplane-Request-Digest": stateAt(order(1, "a")).Current.Request.Digest(), "Intentplane-Intent": "intent-a",
				"Intentplane-Versions": "digests 1, renderer 1", "Intentplane-Cluster": "cluster-1",
			}
			if diff := cmp.Diff(want, c.Trailers); diff != "" {
				w.Errorf("trailers: -want, +got:\n%s", diff)
			}
			if diff := cmp.Diff([]v1alpha1.DeliveredTree{{Site: "edge1", Path: webAtE1, Tree: tree.ID(files("a")), Revision: 1}}, observed.Trees); diff != "" {
				w.Errorf("trees: -want, +got:\n%s", diff)
			}
		}},
		"Repeat": {reason: "A delivered tree is not written again, and the status does not change.", run: func(w *world) {
			w.create(w.first())
			w.reconcile("web")
			previous := w.get("web")
			w.reconcile("web")
			w.reconcile("web")
			w.count(1)
			current := w.get("web")
			previous.ResourceVersion, current.ResourceVersion = "", ""
			if diff := cmp.Diff(previous, current); diff != "" {
				w.Errorf("object: -before, +after:\n%s", diff)
			}
		}},
		"TwoSites": {reason: "All sites of a revision come in one commit, and the directory of a former site is removed when the revision is verified", run: func(w *world) {
			w.create(w.first())
			w.reconcile("web")
			w.change(func(d *v1alpha1.GitDelivery) {
				setWish(d, order(2, "b"))
				d.Spec.ForProvider.Trees = []v1alpha1.Tree{desired(w.T, "edge1", webAtE1, "b"), desired(w.T, "edge2", webAtE2, "b")}
			})
			w.reconcile("web")
			w.count(2)
			w.holds(map[string]tree.Files{webAtE1: files("b"), webAtE2: files("b")}, nil)
			w.change(func(d *v1alpha1.GitDelivery) {
				setWish(d, order(3, "c"))
				d.Spec.ForProvider.Trees = []v1alpha1.Tree{desired(w.T, "edge2", webAtE2, "b")}
			})
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
			w.count(2)
			w.holds(map[string]tree.Files{webAtE1: files("b"), webAtE2: files("b")}, nil)
			if got := w.get("web").Status.AtProvider.Trees; len(got) != 2 || got[1].Path != webAtE1 || got[1].Revision != 2 {
				w.Errorf("trees: want the tree of the former directory too, of revision 2: %v", got)
			}
			w.verify()
			w.count(3)
			w.holds(map[string]tree.Files{webAtE2: files("b")}, nil)
			h := w.get("web").Status.AtProvider.History
			if len(h) != 3 || len(h[2].Trees) != 1 {
				w.Errorf("history: want 3 revisions, the last one with one tree, got %v", h)
			}
			w.verify()
			w.count(3)
		}},
		"Keep": {reason: "A directory that is kept is neither written nor removed", run: func(w *world) {
			w.create(w.first())
			w.reconcile("web")
			w.change(func(d *v1alpha1.GitDelivery) {
				setWish(d, order(2, "b"))
				keep := v1alpha1.Tree{Site: "edge1", Branch: "main", Path: webAtE1, Action: v1alpha1.ActionKeep}
				d.Spec.ForProvider.Trees = []v1alpha1.Tree{keep, desired(w.T, "edge2", webAtE2, "b")}
			})
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
			w.holds(map[string]tree.Files{webAtE1: files("a"), webAtE2: files("b")}, nil)
			if got := w.get("web").Status.AtProvider.Trees; len(got) != 2 || got[0].Revision != 1 {
				w.Errorf("trees: want the kept one too, of revision 1: %v", got)
			}
		}},
		"Rejected": {reason: "A rejected revision removes nothing, and the next verified revision removes all former directories.", run: func(w *world) {
			w.create(delivery("web", order(1, "a"), desired(w.T, "edge1", webAtE1, "a"), desired(w.T, "edge2", webAtE2, "a")))
			w.reconcile("web")
			moved := "clusters/new/team-a/web"
			w.move("edge1", "clusters/new")
			w.ask(order(2, "b"), desired(w.T, "edge1", moved, "b"))
			w.change(func(d *v1alpha1.GitDelivery) {
				setVerdict(d, ledger.Verdict{Result: ledger.VerdictRejected, Reason: rolloutv1alpha1.RejectedSyncFailed})
				d.Spec.ForProvider.Trees[0] = v1alpha1.Tree{Site: "edge1", Branch: "main", Path: moved, Action: v1alpha1.ActionKeep}
			})
			w.reconcile("web")
			all := map[string]tree.Files{webAtE1: files("a"), webAtE2: files("a"), moved: files("b")}
			w.holds(all, nil)
			w.ask(order(3, "c"), desired(w.T, "edge1", moved, "c"))
			w.lose("web")
			w.create(delivery("web", order(3, "c"), desired(w.T, "edge1", moved, "c")))
			w.reconcile("web")
			all[moved] = files("c")
			w.holds(all, nil)
			w.verify()
			w.holds(map[string]tree.Files{moved: files("c")}, nil)
		}},
		"Verdict": {reason: "A verdict is recorded without a commit of the branch", run: func(w *world) {
			w.create(w.first())
			w.reconcile("web")
			w.verify()
			w.count(1)
			observed := w.get("web").Status.AtProvider
			if observed.Ledger.Verdict == nil || !observed.History[0].IsTarget {
				w.Errorf("verdict: want it in order and history: %v", observed)
			}
		}},
	})
}

func TestCrash(t *testing.T) {
	t.Parallel()
	tell(t, map[string]story{
		"AfterPush": {reason: "A provider that dies between push and status makes no second commit", run: func(w *world) {
			w.create(w.first())
			previous := w.get("web")
			w.git.AfterPush(repo, func() { previous = w.get("web") }) // The object in the API server at the time of the push.
			w.reconcile("web")
			w.restoreStatus(previous)
			w.expect("web", v1alpha1.ReasonPushing)
			w.git.AfterPush(repo, nil)
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
			w.count(1)
			if diff := cmp.Diff(w.commits()[0].ID, w.get("web").Status.AtProvider.Remote.Commit); diff != "" {
				w.Errorf("commit in status: -want, +got:\n%s", diff)
			}
		}},
		"BeforePush": {reason: "An attempt that was begun goes on at its date", run: func(w *world) {
			w.create(w.first())
			w.git.FailPushes(repo, http.StatusServiceUnavailable)
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonUnreachable)
			w.synced("web", corev1.ConditionFalse)
			begun := w.get("web").Status.AtProvider.Attempt
			w.reconcile("web")
			if diff := cmp.Diff(begun, w.get("web").Status.AtProvider.Attempt); diff != "" {
				w.Errorf("attempt after another try: -want, +got:\n%s", diff)
			}
			w.git.FailPushes(repo, 0)
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
			if got := w.commits()[0].Time; !got.Equal(begun.StartedAt.Time) {
				w.Errorf("date of the commit: want %v, got %v", begun.StartedAt, got)
			}
		}},
		"StatusWiped": {reason: "A wiped status comes back from the state", run: func(w *world) {
			w.create(w.first())
			w.reconcile("web")
			want := w.get("web").Status.AtProvider
			w.forget()
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
			w.count(1)
			got := w.get("web").Status.AtProvider
			got.Attempt.EndedAt, want.Attempt.EndedAt = nil, nil
			if diff := cmp.Diff(want, got); diff != "" {
				w.Errorf("status: -want, +got:\n%s", diff)
			}
		}},
		"ObjectLost": {reason: "A new object learns the last order from the state, and writes nothing.", run: func(w *world) {
			w.create(w.first())
			w.reconcile("web")
			for i, request := range []string{"b", "c"} {
				w.change(func(d *v1alpha1.GitDelivery) {
					setWish(d, order(int64(i+2), request))
					d.Spec.ForProvider.Trees[0] = desired(w.T, "edge1", webAtE1, request)
				})
				w.reconcile("web")
			}
			w.lose("web")
			w.create(delivery("web", order(1, "c"), desired(w.T, "edge1", webAtE1, "c")))
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonOrderBehind)
			w.synced("web", corev1.ConditionTrue)
			observed := w.get("web").Status.AtProvider
			if diff := cmp.Diff(int64(3), observed.Ledger.LastNumber); diff != "" || len(observed.History) != 3 {
				w.Fatalf("order that is known: -want, +got:\n%s", diff)
			}
			w.change(func(d *v1alpha1.GitDelivery) { setWish(d, order(3, "c")) })
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
			w.count(3)
		}},
		"StateLost": {reason: "A lost state is written again from the object's status", run: func(w *world) {
			w.create(w.first())
			w.reconcile("web")
			_, err := w.git.Git(w.Context(), repo, "update-ref", "-d", stateRef)
			w.must(err)
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
			w.count(1)
			if refs, err := w.git.Refs(w.Context(), repo); err != nil || refs[stateRef] == "" {
				w.Errorf("refs: want the state among them: %v, %v", refs, err)
			}
		}},
		"MemoryUnknown": {reason: "Who remembers nothing and cannot read takes no order", run: func(w *world) {
			w.create(w.first())
			w.git.Fail(repo, http.StatusServiceUnavailable)
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonMemoryUnknown)
			w.synced("web", corev1.ConditionFalse)
		}},
		"Unreachable": {reason: "A delivery with a ledger in its status reports the error itself.", run: func(w *world) {
			w.create(w.first())
			w.reconcile("web")
			w.git.Fail(repo, http.StatusNotFound)
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonUnreachable)
		}},
	})
}

// restoreStatus puts back a status, as if nothing had been written since.
func (w *world) restoreStatus(previous *v1alpha1.GitDelivery) {
	w.Helper()
	d := w.get(previous.GetName())
	d.Status = previous.Status
	w.must(w.kube.Status().Update(w.Context(), d))
}

func TestOwnership(t *testing.T) {
	t.Parallel()
	tell(t, map[string]story{
		"StrangersFiles": {reason: "Files that we did not write are not overwritten", run: func(w *world) {
			theirs := map[string]string{webAtE1 + "/theirs.yaml": "x: 1\n"}
			w.push(theirs)
			w.create(w.first())
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonNotOwner)
			w.holds(nil, theirs)
			w.change(func(d *v1alpha1.GitDelivery) { d.Spec.ForProvider.Adopt = new(true) })
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
			w.holds(map[string]tree.Files{webAtE1: files("a")}, nil)
		}},
		"OtherShape": {reason: "A composite of the same name is another owner, also for who may adopt", run: func(w *world) {
			w.create(w.first())
			w.reconcile("web")
			d := delivery("other", order(1, "x"), desired(w.T, "edge1", webAtE1, "x"))
			d.Spec.ForProvider.ClaimRef.APIGroup = "intentplane.dev"
			d.Spec.ForProvider.Adopt = new(true)
			w.create(d)
			w.reconcile("other")
			w.expect("other", v1alpha1.ReasonNotOwner)
			w.holds(map[string]tree.Files{webAtE1: files("a")}, nil)
		}},
		"ForeignClaim": {reason: "A delivery for a claim of another namespace is refused, also for a Site that allows all namespaces.", run: func(w *world) {
			everybody := &catalogv1alpha1.Site{}
			w.must(w.kube.Get(w.Context(), client.ObjectKey{Name: "edge1"}, everybody))
			everybody.Spec.AllowedNamespaces = []string{"*"}
			w.must(w.kube.Update(w.Context(), everybody))
			d := delivery("web", order(1, "a"), desired(w.T, "edge1", "clusters/edge1/team-b/web", "a"))
			d.Spec.ForProvider.ClaimRef.Namespace = "team-b"
			f := files("a")
			f["configmap.yaml"] = bytes.ReplaceAll(f["configmap.yaml"], []byte("team-a"), []byte("team-b"))
			withFiles(w.T, d, f)
			w.create(d)
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonPolicyDenied)
			w.count(0)
		}},
		"FileInTheWay": {reason: "Where a file is no directory can be", run: func(w *world) {
			theirs := map[string]string{webAtE1: "x\n"}
			w.push(theirs)
			w.create(w.first())
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonNotOwner)
			w.holds(nil, theirs)
		}},
		"RebuiltCluster": {reason: "A rebuilt cluster writes nothing until spec.takeOverFrom is set.", run: func(w *world) {
			w.create(w.first())
			w.reconcile("web")
			w.rebuild("cluster-2", "")
			w.create(w.first())
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonOwnedElsewhere)
			if observed := w.get("web").Status.AtProvider; observed.Ledger != nil {
				w.Errorf("status: want nothing of the other cluster, got %v", observed.Ledger)
			}
			w.count(1)
			w.rebuild("cluster-2", "cluster-1")
			w.create(w.first())
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
			w.count(2)
			w.holds(map[string]tree.Files{webAtE1: files("a")}, nil)
		}},
		"MarkerRemoved": {reason: "A delivered directory without its marker is delivered again.", run: func(w *world) {
			w.create(w.first())
			w.reconcile("web")
			w.unmark(webAtE1)
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDriftRestored)
			w.count(3)
		}},
		"MarkerRemovedAndSiteLeft": {reason: "The directory of a former site is removed also without its marker.", run: func(w *world) {
			w.create(delivery("web", order(1, "a"), desired(w.T, "edge1", webAtE1, "a"), desired(w.T, "edge2", webAtE2, "a")))
			w.reconcile("web")
			w.unmark(webAtE1)
			w.change(func(d *v1alpha1.GitDelivery) {
				setWish(d, order(2, "b"))
				d.Spec.ForProvider.Trees = []v1alpha1.Tree{desired(w.T, "edge2", webAtE2, "b")}
			})
			w.reconcile("web")
			w.verify()
			w.holds(map[string]tree.Files{webAtE2: files("b")}, nil)
		}},
		"ForgedState": {reason: "A state that cannot be read is not guessed at", run: func(w *world) {
			w.create(w.first())
			w.reconcile("web")
			_, err := w.git.Commit(w.Context(), repo, "forged", map[string]string{"claims.intentplane.dev/team-a/web/record.json": "{}"}, "Forge")
			w.must(err)
			_, err = w.git.Git(w.Context(), repo, "update-ref", stateRef, "refs/heads/forged")
			w.must(err)
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonStateUntrusted)
		}},
	})
}

// verify the order.
func (w *world) verify() {
	w.Helper()
	w.change(func(d *v1alpha1.GitDelivery) {
		setVerdict(d, ledger.Verdict{Result: ledger.VerdictVerified})
	})
	w.reconcile("web")
	w.expect("web", v1alpha1.ReasonDelivered)
}

// rebuild the cluster: it has another uid, and lost the delivery.
func (w *world) rebuild(uid, takeOverFrom string) {
	w.Helper()
	w.lose("web")
	ns := &corev1.Namespace{}
	w.must(w.kube.Get(w.Context(), client.ObjectKey{Name: "kube-system"}, ns))
	w.must(w.kube.Delete(w.Context(), ns))
	ns.UID, ns.ResourceVersion = xpUID(uid), ""
	w.must(w.kube.Create(w.Context(), ns))
	w.configure(func(c *configv1alpha1.ProviderConfigSpec) { c.TakeOverFrom = takeOverFrom })
}

func (w *world) configure(fn func(c *configv1alpha1.ProviderConfigSpec)) {
	w.Helper()
	c := &configv1alpha1.ClusterProviderConfig{}
	w.must(w.kube.Get(w.Context(), client.ObjectKey{Name: "default"}, c))
	fn(&c.Spec)
	w.must(w.kube.Update(w.Context(), c))
}
