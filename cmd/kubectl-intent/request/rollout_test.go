package request

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/connection"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
	"github.com/intentplane/intentplane/test/cli"
)

const took = `{conditions: [{type: Accepted, status: "True", reason: Taken, message: It goes.}, {type: Completed, status: "False", reason: Taken}]}`

// history is a GitDelivery of shop to the home of its ledger: revisions 1 and 2 were verified.
const history = `apiVersion: delivery.intentplane.dev/v1alpha1
kind: GitDelivery
metadata: {namespace: team-a, name: %s-x}
spec: {forProvider: {claimRef: {apiGroup: claims.intentplane.dev, kind: IntentDeployment, namespace: team-a, name: %s}, trees: [{site: edge1, branch: main, path: p}]}}
status: {atProvider: {trees: [{site: edge1, path: p, tree: d}], record: {head: {epoch: 1, seq: 9}, position: {epoch: 1, revision: 4, attempt: 0, step: 0, stage: 0}},
  ledger: {epoch: 1, seq: 9, home: default, lastNumber: 4, cursor: {attempt: 0, step: 0, stage: 0, promoted: 0},
    current: {number: 4, request: {intent: i, sources: s, scheme: 1, renderer: 1}, plan: [{sites: [edge1]}], parts: [{delivery: d, configRef: default, sites: [edge1]}]},
    history: [
      {number: 1, request: {intent: i, sources: s, scheme: 1, renderer: 1}, endedAt: null, verdict: {result: Verified}, trees: [{site: edge1, id: a}]},
      {number: 2, request: {intent: i, sources: s, scheme: 1, renderer: 1}, endedAt: null, verdict: {result: Verified}, trees: [{site: edge1, id: b}]},
      {number: 3, request: {intent: i, sources: s, scheme: 1, renderer: 1}, endedAt: null, verdict: {result: Rejected}}]}}}
`

