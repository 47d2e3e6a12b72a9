package ledger

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// weighted is the plan of a revision that comes to edge1 and edge2 by weight, and to edge4 by weight after it. The stable revision does not serve
// edge3.
func weighted() []Step {
	return []Step{
		{Sites: []string{"edge1", "edge2"}, Weight: new(int32(0)), Ahead: new(int32(5))},
		{Weight: new(int32(5)), Ahead: new(int32(100))},
		{Sites: []string{"edge3"}, Weight: new(int32(100))},
		{Sites: []string{"edge4"}, Weight: new(int32(0))},
		{Weight: new(int32(50))},
		{Weight: new(int32(100))},
	}
}

// TestStepAt looks for the step of a plan that Sites are in.
func TestStepAt(t *testing.T) {
	plain := []Step{{Sites: []string{"edge1"}}, {Sites: []string{"edge2"}}}
	cases := map[string]struct {
		reason string
		plan   []Step
		step   int32
		site   string
		want   int32
		none   bool
	}{
		"Prepared": {reason: "The first step of a wave starts pods at its Sites.", plan: weighted(), step: 0, site: "edge2", want: 0},
		"Weight":   {reason: "A step with a weight is for the Sites that the wave began with.", plan: weighted(), step: 1, site: "edge1", want: 1},
		"NotServed": {
			reason: "A Site that the stable revision does not serve waits for the last step of its wave.",
			plan:   weighted(), step: 1, site: "edge3", none: true,
		},
		"Whole": {
			reason: "A Site that the stable revision does not serve gets the revision with the last step of its wave.",
			plan:   weighted(), step: 2, site: "edge3", want: 2,
		},
		"Stays":     {reason: "The Sites of an earlier wave stay at its last step.", plan: weighted(), step: 4, site: "edge1", want: 2},
		"NextWave":  {reason: "A later wave is not reached by earlier weights.", plan: weighted(), step: 2, site: "edge4", none: true},
		"SecondOne": {reason: "The second wave has weights of its own.", plan: weighted(), step: 4, site: "edge4", want: 4},
		"Beyond":    {reason: "A step beyond the plan is its last one.", plan: weighted(), step: 9, site: "edge4", want: 5},
		"Unknown":   {reason: "The revision never comes to a Site that no step names.", plan: weighted(), step: 5, site: "edge9", none: true},
		"Plain":     {reason: "Without weights each step is a wave.", plan: plain, step: 1, site: "edge1", want: 0},
		"PlainNext": {reason: "Without weights a later step does not come to its Sites before its turn.", plan: plain, step: 0, site: "edge2", none: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			reached, isReached := Revision{Plan: tc.plan}.StepAt(tc.step, tc.site)
			if diff := cmp.Diff(tc.want, reached); diff != "" || isReached == tc.none {
				t.Errorf("\n%s\nStepAt(%d, %s): reached %t, -want, +got:\n%s", tc.reason, tc.step, tc.site, isReached, diff)
			}
		})
	}
	if got := (Revision{Plan: weighted()}).SitesAt(2); !cmp.Equal(got, []string{"edge1", "edge2", "edge3"}) {
		t.Errorf("\nThe last step of a wave is for all of its Sites.\nSitesAt(2): got %v", got)
	}
	if (Revision{Plan: plain}).HasSteps() || !(Revision{Plan: weighted()}).HasSteps() {
		t.Error("\nA revision has steps if its plan has weights below 100.\nHasSteps(): got another answer")
	}
}

// inTrack makes an order for a revision that begins beside revision 1, with the plan of weighted.
func inTrack(o *Ordered) {
	sites := []string{"edge1", "edge2", "edge3", "edge4"}
	o.Revision.Track, o.Revision.Workload, o.Revision.Stable, o.Revision.Plan = "green", "w", 1, weighted()
	o.Revision.Parts = []Part{{Delivery: "shop", ConfigRef: "platform", Sites: sites}}
}

// follow returns a list of its own, since cases share the previous list.
func follow(previous []Event, added ...Event) []Event { return events(previous, added) }

