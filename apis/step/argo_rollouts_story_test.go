package step

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/ledger"
)

// argoCase is a sequence of argo-rollouts' end-to-end tests, by its name there. Where a deployment differs on purpose from a Rollout, differs says how.
type argoCase struct {
	reason  string
	differs string
	plan    string
	play    func(q *sequence)
}

// TestArgoRollouts plays sequences of test/e2e of argo-rollouts on the rules of this package. Sequences about measurements are among the Gates' tests, and
// sequences about the validation of a schema are among the plans'.
func TestArgoRollouts(t *testing.T) {
	t.Parallel()
	cases := map[string]argoCase{}
	for _, some := range []map[string]argoCase{argoFunctional, argoCanary, argoAnalysis, argoDuration, argoTraffic} {
		maps.Copy(cases, some)
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			t.Cleanup(func() {
				if t.Failed() {
					t.Logf("\n%s %s", tc.reason, tc.differs)
				}
			})
			tc.play(newSequence(t, tc.plan))
		})
	}
}

var argoFunctional = map[string]argoCase{
	"TestRolloutAbortRetryPromote": {
		reason:  "A canary that was given up, and delivered again, is promoted to the end.",
		differs: "The retry is the next revision, and goes through its steps from the first one.",
		plan:    "0 50/Manual 100",
		play: func(q *sequence) {
			q.edits("b")
			q.reaches(2, 50)
			q.asks(Request{Action: ActionAbort})
			q.ends(2, ledger.VerdictRejected)
			q.equals("pods of b", q.podsOf("b"), 0)
			q.asks(Request{Action: ActionRetry})
			q.reaches(3, 50)
			q.holds(HoldAwaitsPromotion)
			q.promotes()
			q.ends(3, ledger.VerdictVerified)
		},
	},
	"TestCanaryPromoteFull": {
		reason:  "A full promotion leaves out the steps to come, and their pauses.",
		differs: "The pods for all requests come before them.",
		plan:    "0 5/Manual 20/Manual 50/1h 100",
		play: func(q *sequence) {
			q.edits("b")
			q.reaches(2, 5)
			q.asks(Request{Action: ActionPromote, Full: true})
			q.until("revision 2 has all pods", func() bool { return q.edge().readyPods(ledger.TrackGreen, "b", q.now) == 4 })
			q.equals("share of revision 2 before it jumps", q.shareOf(2), int32(5))
			q.until("revision 2 gets more", func() bool { return q.shareOf(2) > 5 })
			q.equals("share of revision 2", q.shareOf(2), int32(100))
			q.ends(2, ledger.VerdictVerified)
		},
	},
	"TestRolloutGoodToBadUpdate": {
		reason:  "A revision whose pods do not become ready is rejected, and the previous revision serves all the time.",
		differs: "It is rolled back: a Rollout stays degraded, with its pods.",
		plan:    "0 50 100",
		play: func(q *sequence) {
			q.edits("z")
			q.until("revision 2 is rejected", func() bool { return q.home.IsRejected() })
			q.equals("share of revision 1", q.shareOf(1), int32(100))
			q.ends(2, ledger.VerdictRejected)
			q.equals("pods of a that were made", q.madeOf("a"), 4)
		},
	},
	"TestRolloutBadToGoodUpdate": {
		reason: "A fix follows a broken revision at once: nothing waits for pods that never become ready.",
		plan:   "0 50/5s 100",
		play: func(q *sequence) {
			q.edits("z")
			q.pass(5)
			q.edits("b")
			if took := q.reaches(3, 50); took > timeoutTicks {
				q.Errorf("the fix waits %d seconds for the broken revision", took)
			}
			q.ends(3, ledger.VerdictVerified)
		},
	},
	"TestRolloutBadToBadUpdate": {
		reason: "A second broken revision takes nothing from the serving revision.",
		plan:   "0 50 100",
		play: func(q *sequence) {
			q.edits("z")
			q.pass(5)
			q.edits("x")
			q.verdict = "Failed"
			q.spec.steps = planOf(q.T, "0 50+gate 100")
			q.until("the last revision is rejected", func() bool { return q.home.Current.Number == 4 && q.home.IsRejected() })
			q.ends(4, ledger.VerdictRejected)
			q.equals("pods of a that were made", q.madeOf("a"), 4)
		},
	},
	"TestRolloutBadToGoodSetWeightUpdate": {
		reason: "A fix goes through each weight, also after a revision that was broken at the first one.",
		plan:   "0 5/Manual 50/Manual 100",
		play: func(q *sequence) {
			q.edits("x")
			q.reaches(2, 5)
			q.edits("b")
			q.reaches(3, 5)
			q.equals("share of revision 1", q.shareOf(1), int32(95))
			q.promotes()
			q.reaches(3, 50)
			q.promotes()
			q.ends(3, ledger.VerdictVerified)
		},
	},
	"TestFixInvalidSpec": {
		reason:  "A spec that cannot be compiled delivers nothing, and its fix does.",
		differs: "A canary that is under way goes on to its end meanwhile.",
		plan:    "0 50/5s 100",
		play: func(q *sequence) {
			q.edits("b")
			q.reaches(2, 50)
			q.spec.isBroken = true
			q.until("revision 2 is verified", func() bool { return q.home.IsVerified() })
			q.spec.isBroken = false
			q.edits("c")
			q.ends(3, ledger.VerdictVerified)
		},
	},
	"TestKubectlWaitForPaused": {
		reason:  "A script can wait for a pause that only a user ends, and the pause does not end by itself.",
		differs: "A script waits by kubectl intent wait --for=step=2: condition Paused does not exist, and AwaitingPromotion is a reason of Reconciling.",
		plan:    "0 5/Manual 100",
		play: func(q *sequence) {
			q.edits("b")
			q.holds(HoldAwaitsPromotion)
			q.stays("the revision awaits a user", 120, func() bool { return q.hold() == HoldAwaitsPromotion })
		},
	},
	"TestKubectlWaitForCompleted": {
		reason:  "A revision that has its verdict is alone once its tracks have drained.",
		differs: "A script waits by kubectl intent wait --for=succeeded, or by kubectl wait for condition Ready: condition Completed does not exist.",
		plan:    "0 50 100",
		play: func(q *sequence) {
			q.edits("b")
			q.ends(2, ledger.VerdictVerified)
			q.equals("tracks", q.tracks(), ledger.TrackGreen)
		},
	},
	"TestRolloutPauseDurationGreaterThanProgressDeadlineSeconds": {
		reason: "A pause may be longer than a Site may take to be live.",
		plan:   "0 50/90s 100",
		play: func(q *sequence) {
			q.edits("b")
			q.reaches(2, 50)
			q.stays("revision 2 has half of the requests", timeoutTicks+20, func() bool { return q.shareOf(2) == 50 })
			q.ends(2, ledger.VerdictVerified)
		},
	},
	"TestSpecAndReplicaChangeSameTime": {
		reason: "Pods that change and their number are one revision with steps.",
		plan:   "0 50/5s 100",
		play: func(q *sequence) {
			q.spec.replicas = 6
			q.edits("b")
			q.reaches(2, 50)
			q.equals("pods of a", q.podsOf("a"), 4)
			q.ends(2, ledger.VerdictVerified)
			q.equals("pods of b", q.podsOf("b"), 6)
		},
	},
}

