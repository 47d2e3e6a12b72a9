package gitdelivery

import (
	"context"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/provider/repository"
)

// hangingPushes are pushes that the server answers when the test says so.
type hangingPushes struct {
	*world

	begun, free, woken chan struct{}
	// isHanging is true while a push hangs.
	isHanging bool
}

// hangPushes lets each push hang from now on. With a hook the server runs it before the push hangs; without one it closes the connection in the end.
func (w *world) hangPushes(refuses string) *hangingPushes {
	w.Helper()
	h := &hangingPushes{world: w, begun: make(chan struct{}), free: make(chan struct{}), woken: make(chan struct{}, 1)}
	ended := make(chan struct{})
	w.Cleanup(func() { close(ended) })
	hang := func() {
		select {
		case h.begun <- struct{}{}:
		case <-ended:
		}
		select {
		case <-h.free:
		case <-ended:
		}
	}
	w.pool = repository.NewPool(repository.Options{
		Now:      w.now,
		Pause:    func() time.Duration { return 0 },
		Wake:     func(types.NamespacedName) { h.woken <- struct{}{} },
		Patience: inTime, QuickPatience: inTime,
	})
	if refuses == "" {
		w.git.DropPush(repo, hang)
		return h
	}
	w.hook("update", refuses)
	w.git.AfterPush(repo, hang)
	return h
}

// look reconciles without letting time pass. The worker stops waiting once a push hangs.
func (h *hangingPushes) look() {
	h.Helper()
	ctx, stop := context.WithCancel(h.Context())
	ended, waited := make(chan struct{}), make(chan struct{})
	if h.isHanging {
		stop()
	}
	go func() {
		defer close(waited)
		select {
		case <-h.begun:
			h.isHanging = true
		case <-ended:
		}
		stop()
	}()
	_, _ = h.reconciler().Reconcile(ctx, request("web")) // It is in the conditions.
	close(ended)
	<-waited
}

// end lets the push fail that hangs, and waits until its object is woken.
func (h *hangingPushes) end() {
	h.Helper()
	h.free <- struct{}{}
	<-h.woken
	h.isHanging = false
}

// answer lets the server answer pushes again.
func (h *hangingPushes) answer() {
	h.Helper()
	h.git.DropPush(repo, nil)
	h.git.AfterPush(repo, nil)
	h.hook("update", "exit 0")
}

// TestHangingPushes retries a push that hangs each time. Until it is known how a retry ended, the delivery says how the last one failed: its conditions
// do not flip, and nothing is written.
func TestHangingPushes(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		// hook that the server runs. Empty: the connection ends without an answer.
		hook string
		want xpv2.ConditionReason
	}{
		"Aborted": {reason: "A push without an answer has failed, and is retried.", want: v1alpha1.ReasonUnreachable},
		"Refused": {reason: "A push that a hook refuses has failed, and is retried.", hook: `case "$1" in refs/heads/main) echo "only on Mondays" >&2; exit 1;; esac`, want: v1alpha1.ReasonPolicyDenied},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			t.Log(tc.reason)
			w := newWorld(t)
			w.create(w.first())
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
			h := w.hangPushes(tc.hook)
			w.reorder(2, "b")
			h.look()
			w.expect("web", v1alpha1.ReasonPushing)
			w.synced("web", corev1.ConditionTrue)
			first := w.get("web")
			h.look()
			h.wantUnwritten("A reconcile while the first push is under way writes nothing.", first)
			h.end()
			h.look()
			w.expect("web", tc.want)
			w.synced("web", corev1.ConditionFalse)
			if h.isHanging { // The ledger gets the events of the refused push.
				refused := w.get("web")
				h.look()
				h.wantUnwritten("A reconcile while the ledger alone is pushed writes nothing.", refused)
				h.end()
				h.look()
			}
			failed := w.get("web")
			for range 3 {
				w.pass(time.Minute)
				h.look()
				h.wantUnwritten("A retry that has begun writes nothing.", failed)
				if !h.isHanging {
					t.Fatal("a delivery that failed is retried")
				}
				h.look()
				h.wantUnwritten("A reconcile while a retry is under way writes nothing.", failed)
				h.end()
				h.look()
				h.wantUnwritten("A retry that failed in the same way writes nothing.", failed)
			}
			if h.isHanging {
				h.end()
			}
			h.answer()
			w.pass(time.Hour)
			h.settle()
			w.synced("web", corev1.ConditionTrue)
		})
	}
}

// wantUnwritten fails the test if the delivery is another one than before: the API server writes nothing then.
func (h *hangingPushes) wantUnwritten(reason string, previous *v1alpha1.GitDelivery) {
	h.Helper()
	now := h.get("web")
	now.ResourceVersion = previous.ResourceVersion
	if diff := cmp.Diff(previous, now); diff != "" {
		h.Fatalf("\n%s\nGitDelivery: -before, +after:\n%s", reason, diff)
	}
}

// settle reconciles until the delivery is carried out.
func (h *hangingPushes) settle() {
	h.Helper()
	for range 100 {
		if h.look(); h.get("web").GetCondition(xpv2.TypeReady).Reason == v1alpha1.ReasonDelivered {
			return
		}
	}
	h.expect("web", v1alpha1.ReasonDelivered)
}
