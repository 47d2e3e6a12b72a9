package notification

import (
	"testing"
	"time"

	"github.com/intentplane/intentplane/provider/fetch"
)

// TestPendingOutlivesAbsence has two outcomes that a receiver did not accept, of which one is a failure. Then the receiver, its configuration or the permission
// of the namespace is away for a moment.
func TestPendingOutlivesAbsence(t *testing.T) {
	receiver := to("https://a.example.org/x", failed, succeeded)
	deny := func(w *testEnv, namespaces ...string) {
		w.config.Spec.Policy.AllowedNamespaces = namespaces
		w.must(w.kube.Update(w.t.Context(), w.config))
		w.reconcileConfigs()
	}
	create := func(w *testEnv) {
		w.config.ResourceVersion = ""
		w.must(w.kube.Create(w.t.Context(), w.config))
		w.reconcileConfigs()
	}
	cases := map[string]struct {
		reason       string
		remove, back func(*testEnv)
	}{
		"Receiver": {
			reason: "A receiver that is away for a moment gets its pending notifications.",
			remove: func(w *testEnv) { w.setReceivers() }, back: func(w *testEnv) { w.setReceivers(receiver) },
		},
		"Config": {
			reason: "The receivers of a configuration that is away for a moment get their pending notifications.",
			remove: func(w *testEnv) { w.must(w.kube.Delete(w.t.Context(), w.config)); w.reconcileConfigs() }, back: create,
		},
		"Restart": {
			reason: "The receivers get them also if the provider begins again while the configuration is away.",
			remove: func(w *testEnv) { w.must(w.kube.Delete(w.t.Context(), w.config)); w.restart() }, back: create,
		},
		"Denied": {
			reason: "A configuration that does not allow the namespace for a moment drops no pending notification.",
			remove: func(w *testEnv) { deny(w, "team-b") }, back: func(w *testEnv) { deny(w) },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newTestEnv(t, receiver)
			w.receiver.err = fetch.Error(fetch.ProblemSilent)
			w.moveTo(1, "Pending", "Delivering", "Validating", "Failed")
			w.now = w.now.Add(time.Minute)
			w.moveTo(2, verified()...)
			w.mustReconcile()
			if w.receiver.posts == 0 {
				t.Fatalf("\n%s\nThe receiver gets no post before it is away.", tc.reason)
			}
			tc.remove(w)
			w.mustReconcile()
			w.now = w.now.Add(10 * time.Minute)
			w.mustReconcile()
			w.receiver.err = nil
			tc.back(w)
			w.mustReconcile()
			w.mustReconcile()
			w.wantTaken(tc.reason, "a.example.org u1.3.1.Failed", "a.example.org u1.3.2.Succeeded")
		})
	}
}