var argoCanary = map[string]argoCase{
	"TestCanarySetCanaryScale": {
		reason:  "A canary may have all of its pods before it gets requests.",
		differs: "The size is a setting of the canary (scale: Full), and not a step.",
		plan:    "full 0 5/Manual 100",
		play: func(q *sequence) {
			q.edits("b")
			q.reaches(2, 5)
			q.equals("pods of b", q.podsOf("b"), 4)
		},
	},
	"TestCanaryScaleDownDelay": {
		reason: "The pods of the revision before stay for the drain after their last request.",
		plan:   "0 100",
		play: func(q *sequence) {
			q.edits("b")
			q.reaches(2, 100)
			q.stays("the pods of a are there", drainTicks-1, func() bool { return q.podsOf("a") == 4 })
			q.ends(2, ledger.VerdictVerified)
			q.equals("pods of a", q.podsOf("a"), 0)
		},
	},
	"TestCanaryScaleDownOnAbort": {
		reason: "The pods of a canary that was given up go once they have drained.",
		plan:   "0 50/Manual 100",
		play: func(q *sequence) {
			q.edits("b")
			q.reaches(2, 50)
			q.asks(Request{Action: ActionAbort})
			q.reaches(2, 0)
			q.stays("the pods of b are there", drainTicks-1, func() bool { return q.podsOf("b") == 4 })
			q.ends(2, ledger.VerdictRejected)
			q.equals("pods of b", q.podsOf("b"), 0)
		},
	},
	"TestCanaryUnScaleDownOnAbort": {
		reason:  "A retry while the pods of a canary drain goes on with them.",
		differs: "Without scale: Full, those stay that the first step needs.",
		plan:    "full 0 50/Manual 100",
		play: func(q *sequence) {
			q.edits("b")
			q.reaches(2, 50)
			q.asks(Request{Action: ActionAbort})
			q.reaches(2, 0)
			q.asks(Request{Action: ActionRetry})
			q.reaches(3, 50)
			q.equals("pods of b that were made", q.madeOf("b"), 4)
		},
	},
	"TestCanaryWithSpecPause": {
		reason: "A deployment that is suspended begins no step, and goes on with the next one.",
		plan:   "0 5/5s 50/5s 100",
		play: func(q *sequence) {
			q.edits("b")
			q.reaches(2, 5)
			q.spec.suspended = true
			q.stays("revision 2 has 5 percent", 60, func() bool { return q.shareOf(2) == 5 })
			q.equals("hold", q.hold(), HoldSuspended)
			q.spec.suspended = false
			q.reaches(2, 50)
			q.ends(2, ledger.VerdictVerified)
		},
	},
	"TestCanaryProgressDeadlineExceededWithPause": {
		reason:  "A pause does not keep pods that never become ready from being noticed.",
		differs: "The pause begins when the Site is live, so that it never runs, and the revision is rolled back.",
		plan:    "0/1h 50 100",
		play: func(q *sequence) {
			q.edits("z")
			if took := q.ends(2, ledger.VerdictRejected); took > 3*timeoutTicks {
				q.Errorf("the rejection took %d seconds", took)
			}
		},
	},
	"TestRolloutScalingWhenPaused": {
		reason:  "A user may scale while a canary pauses.",
		differs: "Another number of pods is the next revision, which goes through its steps from the first one: a HorizontalPodAutoscaler scales without one.",
		plan:    "0 50/Manual 100",
		play: func(q *sequence) {
			q.edits("b")
			q.reaches(2, 50)
			q.spec.replicas = 6
			q.until("revision 3 begins", func() bool { return q.home.Current.Number == 3 })
			q.reaches(3, 50)
			q.promotes()
			q.ends(3, ledger.VerdictVerified)
			q.equals("pods of b", q.podsOf("b"), 6)
		},
	},
	"TestCanaryDynamicStableScaleRollbackToStable": {
		reason:  "An edit back to the stable content, late in a canary, loses no capacity.",
		differs: "The stable pods are never fewer: dynamicStableScale does not exist, and an edit back has no steps.",
		plan:    "0 50 75/Manual 100",
		play: func(q *sequence) {
			q.edits("b")
			q.reaches(2, 75)
			q.equals("pods of a", q.podsOf("a"), 4)
			q.edits("a")
			q.reaches(2, 0)
			q.ends(3, ledger.VerdictVerified)
			q.equals("pods of a that were made", q.madeOf("a"), 4)
			q.equals("tracks", q.tracks(), ledger.TrackBlue)
		},
	},
}

