package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cluster"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/samples"
)

// TestAwaitLooks waits until each delivery has answered the request.
func TestAwaitLooks(t *testing.T) {
	answered := func(token string) *cause.Facts {
		f := samples.WrongPassword().Facts()
		f.Deliveries[0].Status.LastHandledReconcileAt = token
		return f
	}
	blind := samples.WrongPassword().Facts()
	blind.Deliveries, blind.Unread = nil, []cause.Unread{{What: "gitdeliveries.delivery.intentplane.dev", Why: "the user may not read them"}}
	cases := map[string]struct {
		reason string
		looks  []*cause.Facts
		isSlow bool
		says   string
		code   int
	}{
		"Answered": {
			reason: "The answer is printed once the provider has looked.", looks: []*cause.Facts{answered(""), answered("before"), answered("now")},
			says: "GitDelivery shop-fleet: AuthFailed: git.example.org: 401 Unauthorized\n",
		},
		"Blind": {
			reason: "Who may not read GitDeliveries does not wait, and sees why.", looks: []*cause.Facts{blind},
			says: "shop was asked to reconcile: no GitDelivery says what came of it\nnot read: gitdeliveries.delivery.intentplane.dev: the user may not read them\n",
		},
		"Never": {reason: "A provider that does not look ends the wait, with an exit code of its own.", looks: []*cause.Facts{answered("before")}, isSlow: true, code: exitTimedOut},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			n, out := 0, &strings.Builder{}
			r := &refresher{streams: &streams{out: out}, token: "now", interval: time.Millisecond, answered: map[string]bool{}}
			r.look = func(context.Context) (*cluster.Subjects, error) {
				now := tc.looks[min(n, len(tc.looks)-1)]
				if n++; tc.isSlow && n > 3 {
					cancel()
				}
				return &cluster.Subjects{Deployments: []*cause.Facts{now}}, nil
			}
			code := exitCode(r.awaitLooks(ctx), &strings.Builder{})
			if diff := cmp.Diff(tc.says, out.String()); diff != "" || code != tc.code {
				t.Errorf("\n%s\nawaitLooks(...): exit code %d, want %d; -want, +got:\n%s", tc.reason, code, tc.code, diff)
			}
		})
	}
}
