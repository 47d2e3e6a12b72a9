package wait

import (
	stdcmp "cmp"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/subject"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
	"github.com/intentplane/intentplane/test/cli"
)

func TestAwaitDecisions(t *testing.T) {
	namespaced := rolloutv1alpha1.DeploymentReference{APIGroup: "intentplane.dev", Kind: "IntentDeployment", Name: "shop"}
	claimed := namespaced
	claimed.APIGroup = "claims.intentplane.dev"
	deployment := subject.Report{Kind: "IntentDeployment", Group: "intentplane.dev", Name: "shop"}
	const undecided = "Waiting: nothing was decided yet about RolloutRequest again (Retry). "
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	cases := map[string]struct {
		reason string
		seen   progress
		// about is the deployment that the undecided request names.
		about rolloutv1alpha1.DeploymentReference
		// age of that request.
		age  time.Duration
		want string
	}{
		"RolledBack": {
			reason: "A rollback from before a retry does not end the retry.",
			seen:   progress{result: resultRolledBack, message: "Succeeded: Back.", at: deployment}, about: namespaced, want: "GoesOn " + undecided + "Succeeded: Back.",
		},
		"Failed": {
			reason: "A failure from before a retry does not end the retry.",
			seen:   progress{result: resultFailed, at: deployment}, about: namespaced, want: "GoesOn " + undecided,
		},
		"Succeeded": {
			reason: "A success from before a rollback request does not end the request.",
			seen:   progress{result: resultSucceeded, at: deployment}, about: namespaced, want: "GoesOn " + undecided,
		},
		"Fresh": {
			reason: "A request holds the end back for a minute.",
			seen:   progress{result: resultSucceeded, at: deployment}, about: namespaced, age: 59 * time.Second, want: "GoesOn " + undecided,
		},
		"Pending": {
			reason: "A request that stays open for longer, as the approval of an update that cannot be delivered now, is not about this end.",
			seen:   progress{result: resultSucceeded, message: "Succeeded: It runs.", at: deployment}, about: namespaced, age: maxSkew,
			want: "Succeeded Succeeded: It runs.",
		},
		"Skewed": {
			reason: "A request that was just created looks older where the clock of the user is ahead.",
			seen:   progress{result: resultRolledBack, at: deployment}, about: namespaced, age: 5 * time.Minute, want: "GoesOn " + undecided,
		},
		"SkewedBack": {
			reason: "A request that was just created looks younger than nothing where the clock of the user is behind.",
			seen:   progress{result: resultRolledBack, at: deployment}, about: namespaced, age: -5 * time.Minute, want: "GoesOn " + undecided,
		},
		"GoesOn": {
			reason: "A deployment that goes on says where it is.",
			seen:   progress{result: resultGoesOn, message: "Delivering: a", at: deployment}, about: namespaced, want: "GoesOn Delivering: a",
		},
		"Suspended": {
			reason: "A suspended deployment decides nothing before a user resumes it.",
			seen:   progress{result: resultFailed, message: "Held.", isBlocked: true, at: deployment}, about: namespaced, want: "Failed Held.",
		},
		"Superseded": {
			reason: "Another spec ends the wait once nothing is undecided.",
			seen:   progress{result: resultSuperseded, message: "Other.", at: deployment}, about: claimed, want: "Superseded Other.",
		},
		"OtherShape": {
			reason: "A request to the deployment of the other shape is about another deployment.",
			seen:   progress{result: resultRolledBack, message: "Back.", at: deployment}, about: claimed, want: "RolledBack Back.",
		},
		"Application": {
			reason: "A request to the deployment that an Application composed holds the Application.",
			seen:   progress{result: resultRolledBack, at: subject.Report{Kind: "Application", Group: "claims.intentplane.dev", Name: "shop"}},
			about:  namespaced, want: "GoesOn " + undecided,
		},
		"Bundle": {
			reason: "No request names a Bundle.",
			seen:   progress{result: resultFailed, message: "No.", at: subject.Report{Kind: "Bundle", Group: "intentplane.dev", Name: "shop"}},
			about:  namespaced, want: "Failed No.",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			find := func(_ context.Context, ref rolloutv1alpha1.DeploymentReference) *rolloutv1alpha1.RolloutRequest {
				if ref != tc.about {
					return nil
				}
				r := &rolloutv1alpha1.RolloutRequest{}
				r.Name, r.Spec.Action, r.CreationTimestamp = "again", rolloutv1alpha1.ActionRetry, metav1.NewTime(now.Add(-tc.age))
				return r
			}
			w := &waiter{now: func() time.Time { return now }}
			got, err := w.awaitDecisions(func(context.Context) (progress, error) { return tc.seen, nil }, find)(t.Context())
			if diff := cmp.Diff(tc.want, string(got.result)+" "+got.message); diff != "" || err != nil {
				t.Errorf("\n%s\nawaitDecisions(...): %v; -want, +got:\n%s", tc.reason, err, diff)
			}
		})
	}
}