// TestApplyTracks records events of revisions with tracks, and compares the positions.
func TestApplyTracks(t *testing.T) {
	begun := []Event{opened, order(1, "a", inTrack)}
	full := Event{Promoted: &Promoted{Full: true, RequestRef: requestReference("u1")}}
	all := []string{"edge1", "edge2", "edge3", "edge4"}
	end := events(begun, []Event{full, stage(0, StageSteps), stage(2, StageSteps), stage(3, StageSteps), stage(5, StageSteps)})
	failed := events(end, []Event{verify(all...), order(2, "b", inTrack), reject})
	cases := map[string]struct {
		reason string
		events []Event
		want   Position
		why    string
	}{
		"StagesFirst": {
			reason: "No step begins before its requests are where the revision begins from.",
			events: follow(begun, stage(1, StageClear)), why: "cannot record Advanced: step 1, stage 0 does not follow step 0, stage 0",
		},
		"Skipped": {
			reason: "A stage in which nothing is to do is left out.",
			events: follow(begun, stage(0, StageSteps)), want: Position{Epoch: 1, Revision: 1, Stage: 3},
		},
		"NextWeight": {
			reason: "The weights rise one after the other.",
			events: follow(begun, stage(0, StageSteps), stage(1, StageSteps)), want: Position{Epoch: 1, Revision: 1, Step: 1, Stage: 3},
		},
		"LeftOut": {
			reason: "No weight is left out unless a user released all of them.",
			events: follow(begun, stage(0, StageSteps), stage(2, StageSteps)),
			why:    "cannot record Advanced: step 2, stage 3 does not follow step 0, stage 3",
		},
		"Full": {
			reason: "A user who releases all steps leaves out the steps that share requests.",
			events: end, want: Position{Epoch: 1, Revision: 1, Step: 5, Stage: 3},
		},
		"FullWave": {
			reason: "A user who releases all steps leaves no wave out.",
			events: follow(begun, full, stage(0, StageSteps), stage(3, StageSteps)),
			why:    "cannot record Advanced: step 3, stage 3 does not follow step 0, stage 3",
		},
		"AloneEarly": {
			reason: "The other track stays until the verdict.",
			events: follow(end, stage(5, StageAlone)), why: "cannot record Advanced: step 5, stage 4 does not follow step 5, stage 3",
		},
		"Alone": {
			reason: "A verified revision goes on to the stage in which it is alone.",
			events: follow(end, verify(all...), stage(5, StageAlone)), want: Position{Epoch: 1, Revision: 1, Step: 5, Stage: 4},
		},
		"BadAlone": {
			reason: "A rejected revision is never alone.",
			events: follow(failed, rollBack(1), stage(0, StageAlone)),
			why:    "cannot record Advanced: step 0, stage 4 does not follow step 0, stage 0",
		},
		"Release": {
			reason: "A user releases the verdict, which a pause behind the last step holds back.",
			events: follow(end, promote(6, "u2")), want: Position{Epoch: 1, Revision: 1, Step: 5, Stage: 3},
		},
		"ReleaseNone": {
			reason: "There is nothing to release behind the verdict.",
			events: follow(begun, promote(7, "u2")), why: "cannot record Promoted: step 7 is none that can be released",
		},
		"FirstAttempt": {
			reason: "The first attempt of a rollback moves requests off the rejected revision first.",
			events: follow(end, verify(all...), order(2, "b", inTrack), stage(0, StageSteps), reject, rollBack(1)),
			want:   Position{Epoch: 1, Revision: 2, Attempt: 1, Stage: StageClear},
		},
		"NextAttempt": {
			reason: "The next attempt goes on in the stage of the last one.",
			events: follow(failed, rollBack(1), stage(0, StageShift), rollBack(1)), want: Position{Epoch: 1, Revision: 2, Attempt: 2, Stage: 2},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s, err := Append(State{}, noon, tc.events...)
			refusal := ""
			if err != nil {
				refusal = err.Error()
			}
			if diff := cmp.Diff(tc.why, refusal); diff != "" {
				t.Errorf("\n%s\nAppend(...): -want error, +got error:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.want, s.Position()); err == nil && diff != "" {
				t.Errorf("\n%s\nAppend(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestJudgeStage gives a verdict before the requests are where the revision begins from.
func TestJudgeStage(t *testing.T) {
	inStage := func(o *Ordered) {
		inTrack(o)
		o.Revision.Plan = []Step{{Sites: []string{"edge1"}}}
	}
	_, err := Append(State{}, noon, opened, order(1, "a", inStage), verify("edge1"))
	want := "cannot record Judged: a revision with tracks is verified in stage 3, and not in stage 0"
	if err == nil || err.Error() != want {
		t.Errorf("\nA revision is not verified while requests of the previous revision are moved.\nAppend(...): want %q, got %v", want, err)
	}
}

// TestRememberTrack ends a revision with tracks, and checks its entry in the history.
func TestRememberTrack(t *testing.T) {
	s, err := Append(State{}, noon, opened, order(1, "a", inTrack), reject)
	if err != nil {
		t.Fatal(err)
	}
	if p := s.History[0]; p.Track != "green" || p.Workload != "w" {
		t.Errorf("\nThe next revision is placed by the track and the workload of those before.\nHistory[0]: got %+v", p)
	}
}

// TestWeights looks at steps with and without a weight.
func TestWeights(t *testing.T) {
	cases := map[string]struct {
		reason                string
		weight                *int32
		whole, shares, begins bool
	}{
		"Plain": {reason: "A step without a weight brings the revision to its Sites at once.", whole: true, begins: true},
		"None":  {reason: "A step without any requests begins a wave, and shares nothing yet.", weight: new(int32(0)), begins: true},
		"One":   {reason: "A step with one percent of the requests shares them.", weight: new(int32(1)), shares: true},
		"Most":  {reason: "A step with all requests but one percent shares them.", weight: new(int32(99)), shares: true},
		"Whole": {reason: "A step with all requests shares nothing any more.", weight: new(int32(100)), whole: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p := Step{Weight: tc.weight}
			if got := []bool{p.IsWhole(), p.SharesRequests(), p.beginsWave()}; !cmp.Equal(got, []bool{tc.whole, tc.shares, tc.begins}) {
				t.Errorf("\n%s\nIsWhole(), SharesRequests(), beginsWave(): got %v", tc.reason, got)
			}
		})
	}
}

// TestOtherTrack goes from one track to the other and back.
func TestOtherTrack(t *testing.T) {
	if got := [2]string{OtherTrack(TrackBlue), OtherTrack(TrackGreen)}; got != [2]string{TrackGreen, TrackBlue} {
		t.Errorf("\nEach of the two tracks is the other one of the other.\nOtherTrack(...): got %v", got)
	}
}

// TestHasTracks looks at revisions in and out of tracks.
func TestHasTracks(t *testing.T) {
	cases := map[string]struct {
		reason string
		state  State
		want   bool
	}{
		"Nothing": {reason: "A ledger without a revision has no tracks."},
		"None":    {reason: "A revision of a Blueprint without tracks has none.", state: State{Current: &Revision{Plan: []Step{{Sites: []string{"edge1"}}}}}},
		"Return": {
			reason: "A revision without tracks has some while it takes requests back from one.",
			state:  State{Current: &Revision{Plan: weighted()}, Cursor: Cursor{Stage: StageSteps}}, want: true,
		},
		"Blue": {
			reason: "A revision in a track has tracks, and keeps them when it is alone.",
			state:  State{Current: &Revision{Track: TrackBlue}, Cursor: Cursor{Stage: StageAlone}}, want: true,
		},
		"Moving": {
			reason: "A revision without tracks has some while it takes the requests over.",
			state:  State{Current: &Revision{Track: TrackPlain, Plan: weighted()}, Cursor: Cursor{Stage: StageSteps}}, want: true,
		},
		"Moved": {
			reason: "A revision without tracks that is alone has none any more.",
			state:  State{Current: &Revision{Track: TrackPlain, Plan: weighted()}, Cursor: Cursor{Stage: StageAlone}},
		},
		"After": {reason: "A revision that follows one without tracks takes no steps, and has no tracks.", state: State{Current: &Revision{Track: TrackPlain}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := tc.state.HasTracks(); got != tc.want {
				t.Errorf("\n%s\nHasTracks(): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

// TestPromoted releases pauses and Gates of a plan whose second and last step have a Gate.
func TestPromoted(t *testing.T) {
	gated := func(o *Ordered) {
		inTrack(o)
		o.Revision.Plan[1].Gate, o.Revision.Plan[1].Pause, o.Revision.Plan[5].Gate = true, PauseManual, true
	}
	release := func(step int32, full, gate bool, uid string) Event {
		return Event{Promoted: &Promoted{Step: step, Full: full, Gate: gate, RequestRef: requestReference(uid)}}
	}
	atGate := []Event{opened, order(1, "a", gated), stage(0, StageSteps), stage(1, StageSteps)}
	cases := map[string]struct {
		reason string
		events []Event
		want   Cursor
		why    string
	}{
		"Pause": {
			reason: "A user who releases a pause releases no Gate.",
			events: follow(atGate, release(2, false, false, "u1")), want: Cursor{Step: 1, Stage: StageSteps, Promoted: 2},
		},
		"Gate": {
			reason: "A user who releases a Gate releases the pause behind it, too.",
			events: follow(atGate, release(2, false, true, "u1")), want: Cursor{Step: 1, Stage: StageSteps, Promoted: 2, GateReleased: 2},
		},
		"PauseBefore": {
			reason: "A Gate is released after the pause behind it was, and a later pause stays released.",
			events: follow(atGate, release(3, false, false, "u1"), release(2, false, true, "u2")),
			want:   Cursor{Step: 1, Stage: StageSteps, Promoted: 3, GateReleased: 2},
		},
		"FullTwice": {
			reason: "A user who released all steps releases a Gate by releasing all steps again.",
			events: follow(atGate, release(0, true, false, "u1"), release(0, true, true, "u2")), want: Cursor{Step: 1, Stage: StageSteps, Full: true, GateReleased: 2},
		},
		"FullAgain": {
			reason: "All steps are released once.",
			events: follow(atGate, release(0, true, false, "u1"), release(0, true, false, "u2")), why: "cannot record Promoted: all steps are released",
		},
		"GateTwice": {
			reason: "A Gate is released once.",
			events: follow(atGate, release(2, false, true, "u1"), release(0, true, true, "u2")), why: "cannot record Promoted: step 1 has no Gate that can be released",
		},
		"NoGate": {
			reason: "A step without a Gate has none to release.",
			events: follow(atGate[:3], release(1, false, true, "u1")), why: "cannot record Promoted: step 0 has no Gate that can be released",
		},
		"OtherGate": {
			reason: "The Gate of another step than the current one cannot be released.",
			events: follow(atGate, release(6, false, true, "u1")), why: "cannot record Promoted: step 6 does not follow the Gate of step 1",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s, err := Append(State{}, noon, tc.events...)
			message := ""
			if err != nil {
				message = err.Error()
			}
			if diff := cmp.Diff(tc.why, message); diff != "" {
				t.Fatalf("\n%s\nAppend(...): -want error, +got error:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.want, s.Cursor); diff != "" && tc.why == "" {
				t.Errorf("\n%s\nAppend(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestTakesBack looks at revisions beside revision 1, which has no tracks, and revision 2, which has.
func TestTakesBack(t *testing.T) {
	past := []Past{{Number: 1}, {Number: 2, Track: TrackBlue}}
	cases := map[string]struct {
		reason  string
		current *Revision
		want    bool
	}{
		"Nothing": {reason: "A ledger without a revision takes nothing back."},
		"Return":  {reason: "Steps between revisions without tracks take requests back from a track.", current: &Revision{Stable: 1, Plan: weighted()}, want: true},
		"Label":   {reason: "Steps take requests back from a track also where the pods have a label.", current: &Revision{Track: TrackPlain, Stable: 1, Plan: weighted()}, want: true},
		"InPlace": {reason: "Without steps a revision replaces the previous revision.", current: &Revision{Stable: 1, Plan: []Step{{}}}},
		"Move":    {reason: "A move from tracks takes over the requests of a verified revision.", current: &Revision{Track: TrackPlain, Stable: 2, Plan: weighted()}},
		"Tracks":  {reason: "A revision in a track takes no requests back.", current: &Revision{Track: TrackBlue, Stable: 1, Plan: weighted()}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := (State{Current: tc.current, History: past}).TakesBack(); got != tc.want {
				t.Errorf("\n%s\nTakesBack(): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

// TestPauseAfterStep reads the pause behind a step.
func TestPauseAfterStep(t *testing.T) {
	plan := []Step{{Pause: "10m"}, {Pause: PauseManual}}
	cases := map[string]struct {
		reason string
		track  string
		cursor Cursor
		want   string
	}{
		"First":  {reason: "Each step has its own pause.", want: "10m"},
		"Last":   {reason: "The pause behind the last step holds the verdict back.", cursor: Cursor{Step: 1}, want: PauseManual},
		"Beyond": {reason: "A plan has no pause behind its end.", cursor: Cursor{Step: 2}},
		"Steps":  {reason: "A revision in tracks pauses in its steps.", track: TrackBlue, cursor: Cursor{Stage: StageSteps}, want: "10m"},
		"Before": {reason: "No pause begins before the steps.", track: TrackBlue, cursor: Cursor{Stage: StageShift}},
		"Alone":  {reason: "A revision that is alone pauses no more.", track: TrackBlue, cursor: Cursor{Stage: StageAlone}},
		"Back":   {reason: "A rollback has no pause.", cursor: Cursor{Attempt: 1}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := State{Current: &Revision{Plan: plan, Track: tc.track}, Cursor: tc.cursor}
			if diff := cmp.Diff(tc.want, s.PauseAfterStep()); diff != "" {
				t.Errorf("\n%s\nPauseAfterStep(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
	if got := (State{}).PauseAfterStep(); got != "" {
		t.Errorf("PauseAfterStep(): a ledger without a revision has the pause %q", got)
	}
}

// TestFolder names the folder of a revision in a directory with tracks.
func TestFolder(t *testing.T) {
	for name, want := range map[string]string{"": TrackPlain, TrackPlain: TrackPlain, TrackGreen: TrackGreen} {
		if got := (Revision{Track: name}).Folder(); got != want {
			t.Errorf("\nA revision without tracks has the plain folder.\nFolder(): track %q: want %s, got %s", name, want, got)
		}
	}
}

// TestIsPlain names the tracks.
func TestIsPlain(t *testing.T) {
	for track, want := range map[string]bool{"": true, TrackPlain: true, TrackBlue: false, TrackGreen: false} {
		if got := IsPlain(track); got != want {
			t.Errorf("\nA revision is plain where its Blueprint has no tracks.\nIsPlain(%q): want %t, got %t", track, want, got)
		}
	}
}
