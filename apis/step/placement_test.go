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

// steps give a revision a plan of weights, at all Sites of its plan.
func steps(weights ...int32) func(*ledger.Revision) {
	return func(r *ledger.Revision) {
		if len(weights) == 0 {
			return
		}
		var sites []string
		for _, p := range r.Plan {
			sites = append(sites, p.Sites...)
		}
		r.Plan = nil
		for i, w := range weights {
			r.Plan = append(r.Plan, ledger.Step{Weight: new(w), Ahead: new(int32(100))})
			if i == 0 {
				r.Plan[0].Sites = sites
			}
		}
	}
}

// goodInTrack is a revision in a track that was verified, and is alone. It went through weights, or through the plan that revisions have here.
func goodInTrack(number int64, track, workload string, stable int64, weights ...int32) []ledger.Event {
	return []ledger.Event{
		ordered(number, workload, inTrack(track, workload, stable), steps(weights...)), stageOf(0, ledger.StageSteps),
		stageOf(1, ledger.StageSteps), verified(workload),
		stageOf(1, ledger.StageAlone),
	}
}

func stageOf(step, stage int32) ledger.Event {
	return ledger.Event{Advanced: &ledger.Advanced{Step: step, Stage: stage}}
}

// TestPlaceRevision places the next revision after previous ones.
func TestPlaceRevision(t *testing.T) {
	stable := goodInTrack(1, "green", "w1", 0)
	withdrawn := ledger.Event{Withdrawn: &ledger.Withdrawn{Target: 1, RequestRef: ledger.RequestReference{Name: "r", UID: "u"}}}
	cases := map[string]struct {
		reason string
		events []ledger.Event
		change func(*Workload)
		want   Placement
	}{
		"First": {reason: "The first revision takes the first track, without steps.", want: Placement{Track: "blue"}},
		"Serving": {
			reason: "A ledger that was lost goes on with the track that has the requests.",
			change: func(w *Workload) { w.Serving = "green" }, want: Placement{Track: "green"},
		},
		"Unproven": {
			reason: "After a revision that was never verified the next one takes its place.",
			events: []ledger.Event{ordered(1, "w1", inTrack("green", "w1", 0))}, want: Placement{Track: "green"},
		},
		"Canary": {
			reason: "A revision with other pods takes the track that is not stable.",
			events: stable, want: Placement{Track: "blue", Stable: 1, HasSteps: true},
		},
		"InFlight": {
			reason: "A revision that replaces one in flight takes the same track.",
			events: join(stable, []ledger.Event{ordered(2, "w3", inTrack("blue", "w3", 1))}),
			want:   Placement{Track: "blue", Stable: 1, HasSteps: true},
		},
		"Next": {
			reason: "The tracks alternate.",
			events: join(stable, goodInTrack(2, "blue", "w3", 1)), want: Placement{Track: "green", Stable: 2, HasSteps: true},
		},
		"TakeBack": {
			reason: "A withdrawn revision is not the stable one.",
			events: join(stable, goodInTrack(2, "blue", "w3", 1), []ledger.Event{withdrawn}),
			want:   Placement{Track: "blue", Stable: 1, HasSteps: true},
		},
		"SamePods": {
			reason: "A revision whose pods differ by their number alone has no steps.",
			events: stable, change: func(w *Workload) { w.Digest = "w1" }, want: Placement{Track: "green", Stable: 1},
		},
		"Disabled": {
			reason: "A spec that turns steps off is delivered in place.",
			events: stable, change: func(w *Workload) { w.IsEnabled = false }, want: Placement{Track: "green", Stable: 1},
		},
		"NoPods": {
			reason: "A revision without pods serves nothing, so that it has no steps.",
			events: stable, change: func(w *Workload) { w.HasPods = false }, want: Placement{Track: "green", Stable: 1},
		},
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
}

// stranded are requests that a track has since a move to tracks, while pods without tracks, to which they would go back, are not available.
func stranded(events ...ledger.Event) []ledger.Event {
	toTracks := []ledger.Event{ordered(2, "w2", inTrack("blue", "w2", 1), steps(0, 100)), stageOf(0, ledger.StageSteps), stageOf(1, ledger.StageSteps)}
	return join(good(1, "a"), toTracks, []ledger.Event{rejected("GateFailed"), rolledBack(1), stageOf(1, ledger.StageBeside)}, events)
}

// takesBack is a revision without tracks that takes stranded requests back, and has come to a step.
func takesBack(step int32) []ledger.Event {
	out := stranded(ordered(3, "w3", inTrack("", "", 1), steps(0, 100)), stageOf(0, ledger.StageSteps))
	for n := range step {
		out = append(out, stageOf(n+1, ledger.StageSteps))
	}
	return out
}

// movedBack is a revision without tracks that took the requests over from one in a track, and is alone.
func movedBack() []ledger.Event {
	return join(goodInTrack(1, "green", "w1", 0), goodInTrack(2, "plain", "w2", 1, 0, 100))
}

// TestPlacePlain places revisions of Blueprints without tracks, and their successors.
func TestPlacePlain(t *testing.T) {
	plain := Workload{IsPlain: true}
	tracks := Workload{Digest: "w2", IsEnabled: true, HasPods: true}
	cases := map[string]struct {
		reason   string
		events   []ledger.Event
		workload Workload
		want     Placement
		err      string
	}{
		"Ever":  {reason: "Without tracks a revision has none.", events: good(1, "a"), workload: plain},
		"First": {reason: "A first revision without tracks has none.", workload: plain},
		"ToTracks": {
			reason: "A revision in tracks begins beside one without.",
			events: good(1, "a"), workload: tracks, want: Placement{Track: "blue", Stable: 1, HasSteps: true, IsMove: true},
		},
		"Disabled": {
			reason: "No spec turns the steps of a move off.",
			events: good(1, "a"), workload: Workload{Digest: "w2"}, want: Placement{Track: "blue", Stable: 1, HasSteps: true, IsMove: true},
		},
		"Back": {
			reason: "A revision without tracks begins beside one in a track.",
			events: goodInTrack(1, "green", "w1", 0), workload: plain, want: Placement{Track: "plain", Stable: 1, HasSteps: true, IsMove: true},
		},
		"Labelled": {reason: "Pods that have a label keep it.", events: movedBack(), workload: plain, want: Placement{Track: "plain"}},
		"Again": {
			reason: "A deployment moves into tracks again.",
			events: movedBack(), workload: tracks, want: Placement{Track: "blue", Stable: 2, HasSteps: true, IsMove: true},
		},
		"TakesBack": {
			reason: "A revision without tracks takes requests back from a track of which nothing was verified, and has no label where the " +
				"previous pods have none.",
			events:   stranded(),
			workload: Workload{IsPlain: true, Serving: "blue"}, want: Placement{Stable: 1, HasSteps: true, IsMove: true},
		},
		"TookBack": {
			reason: "A successor of a revision that took requests back has no label either.",
			events: join(takesBack(1), []ledger.Event{verified("b"), stageOf(1, ledger.StageAlone)}), workload: plain,
		},
		"Unproven": {
			reason: "Beside a track of which nothing was verified no pods are known to serve meanwhile.",
			events: []ledger.Event{ordered(1, "w1", inTrack("green", "w1", 0))}, workload: plain,
			err: "revision 1 is in tracks and was not verified: a deployment moves to a Blueprint without spec.canary from a verified revision only",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := PlaceRevision(record(t, tc.events...), tc.workload)
			message := ""
			if err != nil {
				message = err.Error()
			}
			if diff := cmp.Diff([]any{tc.want, tc.err}, []any{got, message}); diff != "" {
				t.Errorf("\n%s\nPlaceRevision(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestAwaitFirstVerdict asks for a revision in tracks after one without.
func TestAwaitFirstVerdict(t *testing.T) {
	blue := Placement{Track: "blue"}
	cases := map[string]struct {
		reason string
		events []ledger.Event
		place  Placement
		want   bool
	}{
		"Serves": {
			reason: "Pods that may serve and were not judged keep the requests until they are.",
			events: []ledger.Event{ordered(1, "w1"), advanced(1)}, place: blue, want: true,
		},
		"Plain":    {reason: "A revision without tracks replaces another one in place.", events: []ledger.Event{ordered(1, "w1"), advanced(1)}},
		"Nothing":  {reason: "A first revision waits for none.", place: blue},
		"Rejected": {reason: "Pods that were rejected are worth no waiting.", events: []ledger.Event{ordered(1, "w1"), rejected("GateFailed")}, place: blue},
		"Beside": {
			reason: "A revision that begins beside a verified one takes no requests at once.",
			events: good(1, "a"), place: Placement{Track: "blue", Stable: 1},
		},
		"Tracks": {
			reason: "A revision that replaces one in a track in flight does not wait for its verdict.",
			events: []ledger.Event{ordered(1, "w1", inTrack("blue", "w1", 0))}, place: blue,
		},
		"Waves": {reason: "A plan that goes on at other Sites would never be judged without its files.", events: []ledger.Event{ordered(1, "w1")}, place: blue},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := (Desired{Placement: tc.place}).awaitsFirstVerdict(record(t, tc.events...)); got != tc.want {
				t.Errorf("\n%s\nawaitsFirstVerdict(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

// TestAwaitEmptyTracks asks for a revision without tracks, in the place of another one, while a directory has a track too.
func TestAwaitEmptyTracks(t *testing.T) {
	toTracks := join(good(1, "a"), []ledger.Event{ordered(2, "w2", inTrack("blue", "w2", 1), steps(0, 100)), stageOf(0, ledger.StageSteps)})
	verifiedBack := movedBack()
	verifiedBack = verifiedBack[:len(verifiedBack)-1]
	cases := map[string]struct {
		reason string
		events []ledger.Event
		blue   Track
		known  bool
		want   bool
	}{
		"Idle":    {reason: "Pods that serve nothing are replaced at once.", events: toTracks, blue: Track{Revision: 2, IsIdle: true}, known: true},
		"Serves":  {reason: "Pods that may get requests are not removed in place.", events: toTracks, blue: Track{Revision: 2, Weight: 100}, known: true, want: true},
		"Unknown": {reason: "A directory that is not known may have a track.", events: toTracks, want: true},
		"NotAlone": {
			reason: "A revision that took the requests over has to be alone before the next one, so that its tree can be restored.", events: verifiedBack,
			blue: Track{Revision: 1, IsIdle: true}, known: true, want: true,
		},
		"Alone": {reason: "A revision without tracks that is alone is replaced in place.", events: movedBack(), known: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := record(t, tc.events...)
			w := Workload{IsPlain: true}
			placement, err := PlaceRevision(s, w)
			if err != nil {
				t.Fatal(err)
			}
			in := input(desired("b", func(d *Desired) { d.Workload, d.Placement = w, placement }))
			in.IsRecorded = true
			in.Directories = []Directory{{Site: "edge1", IsKnown: true, Tracks: map[string]Track{"blue": tc.blue, "plain": {Revision: 1, Weight: 100}}}}
			knowTracks(tc.known)(&in)
			if got := in.awaitsPlacement(s); got != tc.want {
				t.Errorf("\n%s\nawaitsPlacement(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

// TestAwaitReturn asks for a revision without tracks while a track has the requests that pods without tracks had before.
func TestAwaitReturn(t *testing.T) {
	moved, broken := Track{Revision: 2, Weight: 100, IsProven: true}, Track{Revision: 1}
	inFlight := join(good(1, "a"), []ledger.Event{ordered(2, "w2", inTrack("blue", "w2", 1), steps(0, 100)), stageOf(0, ledger.StageSteps)})
	cases := map[string]struct {
		reason      string
		events      []ledger.Event
		blue, plain Track
		in          func(*Input)
		want        bool
	}{
		"Stranded": {reason: "Requests that cannot go back are taken back by the next revision.", events: stranded(), blue: moved, plain: broken, in: failed},
		"Attempt":  {reason: "A rollback may still find pods to go back to.", events: stranded(), blue: moved, plain: broken, in: func(*Input) {}, want: true},
		"Proven": {
			reason: "Requests go back to pods that are available.",
			events: stranded(), blue: moved, plain: Track{Revision: 1, IsProven: true}, in: failed, want: true,
		},
		"Unknown": {
			reason: "A directory that no repository reports may have given the requests back.",
			events: stranded(), blue: moved, plain: broken, in: func(in *Input) { failed(in); knowTracks(false)(in) }, want: true,
		},
		"Steps": {reason: "A move that goes on comes to its verdict first.", events: inFlight, blue: moved, plain: broken, in: failed, want: true},
		"Replaced": {
			reason: "A revision that takes requests back is replaced at once.",
			events: takesBack(0), blue: moved, plain: Track{Revision: 3}, in: func(*Input) {},
		},
		"Rejected": {
			reason: "The rollback of a revision that takes requests back finds out whether they can go back.",
			events: join(takesBack(0), []ledger.Event{rejected("SyncTimedOut"), rolledBack(1)}), blue: moved, plain: Track{Revision: 3},
			in: func(*Input) {}, want: true,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := record(t, tc.events...)
			w := Workload{IsPlain: true, Serving: "blue"}
			placement, err := PlaceRevision(s, w)
			if err != nil {
				t.Fatal(err)
			}
			in := input(desired("c", func(d *Desired) { d.Workload, d.Placement = w, placement }), tracks(Track{}, Track{}))
			for i := range in.Directories {
				in.Directories[i].Tracks = map[string]Track{"blue": tc.blue, "plain": tc.plain}
			}
			if tc.in(&in); in.awaitsPlacement(s) != tc.want {
				t.Errorf("\n%s\nawaitsPlacement(...): want %t, got %t", tc.reason, tc.want, !tc.want)
			}
		})
	}
}

// TestRetryAwaitsEmptyTracks asks for a verified revision without tracks again, before the track that had the requests is gone.
func TestRetryAwaitsEmptyTracks(t *testing.T) {
	events := movedBack()
	s := record(t, events[:len(events)-1]...)
	placement, err := PlaceRevision(s, Workload{IsPlain: true})
	if err != nil {
		t.Fatal(err)
	}
	d := &Desired{Request: s.Current.Request, Workload: Workload{IsPlain: true}, Placement: placement}
	in := input(d, asks(ask(ActionRetry, 2)), func(in *Input) { in.IsRecorded = true })
	in.Directories = []Directory{{Site: "edge1", IsKnown: true, Tracks: map[string]Track{"green": {Revision: 1}, "plain": {Revision: 2, Weight: 100}}}}
	knowTracks(true)(&in)
	if e, _ := Step(s, in); e != nil {
		t.Errorf("\nA retry does not remove pods that may get requests.\nStep(...): got %s", event(e))
	}
}

// TestMoveBeginsAgain changes the catalog while a deployment moves: the files for the Sites are in no object.
func TestMoveBeginsAgain(t *testing.T) {
	events := join(goodInTrack(1, "green", "w1", 0), []ledger.Event{ordered(2, "w2", inTrack("plain", "w2", 1), steps(0, 100)), stageOf(0, ledger.StageSteps)})
	s := record(t, events...)
	d := &Desired{Request: s.Current.Request, Workload: Workload{IsPlain: true}, Placement: Placement{Track: "plain", Stable: 1, HasSteps: true, IsMove: true}}
	d.Request.Sources = "another catalog"
	for holdsFiles, want := range map[bool]Hold{true: HoldVerdictWaits, false: HoldNone} {
		e, holds := Step(s, input(d, func(in *Input) { in.IsRecorded, in.HoldsFiles = true, holdsFiles }))
		if holds.Start != want || (e == nil) != holdsFiles {
			t.Errorf("\nA revision that cannot go on gives way to the next one, and no other does.\nStep(...): holds files: %t: want %q, got %q and %s", holdsFiles, want, holds.Start, event(e))
		}
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
		"Right": {reason: "A revision that was rendered for its track begins.", placed: right, recorded: true},
		"Other": {
			reason: "A revision that was rendered for the stable track is rendered again first.",
			placed: Placement{Track: "green"}, recorded: true, want: HoldVerdictWaits,
		},
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

// TestAwaitsEmptyTracks asks for a revision without tracks that takes no steps, after a revision in a track and after a successor that took the requests over from there.
func TestAwaitsEmptyTracks(t *testing.T) {
	alone := map[string]Track{"blue": {Revision: 2, Weight: 100}}
	inPlain := ledger.State{Current: &ledger.Revision{Number: 3, Track: "plain", Plan: []ledger.Step{{Weight: new(int32(0))}, {}}}}
	inBlue := ledger.State{Current: &ledger.Revision{Number: 2, Track: "blue"}}
	verifiedState := func(s ledger.State) ledger.State {
		s.Verdict = &ledger.Verdict{Result: ledger.VerdictVerified}
		return s
	}
	cases := map[string]struct {
		reason string
		state  ledger.State
		place  Placement
		tracks map[string]Track
		hidden bool
		want   bool
	}{
		"Empty":  {reason: "A track whose pods are gone keeps nothing waiting.", state: inPlain, tracks: map[string]Track{"plain": {Revision: 3, Weight: 100}}},
		"Serves": {reason: "A track that may get requests is not removed.", state: inPlain, tracks: alone, want: true},
		"Idle": {
			reason: "A track without requests for long enough may be removed.",
			state:  inPlain, tracks: map[string]Track{"blue": {Revision: 2, IsIdle: true}},
		},
		"Unknown":  {reason: "An unreported track may get requests.", state: inPlain, hidden: true, want: true},
		"NotAlone": {reason: "A verified revision that took requests over from a track is alone first.", state: verifiedState(inPlain), want: true},
		"Verified": {reason: "A verified revision in a track whose pods are gone keeps nothing waiting.", state: verifiedState(inBlue)},
		"Steps": {
			reason: "A revision that takes the requests over in steps waits for no track.",
			state:  inBlue, place: Placement{Track: "plain", Stable: 2, HasSteps: true}, tracks: alone,
		},
		"InTrack":  {reason: "A revision in a track waits for no other one.", state: inBlue, place: Placement{Track: "green"}, tracks: alone},
		"NoTracks": {reason: "A deployment without tracks waits for none.", state: ledger.State{Current: &ledger.Revision{Number: 1}}, hidden: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			in := Input{Desired: &Desired{Placement: tc.place}, Directories: []Directory{{Site: "edge1", Tracks: tc.tracks, AreTracksKnown: !tc.hidden}}}
			if got := in.awaitsEmptyTracks(tc.state); got != tc.want {
				t.Errorf("\n%s\nawaitsEmptyTracks(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

// TestIsEditedBack edits a move to tracks, between the waves of edge1 and edge2, back to a Blueprint without tracks.
func TestIsEditedBack(t *testing.T) {
	waves := func(r *ledger.Revision) {
		r.Plan = []ledger.Step{{Sites: []string{"edge1"}, Weight: new(int32(0))}, {Weight: new(int32(100))}, {Sites: []string{"edge2"}, Weight: new(int32(0))}, {Weight: new(int32(100))}}
	}
	toTracks := join(good(1, "a"), []ledger.Event{ordered(2, "w2", inTrack("blue", "w2", 1), waves), stageOf(0, ledger.StageSteps), stageOf(1, ledger.StageSteps)})
	back := join(goodInTrack(1, "blue", "w1", 0), []ledger.Event{ordered(2, "w2", inTrack("plain", "", 1), waves), stageOf(0, ledger.StageSteps), stageOf(1, ledger.StageSteps)})
	cases := map[string]struct {
		reason string
		events []ledger.Event
		change func(*Input)
		want   bool
	}{
		"Waves": {reason: "A move whose later Sites get nothing any more is given up.", events: toTracks, want: true},
		"LastStep": {
			reason: "A move that reached all Sites comes to its verdict.",
			events: join(toTracks, []ledger.Event{stageOf(2, ledger.StageSteps), stageOf(3, ledger.StageSteps)}),
		},
		"Held": {
			reason: "A user who edits a move back need not decide on its Gate.",
			events: join(toTracks, []ledger.Event{stageOf(2, ledger.StageSteps), stageOf(3, ledger.StageSteps)}),
			change: func(in *Input) { in.Proof.IsHeld = true }, want: true,
		},
		"Before": {reason: "A move that has not begun its steps goes back by itself.", events: toTracks[:len(toTracks)-2]},
		"Back":   {reason: "A move back to a Blueprint without tracks is the request of the spec.", events: back},
		"Canary": {
			reason: "A canary is not a move.",
			events: join(
				goodInTrack(1, "blue", "w1", 0), []ledger.Event{ordered(2, "w2", inTrack("green", "w2", 1), waves), stageOf(0, ledger.StageSteps)},
			),
		},
		"Edited": {
			reason: "An edit that stays in tracks begins the next move.",
			events: toTracks, change: func(in *Input) { in.Desired.Placement = Placement{Track: "blue", Stable: 1, HasSteps: true} },
		},
		"Unchanged": {reason: "A move that the spec asks for goes on.", events: toTracks, change: func(in *Input) { in.Desired.Request.Intent = "w2" }},
		"Suspended": {reason: "A suspended deployment begins nothing, and gives up nothing for it.", events: toTracks, change: suspend},
		"Unknown":   {reason: "An unreported directory may still have no requests to move.", events: toTracks, change: knowTracks(false)},
		"Frozen":    {reason: "A spec that cannot be compiled asks for nothing.", events: toTracks, change: func(in *Input) { in.Desired = nil }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			in := input(desired("c", func(d *Desired) { d.Workload.IsPlain = true }), tracks(Track{Revision: 2, Weight: 100}, Track{}))
			if tc.change != nil {
				tc.change(&in)
			}
			if got := in.isEditedBack(record(t, tc.events...)); got != tc.want {
				t.Errorf("\n%s\nisEditedBack(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}
