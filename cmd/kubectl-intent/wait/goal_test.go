package wait

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
	"github.com/intentplane/intentplane/test/cli"
)

// Statuses of a deployment in which DIGEST stands for the digest of its spec.
const (
	delivering = `{intentDigest: DIGEST, phase: Delivering, revision: 7, message: It goes.}`
	live       = `{intentDigest: DIGEST, phase: Validating, revision: 7, message: It is measured., delivery: {syncState: Live}}`
	verified   = `{intentDigest: DIGEST, phase: Succeeded, outcome: Succeeded, message: It runs., conditions: [` + isReady + `]}`
	heldBack   = `{intentDigest: DIGEST, phase: Succeeded, outcome: Succeeded, heldBack: true, message: It is held back., delivery: {syncState: Live}}`
	rejected   = `{intentDigest: DIGEST, phase: Failed, outcome: Failed, message: No.}`
	goingBack  = `{intentDigest: DIGEST, phase: RollingBack, message: Back., delivery: {syncState: Live}, canary: {step: 3/4}}`
	draining   = `{intentDigest: DIGEST, phase: Delivering, message: It drains., delivery: {syncState: Live}, canary: {state: Draining, step: 1/4}}`
	rolledBack = `{intentDigest: DIGEST, phase: Succeeded, outcome: RolledBack, message: It was bad., conditions: [` + isStalled + `]}`
	shifting   = `{intentDigest: DIGEST, phase: Delivering, message: It shifts., canary: {state: Shifting, step: 2/4}}`
	paused     = `{intentDigest: DIGEST, phase: Delivering, message: It pauses., canary: {state: Paused, step: 2/4}}`
	third      = `{intentDigest: DIGEST, phase: Delivering, message: It shifts., canary: {state: Shifting, step: 3/4}}`
)

// A spec is the text and the status of a look: suspend stands for any edit.
type spec struct{ text, status string }