// TestBlueGreenToCanary is a sequence of argo-rollouts' end-to-end tests: the running revision has no tracks, and the next one does. We differ: it takes all
// requests at once, and shares begin with the revision after it.
func TestBlueGreenToCanary(t *testing.T) {
	s := record(t, good(1, "a")...)
	w := Workload{Digest: "b", IsEnabled: true, HasPods: true}
	p, err := PlaceRevision(s, w)
	if want := (Placement{Track: ledger.TrackBlue, Stable: 1, HasSteps: true, IsMove: true}); p != want || err != nil {
		t.Fatalf("PlaceRevision(...): want %+v, got %+v, %v", want, p, err)
	}
	in := input(desired("b", func(d *Desired) { d.Workload, d.Placement = w, p; move(&d.Plan) }), func(in *Input) {
		in.IsRecorded = true
		in.Directories = []Directory{{Site: "edge1", IsKnown: true, AreTracksKnown: true}, {Site: "edge2", IsKnown: true, AreTracksKnown: true}}
	})
	flat, beside := map[string]Track{"plain": {Revision: 1, Weight: 100, IsProven: true}}, map[string]Track{"plain": {Revision: 1, Weight: 100, IsProven: true}, "blue": {Revision: 2}}
	goesOn := func(tracks map[string]Track, proof Proof) string {
		for i := range in.Directories {
			in.Directories[i].Tracks = tracks
		}
		in.Proof = proof
		e, holds := Step(s, in)
		if e == nil {
			return "stays: " + string(holds.Progress)
		}
		s, err = ledger.Append(s, time.Time{}, *e)
		if err != nil {
			t.Fatal(err)
		}
		aim := in.AimAt(s, in.Directories[0])
		return fmt.Sprintf("step %d, stage %d: puts %v, serving %s, weight %d", s.Cursor.Step, s.Cursor.Stage, aim.Put, aim.Serving, aim.Weight)
	}
	live := Proof{IsLive: true, Trees: treesOf("b")}
	got := []string{goesOn(flat, Proof{}), goesOn(flat, Proof{}), goesOn(beside, Proof{}), goesOn(beside, live)}
	beside = map[string]Track{"plain": {Revision: 1, IsProven: true}, "blue": {Revision: 2, Weight: 100, IsProven: true}}
	got = append(got, goesOn(beside, live), goesOn(beside, live))
	beside = map[string]Track{"plain": {Revision: 1, IsProven: true, IsIdle: true}, "blue": {Revision: 2, Weight: 100, IsProven: true}}
	got = append(got, goesOn(beside, live))
	want := []string{
		"step 0, stage 0: puts map[], serving plain, weight 0",
		"step 0, stage 3: puts map[blue:2 plain:1], serving plain, weight 0",
		"stays: ",
		"step 1, stage 3: puts map[blue:2 plain:1], serving plain, weight 100",
		"step 1, stage 3: puts map[blue:2 plain:1], serving plain, weight 100",
		"stays: " + string(HoldDraining),
		"step 1, stage 4: puts map[blue:2], serving blue, weight 0",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("The pods of the track come first, then their requests, and the others go last.\n-want, +got:\n%s", diff)
	}
}

// move gives a plan the steps of a move: the pods, and then all requests.
func move(plan *[]ledger.Step) {
	r := ledger.Revision{Plan: *plan}
	steps(0, 100)(&r)
	*plan = r.Plan
}
