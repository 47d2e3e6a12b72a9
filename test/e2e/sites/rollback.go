package sites

import (
	"net"
	"strings"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/scene"
)

const gatesResource = "gates.rollout.intentplane.dev"

// wantRolledBack compares the status of a claim that was rolled back for its Gate.
func (r *trial) wantRolledBack(u *unstructured.Unstructured, previous string) {
	r.T.Helper()
	status, _, _ := unstructured.NestedMap(u.Object, "status")
	got := map[string]any{"rollback": status["rollback"], "validationResults": status["validationResults"], "liveRevision": status["liveRevision"]}
	want := map[string]any{
		"rollback": map[string]any{"active": false, "reason": "GateFailed", "previousCommit": previous, "attempts": int64(1)},
		"validationResults": []any{map[string]any{
			"name": "errors", "site": r.Site("edge1"), "passed": false, "value": "0.2", "threshold": "<= 0.05", "message": "the value is beyond the threshold",
		}},
		"liveRevision": int64(1),
	}
	r.WantEqual("status", want, got)
	for _, c := range []struct {
		typ, reason string
		status      corev1.ConditionStatus
	}{
		{typ: "Ready", status: corev1.ConditionFalse},
		{typ: "Stalled", reason: "RolledBack", status: corev1.ConditionTrue},
		{typ: "RolledBack", status: corev1.ConditionTrue},
		{typ: "Validated", reason: "GateFailed", status: corev1.ConditionFalse},
	} {
		if !scene.Is(u, c.typ, c.status, c.reason) {
			r.T.Errorf("condition %s: want %s %s, got %v", c.typ, c.status, c.reason, scene.Condition(u, c.typ))
		}
	}
}

// touchHeldClaim touches a claim whose revision was rolled back: nothing may be delivered for that.
func (r *trial) touchHeldClaim(o *unstructured.Unstructured) {
	r.T.Helper()
	commits := len(r.Commits())
	for _, edit := range []struct {
		value any
		field []string
	}{
		{value: "10m", field: []string{"deliveryConfig", "syncWaitTimeout"}},
		{value: int64(5), field: []string{"rollbackConfig", "maxRetries"}},
		{value: false, field: []string{"rollbackConfig", "autoRollback"}},
		{value: "7m", field: []string{"rollbackConfig", "attemptTimeout"}},
		{value: true, field: []string{"rollbackConfig", "autoRollback"}},
	} {
		r.awaitOutcome(r.Set(o, edit.value, append([]string{"spec"}, edit.field...)...), "Succeeded", "RolledBack")
	}
	r.Patch(o, `{"metadata":{"annotations":{"example.org/touched":"yes"}}}`)
	r.Await(r.XR(r.Now(o)), "touched", func(u *unstructured.Unstructured) bool { return u.GetAnnotations()["example.org/touched"] == "yes" })
	r.awaitOutcome(r.Set(o, "11m", "spec", "deliveryConfig", "syncWaitTimeout"), "Succeeded", "RolledBack")
	r.WantEqual("commits while the revision is held", commits, len(r.Commits()))
}

// hangUpClients on each client of the trial's server, which is down, until a test starts it. It counts only the clients of this server: the
// metrics of the provider count all.
func hangUpClients(r *trial) (*atomic.Int64, func()) {
	r.T.Helper()
	l, err := (&net.ListenConfig{}).Listen(r.T.Context(), "tcp", strings.TrimPrefix(r.server.URL(), "http://"))
	r.Must(err)
	requests, ended := &atomic.Int64{}, make(chan struct{})
	go func() {
		defer close(ended)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			requests.Add(1)
			_ = c.Close()
		}
	}()
	return requests, func() {
		r.Must(l.Close())
		<-ended
	}
}
