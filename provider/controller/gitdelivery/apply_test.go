package gitdelivery

import (
	"net/http"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
)

func TestDrift(t *testing.T) {
	t.Parallel()
	changed := map[string]string{webAtE1 + "/configmap.yaml": "changed: true\n"}
	tell(t, map[string]story{
		"Restore": {reason: "A changed directory is restored, in a commit that names the other commit.", run: func(w *world) {
			w.create(w.first())
			w.reconcile("web")
			tip := w.push(changed)
			begun := xpv2.Condition{}
			w.begun = func() { begun = w.get("web").GetCondition(xpv2.TypeReady) }
			w.reconcile("web")
			if begun.Status != corev1.ConditionTrue || begun.Reason != v1alpha1.ReasonRestoringDrift {
				w.Errorf("Ready while drift is restored: want True, RestoringDrift, got %v", begun)
			}
			w.expect("web", v1alpha1.ReasonDriftRestored)
			w.count(3)
			message := "commit " + w.commits()[0].ID + " restored the directories of edge1, which other commits up to " + tip + " had changed"
			if diff := cmp.Diff(message, w.get("web").GetCondition(xpv2.TypeReady).Message); diff != "" {
				w.Errorf("message of Ready: -want, +got:\n%s", diff)
			}
			if diff := cmp.Diff([]string{"DriftRestored: " + message}, w.told["web"]); diff != "" {
				w.Errorf("events: -want, +got:\n%s", diff)
			}
			w.holds(map[string]tree.Files{webAtE1: files("a")}, nil)
			want := "Restore team-a/web revision 1 at 1 site\n\nCommit " + tip + "\nholds other files in directories of this claim."
			if got := w.commits()[0].Message; len(got) < len(want) || got[:len(want)] != want {
				w.Errorf("message: want %q, got %q", want, got)
			}
		}},
		"Stays": {reason: "The condition that drift was restored stays until something else is asked for.", run: func(w *world) {
			w.create(w.first())
			w.reconcile("web")
			w.push(changed)
			w.reconcile("web")
			previous := w.get("web").GetCondition(xpv2.TypeReady)
			w.pass(time.Hour)
			w.reconcile("web")
			if diff := cmp.Diff(previous, w.get("web").GetCondition(xpv2.TypeReady)); diff != "" {
				w.Errorf("Ready after another look: -want, +got:\n%s", diff)
			}
			w.ask(order(2, "b"), desired(w.T, "edge1", webAtE1, "b"))
			w.expect("web", v1alpha1.ReasonDelivered)
		}},
		"Refused": {reason: "Drift that cannot be restored makes the delivery not ready.", run: func(w *world) {
			w.create(w.first())
			w.reconcile("web")
			w.push(changed)
			w.hook("pre-receive", "exit 1")
			_ = w.try("web") // The push is refused.
			w.expect("web", v1alpha1.ReasonPolicyDenied)
		}},
		"Report": {reason: "Policy Report reports a changed directory, and writes nothing.", run: func(w *world) {
			d := w.first()
			d.Spec.ForProvider.DriftPolicy = v1alpha1.DriftReport
			w.create(d)
			w.reconcile("web")
			w.push(changed)
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDrifted)
			w.synced("web", corev1.ConditionTrue)
			w.count(2)
		}},
		"Removed": {reason: "A directory that another user removed is restored.", run: func(w *world) {
			w.create(w.first())
			w.reconcile("web")
			_, err := w.git.Remove(w.Context(), repo, "main", []string{webAtE1}, "Remove")
			w.must(err)
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDriftRestored)
			w.holds(map[string]tree.Files{webAtE1: files("a")}, nil)
		}},
	})
}