// TestExitsOfWait holds for all exit codes, with each goal.
func TestExitsOfWait(t *testing.T) {
	file := filepath.Join(t.TempDir(), "claim.yaml")
	if err := os.WriteFile(file, []byte(cli.Claim+"  suspend: true\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const suspended = "{suspend: true}"
	cases := map[string]struct {
		reason string
		goal   string
		looks  []spec
		// isSlow lets the time be up.
		isSlow bool
		want   int
	}{
		"Succeeded": {
			reason: "A revision that was verified is reached.",
			goal:   "succeeded", looks: []spec{{status: delivering}, {status: live}, {status: verified}},
		},
		"Failed": {
			reason: "A revision that was rejected has failed.",
			goal:   "succeeded", looks: []spec{{status: delivering}, {status: rejected}}, want: terminal.ExitInvalid,
		},
		"RolledBack": {
			reason: "A revision that was rolled back has an exit code of its own, once that is done.",
			goal:   "succeeded", looks: []spec{{status: goingBack}, {status: rolledBack}}, want: terminal.ExitRolledBack,
		},
		"TimedOut": {
			reason: "A revision that takes too long has an exit code of its own.",
			goal:   "succeeded", looks: []spec{{status: delivering}}, isSlow: true, want: terminal.ExitTimedOut,
		},
		"Edited": {
			reason: "A user who waits for a success follows an edit.",
			goal:   "succeeded", looks: []spec{{status: delivering}, {text: suspended, status: delivering}, {text: suspended, status: verified}},
		},
		"Live": {
			reason: "Sites that run the revision are reached before it is judged.",
			goal:   "live", looks: []spec{{status: delivering}, {status: live}},
		},
		"LiveFailed": {
			reason: "A revision that is rejected before it is live has failed.",
			goal:   "live", looks: []spec{{status: delivering}, {status: rejected}}, want: terminal.ExitInvalid,
		},
		"LiveRolledBack": {
			reason: "A revision that is rolled back before it is live has an exit code of its own.",
			goal:   "live", looks: []spec{{status: goingBack}, {status: rolledBack}}, want: terminal.ExitRolledBack,
		},
		"LiveDraining": {
			reason: "Sites that still run the revision before an edited canary do not run the edited revision.",
			goal:   "live", looks: []spec{{status: draining}}, isSlow: true, want: terminal.ExitTimedOut,
		},
		"StepGoingBack": {
			reason: "A canary that goes back from a later step reaches none.",
			goal:   "step=2", looks: []spec{{status: goingBack}, {status: rolledBack}}, want: terminal.ExitRolledBack,
		},
		"LiveHeldBack": {
			reason: "Sites that run an earlier request do not run the request that is held back.",
			goal:   "live", looks: []spec{{status: heldBack}}, isSlow: true, want: terminal.ExitTimedOut,
		},
		"LiveSuperseded": {
			reason: "Another spec supersedes the spec whose Sites are awaited.",
			goal:   "live", looks: []spec{{status: delivering}, {text: suspended, status: live}}, want: terminal.ExitSuperseded,
		},
		"Step":         {reason: "A step of a canary is reached when it is live.", goal: "step=2", looks: []spec{{status: shifting}, {status: paused}}},
		"StepPassed":   {reason: "A step of a canary is reached when a later step goes out.", goal: "step=2", looks: []spec{{status: third}}},
		"StepVerified": {reason: "All steps are reached when the revision was verified.", goal: "step=9", looks: []spec{{status: shifting}, {status: verified}}},
		"StepNotYet": {
			reason: "A step that shifts is not reached.",
			goal:   "step=2", looks: []spec{{status: shifting}}, isSlow: true, want: terminal.ExitTimedOut,
		},
		"StepRolledBack": {
			reason: "A canary that is rolled back before the step has an exit code of its own.",
			goal:   "step=3", looks: []spec{{status: paused}, {status: rolledBack}}, want: terminal.ExitRolledBack,
		},
		"Digest": {
			reason: "The spec of a file is waited for, also before it is applied.",
			goal:   "digest=" + file, looks: []spec{{status: verified}, {text: suspended, status: delivering}, {text: suspended, status: verified}},
		},
		"DigestNever": {
			reason: "A spec that is never applied is not reached.",
			goal:   "digest=" + file, looks: []spec{{status: verified}}, isSlow: true, want: terminal.ExitTimedOut,
		},
		"DigestSuperseded": {
			reason: "Another spec takes the place of that of the file.",
			goal:   "digest=" + file, looks: []spec{{text: suspended, status: delivering}, {status: verified}}, want: terminal.ExitSuperseded,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			n := 0
			look := func(context.Context) ([]byte, error) {
				now := tc.looks[min(n/2, len(tc.looks)-1)]
				if n++; tc.isSlow && n > 4 {
					cancel()
				}
				if now.text == "" {
					now.text = "{}"
				}
				return waitedClaim(t, now.text, now.status), nil
			}
			g, err := parseWaitGoal(tc.goal, strings.NewReader(""), digestOfDeploymentFile)
			if err != nil {
				t.Fatal(err)
			}
			w := &waiter{goal: g, interval: time.Millisecond, missingTimeout: time.Minute, now: time.Now}
			w.observe = w.observeDeployment(look)
			_, err = w.awaitDeploymentEnd(ctx, &strings.Builder{})
			if diff := cmp.Diff(tc.want, terminal.ExitCode(err, &strings.Builder{})); diff != "" {
				t.Errorf("\n%s\nwait --for=%s: exit code: -want, +got:\n%s%v", tc.reason, tc.goal, diff, err)
			}
		})
	}
}

func TestParseGoal(t *testing.T) {
	two := cli.Claim + "---\n" + strings.Replace(cli.Claim, "name: shop", "name: bank", 1)
	for _, text := range []string{"", "ready", "step=", "step=0", "step=x", "digest=", "digest=-", "digest=missing.yaml"} {
		if g, err := parseWaitGoal(text, strings.NewReader(two), digestOfDeploymentFile); err == nil {
			t.Errorf("parseGoal(%q): %+v, want an error", text, g)
		}
	}
}
