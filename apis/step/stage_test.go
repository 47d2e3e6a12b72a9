package step

import (
	"fmt"
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
func canary(step, stage int32, changes ...func(*ledger.Revision)) []ledger.Event {
	changes = append([]func(*ledger.Revision){inTrack("blue", "w2", 1), weigh}, changes...)
	out := join(goodInTrack(1, "green", "w1", 0), []ledger.Event{ordered(2, "w2", changes...)})
	if stage > 0 {
		out = append(out, stageOf(0, stage))
	}
	for n := range step {
		out = append(out, stageOf(n+1, stage))
	}
	return out
}

// gateLast gives the last step of a plan a Gate.
func gateLast(r *ledger.Revision) { r.Plan[len(r.Plan)-1].Gate = true }

// promoted releases a step and those before, or all.
func promoted(step int32, full bool) ledger.Event {
	return ledger.Event{Promoted: &ledger.Promoted{Step: step, Full: full, RequestRef: ledger.RequestReference{Name: "r", UID: "u"}}}
}

// gateReleased releases the Gate of the step, by the step behind it or with all steps.
func gateReleased(step int32, full bool) ledger.Event {
	return ledger.Event{Promoted: &ledger.Promoted{Step: step, Full: full, Gate: true, RequestRef: ledger.RequestReference{Name: "g", UID: "g"}}}
}

// tracks sets the tracks of both Sites.
func tracks(blue, green Track) func(*Input) {
	return func(in *Input) {
		in.IsRecorded = true
		for _, site := range []string{"edge1", "edge2"} {
			d := Directory{Site: site, IsChosen: true, IsKnown: true, Tree: "mixed", Revision: 2, Tracks: map[string]Track{"blue": blue, "green": green}}
			in.Directories = append(in.Directories, d)
		}
		knowTracks(true)(in)
	}
}

// knowTracks says of all directories whether their tracks are known.
func knowTracks(areKnown bool) func(*Input) {
	return func(in *Input) {
		for i := range in.Directories {
			in.Directories[i].AreTracksKnown = areKnown
		}
	}
}

// targetIsThere has both directories hold the trees of revision 1.
func targetIsThere(stable Track) func(*Input) {
	return func(in *Input) {
		tracks(Track{}, stable)(in)
		in.HasAllReported = true
		for i := range in.Directories {
			in.Directories[i].Tree, in.Directories[i].Tracks = "w1", map[string]Track{"green": stable}
		}
	}
}

// TestCannotGoBack replaces a revision in the middle of a move from pods without tracks, whose pods may never have been available.
func TestCannotGoBack(t *testing.T) {
	moved, broken := Track{Revision: 2, Weight: 100, IsProven: true}, Track{Revision: 1}
	cases := map[string]struct {
		reason      string
		blue, plain Track
		in          []func(*Input)
		want        string
		weight      int32
	}{
		"Waits": {reason: "The pods without tracks have their time to become available.", blue: moved, plain: broken, want: "stage 1", weight: -1},
		"InPlace": {
			reason: "Where they do not, the track keeps its requests, and its pods are replaced one by one.",
			blue:   moved, plain: broken, in: []func(*Input){failed}, want: "stage 3", weight: 100,
		},
		"Proven": {
			reason: "Pods that were available take the requests back, even after a failure.",
			blue:   moved, plain: Track{Revision: 1, IsProven: true}, in: []func(*Input){failed}, want: "stage 2", weight: 0,
		},
		"Shares": {
			reason: "A track that does not have all requests loses them first.",
			blue:   Track{Revision: 2, Weight: 50}, plain: Track{Revision: 1, Weight: 50}, in: []func(*Input){failed}, want: "stage 2", weight: 0,
		},
		"Rejected": {
			reason: "A rollback takes no requests to pods that were never available.",
			blue:   moved, plain: broken, in: []func(*Input){failed, func(in *Input) { in.Policy.MaxRetries = 1 }}, want: "stage 1, AttemptsSpent",
			weight: -1,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := record(t, join(good(1, "a"), []ledger.Event{ordered(2, "w2", inTrack("blue", "w2", 1), steps(0, 100)), ordered(3, "w3", inTrack("blue", "w3", 1), steps(0, 100)), stageOf(0, ledger.StageBeside)})...)
			if name == "Rejected" {
				s = record(t, join(good(1, "a"), []ledger.Event{ordered(2, "w2", inTrack("blue", "w2", 1), steps(0, 100)), rejected("GateFailed"), rolledBack(1), stageOf(0, ledger.StageBeside)})...)
			}
			d := desired("w3", func(d *Desired) {
				d.Placement, d.Request = Placement{Track: "blue", Stable: 1, HasSteps: true, IsMove: true}, s.Current.Request
				d.Workload = Workload{Digest: "w3", IsEnabled: true, HasPods: true}
			})
			beside := func(in *Input) {
				tracks(tc.blue, Track{})(in)
				for i := range in.Directories {
					in.Directories[i].Tracks = map[string]Track{"blue": tc.blue, "plain": tc.plain}
				}
			}
			in := input(d, append([]func(*Input){beside}, tc.in...)...)
			e, holds := Step(s, in)
			if e != nil {
				var err error
				if s, err = ledger.Append(s, at(99), *e); err != nil {
					t.Fatal(err)
				}
			}
			got, weight := fmt.Sprintf("stage %d", s.Cursor.Stage), int32(-1)
			if holds.Progress == HoldAttemptsSpent {
				got += ", " + string(holds.Progress)
			}
			if aim := in.AimAt(s, in.Directories[0]); aim.Serving != "" {
				weight = aim.Weight
			}
			if got != tc.want || weight != tc.weight {
				t.Errorf("\n%s\nwant %s and weight %d, got %s and %d", tc.reason, tc.want, tc.weight, got, weight)
			}
		})
	}
}

