package wait

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/digest"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/manifest"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
	"github.com/intentplane/intentplane/test/cli"
)

const examples = "../../../examples/quickstart/"

// commands are the commands of this package, by the names that they have in the program.
type commands struct {
	Wait Command `cmd:""`
}

// runIntent returns the output of a command line, and its exit code.
func runIntent(in string, args ...string) (out, problems string, code int) {
	return cli.Run(&commands{}, in, args...)
}

// waitedClaim is a claim with a status, in which DIGEST stands for the digest of its spec.
func waitedClaim(t *testing.T, spec, status string) []byte {
	t.Helper()
	o := cli.ClaimWith(t, status)
	for key, value := range cli.Parse(t, spec).Object {
		if err := unstructured.SetNestedField(o.Object, value, "spec", key); err != nil {
			t.Fatal(err)
		}
	}
	b, err := o.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	d := &deploymentv1alpha1.IntentDeployment{}
	if err := manifest.DecodeStrictly(b, d); err != nil {
		t.Fatal(err)
	}
	sum, err := digest.Spec(&d.Spec)
	if err != nil {
		t.Fatal(err)
	}
	return []byte(strings.ReplaceAll(string(b), "DIGEST", sum))
}

// Conditions of a claim, for the status of a deployment in each case.
const (
	isReady     = `{type: Ready, status: "True", reason: Available}`
	isNotReady  = `{type: Ready, status: "False", reason: Waiting}`
	isStalled   = `{type: Stalled, status: "True", reason: SyncNotObserved}`
	isMissing   = `{type: SitesFound, status: "False", reason: SiteMissing}`
	isSuspended = `{type: Reconciling, status: "False", reason: Suspended}`
)