func TestRequestCommands(t *testing.T) {
	requestAbout := func(revision, action, verb, fields string) map[string]any {
		return cli.Parse(t, `{apiVersion: rollout.intentplane.dev/v1alpha1, kind: RolloutRequest, metadata: {namespace: team-a, generateName: shop-`+verb+`-`+revision+`-},
			spec: {deploymentRef: {apiGroup: claims.intentplane.dev, kind: IntentDeployment, name: shop}, action: `+action+`, revision: `+revision+`, requestedBy: ann`+fields+`}}`).Object
	}
	request := func(action, verb, fields string) map[string]any { return requestAbout("4", action, verb, fields) }
	const canaryPlan = "plan: [{sites: [edge1], weight: 0, ahead: 5}, {weight: 5, ahead: 20, pause: 10m}, {weight: 20, ahead: 100, gate: true, pause: Manual}, {weight: 100, gate: true}]"
	inCanary := []string{"plan: [{sites: [edge1]}]", canaryPlan, "step: 0", "step: 1"}
	const fourth = "{revision: 4, liveRevision: 2, update: {blueprint: web-1.1.0, renderer: '2'}}"
	cases := map[string]struct {
		reason string
		status string
		args   []string
		denied string
		// delivery replaces parts of the GitDelivery: an old one, a new one, and so on.
		delivery []string
		code     int
		says     string
		want     map[string]any
	}{
		"Abort": {
			reason: "The revision that is there is named.",
			args:   []string{"abort", "shop"}, says: "rolloutrequest.rollout.intentplane.dev/shop-abort-4-x created\n",
			want: request("Abort", "abort", ""),
		},
		"Retry": {
			reason: "A retry is requested with the reason that the user gives.",
			args:   []string{"retry", "shop", "--reason", "again"}, says: "shop-retry-4-x created", want: request("Retry", "retry", ", reason: again"),
		},
		"Approve": {
			reason: "The waiting update is approved, and nothing else.",
			args:   []string{"approve", "shop"}, says: "shop-approve-4-x created",
			want: request("ApproveUpdate", "approve", ", update: {blueprint: web-1.1.0, renderer: '2'}"),
		},
		"ApproveRenderer": {
			reason: "A renderer that waits alone is approved with the Blueprint of the revision, and not with a later Blueprint.",
			status: "{revision: 4, blueprint: {name: web-1.0.0, digest: 'sha256:1'}, update: {renderer: '2'}}",
			args:   []string{"approve", "shop"}, says: "shop-approve-4-x created",
			want: request("ApproveUpdate", "approve", ", update: {blueprint: web-1.0.0, renderer: '2'}"),
		},
		"NoUpdate": {
			reason: "An approval is refused when no update waits.",
			status: "{revision: 4}", args: []string{"approve", "shop"}, code: terminal.ExitInvalid, says: "shop: no update waits to be approved",
		},
		"Rollback": {
			reason: "A rollback goes to the newest verified revision that is not running.",
			args:   []string{"rollback", "shop"}, says: "shop-rollback-4-x created", want: request("RollbackTo", "rollback", ", toRevision: 1"),
		},
		"To": {
			reason: "A rollback goes to the revision that the user names.",
			args:   []string{"rollback", "shop", "--to-revision", "2"}, says: "shop-rollback-4-x created",
			want: request("RollbackTo", "rollback", ", toRevision: 2"),
		},
		"ToNever": {reason: "A revision that never was is refused before anything is created.", args: []string{"rollback", "shop", "--to-revision", "9"}, code: terminal.ExitInvalid, says: "shop: revision 9 cannot be rolled back to: the history does not have it; possible: 1, 2"},
		"ToBad": {
			reason: "A revision that was rejected is refused before anything is created.",
			args:   []string{"rollback", "shop", "--to-revision", "3"}, code: terminal.ExitInvalid,
			says: "shop: revision 3 cannot be rolled back to: it is the present one, was not verified",
		},
		"ToPresent": {
			reason: "The present revision is refused before anything is created.",
			args:   []string{"rollback", "shop", "--to-revision", "4"}, code: terminal.ExitInvalid,
			says: "shop: revision 4 cannot be rolled back to: it is the present one",
		},
		"ToHeld": {
			reason: "A revision whose files all Sites' directories hold is refused before anything is created.",
			args:   []string{"rollback", "shop", "--to-revision", "2"}, code: terminal.ExitInvalid,
			delivery: []string{"path: p, tree: d", "path: p, tree: b"},
			says: "shop: there is nothing to roll back: the directories of all Sites hold the files of revision 2 already; --to-revision says to " +
				"which other one; possible: 1\n",
		},
		"Again": {
			reason: "A rollback without a revision, right after another rollback, is refused before anything is created.",
			args:   []string{"rollback", "shop"}, status: "{revision: 4, liveRevision: 3}", code: terminal.ExitInvalid,
			delivery: []string{"ledger: {", "ledger: {target: 2, withdraws: 3, verdict: {result: Rejected, reason: Requested}, "},
			says:     "shop: there is nothing to roll back: revision 4 is being rolled back to revision 2 already\n",
		},
		"Judged": {reason: "A revision that has its verdict is not aborted.", delivery: []string{"ledger: {", "ledger: {verdict: {result: Verified}, "}, args: []string{"abort", "shop"}, code: terminal.ExitInvalid, says: "shop: revision 4 cannot be aborted: it was judged already (Verified); use rollback"},
		"Meanwhile": {
			reason: "A request about a revision other than the present revision is refused before anything is created.",
			status: "{revision: 3}", args: []string{"abort", "shop"}, code: terminal.ExitInvalid, says: "shop: revision 3 is not the present one any more",
		},
		"AbortEarly": {
			reason: "A revision that Git has not recorded yet is aborted: the ledger that the command reads cannot refuse it.", status: "{revision: 5, liveRevision: 2}",
			args: []string{"abort", "shop"}, says: "shop-abort-5-x created", want: requestAbout("5", "Abort", "abort", ""),
		},
		"ToEarly": {
			reason: "A revision that Git has not recorded yet is rolled back to the revision that the user names.", status: "{revision: 5, liveRevision: 2}",
			args: []string{"rollback", "shop", "--to-revision", "2"}, says: "shop-rollback-5-x created",
			want: requestAbout("5", "RollbackTo", "rollback", ", toRevision: 2"),
		},
		"PromoteEarly": {
			reason: "A step of a revision that Git has not recorded yet is released.", status: "{revision: 5, canary: {promote: 2, state: AwaitingPromotion}}",
			args: []string{"promote", "shop"}, says: "shop-promote-5-x created", want: requestAbout("5", "Promote", "promote", ", step: 2"),
		},
		"AbortBlind": {
			reason: "A user who may not read GitDeliveries leaves the answer to the deployment.",
			args:   []string{"abort", "shop"}, denied: "gitdeliveries.delivery.intentplane.dev", says: "created", want: request("Abort", "abort", ""),
		},
		"Nowhere": {
			reason: "The first revision has no earlier revision.",
			status: "{revision: 2, liveRevision: 1}", args: []string{"rollback", "shop"}, code: terminal.ExitInvalid,
			says: "shop: no earlier revision was verified everywhere that does not run already: --to-revision 1 asks for the running revision\n",
		},
		"NoTarget": {
			reason: "No flag finds a target where no earlier revision was verified.",
			status: "{revision: 1, liveRevision: 1}", args: []string{"rollback", "shop"}, code: terminal.ExitInvalid,
			says: "shop: no earlier revision was verified everywhere, so nothing can be rolled back to: change the intent\n",
		},
		"MayNot": {
			reason: "A user who may not list GitDeliveries sees why the rollback has no target.",
			args:   []string{"rollback", "shop"}, denied: "gitdeliveries.delivery.intentplane.dev", code: terminal.ExitInvalid,
			says: "cannot list gitdeliveries.delivery.intentplane.dev: ask for the right to list them (examples/rbac has the roles): ",
		},
		"MayNotAsk": {
			reason: "A user without the right to create requests is advised to ask for it.",
			args:   []string{"abort", "shop"}, denied: "rolloutrequests.rollout.intentplane.dev", code: terminal.ExitInvalid,
			says: "cannot create rolloutrequests.rollout.intentplane.dev: ask for the right to create them (examples/rbac has the roles): ",
		},
		"Unknown": {
			reason: "A request is made without requestedBy when the API server does not name the user.",
			args:   []string{"abort", "shop"}, denied: "selfsubjectreviews.authentication.k8s.io", says: "created",
			want: without(request("Abort", "abort", ""), "requestedBy"),
		},
		"None": {
			reason: "A deployment without a revision has nothing to retry.",
			status: "{}", args: []string{"retry", "shop"}, code: terminal.ExitInvalid,
			says: "shop has no revision yet: kubectl intent why shop -n team-a shows the obstacle\n",
		},
		"Promote": {
			reason: "The step that waits is released.",
			args:   []string{"promote", "shop"}, delivery: inCanary, status: "{revision: 4, canary: {promote: 2, state: AwaitingPromotion}}",
			says: "shop-promote-4-x created", want: request("Promote", "promote", ", step: 2"),
		},
		"PromotePaused": {
			reason: "The step whose pause runs is released.",
			args:   []string{"promote", "shop"}, delivery: inCanary, status: "{revision: 4, canary: {step: 2/4, state: Paused}}",
			says: "shop-promote-4-x created", want: request("Promote", "promote", ", step: 2"),
		},
		"PromoteStep": {
			reason: "A step is released before it waits.",
			args:   []string{"promote", "shop", "--step=2"}, delivery: inCanary, says: "shop-promote-4-x created",
			want: request("Promote", "promote", ", step: 2"),
		},
		"PromoteFull": {
			reason: "A promotion with --full releases all steps at once.",
			args:   []string{"promote", "shop", "--full"}, delivery: inCanary, says: "shop-promote-4-x created", want: request("Promote", "promote", ", full: true"),
		},
		"PromoteBoth": {
			reason: "A step and all of them are not released at once.",
			args:   []string{"promote", "shop", "--step=2", "--full"}, code: terminal.ExitUsage, says: "--step and --full can't be used together",
		},
		"PromoteNone": {
			reason: "No step is released when none waits and none is named.",
			args:   []string{"promote", "shop"}, delivery: inCanary, code: terminal.ExitInvalid,
			says: "shop: no step pauses or waits for a user: --step releases a step that does not wait yet, and --full all of them\n",
		},
		"PromotePassed": {
			reason: "A step that is passed is refused, and the message names the step that can be released.",
			args:   []string{"promote", "shop", "--step=1"}, delivery: inCanary, code: terminal.ExitInvalid,
			says: "shop: step 1 of revision 4 cannot be released: no user is awaited there; possible: 2\n",
		},
		"PromoteTwice": {
			reason: "A step is released once.",
			args:   []string{"promote", "shop", "--step=2"}, delivery: append(inCanary, "promoted: 0", "promoted: 2"), code: terminal.ExitInvalid,
			says: "shop: step 2 of revision 4 cannot be released: it was released already, or is passed; possible: 3\n",
		},
		"PromoteFar": {
			reason: "A request releases one pause at a time.", args: []string{"promote", "shop", "--step=3"}, delivery: inCanary, code: terminal.ExitInvalid,
			says: "shop: step 3 of revision 4 cannot be released: no user is awaited there; possible: 2\n",
		},
		"PromoteHeld": {
			reason: "A Gate without a verdict, that holds a revision, is passed.",
			args:   []string{"promote", "shop", "--step=4"}, status: "{revision: 4, canary: {promote: 4, state: Held}}",
			delivery: []string{"plan: [{sites: [edge1]}]", canaryPlan, "step: 0", "step: 3"}, says: "shop-promote-4-x created",
			want: request("Promote", "promote", ", step: 4"),
		},
		"PromoteWaves": {
			reason: "Waves wait for no user.", args: []string{"promote", "shop", "--full"}, code: terminal.ExitInvalid,
			says: "shop: all steps of revision 4 cannot be released: no user is awaited there; no step can be released\n",
		},
		"PromoteJudged": {
			reason: "A revision that has its verdict is not promoted.",
			args:   []string{"promote", "shop", "--full"}, delivery: []string{"ledger: {", "ledger: {verdict: {result: Verified}, "},
			code: terminal.ExitInvalid,
			says: "shop: all steps of revision 4 cannot be released: the revision was judged already (Verified)\n",
		},
		"PromoteOther": {
			reason: "A promotion of another revision than the present revision is refused.",
			status: "{revision: 3}", args: []string{"promote", "shop", "--step=2"}, delivery: inCanary, code: terminal.ExitInvalid,
			says: "shop: revision 3 is not the present one any more",
		},
		"Missing": {
			reason: "A request for a deployment that does not exist is refused.",
			args:   []string{"retry", "shap"}, code: terminal.ExitInvalid, says: `has no IntentDeployment "shap"`,
		},
		"Name": {
			reason: "A script gets the name of the request, as from kubectl create.",
			args:   []string{"abort", "shop", "--dry-run=client", "-o", "name"}, says: "rolloutrequest.rollout.intentplane.dev/shop-abort-4\n",
		},
		"DryRun": {reason: "A dry run creates no request.", args: []string{"abort", "shop", "--dry-run=client"}, says: "shop-abort-4 would be created"},
		"Newer": {
			reason: "A field of a newer version beside it is not read.",
			status: "{revision: 4, delivery: 7}", args: []string{"abort", "shop"}, says: "created", want: request("Abort", "abort", ""),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if tc.status == "" {
				tc.status = fourth
			}
			ownDelivery := strings.NewReplacer(append(tc.delivery, "%s", "shop")...).Replace(history)
			server := &cli.Server{Denied: map[string]bool{tc.denied: true}, Objects: []*unstructured.Unstructured{
				cli.ClaimWith(t, tc.status), cli.Parse(t, ownDelivery), cli.Parse(t, strings.NewReplacer("%s", "bank", "revision: 1", "revision: 3").Replace(history)),
			}}
			out, problems, code := runIntent("", append(tc.args, "--kubeconfig", server.Start(t))...)
			if code != tc.code || !strings.Contains(out+problems, tc.says) {
				t.Errorf("\n%s\nrun(%q): want %d and %q, got %d:\n%s%s", tc.reason, tc.args, tc.code, tc.says, code, out, problems)
			}
			var got map[string]any
			if len(server.Made) > 0 {
				got = server.Made[0].Object
			}
			if diff := cmp.Diff(tc.want, got); diff != "" || len(server.Made) > 1 {
				t.Errorf("\n%s\nrun(%q): made: -want, +got:\n%s", tc.reason, tc.args, diff)
			}
		})
	}
}

