package gitdelivery

import (
	"fmt"
	"strings"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
)

// TestServerWords has a hook refuse pushes, whose words another request would find changed.
func TestServerWords(t *testing.T) {
	const refs = "cannot push to refs/heads/main and refs/intentplane/prod/state: pre-receive hook declined. The server says: "
	cases := map[string]struct {
		reason string
		script string
		want   string
	}{
		"PreReceive": {
			reason: "The condition names the refs that a hook refused, with the message of the hook.",
			script: `echo "only on Mondays" >&2; echo "ask the owners" >&2; exit 1`,
			want:   refs + "only on Mondays; ask the owners",
		},
		"Credentials": {
			reason: "A URL in the message of a hook loses its credentials.",
			script: `echo "see https://joe:hunter2@git.example.org/rules?token=abc" >&2; exit 1`,
			want:   refs + "see https://[redacted]@git.example.org/rules",
		},
		"Update": {
			reason: "A hook that refuses the branch is not blamed on the state.",
			script: `case "$1" in refs/heads/main) printf 'no\033[31m red\n' >&2; exit 1;; esac`,
			want:   "cannot push to refs/heads/main: hook declined. The server says: no [31m red; error: hook declined to update refs/heads/main",
		},
		"Silent": {
			reason: "A hook that says nothing adds nothing.",
			script: "exit 1",
			want:   "cannot push to refs/heads/main and refs/intentplane/prod/state: pre-receive hook declined",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			kind := "pre-receive"
			if name == "Update" {
				kind = "update"
			}
			w.create(w.first())
			w.reconcile("web")
			w.hook(kind, tc.script)
			w.ask(order(2, "b"), desired(w.T, "edge1", webAtE1, "b"))
			_ = w.try("web") // The push is refused.
			if diff := cmp.Diff(tc.want, w.get("web").GetCondition(xpv2.TypeReady).Message); diff != "" {
				t.Errorf("\n%s\nmessage of Ready: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestServerWordsStay has a hook say another number each time: the message stays, so that no try to push wakes a deployment.
func TestServerWordsStay(t *testing.T) {
	w := newWorld(t)
	w.create(w.first())
	w.reconcile("web")
	w.change(func(d *v1alpha1.GitDelivery) {
		setWish(d, order(2, "b"))
		d.Spec.ForProvider.Trees = []v1alpha1.Tree{desired(w.T, "edge1", webAtE1, "b")}
	})
	ready := []xpv2.Condition{}
	for i := range 3 {
		w.hook("pre-receive", fmt.Sprintf(`echo "denied, request 000000%d" >&2; exit 1`, i))
		_ = w.try("web") // The push is refused.
		w.pass(2 * time.Minute)
		ready = append(ready, w.get("web").GetCondition(xpv2.TypeReady))
	}
	if !strings.HasSuffix(ready[0].Message, "denied, request 0000000") {
		t.Errorf("message of Ready: want the message of the hook, got %q", ready[0].Message)
	}
	if diff := cmp.Diff([]xpv2.Condition{ready[0], ready[0], ready[0]}, ready); diff != "" {
		t.Errorf("Ready: -want, +got:\n%s", diff)
	}
}
