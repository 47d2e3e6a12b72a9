package phase

import (
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	v1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/step"
)

// canarySteps are the steps of a revision that gets a tenth of the requests, and then all.
func canarySteps(pause string) []ledger.Step {
	return []ledger.Step{{Sites: []string{"a", "b"}, Weight: new(int32(10)), Pause: pause}, {Sites: []string{"a", "b"}, Weight: new(int32(100))}}
}

// inPlace lets a revision replace the previous revision in place: it has no track, and its step shares no requests.
func inPlace(s *ledger.State) {
	s.Current.Track, s.Current.Plan = "", []ledger.Step{{Sites: []string{"a", "b"}}}
}

// newCanary returns the input for revision 2 in a track, whose repositories were brought to its position, and whose Sites are as reported.
func newCanary(change func(*ledger.State), r report) *Input {
	f := &Input{Digest: "d"}
	place(f, true, deliveryv1alpha1.ActionDesired, done, done)
	f.State.Verdict, f.State.Cursor.Stage = nil, ledger.StageSteps
	f.State.Current.Track, f.State.Current.Plan = "green", canarySteps("")
	change(&f.State)
	for _, name := range []string{"a", "b"} {
		f.Desired[name] = desired(name, f.State.Position(), deliveryv1alpha1.ActionDesired)
		f.Observed[name] = observed(f.Desired[name], done)
	}
	watch(f, r, "a", "b")
	return f
}

// rejectCanary lets a revision be rejected, and be rolled back in an attempt at a stage.
func rejectCanary(attempt int32, stage int32) func(*ledger.State) {
	return func(s *ledger.State) {
		s.Verdict = &ledger.Verdict{Result: ledger.VerdictRejected, Reason: rolloutv1alpha1.RejectedGateFailed}
		s.Cursor.Attempt, s.Cursor.Stage = attempt, stage
	}
}

// releaseStep lets the SiteSync say that the pause of its step has ended.
func releaseStep(f *Input) {
	f.ObservedSync.Status.SetConditions(xpv2.Condition{Type: deliveryv1alpha1.TypeReleased, Status: corev1.ConditionTrue, ObservedGeneration: f.ObservedSync.GetGeneration()})
}

// measureStep lets the step have a Gate in a state.
func measureStep(gate deliveryState) func(*Input) {
	return func(f *Input) {
		f.Gates = map[string]*rolloutv1alpha1.Gate{}
		if g := gated(f.State, gate); g != nil {
			f.Gates["gate"] = g
		}
	}
}

// leaveOpen lets the step have a Gate that came to no verdict.
func leaveOpen(f *Input) {
	measureStep(gateFailed)(f)
	f.Gates["gate"].Status.AtProvider.Verdict = rolloutv1alpha1.GateInconclusive
}

