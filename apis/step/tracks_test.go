package step

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/ledger"
)

// TestAimAt asks for the aim of the directory of Site edge1.
func TestAimAt(t *testing.T) {
	stable := Track{Revision: 1, Weight: 100, IsProven: true}
	requested := append(canary(1, ledger.StageSteps), rejected("GateFailed"), rolledBack(1))
	full := ledger.Event{Promoted: &ledger.Promoted{Full: true, RequestRef: ledger.RequestReference{Name: "r", UID: "u"}}}
	inPlace := []ledger.Event{ordered(2, "w1", inTrack("green", "w1", 1))}
	cases := map[string]struct {
		reason      string
		events      []ledger.Event
		blue, green Track
		isUnknown   bool
		want        Aim
	}{
		"Prepare": {
			reason: "The pods of a canary start without requests.",
			events: canary(0, ledger.StageSteps), green: stable,
			want: Aim{Put: map[string]int64{"blue": 2, "green": 1}, Serving: "green", Ahead: new(int32(20))},
		},
		"Weight": {
			reason: "A step gives the canary its share, and the pods of the next one.",
			events: canary(1, ledger.StageSteps), green: stable,
			want: Aim{Put: map[string]int64{"blue": 2, "green": 1}, Serving: "green", Weight: 20, Ahead: new(int32(100))},
		},
		"Full": {
			reason: "A user who releases all steps gets all pods before any further request.",
			events: append(canary(0, ledger.StageSteps), full), green: stable,
			want: Aim{Put: map[string]int64{"blue": 2, "green": 1}, Serving: "green", Ahead: new(int32(100))},
		},
		"Shift": {
			reason: "A rejected canary loses its requests, and no pods.",
			events: requested, blue: Track{Revision: 2, Weight: 20}, green: Track{Revision: 1, Weight: 80}, want: Aim{Serving: "green"},
		},
		"Unproven": {reason: "A directory that is not known stays as it is before the steps.", events: requested, isUnknown: true, want: Aim{Keeps: true}},
		"Restore": {
			reason: "The rollback ends with the trees of the target.",
			events: append(requested, stageOf(1, ledger.StageSteps)), green: stable, want: Aim{Restores: true},
		},
		"Alone": {
			reason: "A verified canary becomes alone with the pods that were judged.",
			events: append(canary(2, ledger.StageSteps), verified("b"), stageOf(2, ledger.StageAlone)), isUnknown: true,
			want: Aim{Put: map[string]int64{"blue": 2}, Serving: "blue", IsAlone: true},
		},
		"InPlace": {
			reason: "A revision without steps replaces the stable one in its track.",
			events: join(goodInTrack(1, "green", "w1", 0), inPlace, []ledger.Event{stageOf(0, ledger.StageSteps)}), green: stable,
			want: Aim{Put: map[string]int64{"green": 2}, Serving: "green"},
		},
		"Straight": {
			reason: "Nothing is moved out of the way of a revision that replaces the present trees at once.",
			events: join(goodInTrack(1, "green", "w1", 0), inPlace), blue: Track{Revision: 1, IsIdle: true}, green: Track{Revision: 9, Weight: 100},
			want: Aim{Keeps: true},
		},
		"Reported": {
			reason: "A track that may be left is not removed before it is known.",
			events: join(goodInTrack(1, "green", "w1", 0), inPlace, []ledger.Event{stageOf(0, ledger.StageSteps)}), isUnknown: true,
			want: Aim{IsUnknown: true},
		},
		"Beside": {
			reason: "The pods to go on from are brought back without any request.",
			events: canary(0, ledger.StageBeside), blue: Track{Revision: 9, Weight: 100}, green: Track{Revision: 1},
			want: Aim{Put: map[string]int64{"green": 1}},
		},
		"Clear": {
			reason: "A track that has to change loses its requests to verified pods first.",
			events: canary(0, ledger.StageClear), blue: Track{Revision: 1}, green: Track{Revision: 9, Weight: 20}, want: Aim{Serving: "blue"},
		},
		"Dropped": {
			reason: "Of two tracks the older revision was verified, also where the history has dropped it.",
			events: canary(0, ledger.StageClear), blue: Track{Revision: 7, Weight: 80}, green: Track{Revision: 9, Weight: 20},
			want: Aim{Serving: "blue"},
		},
		"Newer": {
			reason: "Of two tracks the newer revision need not have been verified.",
			events: canary(0, ledger.StageClear), blue: Track{Revision: 9, Weight: 20}, green: Track{Revision: 7, Weight: 80},
			want: Aim{Serving: "green"},
		},
		"Ending": {
			reason: "A track that has lost its requests gets none while they end, even if the other track has an unknown revision.",
			events: canary(0, ledger.StageClear), blue: Track{Revision: 2, Weight: 100}, green: Track{Revision: 9}, want: Aim{Keeps: true},
		},
		"NoOther": {
			reason: "Where no verified pods can take over, the other track loses its requests first.",
			events: canary(0, ledger.StageClear), blue: Track{Revision: 2, Weight: 20}, green: Track{Revision: 9, Weight: 80},
			want: Aim{Serving: "green"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := record(t, tc.events...)
			in := input(nil, tracks(tc.blue, tc.green), knowTracks(!tc.isUnknown))
			if diff := cmp.Diff(tc.want, in.AimAt(s, in.Directories[0])); diff != "" {
				t.Errorf("\n%s\nAimAt(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestAimOfReturn asks for the aim of a directory while a revision without tracks takes requests back from a track.
func TestAimOfReturn(t *testing.T) {
	cases := map[string]struct {
		reason      string
		step        int32
		blue, plain Track
		isUnknown   bool
		want        Aim
	}{
		"Prepare": {
			reason: "The pods without tracks start beside the track, which keeps the requests.",
			blue:   Track{Revision: 2, Weight: 100}, plain: Track{Revision: 1},
			want: Aim{Put: map[string]int64{"blue": 2, "plain": 3}, Serving: "blue", Ahead: new(int32(100))},
		},
		"Weight": {
			reason: "The folder without tracks gets all requests in the next step.",
			step:   1, blue: Track{Revision: 2, Weight: 100}, plain: Track{Revision: 3},
			want: Aim{Put: map[string]int64{"blue": 2, "plain": 3}, Serving: "blue", Weight: 100, Ahead: new(int32(100))},
		},
		"Weighed": {
			reason: "The track stays beside it without requests until the verdict.",
			step:   1, blue: Track{Revision: 2}, plain: Track{Revision: 3, Weight: 100},
			want: Aim{Put: map[string]int64{"blue": 2, "plain": 3}, Serving: "blue", Weight: 100, Ahead: new(int32(100))},
		},
		"Kept": {
			reason: "Pods without tracks that kept the requests are replaced where they are.",
			plain:  Track{Revision: 1, Weight: 100}, want: Aim{Put: map[string]int64{"plain": 3}, Serving: "plain", IsAlone: true},
		},
		"GoneBack": {
			reason: "Pods without tracks that got their requests back are replaced where they are, and the track goes.",
			blue:   Track{Revision: 2, IsIdle: true}, plain: Track{Revision: 1, Weight: 100},
			want: Aim{Put: map[string]int64{"plain": 3}, Serving: "plain", IsAlone: true},
		},
		"Unknown": {
			reason: "The repository has to say first who has the requests.",
			blue:   Track{Revision: 2, Weight: 100}, plain: Track{Revision: 1}, isUnknown: true, want: Aim{IsUnknown: true},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := record(t, takesBack(tc.step)...)
			in := input(nil, tracks(Track{}, Track{}), knowTracks(!tc.isUnknown))
			in.Directories[0].Tracks = map[string]Track{"plain": tc.plain}
			if tc.blue.Revision > 0 {
				in.Directories[0].Tracks["blue"] = tc.blue
			}
			if diff := cmp.Diff(tc.want, in.AimAt(s, in.Directories[0])); diff != "" {
				t.Errorf("\n%s\nAimAt(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestUnreported asks for a directory of pods without tracks that no repository reports: it may have the pods of a later revision than the verified one.
func TestUnreported(t *testing.T) {
	s := record(t, join(good(1, "a"), []ledger.Event{ordered(2, "w2", inTrack("blue", "w2", 1), steps(0, 100)), stageOf(0, ledger.StageSteps)})...)
	in := input(nil)
	if got := in.AimAt(s, Directory{Site: "edge1"}); !got.IsUnknown {
		t.Errorf("\nPods without tracks have to be reported before any other pods come beside them.\nAimAt(...): got %+v", got)
	}
}

// TestIsWhole asks whether the pods of the origin are there.
func TestIsWhole(t *testing.T) {
	cases := map[string]struct {
		reason        string
		track         string
		home          Track
		other         Track
		losesRequests bool
		want          bool
	}{
		"Taken": {
			reason: "Pods that requests are taken from need not be available.",
			track:  "green", home: Track{Revision: 1, Weight: 100}, losesRequests: true, want: true,
		},
		"Proven":   {reason: "Pods that were available once are there.", track: "green", home: Track{Revision: 1, IsProven: true}, want: true},
		"Unproven": {reason: "Pods of a track that were never available need not be there.", track: "green", home: Track{Revision: 1, Weight: 100}},
		"Plain":    {reason: "A workload without tracks served before, even if its pods fail.", track: "plain", home: Track{Revision: 1, Weight: 100}, want: true},
		"Share": {
			reason: "A track that gets any requests beside another one was proven before.",
			track:  "green", home: Track{Revision: 1, Weight: 1}, other: Track{Revision: 2, Weight: 99}, want: true,
		},
		"Back":  {reason: "Pods without tracks that get no requests are asked for.", track: "plain", home: Track{Revision: 1}},
		"Other": {reason: "Pods of another revision are others.", track: "plain", home: Track{Revision: 2, Weight: 100}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := siteTracks{origin: origin{track: tc.track, revision: 1}, track: tc.track, home: tc.home, other: tc.other, losesRequests: tc.losesRequests, isKnown: true}
			if got := s.hasOriginPods(); got != tc.want {
				t.Errorf("\n%s\nhasOriginPods(): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

// TestHasForgottenOther looks at two tracks beside each other, while revision 4 is the current one, and the history has revision 2 alone.
func TestHasForgottenOther(t *testing.T) {
	s := ledger.State{Current: &ledger.Revision{Number: 4}, History: []ledger.Past{{Number: 2}}}
	cases := map[string]struct {
		reason      string
		home, other Track
		want        bool
	}{
		"Forgotten": {
			reason: "Of two tracks that share the requests, the older one was verified, though the history has dropped its revision.",
			home:   Track{Revision: 3, Weight: 50}, other: Track{Revision: 1, Weight: 50}, want: true,
		},
		"Remembered": {reason: "A revision that the history has was not dropped.", home: Track{Revision: 3, Weight: 50}, other: Track{Revision: 2, Weight: 50}},
		"Newer": {
			reason: "The newer one of two tracks need not have been verified.",
			home:   Track{Revision: 1, Weight: 50}, other: Track{Revision: 3, Weight: 50},
		},
		"Idle":    {reason: "A track that gets no requests shares none.", home: Track{Revision: 3, Weight: 100}, other: Track{Revision: 1}},
		"Alone":   {reason: "A track that has all requests shares none.", home: Track{Revision: 3}, other: Track{Revision: 1, Weight: 100}},
		"Current": {reason: "The current revision was not dropped.", home: Track{Revision: 5, Weight: 50}, other: Track{Revision: 4, Weight: 50}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := (siteTracks{home: tc.home, other: tc.other}).hasForgottenOther(s); got != tc.want {
				t.Errorf("\n%s\nhasForgottenOther(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

// TestIsOtherUnseen checks the other track beside the origin of a revision.
func TestIsOtherUnseen(t *testing.T) {
	cases := map[string]struct {
		reason string
		name   string
		other  Track
		want   bool
	}{
		"Unseen": {
			reason: "Pods without tracks that were never seen to be available cannot get all requests, though their revision was verified.",
			name:   "plain", other: Track{Revision: 2}, want: true,
		},
		"Seen":   {reason: "Pods without tracks that were available since their folder changed can.", name: "plain", other: Track{Revision: 2, IsProven: true}},
		"Serves": {reason: "Pods without tracks that get requests served before.", name: "plain", other: Track{Revision: 2, Weight: 50}},
		"Track":  {reason: "Pods of a track were available when their revision was verified.", name: "blue", other: Track{Revision: 2}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := (siteTracks{otherName: tc.name, other: tc.other}).isOtherUnproven(); got != tc.want {
				t.Errorf("\n%s\nisOtherUnproven(): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

// TestIsCleared asks whether the pods of the track that a revision goes on from may change.
func TestIsCleared(t *testing.T) {
	cases := map[string]struct {
		reason        string
		home, other   Track
		otherCanServe bool
		want          bool
	}{
		"Same": {reason: "The pods of the origin need not change.", home: Track{Revision: 1, Weight: 100}, other: Track{Revision: 2, Weight: 100}, want: true},
		"Idle": {reason: "Pods without requests may change.", home: Track{Revision: 9, IsIdle: true}, other: Track{Revision: 2, Weight: 100}, want: true},
		"Serves": {
			reason: "Verified pods that stand by take the requests over first, instead of pods that are replaced while they serve.",
			home:   Track{Revision: 9, Weight: 100}, other: Track{Revision: 2, IsIdle: true}, otherCanServe: true,
		},
		"InPlace": {
			reason: "Where no verified pods stand by, the serving pods are replaced one by one.",
			home:   Track{Revision: 9, Weight: 100}, other: Track{Revision: 2, IsIdle: true}, want: true,
		},
		"Shares": {
			reason: "The other track loses its requests before the pods that serve are replaced.",
			home:   Track{Revision: 9, Weight: 80}, other: Track{Revision: 2, Weight: 20},
		},
		"Draining": {
			reason: "Requests under way at the other track have ended before the pods that serve are replaced.",
			home:   Track{Revision: 9, Weight: 100}, other: Track{Revision: 2},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := siteTracks{origin: origin{track: "green", revision: 1}, home: tc.home, other: tc.other, otherCanServe: tc.otherCanServe, isKnown: true}
			if got := s.canReplacePods(); got != tc.want {
				t.Errorf("\n%s\ncanReplacePods(): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}