func TestDelete(t *testing.T) {
	t.Parallel()
	tell(t, map[string]story{
		"Ends": {reason: "A deletion removes the claim's directories, retains the last revision number, and leaves all others.", run: func(w *world) {
			w.create(w.first())
			w.reconcile("web")
			w.must(w.kube.Delete(w.Context(), w.get("web")))
			w.reconcile("web")
			w.reconcile("web")
			if !w.gone("web") {
				w.Fatalf("object: want it gone: %v", w.get("web").Status)
			}
			w.count(2)
			w.holds(nil, nil)

			w.create(w.first())
			w.must(w.try("web"))
			w.expect("web", v1alpha1.ReasonOrderBehind)
			if o := w.ledgerOf("web"); o.LastNumber != 1 {
				w.Errorf("order that is known: want revision 1, got %v", o)
			}
			w.change(func(d *v1alpha1.GitDelivery) { setWish(d, order(2, "a")) })
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
			w.holds(map[string]tree.Files{webAtE1: files("a")}, nil)
		}},
		"MarkerRemoved": {reason: "A deletion removes a delivered directory without its marker.", run: func(w *world) {
			w.create(w.first())
			w.reconcile("web")
			w.unmark(webAtE1)
			w.must(w.kube.Delete(w.Context(), w.get("web")))
			w.reconcile("web")
			w.reconcile("web")
			if !w.gone("web") {
				w.Fatalf("object: want it gone: %v", w.get("web").Status)
			}
			w.holds(nil, nil)
		}},
		"MarkerRemovedAndMore": {reason: "A deletion leaves a directory without a marker that another user changed.", run: func(w *world) {
			w.create(w.first())
			w.reconcile("web")
			w.unmark(webAtE1)
			w.push(map[string]string{webAtE1 + "/theirs.yaml": "x: 1\n"})
			w.must(w.kube.Delete(w.Context(), w.get("web")))
			w.reconcile("web")
			w.reconcile("web")
			if !w.gone("web") {
				w.Fatalf("object: want it gone: %v", w.get("web").Status)
			}
			w.holds(map[string]tree.Files{webAtE1: files("a")}, map[string]string{webAtE1 + "/theirs.yaml": "x: 1\n"})
		}},
		"NeverDelivered": {reason: "The deletion of a refused delivery removes nothing.", run: func(w *world) {
			theirs := map[string]string{webAtE1 + "/theirs.yaml": "x: 1\n"}
			w.push(theirs)
			w.create(w.first())
			w.reconcile("web")
			w.must(w.kube.Delete(w.Context(), w.get("web")))
			w.reconcile("web")
			w.reconcile("web") // The ledger has the revision that was refused.
			if !w.gone("web") {
				w.Fatal("object: want it gone")
			}
			w.holds(nil, theirs)
		}},
		"OthersDirectory": {reason: "An object made by hand removes nothing of another claim", run: func(w *world) {
			w.create(w.first())
			w.reconcile("web")
			d := delivery("other", order(9, "x"), desired(w.T, "edge1", webAtE1, "x"))
			d.Spec.ForProvider.ClaimRef.Name = "other"
			w.create(d)
			w.reconcile("other")
			w.must(w.kube.Delete(w.Context(), w.get("other")))
			w.reconcile("other")
			w.reconcile("other") // The ledger has the revision that was refused.
			if !w.gone("other") {
				w.Fatal("object: want it gone")
			}
			w.holds(map[string]tree.Files{webAtE1: files("a")}, nil)
		}},
		"NotFound": {reason: "A repository that is not there blocks, says why, and how to go on", run: func(w *world) {
			w.create(w.first())
			w.reconcile("web")
			w.must(w.kube.Delete(w.Context(), w.get("web")))
			w.git.Fail(repo, http.StatusNotFound)
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonUnreachable)
			w.change(func(d *v1alpha1.GitDelivery) {
				d.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionObserve}
			})
			w.reconcile("web")
			if !w.gone("web") {
				w.Fatal("object: want it gone")
			}
		}},
		"Forbidden": {reason: "A repository that may not be read blocks, and says why", run: func(w *world) {
			w.create(w.first())
			w.reconcile("web")
			w.must(w.kube.Delete(w.Context(), w.get("web")))
			w.git.Fail(repo, http.StatusForbidden)
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonAuthFailed)
		}},
		"ConfigGone": {reason: "A configuration that is not there blocks, and says why", run: func(w *world) {
			w.create(w.first())
			w.reconcile("web")
			w.must(w.kube.Delete(w.Context(), w.get("web")))
			w.must(w.kube.Delete(w.Context(), w.config()))
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonCredentialsGone)
		}},
	})
}