// TestCanaryState compares the state in which a revision in a track waits.
func TestCanaryState(t *testing.T) {
	restored := func(s *ledger.State) { rejectCanary(1, ledger.StageSteps)(s); s.Restored = true }
	verified := func(s *ledger.State) { s.Verdict = &ledger.Verdict{Result: ledger.VerdictVerified} }
	paused := func(pause string, promoted int32) func(*ledger.State) {
		return func(s *ledger.State) { s.Current.Plan, s.Cursor.Promoted = canarySteps(pause), promoted }
	}
	gatedStep := func(s *ledger.State) { s.Current.Plan[0].Gate = true }
	gatedPause := func(pause string, promoted int32) func(*ledger.State) {
		return func(s *ledger.State) { paused(pause, promoted)(s); s.Current.Plan[0].Gate = true }
	}
	decided := func(s *ledger.State) { gatedPause(ledger.PauseManual, 1)(s); s.Cursor.GateReleased = 1 }
	clearing := func(stage int32, stable int64) func(*ledger.State) {
		return func(s *ledger.State) { s.Cursor.Stage, s.Current.Stable = stage, stable }
	}
	cases := map[string]struct {
		reason string
		state  func(*ledger.State)
		report report
		change func(*Input)
		want   v1alpha1.CanaryState
	}{
		"Rejected": {
			reason: "A rejected revision whose rollback has not begun waits for nothing in its track.",
			state:  rejectCanary(0, ledger.StageSteps), report: live,
		},
		"Stopped": {
			reason: "A rollback that is held waits for nothing in the track.",
			state:  rejectCanary(1, ledger.StageSteps), report: live, change: func(f *Input) { f.Holds.Progress = step.HoldAttemptsSpent },
		},
		"Restored": {reason: "A rollback that came to its end waits for nothing.", state: restored, report: live},
		"RestoredNow": {
			reason: "A rollback whose end is not recorded yet drains.",
			state:  restored, report: live, change: func(f *Input) { unrecorded(f) }, want: v1alpha1.CanaryDraining,
		},
		"Shifts": {
			reason: "A rollback takes the requests away first.",
			state:  rejectCanary(1, ledger.StageShift), report: syncing, want: v1alpha1.CanaryRollingBack,
		},
		"Shifted": {
			reason: "Pods stay until their requests have ended, once these are taken away.",
			state:  rejectCanary(1, ledger.StageShift), report: live, want: v1alpha1.CanaryDraining,
		},
		"Drains": {
			reason: "A rollback that left the first stage drains, whatever is live.",
			state:  rejectCanary(1, ledger.StageSteps), report: syncing, want: v1alpha1.CanaryDraining,
		},
		"Verified": {reason: "A verified revision waits for nothing.", state: verified, report: live},
		"Settles": {
			reason: "The pods of the revision before a verified one stay until their requests have ended.",
			state:  verified, report: live, change: func(f *Input) { f.IsDraining = true }, want: v1alpha1.CanaryDraining,
		},
		"Live": {
			reason: "A step that is live, and neither pauses nor is measured, goes on.",
			state:  func(*ledger.State) {}, report: live, want: v1alpha1.CanaryShifting,
		},
		"NotLive": {reason: "A step that is not live gets its requests.", state: func(*ledger.State) {}, report: syncing, want: v1alpha1.CanaryShifting},
		"Manual": {
			reason: "A step with a pause without an end waits for a user.",
			state:  paused(ledger.PauseManual, 0), report: live, want: v1alpha1.CanaryAwaitingPromotion,
		},
		"Promoted": {reason: "A step whose successor a user released goes on.", state: paused(ledger.PauseManual, 1), report: live, want: v1alpha1.CanaryShifting},
		"Earlier": {reason: "The release of an earlier step does not release this one.", state: func(s *ledger.State) {
			paused(ledger.PauseManual, 1)(s)
			s.Current.Plan[1].Pause = ledger.PauseManual
			s.Cursor.Step = 1
		}, report: live, want: v1alpha1.CanaryAwaitingPromotion},
		"Full":   {reason: "A step goes on once a user released all of them.", state: func(s *ledger.State) { paused(ledger.PauseManual, 0)(s); s.Cursor.Full = true }, report: live, want: v1alpha1.CanaryShifting},
		"Paused": {reason: "A step with a pause waits until that ends.", state: paused("10m", 0), report: live, want: v1alpha1.CanaryPaused},
		"PausedBlind": {reason: "A pause goes on while no SiteSync says that it has ended.", state: paused("10m", 0), report: live, change: func(f *Input) {
			f.Sync, f.ObservedSync, f.Unobserved = nil, nil, map[string]bool{"a": true, "b": true}
		}, want: v1alpha1.CanaryPaused},
		"PauseEnded": {reason: "A step goes on once its pause has ended.", state: paused("10m", 0), report: live, change: releaseStep, want: v1alpha1.CanaryShifting},
		"PausedAway": {
			reason: "A step that a user released does not wait for the end of its pause.",
			state:  paused("10m", 1), report: live, want: v1alpha1.CanaryShifting,
		},
		"Measured": {
			reason: "A step is measured until its Gate has counted enough.",
			state:  gatedStep, report: live, change: measureStep(silent), want: v1alpha1.CanaryMeasuring,
		},
		"NoPause": {
			reason: "A step that was measured, and has no pause, does not wait for the end of one.",
			state:  gatedStep, report: live, change: measureStep(passed), want: v1alpha1.CanaryMeasuring,
		},
		"Held": {
			reason: "A step whose Gate came to no verdict waits for a user.",
			state:  gatedPause("10m", 0), report: live, change: leaveOpen, want: v1alpha1.CanaryHeld,
		},
		"HeldOver": {
			reason: "A step whose Gate a user released does not wait for the verdict of the Gate.",
			state:  decided, report: live, change: leaveOpen, want: v1alpha1.CanaryMeasuring,
		},
		"HeldEarly": {
			reason: "A step whose pause a user released before the Gate ended waits for a decision on the Gate.",
			state:  gatedPause(ledger.PauseManual, 1), report: live, change: leaveOpen, want: v1alpha1.CanaryHeld,
		},
		"HeldLast": {
			reason: "A user who released all steps still decides on the Gate of the last one.",
			state:  func(s *ledger.State) { s.Cursor.Step, s.Cursor.Full, s.Current.Plan[1].Gate = 1, true, true }, report: live, change: leaveOpen,
			want: v1alpha1.CanaryHeld,
		},
		"HeldFull": {reason: "A step that a user left out waits for no verdict of its Gate.", state: func(s *ledger.State) { gatedPause(ledger.PauseManual, 0)(s); s.Cursor.Full = true }, report: live, change: leaveOpen, want: v1alpha1.CanaryMeasuring},
		"Uncounted": {
			reason: "A step waits for its Gate before it waits for a user.",
			state:  gatedPause(ledger.PauseManual, 0), report: live, change: measureStep(measuring), want: v1alpha1.CanaryMeasuring,
		},
		"Unmeasured": {
			reason: "A step waits for a Gate that is not there yet.",
			state:  gatedPause(ledger.PauseManual, 0), report: live, want: v1alpha1.CanaryMeasuring,
		},
		"Counted": {
			reason: "A step that was measured waits for a user.",
			state:  gatedPause(ledger.PauseManual, 0), report: live, change: measureStep(passed), want: v1alpha1.CanaryAwaitingPromotion,
		},
		"Clears": {
			reason: "Requests that another revision still gets go back before the revision begins.",
			state:  clearing(ledger.StageClear, 1), report: live, want: v1alpha1.CanaryDraining,
		},
		"Begins": {
			reason: "A first revision has no requests to bring back.",
			state:  clearing(ledger.StageClear, 0), report: live, want: v1alpha1.CanaryPreparing,
		},
		"Beside": {
			reason: "A revision that comes beside the stable one prepares its pods.",
			state:  clearing(ledger.StageBeside, 1), report: live, want: v1alpha1.CanaryPreparing,
		},
		"Prepares": {
			reason: "A step without requests prepares until it is live.",
			state:  func(s *ledger.State) { s.Current.Plan[0].Weight = new(int32(0)) }, report: syncing, want: v1alpha1.CanaryPreparing,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := newCanary(tc.state, tc.report)
			if tc.change != nil {
				tc.change(f)
			}
			if got := canaryState(f); got != tc.want {
				t.Errorf("\n%s\ncanaryState(...): want %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}

// TestAskedWeight asks for the share of a revision in a track.
func TestAskedWeight(t *testing.T) {
	cases := map[string]struct {
		reason string
		state  func(*ledger.State)
		want   int32
	}{
		"Step":     {reason: "A step has its own share.", state: func(*ledger.State) {}, want: 10},
		"Rejected": {reason: "A rejected revision keeps its share until its rollback begins.", state: rejectCanary(0, ledger.StageSteps), want: 10},
		"Rollback": {reason: "A rollback takes all requests away.", state: rejectCanary(1, ledger.StageSteps)},
		"Before":   {reason: "A revision gets no requests before its first step.", state: func(s *ledger.State) { s.Cursor.Stage = ledger.StageShift }},
		"Alone":    {reason: "A revision that is alone gets all requests.", state: func(s *ledger.State) { s.Cursor.Stage = ledger.StageAlone }, want: 100},
		"Unshared": {reason: "A step that shares no requests gets all of them.", state: func(s *ledger.State) { s.Current.Plan[0].Weight = nil }, want: 100},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, askedWeight(newCanary(tc.state, live).State)); diff != "" {
				t.Errorf("\n%s\naskedWeight(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestSiteWeight reads the share of revision 2 from the trees in a repository.
func TestSiteWeight(t *testing.T) {
	green := func(s *ledger.State) { s.Current.Track = "green" }
	untracked := func(s *ledger.State) { s.Current.Track = "" }
	cases := map[string]struct {
		reason string
		state  func(*ledger.State)
		held   deliveryv1alpha1.DeliveredTrack
		want   *int32
	}{
		"Held": {
			reason: "The share is that of the track of the revision.",
			state:  green, held: deliveryv1alpha1.DeliveredTrack{Name: "green", Revision: 2, Weight: 10}, want: new(int32(10)),
		},
		"Other": {
			reason: "The share of another track is not that of the revision.",
			state:  green, held: deliveryv1alpha1.DeliveredTrack{Name: "blue", Revision: 2, Weight: 90}, want: new(int32(0)),
		},
		"Earlier": {
			reason: "The share of an earlier revision in the track is not that of this one.",
			state:  green, held: deliveryv1alpha1.DeliveredTrack{Name: "green", Revision: 1, Weight: 90}, want: new(int32(0)),
		},
		"Return": {
			reason: "The share of a revision that takes requests back is that of the pods without tracks.",
			state:  untracked, held: deliveryv1alpha1.DeliveredTrack{Name: ledger.TrackPlain, Revision: 2, Weight: 10}, want: new(int32(10)),
		},
		"NoTracks": {
			reason: "A revision without tracks has no share.",
			state:  inPlace, held: deliveryv1alpha1.DeliveredTrack{Name: ledger.TrackPlain, Revision: 2, Weight: 10},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := newCanary(tc.state, live)
			f.Observed["a"].Status.AtProvider.Trees = []deliveryv1alpha1.DeliveredTree{{Path: "a", Tracks: []deliveryv1alpha1.DeliveredTrack{tc.held}}}
			if diff := cmp.Diff(tc.want, deliveryStatus(f).Sites["a"].Weight); diff != "" {
				t.Errorf("\n%s\ndeliveryStatus(...): weight: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestCanaryStatus shows the progress of a revision in a track, and the action of a user.
func TestCanaryStatus(t *testing.T) {
	ends := metav1.NewTime(now.Add(time.Minute))
	paused := func(pause string) func(*ledger.State) {
		return func(s *ledger.State) { s.Current.Plan, s.Current.Stable = canarySteps(pause), 1 }
	}
	cases := map[string]struct {
		reason string
		state  func(*ledger.State)
		report report
		want   *v1alpha1.CanaryStatus
	}{
		"NoTracks": {reason: "A revision without tracks shows nothing.", state: inPlace, report: live},
		"Return": {
			reason: "A revision without tracks that takes requests back from one shows its steps.",
			state:  func(s *ledger.State) { s.Current.Track = "" }, report: syncing,
			want: &v1alpha1.CanaryStatus{State: v1alpha1.CanaryShifting, Step: "1/2", Weight: new(int32(10))},
		},
		"Shifts": {
			reason: "A step that is not live shows no end of a pause.", state: paused("10m"), report: syncing,
			want: &v1alpha1.CanaryStatus{State: v1alpha1.CanaryShifting, Step: "1/2", Weight: new(int32(10)), Track: "green", StableRevision: 1},
		},
		"Paused": {
			reason: "A pause shows when it ends.", state: paused("10m"), report: live,
			want: &v1alpha1.CanaryStatus{State: v1alpha1.CanaryPaused, Step: "1/2", Weight: new(int32(10)), Track: "green", StableRevision: 1, Until: &ends},
		},
		"Manual": {
			reason: "A step that waits for a user shows which one to release.", state: paused(ledger.PauseManual), report: live,
			want: &v1alpha1.CanaryStatus{
				State: v1alpha1.CanaryAwaitingPromotion, Step: "1/2", Weight: new(int32(10)), Track: "green", StableRevision: 1, Promote: new(int32(1)),
			},
		},
		"Verified": {
			reason: "A verified revision has no stable one beside it.", report: live,
			state: func(s *ledger.State) { paused("")(s); s.Verdict = &ledger.Verdict{Result: ledger.VerdictVerified} },
			want:  &v1alpha1.CanaryStatus{Step: "1/2", Weight: new(int32(10)), Track: "green"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := newCanary(tc.state, tc.report)
			f.ObservedSync.Status.AtProvider.Pause = &deliveryv1alpha1.PauseObservation{EndsAt: ends}
			if diff := cmp.Diff(tc.want, canaryStatus(f)); diff != "" {
				t.Errorf("\n%s\ncanaryStatus(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestDrainingMessage says which pods wait for the end of their requests.
func TestDrainingMessage(t *testing.T) {
	cases := map[string]struct {
		reason string
		state  func(*ledger.State)
		want   string
	}{
		"Rejected": {
			reason: "The pods of a rejected revision are named.",
			state:  rejectCanary(1, ledger.StageShift), want: "The requests have left the revision, whose pods stay until these have ended.",
		},
		"Verified": {
			reason: "The pods of the revision before a verified one are named.",
			state:  func(s *ledger.State) { s.Verdict = &ledger.Verdict{Result: ledger.VerdictVerified} },
			want:   "The revision was verified, and gets all requests. The pods of the revision before it stay until their requests have ended.",
		},
		"Begins": {
			reason: "The revision is named that gets its requests back.",
			state:  func(s *ledger.State) { s.Current.Stable = 1 }, want: "Requests go back to revision 1, before the revision begins.",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, drainingMessage(newCanary(tc.state, live))); diff != "" {
				t.Errorf("\n%s\ndrainingMessage(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
