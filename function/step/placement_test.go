package step

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/ledger"
)

// inTrack puts a revision into a track, with a workload of its own.
func inTrack(track, workload string, stable int64) func(*ledger.Revision) {
	return func(r *ledger.Revision) { r.Track, r.Workload, r.Stable = track, workload, stable }
}

// goodInTrack is a revision in a track that was verified, and is alone.
func goodInTrack(number int64, track, workload string, stable int64) []ledger.Event {
	return []ledger.Event{
		ordered(number, workload, inTrack(track, workload, stable)), stageOf(0, ledger.StageSteps), stageOf(1, ledger.StageSteps), verified(workload),
		stageOf(1, ledger.StageAlone),
	}
}

func stageOf(step, stage int32) ledger.Event {
	return ledger.Event{Advanced: &ledger.Advanced{Step: step, Stage: stage}}
}

// TestPlaceRevision places the next revision after what ran before.
func TestPlaceRevision(t *testing.T) {
	stable := goodInTrack(1, "green", "w1", 0)
	withdrawn := ledger.Event{Withdrawn: &ledger.Withdrawn{Target: 1, RequestRef: ledger.RequestReference{Name: "r", UID: "u"}}}
	cases := map[string]struct {
		reason string
		events []ledger.Event
		change func(*Workload)
		want   Placement
	}{
		"First":    {reason: "The first revision takes the first track, without steps.", want: Placement{Track: "blue"}},
		"Serving":  {reason: "A ledger that was lost goes on with the track that has the requests.", change: func(w *Workload) { w.Serving = "green" }, want: Placement{Track: "green"}},
		"Unproven": {reason: "After a revision that was never verified the next one takes its place.", events: []ledger.Event{ordered(1, "w1", inTrack("green", "w1", 0))}, want: Placement{Track: "green"}},
		"Canary":   {reason: "A revision with other pods takes the track that is not stable.", events: stable, want: Placement{Track: "blue", Stable: 1, HasSteps: true}},
		"InFlight": {reason: "A revision that replaces one in flight takes the same track.", events: join(stable, []ledger.Event{ordered(2, "w3", inTrack("blue", "w3", 1))}), want: Placement{Track: "blue", Stable: 1, HasSteps: true}},
		"Next":     {reason: "The tracks alternate.", events: join(stable, goodInTrack(2, "blue", "w3", 1)), want: Placement{Track: "green", Stable: 2, HasSteps: true}},
		"TakeBack": {reason: "A withdrawn revision is not the stable one.", events: join(stable, goodInTrack(2, "blue", "w3", 1), []ledger.Event{withdrawn}), want: Placement{Track: "blue", Stable: 1, HasSteps: true}},
		"SamePods": {reason: "A revision whose pods differ by their number alone has no steps.", events: stable, change: func(w *Workload) { w.Digest = "w1" }, want: Placement{Track: "green", Stable: 1}},
		"Disabled": {reason: "A spec that turns steps off is delivered in place.", events: stable, change: func(w *Workload) { w.IsEnabled = false }, want: Placement{Track: "green", Stable: 1}},
		"NoPods":   {reason: "A revision without pods serves nothing, so that it has no steps.", events: stable, change: func(w *Workload) { w.HasPods = false }, want: Placement{Track: "green", Stable: 1}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := Workload{Digest: "w2", IsEnabled: true, HasPods: true}
			if tc.change != nil {
				tc.change(&w)
			}
			got, err := PlaceRevision(record(t, tc.events...), w)
			if diff := cmp.Diff(tc.want, got); diff != "" || err != nil {
				t.Errorf("\n%s\nPlaceRevision(...): error %v, -want, +got:\n%s", tc.reason, err, diff)
			}
		})
	}
	if _, err := PlaceRevision(record(t, good(1, "a")...), Workload{Digest: "w"}); err == nil {
		t.Error("\nA deployment does not move into tracks yet.\nPlaceRevision(...): got no error")
	}
}

// TestAwaitPlacement asks for a revision whose trees were rendered for another track than it has to take.
func TestAwaitPlacement(t *testing.T) {
	s := record(t, goodInTrack(1, "green", "w1", 0)...)
	place := func(p Placement) *Desired {
		return desired("b", func(d *Desired) { d.Workload, d.Placement = Workload{Digest: "w2", IsEnabled: true, HasPods: true}, p })
	}
	right := Placement{Track: "blue", Stable: 1, HasSteps: true}
	cases := map[string]struct {
		reason   string
		placed   Placement
		recorded bool
		want     Hold
	}{
		"Right":    {reason: "A revision that was rendered for its track begins.", placed: right, recorded: true},
		"Other":    {reason: "A revision that was rendered for the stable track is rendered again first.", placed: Placement{Track: "green"}, recorded: true, want: HoldVerdictWaits},
		"Proposed": {reason: "The next revision waits until the verdict is recorded.", placed: right, want: HoldVerdictWaits},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			e, holds := Step(s, input(place(tc.placed), func(in *Input) { in.IsRecorded = tc.recorded }))
			if holds.Start != tc.want || (e == nil) != (tc.want != HoldNone) {
				t.Errorf("\n%s\nStep(...): want %q, got %q and %v", tc.reason, tc.want, holds.Start, e)
			}
		})
	}
}