// unmark removes the marker of a directory, as another user may.
func (w *world) unmark(dir string) {
	w.Helper()
	_, err := w.git.Remove(w.Context(), repo, "main", []string{dir + "/" + tree.Marker}, "Tidy")
	w.must(err)
}

// TestFirstAttempt counts the writes of an attempt before its push.
func TestFirstAttempt(t *testing.T) {
	cases := map[string]struct {
		reason string
		age    time.Duration
		change func(w *world)
		want   int
	}{
		"New":    {reason: "The first attempt of a delivery that was just created is written together with its end.", age: 2 * time.Second},
		"Old":    {reason: "A delivery that waited for longer writes its attempt down before the push.", age: time.Hour, want: 1},
		"Future": {reason: "A delivery that was created later than the provider's clock says writes its attempt down before the push.", age: -time.Hour, want: 1},
		"Edited": {reason: "A delivery that was changed since its creation writes its attempt down before the push.", age: 2 * time.Second, change: func(w *world) {
			w.change(func(d *v1alpha1.GitDelivery) { d.Spec.ForProvider.DeliveryTimeout = "20m" })
		}, want: 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w, begun := newWorld(t), 0
			d := w.first()
			// A reconcile begins a minute after the previous reconcile.
			d.CreationTimestamp = metav1.NewTime(w.now().Add(time.Minute - tc.age))
			w.create(d)
			if tc.change != nil {
				tc.change(w)
			}
			w.begun = func() { begun++ }
			w.reconcile("web")
			if diff := cmp.Diff(tc.want, begun); diff != "" {
				t.Errorf("\n%s\nwrites of an attempt that goes on: -want, +got:\n%s", tc.reason, diff)
			}
			w.expect("web", v1alpha1.ReasonDelivered)
			a := w.get("web").Status.AtProvider.Attempt
			if a == nil || a.EndedAt == nil {
				t.Fatalf("\n%s\nattempt in the end: %v", tc.reason, a)
			}
			if isNew := a.StartedAt.Equal(&d.CreationTimestamp); isNew != (tc.want == 0) {
				t.Errorf("\n%s\nthe attempt began at %s, and the delivery was created at %s", tc.reason, a.StartedAt, d.CreationTimestamp)
			}
		})
	}
}

// TestFirstAttemptAgain crashes in the first attempt of a new delivery: the repeat makes the commit that the crash prevented.
func TestFirstAttemptAgain(t *testing.T) {
	w := newWorld(t)
	d := w.first()
	d.CreationTimestamp = metav1.NewTime(w.now().Add(time.Minute - 2*time.Second))
	w.create(d)
	w.git.AfterPush(repo, func() { w.dead = true })
	if err := w.try("web"); err == nil {
		t.Fatal("the provider did not crash")
	}
	if a := w.get("web").Status.AtProvider.Attempt; a != nil {
		t.Fatalf("the attempt was written down: %v", a)
	}
	w.recover()
	w.reconcile("web")
	w.expect("web", v1alpha1.ReasonDelivered)
	w.count(1)
	if a := w.get("web").Status.AtProvider.Attempt; a == nil || !a.StartedAt.Equal(&d.CreationTimestamp) || a.EndedAt == nil {
		t.Errorf("attempt after the repeat: %v, want an ended attempt with start %s", a, d.CreationTimestamp)
	}
}