// TestApproveRebuiltImage asks to approve an Application, which approves nothing: an image that waits is approved in its spec.
func TestApproveRebuiltImage(t *testing.T) {
	const waits = "build: {waiting: {image: 'registry.example.org/shop@sha256:12'}}"
	cases := map[string]struct{ reason, updates, status, says string }{
		"Manual": {
			reason:  "An image that waits for its approval is named, with the field that approves it.",
			updates: "Manual", status: waits,
			says: "shop: no update of its Blueprint waits to be approved, but a rebuilt image does: set spec.build.approved of the Application " +
				"to sha256:12\n",
		},
		"WithSource": {
			reason:  "An image that waits for the next commit cannot be approved.",
			updates: "WithSource", status: waits,
			says: "shop: no update waits to be approved: the rebuilt image sha256:12 comes with the next commit, as spec.build.updates says\n",
		},
		"None": {
			reason:  "An Application for which nothing waits has nothing to approve.",
			updates: "Manual", status: "phase: Running", says: "shop: no update waits to be approved\n",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			app := cli.Parse(t, "{apiVersion: claims.intentplane.dev/v1alpha1, kind: Application, metadata: {namespace: team-a, name: shop}, spec: {build: {updates: "+tc.updates+"}}, status: {"+tc.status+"}}")
			deployment := cli.Parse(t, "{apiVersion: intentplane.dev/v1alpha1, kind: IntentDeployment, metadata: {namespace: team-a, name: shop, labels: {intentplane.dev/application: shop}}, status: {revision: 4}}")
			server := &cli.Server{Objects: []*unstructured.Unstructured{app, deployment}}
			_, problems, code := runIntent("", "approve", "shop", "--kubeconfig", server.Start(t))
			if code != terminal.ExitInvalid || !strings.HasSuffix(problems, tc.says) || len(server.Made) > 0 {
				t.Errorf("\n%s\nrun(approve): want %d and %q, got %d:\n%s%v", tc.reason, terminal.ExitInvalid, tc.says, code, problems, server.Made)
			}
		})
	}
}

