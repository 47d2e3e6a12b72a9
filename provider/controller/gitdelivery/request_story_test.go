package gitdelivery

import (
	"net/http"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
)

// requestLook requests an observation, as the function passes it on.
func (w *world) requestLook(token string) {
	w.Helper()
	d := w.get("web")
	meta.SetReconcileRequest(d, token)
	w.must(w.kube.Update(w.Context(), d))
}

// soon reconciles the delivery a moment after the last time, by the fast path.
func (w *world) soon() {
	w.Helper()
	w.pass(10 * time.Millisecond)
	w.calm.Inner = w.reconciler()
	w.calm.Invalidate(client.ObjectKey{Namespace: "team-a", Name: "web"})
	_, err := w.calm.Reconcile(w.Context(), request("web"))
	w.must(err)
}

// TestRequestToLook requests an observation where a reconcile would use an earlier observation.
func TestRequestToLook(t *testing.T) {
	type want struct {
		before, after xpv2.ConditionReason
		handled       string
	}
	cases := map[string]struct {
		reason string
		// breaks causes a fault, and mend repairs it before the user's request.
		breaks, mend func(w *world)
		want         want
	}{
		"CachedLook": {
			reason: "A request causes an observation although the previous observation is recent enough for a reconcile.",
			breaks: func(*world) {}, mend: func(w *world) { w.push(map[string]string{"clusters/edge1/team-a/web/configmap.yaml": "drifted"}) },
			want: want{before: v1alpha1.ReasonDelivered, after: v1alpha1.ReasonDriftRestored, handled: "now"},
		},
		"Unreachable": {
			reason: "A request ends the wait of a repository that did not answer.",
			breaks: func(w *world) { w.git.Fail(repo, http.StatusServiceUnavailable) }, mend: func(w *world) { w.git.Fail(repo, 0) },
			want: want{before: v1alpha1.ReasonUnreachable, after: v1alpha1.ReasonDelivered, handled: "now"},
		},
		"WrongPassword": {
			reason: "A request ends the wait for a server that refused the credentials.",
			breaks: func(w *world) { w.git.Fail(repo, http.StatusForbidden) }, mend: func(w *world) { w.git.Fail(repo, 0) },
			want: want{before: v1alpha1.ReasonAuthFailed, after: v1alpha1.ReasonDelivered, handled: "now"},
		},
		"StillDown": {
			reason: "A look that failed again is an answer, too.",
			breaks: func(w *world) { w.git.Fail(repo, http.StatusServiceUnavailable) }, mend: func(*world) {},
			want: want{before: v1alpha1.ReasonUnreachable, after: v1alpha1.ReasonUnreachable, handled: "now"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.create(w.first())
			w.reconcile("web")
			w.reconcile("web")
			tc.breaks(w)
			w.must(w.try("web"))
			tc.mend(w)
			w.soon()
			got := want{before: w.get("web").GetCondition(xpv2.TypeReady).Reason}
			looks := w.git.Requests(repo)
			w.requestLook("now")
			w.soon()
			d := w.get("web")
			got.after, got.handled = d.GetCondition(xpv2.TypeReady).Reason, d.Status.LastHandledReconcileAt
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" || w.git.Requests(repo) == looks {
				t.Errorf("\n%s\nReconcile(...): -want, +got, after %d requests to the server:\n%s", tc.reason, w.git.Requests(repo)-looks, diff)
			}
			looks = w.git.Requests(repo)
			w.soon()
			if n := w.git.Requests(repo) - looks; n != 0 {
				t.Errorf("\nA request that was answered is not answered again.\nReconcile(...): %d requests to the server", n)
			}
		})
	}
}

// TestRequestEndsTheWaitOfARefusal requests another push after the server refused a push.
func TestRequestEndsTheWaitOfARefusal(t *testing.T) {
	cases := map[string]struct {
		reason, hook, script string
		want                 xpv2.ConditionReason
	}{
		"Delivery": {reason: "A delivery that a rule refused is pushed again.", hook: "update", script: `case "$1" in refs/heads/main) echo "only on Mondays" >&2; exit 1;; esac`, want: v1alpha1.ReasonPolicyDenied},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.create(w.first())
			w.reconcile("web")
			w.reconcile("web")
			w.hook(tc.hook, tc.script)
			w.change(func(d *v1alpha1.GitDelivery) {
				setWish(d, order(2, "b"))
				d.Spec.ForProvider.Trees = []v1alpha1.Tree{desired(t, "edge1", webAtE1, "b")}
			})
			for range 3 {
				w.must(w.try("web"))
			}
			w.expect("web", tc.want)
			w.hook(tc.hook, "exit 0")
			w.soon()
			w.expect("web", tc.want)
			w.requestLook("now")
			w.soon()
			if w.soon(); w.get("web").GetCondition(xpv2.TypeReady).Reason != v1alpha1.ReasonDelivered {
				t.Errorf("\n%s\nReconcile(...): %+v", tc.reason, w.get("web").GetCondition(xpv2.TypeReady))
			}
		})
	}
}
