package phase

import (
	"slices"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	v1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/step"
)

// report is the report of a SiteSync.
type report string

const (
	nothing      report = "Nothing"
	live         report = "Live"
	syncing      report = "Syncing"
	timedOut     report = "TimedOut"
	failed       report = "Failed"
	liveBefore   report = "LiveBefore"
	staleLive    report = "StaleLive"
	otherSites   report = "OtherSites"
	unsyncedLive report = "UnsyncedLive"
)

func reports() []report {
	return []report{nothing, live, syncing, timedOut, failed, liveBefore, staleLive, otherSites, unsyncedLive}
}

// watch lets a SiteSync look at Sites, and show something.
func watch(f *Input, r report, sites ...string) {
	f.Sync = &deliveryv1alpha1.SiteSync{}
	f.Sync.Spec.ForProvider.Position = new(f.State.Position())
	for _, name := range sites {
		delete(f.Unobserved, name)
		f.Sync.Spec.ForProvider.Sites = append(f.Sync.Spec.ForProvider.Sites, deliveryv1alpha1.SiteTree{Name: name, Path: name, Tree: "t"})
	}
	if r == nothing {
		return
	}
	s := f.Sync.DeepCopy()
	s.SetName("shop-sync")
	s.SetGeneration(4)
	ready := xpv2.Condition{Type: xpv2.TypeReady, Status: corev1.ConditionFalse, Reason: xpv2.ConditionReason(r), Message: "Words.", ObservedGeneration: 4}
	state := map[report]deliveryv1alpha1.SiteState{syncing: deliveryv1alpha1.SiteSyncing, timedOut: deliveryv1alpha1.SiteTimedOut, failed: deliveryv1alpha1.SiteFailed}[r]
	synced := xpv2.ReconcileSuccess()
	if state == "" {
		ready.Status, ready.Message, state = corev1.ConditionTrue, "", deliveryv1alpha1.SiteLive
	}
	position := f.State.Position()
	for _, name := range sites {
		s.Status.AtProvider.Sites = append(s.Status.AtProvider.Sites, deliveryv1alpha1.SiteObservation{Name: name, State: state, Commit: "fedcba9876543210"})
	}
	switch r {
	case liveBefore:
		position.Revision = 1
	case staleLive:
		ready.ObservedGeneration = 3
	case otherSites:
		s.Spec.ForProvider.Sites[0].Tree = "before"
	case unsyncedLive:
		synced = xpv2.ReconcileError(errors.New("no"))
	}
	s.Status.AtProvider.Position = &position
	s.Status.SetConditions(ready, synced)
	f.ObservedSync = s
}

func verdicts() []*ledger.Verdict {
	return []*ledger.Verdict{
		nil,
		{Result: ledger.VerdictVerified},
		{Result: ledger.VerdictRejected, Reason: rolloutv1alpha1.RejectedSyncFailed, Message: "Words."},
	}
}

// staged is a revision in two steps: Site a first, then b.
func staged(f *Input, step int32) {
	f.State.Cursor.Step = step
	f.State.Current.Plan = []ledger.Step{{Sites: []string{"a"}}, {Sites: []string{"b"}}}
}

// judged facts have a revision with a verdict, in a step, with the reports of deliveries and of the SiteSync.
func judged(v *ledger.Verdict, step int32, a, b deliveryState, r report) *Input {
	f := &Input{Digest: "d", GatesDisabled: true}
	place(f, true, deliveryv1alpha1.ActionDesired, a, b)
	f.State.Verdict = v
	if step >= 0 {
		staged(f, step)
	}
	for name, e := range map[string]deliveryState{"a": a, "b": b} {
		action := deliveryv1alpha1.ActionDesired
		if !f.State.HasReached(name) || f.State.IsRejected() {
			action = deliveryv1alpha1.ActionKeep
		}
		f.Desired[name] = desired(name, f.State.Position(), action)
		delete(f.Observed, name)
		if o := observed(f.Desired[name], e); o != nil {
			f.Observed[name] = o
		}
	}
	watch(f, r, "a", "b")
	return f
}