func without(o map[string]any, field string) map[string]any {
	unstructured.RemoveNestedField(o, "spec", field)
	return o
}

// TestDryRun prints a request that can be created unchanged.
func TestDryRun(t *testing.T) {
	server := &cli.Server{Objects: []*unstructured.Unstructured{cli.ClaimWith(t, "{revision: 4}")}}
	out, problems, code := runIntent("", "retry", "shop", "--dry-run=client", "-o", "yaml", "--kubeconfig", server.Start(t))
	if code != 0 {
		t.Fatalf("run(...): exit code %d: %s", code, problems)
	}
	file := filepath.Join(t.TempDir(), "request.yaml")
	if err := os.WriteFile(file, []byte(out), 0o600); err != nil {
		t.Fatal(err)
	}
	if output, _, code := runIntent("", "validate", file); code != 0 || !strings.Contains(output, "1 object, 0 mistakes") {
		t.Errorf("run(...): want a valid object, got %s:\n%s", output, out)
	}
	if len(server.Made) > 0 {
		t.Errorf("run(...): made %v", server.Made)
	}
}

// doneAs is the status of a request that is done.
func doneAs(end, message string) string {
	return `{end: "` + end + `", conditions: [{type: Completed, status: "True", reason: Done, message: "` + message + `"}]}`
}

