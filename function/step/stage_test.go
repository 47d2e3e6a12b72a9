package step

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/ledger"
)

// weigh gives a revision steps of 0, 20 and 100 percent at both Sites, of which the second has a Gate.
func weigh(r *ledger.Revision) {
	r.Plan = []ledger.Step{
		{Sites: []string{"edge1", "edge2"}, Weight: new(int32(0)), Ahead: new(int32(20))},
		{Weight: new(int32(20)), Ahead: new(int32(100)), Gate: true, Pause: "10s"},
		{Weight: new(int32(100))},
	}
}

// canary is a revision with steps in the blue track, beside revision 1 in the green one, that has come to a step and a stage.
func canary(step, stage int32) []ledger.Event {
	out := join(goodInTrack(1, "green", "w1", 0), []ledger.Event{ordered(2, "w2", inTrack("blue", "w2", 1), weigh)})
	if stage > 0 {
		out = append(out, stageOf(0, stage))
	}
	for n := range step {
		out = append(out, stageOf(n+1, stage))
	}
	return out
}

// tracks are what both Sites have of each track.
func tracks(blue, green Track) func(*Input) {
	return func(in *Input) {
		in.AreTracksKnown, in.IsRecorded = true, true
		for _, site := range []string{"edge1", "edge2"} {
			d := Directory{Site: site, IsChosen: true, IsKnown: true, Tree: "mixed", Revision: 2, Tracks: map[string]Track{"blue": blue, "green": green}}
			in.Directories = append(in.Directories, d)
		}
	}
}

// TestStages asks which stage or step follows from what is proven of tracks.
func TestStages(t *testing.T) {
	stable := Track{Revision: 1, Weight: 100, IsProven: true}
	shared, left := Track{Revision: 2, Weight: 20, IsProven: true}, Track{Revision: 2, IsIdle: true}
	off := func(in *Input) { in.Policy.AutoRollback = false }
	full := func(in *Input) { in.Proof.IsReleased = true }
	cases := map[string]struct {
		reason string
		events []ledger.Event
		in     []func(*Input)
		want   string
		hold   Hold
	}{
		"Begin":     {reason: "A canary beside a stable revision alone begins with its pods.", events: canary(0, 0), in: []func(*Input){tracks(Track{}, stable)}, want: "Advanced"},
		"Draining":  {reason: "A canary waits until the requests of the one before have left its track.", events: canary(0, 0), in: []func(*Input){tracks(shared, stable)}, want: "Advanced"},
		"Shifted":   {reason: "That Git gives a track no requests does not end the stage.", events: canary(0, ledger.StageShift), in: []func(*Input){tracks(Track{Revision: 2}, stable)}, hold: HoldDraining},
		"Unknown":   {reason: "What no repository reported ends no stage.", events: canary(0, 0), in: []func(*Input){tracks(left, stable), func(in *Input) { in.AreTracksKnown = false }}, hold: HoldDraining},
		"Suspended": {reason: "A suspended deployment starts no pods of a canary.", events: canary(0, 0), in: []func(*Input){tracks(Track{}, stable), suspend}, hold: HoldSuspended},
		"Failed":    {reason: "Once nothing is left to do, a failure of the pods before does not reject the next revision.", events: canary(0, 0), in: []func(*Input){tracks(left, stable), failed}, want: "Advanced"},
		"Paused":    {reason: "A step stays for its pause.", events: canary(1, ledger.StageSteps), in: []func(*Input){live, provenTrees}, hold: HoldPaused},
		"Gated":     {reason: "The end of a pause is not the end of the Gate.", events: canary(1, ledger.StageSteps), in: []func(*Input){live, full}},
		"Held":      {reason: "A user decides on a Gate that came to no verdict.", events: canary(1, ledger.StageSteps), in: []func(*Input){live, full, func(in *Input) { in.Proof.IsHeld = true }}, hold: HoldGate},
		"Released":  {reason: "The next step follows the pause and the Gate.", events: canary(1, ledger.StageSteps), in: []func(*Input){live, provenTrees, full}, want: "Advanced"},
		"Frozen":    {reason: "A canary goes on with the files of the objects while the spec cannot be compiled.", events: canary(1, ledger.StageSteps), in: []func(*Input){live, provenTrees, full, func(in *Input) { in.Desired, in.HoldsFiles = nil, true }}, want: "Advanced"},
		"Rejected":  {reason: "A rejected canary loses its requests although nothing is rolled back.", events: append(canary(1, ledger.StageSteps), rejected("GateFailed")), in: []func(*Input){tracks(shared, stable), off}, want: "RolledBack 1"},
		"Restore":   {reason: "The pods of a rejected canary stay while nothing is rolled back.", events: append(canary(1, ledger.StageSteps), rejected("GateFailed"), rolledBack(1), stageOf(1, ledger.StageShift)), in: []func(*Input){tracks(left, stable), off}, hold: HoldRollbackOff},
		"Alone":     {reason: "The stable track is removed once it has no requests.", events: append(canary(2, ledger.StageSteps), verified("b")), in: []func(*Input){tracks(Track{Revision: 2, Weight: 100}, Track{Revision: 1, IsIdle: true})}, want: "Advanced"},
		"NotAlone":  {reason: "The stable track stays until it was without requests for long enough.", events: append(canary(2, ledger.StageSteps), verified("b")), in: []func(*Input){tracks(Track{Revision: 2, Weight: 100}, Track{Revision: 1})}, hold: HoldDraining},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := record(t, tc.events...)
			d := desired("w2", func(d *Desired) {
				d.Workload = Workload{Digest: "w2", IsEnabled: true, HasPods: true}
				d.Placement = Placement{Track: "blue", Stable: 1, HasSteps: true}
				d.Request = s.Current.Request
			})
			e, holds := Step(s, input(d, append([]func(*Input){func(in *Input) { in.IsRecorded = true }}, tc.in...)...))
			got := ""
			if e != nil {
				got = event(e)
			}
			if diff := cmp.Diff([]string{tc.want, string(tc.hold)}, []string{got, string(holds.Progress)}); diff != "" {
				t.Errorf("\n%s\nStep(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