func TestProgressOf(t *testing.T) {
	cases := map[string]struct {
		reason string
		spec   string
		status string
		want   progress
	}{
		"New": {
			reason: "A deployment without a status was not looked at yet.", status: `{}`,
			want: progress{result: resultGoesOn, message: "Pending: the status does not describe the current spec yet."},
		},
		"Earlier": {
			reason: "A status of an earlier spec does not end the wait for this spec.",
			status: `{intentDigest: other, phase: Succeeded, outcome: Succeeded, conditions: [` + isReady + `]}`,
			want:   progress{result: resultGoesOn, message: "Pending: the status does not describe the current spec yet."},
		},
		"OldReady": {
			reason: "A claim that is Delivering goes on, although its Ready is still that of the spec before.",
			status: `{intentDigest: DIGEST, phase: Delivering, message: It goes., conditions: [` + isReady + `]}`,
			want:   progress{result: resultGoesOn, message: "Delivering: It goes."},
		},
		"OldConditions": {
			reason: "A claim that Succeeded has ended once its condition Ready is true, too.",
			status: `{intentDigest: DIGEST, phase: Succeeded, outcome: Succeeded, message: It runs., conditions: [` + isNotReady + `]}`,
			want:   progress{result: resultGoesOn, message: "Succeeded: It runs."},
		},
		"Succeeded": {
			reason: "A deployment that Succeeded and is Ready is at its end.",
			status: `{intentDigest: DIGEST, phase: Succeeded, outcome: Succeeded, message: It runs., conditions: [` + isReady + `]}`,
			want:   progress{result: resultSucceeded, message: "Succeeded: It runs."},
		},
		"RolledBack": {
			reason: "A deployment that was rolled back does not run its desired revision.",
			status: `{intentDigest: DIGEST, phase: Succeeded, outcome: RolledBack, message: It runs., conditions: [` + isNotReady + `]}`,
			want:   progress{result: resultRolledBack, message: "Succeeded: It runs."},
		},
		"Failed": {
			reason: "A deployment that Failed is at its end, whatever its conditions say by then.",
			status: `{intentDigest: DIGEST, phase: Failed, outcome: Failed, message: No., conditions: [` + isReady + `]}`,
			want:   progress{result: resultFailed, message: "Failed: No."},
		},
		"Stalled": {
			reason: "A deployment that only a person can help is waited for no longer.",
			status: `{intentDigest: DIGEST, phase: Delivering, message: No., conditions: [` + isNotReady + `, ` + isStalled + `]}`,
			want:   progress{result: resultFailed, message: "Delivering: No."},
		},
		"Missing": {
			reason: "A deployment whose Site does not exist waits for that.",
			status: `{intentDigest: DIGEST, phase: Pending, message: No edge9., conditions: [` + isNotReady + `, ` + isMissing + `]}`,
			want:   progress{result: resultGoesOn, message: "Pending: No edge9.", missing: true},
		},
		"Suspended": {
			reason: "A request that spec.suspend holds back is waited for no longer.", spec: "{suspend: true}",
			status: `{intentDigest: DIGEST, phase: Succeeded, outcome: Succeeded, message: Held., conditions: [` + isNotReady + `, ` + isSuspended + `]}`,
			want:   progress{result: resultFailed, message: "Succeeded: Held.", isBlocked: true},
		},
		"HeldBackAfterRollback": {
			reason: "A request that is held back behind a revision that was rolled back was not rolled back itself.", spec: "{suspend: true}",
			status: `{intentDigest: DIGEST, phase: Succeeded, outcome: RolledBack, heldBack: true, message: Held., conditions: [` + isNotReady + `, ` + isSuspended + `]}`,
			want:   progress{result: resultFailed, message: "Succeeded: Held.", isBlocked: true},
		},
		"OutrankedAfterRollback": {
			reason: "A request that a newer version of the function takes up goes on.",
			status: `{intentDigest: DIGEST, phase: Succeeded, outcome: RolledBack, heldBack: true, message: Held., conditions: [` + isNotReady + `]}`,
			want:   progress{result: resultGoesOn, message: "Succeeded: Held."},
		},
		"OutrankedAfterSuccess": {
			reason: "The success of an earlier request does not count for a request that is held back.",
			status: `{intentDigest: DIGEST, phase: Succeeded, outcome: Succeeded, heldBack: true, message: Held., conditions: [` + isReady + `]}`,
			want:   progress{result: resultGoesOn, message: "Succeeded: Held."},
		},
		"SuspendedAndThere": {
			reason: "A suspended deployment that runs its desired revision has ended.", spec: "{suspend: true}",
			status: `{intentDigest: DIGEST, phase: Succeeded, outcome: Succeeded, message: It runs., conditions: [` + isReady + `]}`,
			want:   progress{result: resultSucceeded, message: "Succeeded: It runs."},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if tc.spec == "" {
				tc.spec = "{}"
			}
			got, err := (&waiter{}).decodeProgress(waitedClaim(t, tc.spec, tc.status))
			got.digest = ""
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(progress{})); diff != "" || err != nil {
				t.Errorf("\n%s\nprogressOf(...): %v; -want, +got:\n%s", tc.reason, err, diff)
			}
		})
	}
}