// TestStages asks which stage or step follows from the proof about tracks.
func TestStages(t *testing.T) {
	stable := Track{Revision: 1, Weight: 100, IsProven: true}
	shared, left := Track{Revision: 2, Weight: 20, IsProven: true}, Track{Revision: 2, IsIdle: true}
	off := func(in *Input) { in.Policy.AutoRollback = false }
	full, heldGate := func(in *Input) { in.Proof.IsPauseOver = true }, func(in *Input) { in.Proof.IsHeld = true }
	cases := map[string]struct {
		reason string
		events []ledger.Event
		in     []func(*Input)
		want   string
		hold   Hold
	}{
		"Begin": {
			reason: "A canary beside a stable revision alone begins with its pods.",
			events: canary(0, 0), in: []func(*Input){tracks(Track{}, stable)}, want: "Advanced",
		},
		"Draining": {
			reason: "A canary waits until the requests of the previous canary have left its track.",
			events: canary(0, 0), in: []func(*Input){tracks(shared, stable)}, want: "Advanced",
		},
		"Shifted": {
			reason: "A weight of 0 in Git alone does not end the stage.",
			events: canary(0, ledger.StageShift), in: []func(*Input){tracks(Track{Revision: 2}, stable)}, hold: HoldDraining,
		},
		"Unknown": {
			reason: "An unreported directory ends no stage.",
			events: canary(0, 0), in: []func(*Input){tracks(left, stable), knowTracks(false)}, hold: HoldDraining,
		},
		"Suspended": {
			reason: "A suspended deployment starts no pods of a canary.",
			events: canary(0, 0), in: []func(*Input){tracks(Track{}, stable), suspend}, hold: HoldSuspended,
		},
		"Failed": {
			reason: "Once nothing is left to do, a failure of the pods before does not reject the next revision.",
			events: canary(0, 0), in: []func(*Input){tracks(left, stable), failed}, want: "Advanced",
		},
		"Paused": {reason: "A step stays for its pause.", events: canary(1, ledger.StageSteps), in: []func(*Input){live, provenTrees}, hold: HoldPaused},
		"Gated":  {reason: "The end of a pause is not the end of the Gate.", events: canary(1, ledger.StageSteps), in: []func(*Input){live, full}},
		"Promoted": {
			reason: "A user who promotes a step releases its pause, and not its Gate.",
			events: append(canary(1, ledger.StageSteps), promoted(2, false)), in: []func(*Input){live},
		},
		"Full": {
			reason: "A user who promotes all steps does not release the Gate of the last one.",
			events: append(canary(2, ledger.StageSteps, gateLast), promoted(0, true)), in: []func(*Input){live},
		},
		"Held": {
			reason: "A user decides on a Gate that came to no verdict.",
			events: canary(1, ledger.StageSteps), in: []func(*Input){live, full, heldGate}, hold: HoldGateHeld,
		},
		"HeldFull": {
			reason: "A user who promotes all steps does not decide on an inconclusive Gate of the last step.",
			events: append(canary(2, ledger.StageSteps, gateLast), promoted(0, true)), in: []func(*Input){live, heldGate}, hold: HoldGateHeld,
		},
		"LeftOut": {
			reason: "A Gate that came to no verdict holds no step back that a user left out.",
			events: append(canary(1, ledger.StageSteps), promoted(0, true)), in: []func(*Input){live, heldGate}, want: "Advanced",
		},
		"Decided": {
			reason: "A user who promoted all steps decides on the Gate of the last one by its number.",
			events: append(canary(2, ledger.StageSteps, gateLast), promoted(0, true), gateReleased(3, false)),
			in:     []func(*Input){live, provenTrees, heldGate}, want: "Judged Verified",
		},
		"Watching": {
			reason: "A step whose Gate has measured enough stays for its pause, and is measured on.", hold: HoldPaused,
			events: canary(1, ledger.StageSteps), in: []func(*Input){live, func(in *Input) { in.Proof.IsWatching = true }},
		},
		"Measured": {
			reason: "A step whose pause is over stays for the verdict of its Gate.",
			events: canary(1, ledger.StageSteps), in: []func(*Input){live, full, func(in *Input) { in.Proof.IsWatching = true }},
		},
		"HeldEarly": {
			reason: "A user who released a pause before the Gate ended did not decide on the Gate.",
			events: append(canary(1, ledger.StageSteps), promoted(2, false)), in: []func(*Input){live, full, heldGate}, hold: HoldGateHeld,
		},
		"DecidedFull": {
			reason: "A user who promoted all steps decides on the Gate of the last one by promoting all steps again.", want: "Judged Verified",
			events: append(canary(2, ledger.StageSteps, gateLast), promoted(0, true), gateReleased(0, true)), in: []func(*Input){live, provenTrees, heldGate},
		},
		"DecidedNext": {
			reason: "A user who released the Gate of a step did not decide on the Gate of the next one.", hold: HoldGateHeld,
			events: append(canary(1, ledger.StageSteps, gateLast), gateReleased(2, false), stageOf(2, ledger.StageSteps)), in: []func(*Input){live, heldGate},
		},
		"Released": {
			reason: "The next step follows the pause and the Gate.",
			events: canary(1, ledger.StageSteps), in: []func(*Input){live, provenTrees, full}, want: "Advanced",
		},
		"Frozen": {
			reason: "A canary goes on with the files of the objects while the spec cannot be compiled.",
			events: canary(1, ledger.StageSteps),
			in:     []func(*Input){live, provenTrees, full, func(in *Input) { in.Desired, in.HoldsFiles = nil, true }}, want: "Advanced",
		},
		"Rejected": {
			reason: "A rejected canary loses its requests although nothing is rolled back.",
			events: append(canary(1, ledger.StageSteps), rejected("GateFailed")), in: []func(*Input){tracks(shared, stable), off},
			want: "RolledBack 1",
		},
		"Restore": {
			reason: "The pods of a rejected canary stay while nothing is rolled back.",
			events: append(canary(1, ledger.StageSteps), rejected("GateFailed"), rolledBack(1), stageOf(1, ledger.StageShift)),
			in:     []func(*Input){tracks(left, stable), off}, hold: HoldRollbackOff,
		},
		"ThereYet": {
			reason: "A rollback that began goes on to its proof, although the directories hold the target already.",
			events: append(canary(1, ledger.StageSteps), rejected("GateFailed"), rolledBack(1), stageOf(1, ledger.StageShift)),
			in:     []func(*Input){targetIsThere(stable)}, want: "Advanced",
		},
		"Drains": {
			reason: "A rollback says that it waits until the requests have left the rejected revision.",
			events: append(canary(1, ledger.StageSteps), rejected("GateFailed"), rolledBack(1), stageOf(1, ledger.StageShift)),
			in:     []func(*Input){tracks(Track{Revision: 2}, stable)}, hold: HoldDraining,
		},
		"Alone": {
			reason: "The stable track is removed once it has no requests.",
			events: append(canary(2, ledger.StageSteps), verified("b")),
			in:     []func(*Input){tracks(Track{Revision: 2, Weight: 100}, Track{Revision: 1, IsIdle: true})}, want: "Advanced",
		},
		"NoneLeft": {
			reason: "Where no other track is left, nothing is removed.",
			events: append(canary(2, ledger.StageSteps), verified("b")), in: []func(*Input){tracks(Track{Revision: 2, Weight: 100}, Track{})},
		},
		"AloneSuspended": {
			reason: "A suspended deployment keeps the stable track, also once it has no requests.", hold: HoldSuspended,
			events: append(canary(2, ledger.StageSteps), verified("b")),
			in:     []func(*Input){tracks(Track{Revision: 2, Weight: 100}, Track{Revision: 1, IsIdle: true}), suspend},
		},
		"NoneLeftSuspended": {
			reason: "A suspension holds nothing back where no other track is left.",
			events: append(canary(2, ledger.StageSteps), verified("b")), in: []func(*Input){tracks(Track{Revision: 2, Weight: 100}, Track{}), suspend},
		},
		"NotAlone": {
			reason: "The stable track stays until it was without requests for long enough.",
			events: append(canary(2, ledger.StageSteps), verified("b")),
			in:     []func(*Input){tracks(Track{Revision: 2, Weight: 100}, Track{Revision: 1})}, hold: HoldDraining,
		},
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