// TestEveryProof holds for all verdicts, steps and reports.
func TestEveryProof(t *testing.T) {
	last := lasts()
	n := 0
	for _, v := range verdicts() {
		for _, step := range []int32{-1, 0, 1} {
			for _, a := range allDeliveryStates() {
				for _, b := range allDeliveryStates() {
					for _, r := range reports() {
						f := judged(v, step, a, b, r)
						checkConditions(t, f, Conditions(f))
						s := Status(f, &last[0], now)
						checkStatus(t, f, s)
						checkTransitions(t, &last[n%len(last)], Status(f, &last[n%len(last)], now))
						checkProof(t, f, step, a, b, r)
						n++
					}
				}
			}
		}
	}
	t.Logf("%d combinations", n)
}

// checkProof checks the purpose of the core: nothing is live, and nothing succeeds, without every single proof of this revision. In the steps, a repository whose
// wave has not come proves nothing, and prevents nothing once its delivery has the current spec.
func checkProof(t *testing.T, f *Input, step int32, a, b deliveryState, r report) {
	t.Helper()
	hasPresentSpec := !slices.Contains([]deliveryState{absent, otherPosition, otherTrees}, b)
	isUnreached := f.State.IsInSteps() && !f.State.HasReached("b") && hasPresentSpec
	proven := a == done && (b == done || isUnreached) && r == live
	if got := f.Proof().IsLive; got != proven {
		t.Fatalf("Proof(): live %t with %s, %s and %s at step %d, verdict %v", got, a, b, r, step, f.State.Verdict)
	}
	if f.State.IsVerified() && step != 0 && Ready(f) != proven {
		t.Fatalf("Ready(...): %t with %s, %s and %s", Ready(f), a, b, r)
	}
	if !f.State.IsVerified() && Ready(f) {
		t.Fatalf("Ready(...): without being verified")
	}
}