func TestWait(t *testing.T) {
	const waiting = `{conditions: [{type: Accepted, status: Unknown, reason: Waiting, message: Not yet.}, {type: Completed, status: "False", reason: Waiting, message: Not yet.}]}`
	const done = `{end: RolledBack, conditions: [{type: Accepted, status: "True", reason: Taken, message: It goes.}, {type: Completed, status: "True", reason: Done, message: It ended.}]}`
	const stale = `{conditions: [{type: Accepted, status: "False", reason: Stale, message: Too late.}, {type: Completed, status: "False", reason: Stale, message: Too late.}]}`
	const superseded = `{conditions: [{type: Accepted, status: "True", reason: Taken, message: It goes.}, {type: Completed, status: "True", reason: Superseded, message: Another came.}]}`
	retry := []string{"retry", "shop"}
	cases := map[string]struct {
		reason  string
		answers []string
		command []string
		args    []string
		// atOnce is how many answers a connection brings. 0 means all of them.
		atOnce int
		code   int
		want   string
		// problem is the text of the errors.
		problem string
	}{
		"Done": {
			reason:  "Each answer is printed once, also when the connection ends between them.",
			answers: []string{"{}", waiting, waiting, took, done}, atOnce: 2, want: "Waiting: Not yet.\nTaken: It goes.\nDone: It ended.\n",
		},
		"Stale": {reason: "A request that came too late is invalid.", answers: []string{stale}, code: terminal.ExitInvalid, want: "Stale: Too late.\n"},
		"Superseded": {
			reason:  "A request that another revision superseded ends with an error.",
			answers: []string{took, superseded}, code: terminal.ExitInvalid, want: "Taken: It goes.\nSuperseded: Another came.\n",
		},
		"Late": {
			reason: "A request without an answer ends with a message when time is up.",
			args:   []string{"--timeout=1ns"}, code: terminal.ExitInvalid, problem: "the provider has not answered yet",
		},
		"Verified": {
			reason:  "A retry whose revision was verified has succeeded.",
			command: retry, answers: []string{doneAs("Verified", "Revision 5 was verified.")}, want: "Done: Revision 5 was verified.\n",
		},
		"Rejected": {
			reason:  "A retry whose revision was rejected, and rolled back, has failed.",
			command: retry, answers: []string{doneAs("RolledBack", "GateFailed.")}, code: terminal.ExitInvalid, want: "Done: GateFailed.\n",
		},
		"Stays": {
			reason:  "An abort that leaves the revision in place has failed.",
			answers: []string{doneAs("NotRolledBack", "RollbackOff.")}, code: terminal.ExitInvalid, want: "Done: RollbackOff.\n",
		},
		"Untouched": {
			reason:  "An abort before any Site's directory changed has succeeded.",
			answers: []string{doneAs("NothingToRestore", "No.")}, want: "Done: No.\n",
		},
		"Released": {
			reason:  "A promotion has succeeded when the step is released.",
			command: []string{"promote", "shop", "--step=1"}, answers: []string{waiting, took}, want: "Waiting: Not yet.\nTaken: It goes.\n",
		},
		"Full": {
			reason:  "A full promotion ends with its revision.",
			command: []string{"promote", "shop", "--full"}, answers: []string{took, done}, code: terminal.ExitInvalid,
			want: "Taken: It goes.\nDone: It ended.\n",
		},
		"Unsaid": {
			reason:  "A request without an outcome does not count as a success.",
			command: retry, answers: []string{doneAs("", "It ended.")}, code: terminal.ExitInvalid, want: "Done: It ended.\n",
			problem: "does not say how its revision ended",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if tc.atOnce == 0 {
				tc.atOnce = len(tc.answers)
			}
			server := &cli.Server{Objects: []*unstructured.Unstructured{cli.ClaimWith(t, "{revision: 4}")}, Answers: tc.answers, AnswersAtOnce: tc.atOnce}
			command := tc.command
			if command == nil {
				command = []string{"abort", "shop"}
			}
			out, problems, code := runIntent("", slices.Concat(command, []string{"--wait", "--kubeconfig", server.Start(t)}, tc.args)...)
			if diff := cmp.Diff("rolloutrequest.rollout.intentplane.dev/shop-"+command[0]+"-4-x created\n"+tc.want, out); diff != "" || code != tc.code {
				t.Errorf("\n%s\nrun(...): want %d, got %d: -want, +got:\n%s%s", tc.reason, tc.code, code, diff, problems)
			}
			if !strings.Contains(problems, tc.problem) {
				t.Errorf("\n%s\nrun(...): want an error with %q, got %q", tc.reason, tc.problem, problems)
			}
		})
	}
	t.Run("JSON", func(t *testing.T) {
		server := &cli.Server{Objects: []*unstructured.Unstructured{cli.ClaimWith(t, "{revision: 4}")}, Answers: []string{took, done}, AnswersAtOnce: 2}
		out, problems, code := runIntent("", "abort", "shop", "--wait", "-o", "json", "--kubeconfig", server.Start(t))
		o := &unstructured.Unstructured{}
		if err := json.Unmarshal([]byte(out), &o.Object); err != nil || code != 0 || o.GetName() != "shop-abort-4-x" {
			t.Errorf("run(...): want one object, got %d: %v:\n%s%s", code, err, out, problems)
		}
	})
}

// TestLateAnswer lets the time for a request end after its first answer.
func TestLateAnswer(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	server := &cli.Server{Objects: []*unstructured.Unstructured{cli.ClaimWith(t, "{revision: 4}")}, Answers: []string{took}, Idle: cancel}
	f := &askFlags{Flags: connection.Flags{Kubeconfig: server.Start(t)}, ObjectsFlag: terminal.ObjectsFlag{Output: "text"}, Timeout: time.Hour}
	c, err := f.OpenCluster()
	if err != nil {
		t.Fatal(err)
	}
	a := &asked{cluster: c, spec: rolloutv1alpha1.RolloutRequestSpec{Action: rolloutv1alpha1.ActionAbort, Revision: 4}}
	o, err := a.requestObject(c.Namespace())
	if err != nil {
		t.Fatal(err)
	}
	if o, err = c.Ask(ctx, o); err != nil {
		t.Fatal(err)
	}
	err = f.awaitResult(ctx, &terminal.Streams{Out: io.Discard}, c, o)
	const want = "-abort-4-x did not come to its end in time, and goes on. The last answer: Taken: It goes."
	if err == nil || err.Error() != want {
		t.Errorf("await(...): an error that says the last answer is wanted, got %v", err)
	}
}