// TestDecisionsInTime reads an undecided request again and again, with a clock that differs from the clock of the API server.
func TestDecisionsInTime(t *testing.T) {
	cases := map[string]struct {
		reason string
		skew   time.Duration
		// ends is how long the wait holds its end back.
		ends time.Duration
	}{
		"Same":   {reason: "A request holds the end back for a minute after its creation.", ends: decisionTimeout},
		"Ahead":  {reason: "A clock that is ahead leaves a deployment the time to decide.", skew: 5 * time.Minute, ends: minDecisionTime},
		"Behind": {reason: "A clock that is behind holds the end back no longer than a minute.", skew: -time.Hour, ends: decisionTimeout},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			start := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
			r := &rolloutv1alpha1.RolloutRequest{}
			r.Name, r.UID, r.CreationTimestamp = "again", "u", metav1.NewTime(start.Add(-tc.skew))
			now := start
			w := &waiter{now: func() time.Time { return now }}
			end := progress{result: resultRolledBack, at: subject.Report{Kind: "IntentDeployment", Group: "intentplane.dev", Name: "shop"}}
			observe := w.awaitDecisions(
				func(context.Context) (progress, error) { return end, nil },
				func(context.Context, rolloutv1alpha1.DeploymentReference) *rolloutv1alpha1.RolloutRequest { return r },
			)
			for ; now.Sub(start) < 2*decisionTimeout; now = now.Add(time.Second) {
				if p, err := observe(t.Context()); err != nil || p.result == resultRolledBack {
					break
				}
			}
			if diff := cmp.Diff(tc.ends, now.Sub(start)); diff != "" {
				t.Errorf("\n%s\nawaitDecisions(...): end: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestWaitAfterRetry waits for a deployment that was rolled back, to which there is a RolloutRequest.
func TestWaitAfterRetry(t *testing.T) {
	const rolledBack = `{intentDigest: DIGEST, phase: Succeeded, outcome: RolledBack, message: Back., conditions: [` + isNotReady + `]}`
	const waits = `{conditions: [{type: Completed, status: "False", reason: Waiting}]}`
	cases := map[string]struct {
		reason string
		// status of the deployment, rolledBack unless the case names another.
		status  string
		age     time.Duration
		request string
		server  cli.Server
		code    int
		says    string
	}{
		"NotAnswered": {
			reason:  "A request that no provider has looked at yet is undecided.",
			request: `{}`, code: terminal.ExitTimedOut, says: "nothing was decided yet about RolloutRequest again (Retry). Succeeded: Back.",
		},
		"Waiting": {
			reason:  "A request that the deployment has not decided ends with a timeout, too.",
			request: waits, code: terminal.ExitTimedOut, says: "nothing was decided yet",
		},
		"Refused": {
			reason:  "A refused request leaves the deployment at its end.",
			request: `{conditions: [{type: Completed, status: "False", reason: Stale}]}`, code: terminal.ExitRolledBack, says: "Succeeded: Back.",
		},
		"Done": {
			reason:  "A request that is done leaves the end that it brought.",
			request: `{conditions: [{type: Completed, status: "True", reason: Done}]}`, code: terminal.ExitRolledBack, says: "Succeeded: Back.",
		},
		"Pending": {
			reason: "A deployment that succeeded is at its end while an older request waits.", request: waits, age: 72 * time.Hour,
			status: `{intentDigest: DIGEST, phase: Succeeded, outcome: Succeeded, message: It runs., conditions: [` + isReady + `]}`, code: 0,
			says: "Succeeded: It runs.",
		},
		"NotValid": {
			reason: "A deployment whose spec is not valid decides about no retry.", request: waits, code: terminal.ExitInvalid, says: "Failed: No image.",
			status: `{intentDigest: DIGEST, phase: Failed, outcome: Failed, message: No image., conditions: [` + isNotReady + `, {type: Valid, status: "False", reason: RenderFailed}]}`,
		},
		"Denied": {
			reason:  "A user who may not read requests gets the result in the status.",
			request: `{}`, server: cli.Server{Denied: map[string]bool{"rolloutrequests.rollout.intentplane.dev": true}},
			code: terminal.ExitRolledBack, says: "Succeeded: Back.",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o := cli.Parse(t, string(waitedClaim(t, "{}", stdcmp.Or(tc.status, rolledBack))))
			group, _, _ := strings.Cut(o.GetAPIVersion(), "/")
			request := cli.Parse(t, `{apiVersion: rollout.intentplane.dev/v1alpha1, kind: RolloutRequest, metadata: {namespace: team-a, name: again},
				spec: {action: Retry, deploymentRef: {apiGroup: `+group+`, kind: IntentDeployment, name: shop}}, status: `+tc.request+`}`)
			request.SetCreationTimestamp(metav1.NewTime(time.Now().Add(-tc.age)))
			tc.server.Objects = []*unstructured.Unstructured{o, request}
			out, problems, code := runIntent("", "wait", "shop", "--timeout", "500ms", "--kubeconfig", tc.server.Start(t))
			if code != tc.code || !strings.Contains(out+problems, tc.says) {
				t.Errorf("\n%s\nwait: want %d and %q, got %d:\n%s%s", tc.reason, tc.code, tc.says, code, out, problems)
			}
		})
	}
}