func TestRejectionReasons(t *testing.T) {
	cases := map[string]struct {
		reason string
		a, b   deliveryState
		report report
		want   string
	}{
		"Live":          {reason: "A revision that is delivered and live has no failure.", a: done, b: done, report: live},
		"Refused":       {reason: "A refusal of one repository rejects the revision.", a: done, b: refused, report: nothing, want: "DeliveryRefused"},
		"Trouble":       {reason: "An error that may pass rejects nothing before the delivery times out.", a: done, b: trouble, report: nothing},
		"Late":          {reason: "A delivery that timed out rejects the revision.", a: "DeliveryTimedOut", b: done, report: nothing, want: "DeliveryTimedOut"},
		"Failed":        {reason: "A Site that failed rejects the revision.", a: done, b: done, report: failed, want: "SyncFailed"},
		"TimedOut":      {reason: "A Site that timed out rejects the revision.", a: done, b: done, report: timedOut, want: "SyncTimedOut"},
		"Syncing":       {reason: "A Site that still syncs rejects nothing.", a: done, b: done, report: syncing},
		"OtherPosition": {reason: "A report about another position does not count.", a: otherPosition, b: done, report: liveBefore},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := judged(nil, -1, tc.a, tc.b, tc.report).Proof().Failure
			if got == nil {
				got = &ledger.Verdict{}
			}
			if diff := cmp.Diff(tc.want, got.Reason); diff != "" {
				t.Errorf("\n%s\nProof(): failure: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestSiteStates says where each of two Sites stands: a goes first.
func TestSiteStates(t *testing.T) {
	refused := &ledger.Verdict{Result: ledger.VerdictRejected, Reason: rolloutv1alpha1.RejectedDeliveryRefused}
	cases := map[string]struct {
		reason string
		step   int32
		a, b   deliveryState
		report report
		// counts are the Sites without an observer.
		counts  map[string]bool
		verdict *ledger.Verdict
		want    v1alpha1.DeliveryStatus
	}{
		"Live": {reason: "Both run it.", step: -1, a: done, b: done, report: live, want: v1alpha1.DeliveryStatus{
			SyncState: "Live", SitesReady: "2/2",
			Sites: map[string]v1alpha1.SiteStatus{
				"a": {State: "Live", Commit: "fedcba9876543210"}, "b": {State: "Live", Commit: "fedcba9876543210"},
			},
		}},
		"Silent": {reason: "The repository has it, and no engine reports more.", step: -1, a: done, b: done, report: nothing, want: v1alpha1.DeliveryStatus{
			SyncState: "Syncing", SitesReady: "0/2",
			Sites: map[string]v1alpha1.SiteStatus{
				"a": {State: "Syncing", Commit: "0123456789abcdef"}, "b": {State: "Syncing", Commit: "0123456789abcdef"},
			},
		}},
		"FirstWave": {reason: "The second wave has not come.", step: 0, a: done, b: done, report: syncing, want: v1alpha1.DeliveryStatus{
			SyncState: "Pending", SitesReady: "0/2",
			Sites: map[string]v1alpha1.SiteStatus{
				"a": {State: "Syncing", Commit: "0123456789abcdef"}, "b": {State: "Pending", Message: "Its wave has not come."},
			},
		}},
		"Failed": {reason: "One failure is that of all.", step: -1, a: done, b: done, report: failed, want: v1alpha1.DeliveryStatus{
			SyncState: "Failed", SitesReady: "0/2",
			Sites: map[string]v1alpha1.SiteStatus{
				"a": {State: "Failed", Commit: "0123456789abcdef"}, "b": {State: "Failed", Commit: "0123456789abcdef"},
			},
		}},
		"Blocked": {reason: "One is not delivered.", step: -1, a: done, b: trouble, report: nothing, want: v1alpha1.DeliveryStatus{
			SyncState: "Pending", SitesReady: "0/2",
			Sites: map[string]v1alpha1.SiteStatus{
				"a": {State: "Syncing", Commit: "0123456789abcdef"}, "b": {State: "Pending", Message: "Unreachable"},
			},
		}},
		"Refused": {reason: "A refused revision is at no Site, whatever the Sites run.", step: -1, a: done, b: done, report: live, verdict: refused, want: v1alpha1.DeliveryStatus{
			SyncState: "Failed", SitesReady: "0/2",
			Sites: map[string]v1alpha1.SiteStatus{
				"a": {State: "Failed", Message: "DeliveryRefused"}, "b": {State: "Failed", Message: "DeliveryRefused"},
			},
		}},
		"Unobserved": {reason: "A Site without an engine is delivered or unobserved, as it says.", step: -1, a: done, b: done, counts: map[string]bool{"a": true, "b": false}, want: v1alpha1.DeliveryStatus{
			SyncState: "Unobserved", SitesReady: "1/2",
			Sites: map[string]v1alpha1.SiteStatus{
				"a": {State: "Delivered", Commit: "0123456789abcdef"},
				"b": {State: "Unobserved", Commit: "0123456789abcdef", Message: "No engine reports the running tree of the Site."},
			},
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := judged(nil, tc.step, tc.a, tc.b, tc.report)
			f.State.Verdict = tc.verdict
			if tc.counts != nil {
				f.Sync, f.ObservedSync, f.Unobserved = nil, nil, tc.counts
			}
			got := Status(f, &v1alpha1.IntentDeploymentStatus{}, now).Delivery
			commit := "0123456789abcdef"
			if tc.verdict != nil {
				commit = ""
			}
			if got.GitCommit != commit {
				t.Errorf("\n%s\nStatus(...): commit: want %q, got %q", tc.reason, commit, got.GitCommit)
			}
			got.GitCommit, got.ShortCommit = "", ""
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nStatus(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestConditionsOfProof(t *testing.T) {
	verified, rejected := verdicts()[1], verdicts()[2]
	cases := map[string]struct {
		reason     string
		facts      *Input
		phase      v1alpha1.Phase
		typ        string
		status     corev1.ConditionStatus
		why        string
		unobserved map[string]bool
	}{
		"Delivered": {
			reason: "Delivered is not live.",
			facts:  judged(nil, -1, done, done, syncing), phase: "Delivering", typ: "Delivered", status: "True", why: "Delivered",
		},
		"FirstWave": {
			reason: "A wave is not all.",
			facts:  judged(nil, 0, done, done, live), phase: "Delivering", typ: "Delivered", status: "False", why: "Delivering",
		},
		"NotLive": {
			reason: "Nothing is known to run.",
			facts:  judged(nil, -1, done, done, syncing), phase: "Delivering", typ: "Available", status: "False", why: "NotLive",
		},
		"Live": {reason: "Everything runs.", facts: judged(verified, -1, done, done, live), phase: "Succeeded", typ: "Available", status: "True", why: "Live"},
		"Record": {
			reason: "Good news waits for the record.",
			facts:  unrecorded(judged(verified, -1, done, done, live)), phase: "Validating", typ: "Available", status: "False", why: "NotLive",
		},
		"Moved": {
			reason: "An object that has to be looked at again does not speak against it.",
			facts:  judged(verified, -1, done, stale, live), phase: "Succeeded", typ: "Available", status: "True", why: "Live",
		},
		"Drifted": {
			reason: "The phase does not move with drift.",
			facts:  judged(verified, -1, done, done, syncing), phase: "Succeeded", typ: "Reconciling", status: "True", why: "Drifted",
		},
		"LateDrift": {
			reason: "A verdict that is not recorded yet is not validated, however long it takes.",
			facts:  judged(verified, -1, done, done, timedOut), phase: "Succeeded", typ: "Reconciling", status: "True", why: "Drifted",
		},
		"Rejected": {
			reason: "A rejection needs an action of a user.",
			facts:  judged(rejected, -1, done, done, failed), phase: "Failed", typ: "Stalled", status: "True", why: "SyncFailed",
		},
		"Stands": {
			reason: "A recorded verdict stays validated, whatever runs later.",
			facts:  judged(rejected, -1, done, done, live), phase: "Failed", typ: "Stalled", status: "True", why: "SyncFailed",
		},
		"Bad": {
			reason: "Bad news does not wait for the record.",
			facts:  unrecorded(judged(rejected, -1, done, done, failed)), phase: "Failed", typ: "Recorded", status: "False", why: "NotRecorded",
		},
		"Nobody": {
			reason: "A Site without an engine whose delivery does not count as live stalls the revision.",
			facts:  judged(nil, -1, done, done, nothing), unobserved: map[string]bool{"a": true, "b": false},
			phase: "Delivering", typ: "Stalled", status: "True", why: "SyncNotObserved",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if tc.unobserved != nil {
				tc.facts.Sync, tc.facts.Unobserved = nil, tc.unobserved
			}
			want := []any{tc.phase, Condition{Type: tc.typ, Status: tc.status, Reason: tc.why}}
			got := []any{Status(tc.facts, &v1alpha1.IntentDeploymentStatus{}, now).Phase}
			for _, c := range Conditions(tc.facts) {
				if c.Type == tc.typ {
					c.Message = ""
					got = append(got, c)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("\n%s\nConditions(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// goneBack facts have a rejected revision whose rollback to revision 1 came to its end, with the later report of the SiteSync.
func goneBack(r report) *Input {
	f := judged(verdicts()[2], -1, done, done, r)
	f.State.Target, f.State.Restored = 1, true
	return f
}

// TestLiveRevision reads the running revision from proofs and, before these exist, from the last verified revision.
func TestLiveRevision(t *testing.T) {
	rejected := verdicts()[2]
	stopped := func(f *Input, tree string) *Input {
		f.Holds.Progress = step.HoldNothingToRestore
		f.State.History = []ledger.Past{{
			Number: 1, Verdict: &ledger.Verdict{Result: ledger.VerdictVerified}, Trees: []ledger.SiteTree{{Site: "a", ID: tree}, {Site: "b", ID: tree}},
		}}
		return recorded(f, 1)
	}
	cases := map[string]struct {
		reason string
		facts  *Input
		want   []int64
	}{
		"Live":     {reason: "A verified revision that runs is the live one.", facts: recorded(judged(verdicts()[1], -1, done, done, live), 2), want: []int64{2, 2}},
		"Wave":     {reason: "A revision that does not run everywhere is not live.", facts: judged(nil, 0, done, done, live), want: []int64{0, 0}},
		"Earlier":  {reason: "Until it runs, the previous revision runs.", facts: recorded(judged(nil, -1, done, pushing, nothing), 1), want: []int64{1, 1}},
		"Drifted":  {reason: "A verified revision may stop running.", facts: recorded(judged(verdicts()[1], -1, done, done, syncing), 2), want: []int64{0, 2}},
		"Rejected": {reason: "A rejected revision is not live.", facts: recorded(judged(rejected, -1, done, done, failed), 1), want: []int64{0, 1}},
		"Refused": {
			reason: "A rejected revision that touched nothing leaves the verified one live.",
			facts:  stopped(judged(rejected, -1, pushing, pushing, nothing), "before"), want: []int64{1, 1},
		},
		"Recorded": {reason: "Whatever is looked for.", facts: stopped(judged(rejected, -1, done, done, syncing), "before"), want: []int64{1, 1}},
		"Gates": {
			reason: "A rejected revision that changed only its checks leaves the verified one live.",
			facts:  stopped(judged(rejected, -1, done, done, live), "t"), want: []int64{1, 1},
		},
		"Stopped": {reason: "Not where it is known not to run.", facts: stopped(judged(rejected, -1, done, done, syncing), "t"), want: []int64{0, 1}},
		"Back":    {reason: "A rollback that came to its end makes its target the live revision.", facts: recorded(goneBack(live), 1), want: []int64{1, 1}},
		"BackOff": {reason: "The target of a rollback is not live where a Site is known not to run it.", facts: recorded(goneBack(syncing), 1), want: []int64{0, 1}},
		"Gone":    {reason: "One does not say.", facts: judged(nil, -1, done, absent, nothing), want: []int64{0, 0}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := []int64{tc.facts.liveRevision(), Status(tc.facts, &v1alpha1.IntentDeploymentStatus{}, now).VerifiedRevision}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nliveRevision(), verifiedRevision(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestStepMessage says where a revision is in its plan.
func TestStepMessage(t *testing.T) {
	cases := map[string]struct {
		reason string
		state  ledger.State
		want   string
	}{
		"Nothing": {reason: "A deployment without a revision is at no step."},
		"One":     {reason: "The only step of a plan is not named.", state: ledger.State{Current: newRevision(2)}},
		"Second": {
			reason: "Users count steps from one.",
			state:  ledger.State{Current: &ledger.Revision{Plan: make([]ledger.Step, 2)}, Cursor: ledger.Cursor{Step: 1}},
			want:   " This is step 2 of 2.",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := &Input{}
			f.State = tc.state
			if diff := cmp.Diff(tc.want, f.stepMessage()); diff != "" {
				t.Errorf("\n%s\nstepMessage(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestUnprovenMessage says why the Sites are not known to run a revision.
func TestUnprovenMessage(t *testing.T) {
	const undetermined = "The running trees of the Sites are not known yet."
	for r, want := range map[report]string{syncing: "Syncing: Words.", timedOut: "TimedOut: Words.", nothing: undetermined, otherSites: undetermined} {
		if diff := cmp.Diff(want, judged(nil, -1, done, done, r).unprovenMessage()); diff != "" {
			t.Errorf("\nA SiteSync has the reason, and only for its desired trees.\nunprovenMessage() of %s: -want, +got:\n%s", r, diff)
		}
	}
	f := judged(nil, -1, done, done, syncing)
	f.ObservedSync.Status.AtProvider.Position.Revision = 1
	if diff := cmp.Diff(undetermined, f.unprovenMessage()); diff != "" {
		t.Errorf("\nAn observation of another revision proves nothing about this revision.\nunprovenMessage(): -want, +got:\n%s", diff)
	}
}