func TestAwaitEnd(t *testing.T) {
	const (
		going       = `{intentDigest: DIGEST, phase: Delivering, message: It goes.}`
		good        = `{intentDigest: DIGEST, phase: Succeeded, outcome: Succeeded, message: It runs., conditions: [` + isReady + `]}`
		bad         = `{intentDigest: DIGEST, phase: Failed, outcome: Failed, message: No.}`
		heldUp      = `{intentDigest: DIGEST, phase: Delivering, message: It goes., conditions: [` + isStalled + `]}`
		emptyStatus = `{}`
		missing     = `{intentDigest: DIGEST, phase: Pending, message: No edge9., conditions: [` + isMissing + `]}`
		absent      = "an object that it names was not found within 3s (--missing-timeout), and it goes on by itself once that exists: Pending: No edge9."
		notYet      = "Pending: the status does not describe the current spec yet.\n"
		tooLate     = "it did not come to its end in time: Delivering: It goes."
		forbidden   = "cannot get it"
	)
	cases := map[string]struct {
		reason string
		// looks at the deployment, one after the other. The last one comes again. An empty one cannot be read.
		looks []string
		says  string
		err   string
	}{
		"Good": {
			reason: "The command prints each step, and ends with success.",
			looks:  []string{emptyStatus, going, going, good}, says: notYet + "Delivering: It goes.\nSucceeded: It runs.\n",
		},
		"Bad": {
			reason: "The command ends with exit code 1 as soon as the deployment Failed.",
			looks:  []string{going, bad}, says: "Delivering: It goes.\nFailed: No.\n", err: terminal.VerdictError{}.Error(),
		},
		"Lag": {
			reason: "A condition of the spec before, which one look sees beside the new status, ends nothing.",
			looks:  []string{heldUp, going, good}, says: "Delivering: It goes.\nSucceeded: It runs.\n",
		},
		"Slow": {reason: "A deployment that takes too long is an error that says where it is.", looks: []string{going}, says: "Delivering: It goes.\n", err: tooLate},
		"Lines": {
			reason: "The lines of a message, such as the lines that point at a word of an intent, stay lines.",
			looks:  []string{`{intentDigest: DIGEST, phase: Failed, outcome: Failed, message: "No:\n  shop\n  ^"}`},
			says:   "Failed: No:\n    shop\n    ^\n", err: terminal.VerdictError{}.Error(),
		},
		"Missing": {
			reason: "A Site that does not appear ends the command early, and the message names the missing object.",
			looks:  []string{missing}, says: "Pending: No edge9.\n", err: absent,
		},
		"Appears": {
			reason: "The timeout for a missing Site begins again each time that a Site goes missing.", looks: []string{missing, missing, going, missing, missing, good},
			says: "Pending: No edge9.\nDelivering: It goes.\nPending: No edge9.\nSucceeded: It runs.\n",
		},
		"Forbidden": {reason: "A deployment that cannot be read is an error.", looks: []string{going, ""}, says: "Delivering: It goes.\n", err: forbidden},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			n := 0
			look := func(context.Context) ([]byte, error) {
				now := tc.looks[min(n, len(tc.looks)-1)]
				if n++; name == "Slow" && n > 3 {
					cancel()
				}
				if now == "" {
					return nil, errors.New(forbidden)
				}
				return waitedClaim(t, "{}", now), nil
			}
			out := &strings.Builder{}
			// A second passes between two looks.
			now := func() time.Time { return time.Unix(int64(n), 0) }
			w := &waiter{interval: time.Millisecond, missingTimeout: 3 * time.Second, now: now}
			w.observe = w.observeDeployment(look)
			_, err := w.awaitDeploymentEnd(ctx, out)
			if diff := cmp.Diff(tc.says, out.String()); diff != "" {
				t.Errorf("\n%s\nawaitEnd(...): printed: -want, +got:\n%s", tc.reason, diff)
			}
			failed, errText := err != nil, ""
			if failed {
				errText = err.Error()
			}
			if diff := cmp.Diff(tc.err, errText); diff != "" || failed != !slices.Contains([]string{"Good", "Lag", "Appears"}, name) {
				t.Errorf("\n%s\nawaitEnd(...): error: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestWaitCommand runs the command against a server.
func TestWaitCommand(t *testing.T) {
	cases := map[string]struct {
		reason string
		status string
		args   []string
		code   int
		says   string
	}{
		"Late": {
			reason: "The timeout ends the command, with an exit code of its own.",
			status: "{phase: Delivering}", args: []string{"wait", "shop", "--timeout", "1ms"}, code: terminal.ExitTimedOut,
			says: "shop: it did not come to its end in time",
		},
		"JSON": {
			reason: "A program reads how the wait ended.",
			status: "{phase: Delivering}", args: []string{"wait", "shop", "--timeout", "500ms", "-o", "json"}, code: terminal.ExitTimedOut,
			says: `"result": "TimedOut"`,
		},
		"For": {
			reason: "A goal that does not exist is a mistake of the command line.",
			status: "{}", args: []string{"wait", "shop", "--for=healthy"}, code: terminal.ExitUsage,
			says: "want succeeded, live, step=N or digest=FILE",
		},
		"Missing": {
			reason: "A deployment that does not exist is an error.",
			status: "{}", args: []string{"wait", "shap"}, code: terminal.ExitInvalid, says: `has no IntentDeployment "shap"`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			server := &cli.Server{Objects: []*unstructured.Unstructured{cli.ClaimWith(t, tc.status)}}
			out, problems, code := runIntent("", append(tc.args, "--kubeconfig", server.Start(t))...)
			if code != tc.code || !strings.Contains(out+problems, tc.says) {
				t.Errorf("\n%s\nrun(%q): want %d and %q, got %d:\n%s%s", tc.reason, tc.args, tc.code, tc.says, code, out, problems)
			}
		})
	}
}
