package step

import "github.com/intentplane/intentplane/apis/ledger"

var argoAnalysis = map[string]argoCase{
	"TestCanaryBackgroundAnalysis": {
		reason:  "A canary that gets worse while it pauses is rolled back.",
		differs: "The Gate of a step measures until the step is released, and that of the next one begins again.",
		plan:    "0 20+gate/Manual 100",
		play: func(q *sequence) {
			q.edits("b")
			q.holds(HoldAwaitsPromotion)
			q.giveVerdict("Failed")
			q.ends(2, ledger.VerdictRejected)
			q.equals("pods of a that were made", q.madeOf("a"), 4)
		},
	},
	"TestCanaryInlineAnalysis": {
		reason: "A step whose Gate passes goes on by itself.",
		plan:   "0 20+gate 50+gate 100+gate",
		play: func(q *sequence) {
			q.edits("b")
			q.reaches(2, 20)
			q.reaches(2, 50)
			q.ends(2, ledger.VerdictVerified)
		},
	},
	"TestCanaryFailInlineMultipleAnalysis": {
		reason: "Of several Gates a failing one rejects the revision, and its requests go back.",
		plan:   "0 20+gate 50+gate 100",
		play: func(q *sequence) {
			q.edits("b")
			q.until("the second Gate measures", func() bool { return q.gate.position.Step == 2 })
			q.verdict = "Failed"
			q.ends(2, ledger.VerdictRejected)
			q.equals("share of revision 1", q.shareOf(1), int32(100))
		},
	},
	"TestCanaryInconclusiveBackgroundAnalysis": {
		reason:  "A Gate without a verdict waits for a user, where the deployment says so.",
		differs: "It never measures again in a loop: one Promote passes the step.",
		plan:    "0 20+gate 100",
		play: func(q *sequence) {
			q.verdict = "Held"
			q.edits("b")
			q.holds(HoldGateHeld)
			q.stays("a user is awaited", 60, func() bool { return q.hold() == HoldGateHeld })
			q.promotes()
			q.ends(2, ledger.VerdictVerified)
		},
	},
	"TestRollbackAnalysisWithinWindow": {
		reason:  "A return to a revision that was verified has no steps and no Gates of its own.",
		differs: "A RolloutRequest asks for it, at any age of the revision: a window does not exist.",
		plan:    "0 20+gate/Manual 100",
		play: func(q *sequence) {
			q.edits("b")
			q.holds(HoldAwaitsPromotion)
			q.promotes()
			q.ends(2, ledger.VerdictVerified)
			q.verdict = "Failed"
			q.asks(Request{Action: ActionRollbackTo, ToRevision: 1})
			q.until("revision 1 is restored", func() bool { return q.home.Restored && q.atRest() == "" })
			q.equals("tracks", q.tracks(), ledger.TrackBlue)
		},
	},
}

var argoDuration = map[string]argoCase{
	"TestCanaryDuration_InitialRollout": {
		reason: "The first revision has no steps, even if the plan has.",
		plan:   "0 5/1h 50/Manual 100",
		play: func(q *sequence) {
			q.equals("revision", q.home.Current.Number, int64(1))
			q.equals("has steps", q.home.Current.HasSteps(), false)
		},
	},
	"TestCanaryDuration_PauseStep": {
		reason: "A pause lasts as long as it says, from when the step is live.",
		plan:   "0 50/30s 100",
		play: func(q *sequence) {
			q.edits("b")
			q.reaches(2, 50)
			if took := q.reaches(2, 100); took < elapsed("30s")-gatewayLag || took > elapsed("45s") {
				q.Errorf("a pause of 30 seconds lasts %d", took)
			}
			q.ends(2, ledger.VerdictVerified)
		},
	},
	"TestCanaryDuration_IndefinitePauseStep": {
		reason: "A pause without a duration ends with the request of a user, and with one only.",
		plan:   "0 20/Manual 50/Manual 100",
		play: func(q *sequence) {
			q.edits("b")
			q.holds(HoldAwaitsPromotion)
			q.promotes()
			q.reaches(2, 50)
			q.stays("revision 2 has half of the requests", 120, func() bool { return q.shareOf(2) == 50 })
			q.promotes()
			q.ends(2, ledger.VerdictVerified)
		},
	},
	"TestCanaryDuration_FullyPromoted": {
		reason: "A full promotion waits for no pause.",
		plan:   "0 20/1h 50/1h 100",
		play: func(q *sequence) {
			q.edits("b")
			q.reaches(2, 20)
			q.asks(Request{Action: ActionPromote, Full: true})
			if took := q.ends(2, ledger.VerdictVerified); took > 90 {
				q.Errorf("the end comes after %d seconds", took)
			}
		},
	},
	"TestCanaryDuration_Abort": {
		reason: "A canary that is given up goes back through no steps.",
		plan:   "0 20/5s 50/5s 75/1h 100",
		play: func(q *sequence) {
			q.edits("b")
			q.reaches(2, 75)
			q.asks(Request{Action: ActionAbort})
			if took := q.reaches(2, 0); took > 5+gatewayLag {
				q.Errorf("the requests leave after %d seconds", took)
			}
			q.ends(2, ledger.VerdictRejected)
		},
	},
	"TestCanaryDuration_Retry": {
		reason: "The pause of a revision that is delivered again begins from its start.",
		plan:   "0 50/30s 100",
		play: func(q *sequence) {
			q.edits("b")
			q.reaches(2, 50)
			q.pass(20)
			q.asks(Request{Action: ActionAbort})
			q.ends(2, ledger.VerdictRejected)
			q.asks(Request{Action: ActionRetry})
			q.reaches(3, 50)
			q.stays("revision 3 has half of the requests", elapsed("25s"), func() bool { return q.shareOf(3) == 50 })
			q.ends(3, ledger.VerdictVerified)
		},
	},
	"TestCanaryDuration_SupersededRollout": {
		reason: "An edit in a pause is the next revision at once, from its first step: the pause and its promotions count for nothing.",
		plan:   "0 50/Manual 100",
		play: func(q *sequence) {
			q.edits("b")
			q.holds(HoldAwaitsPromotion)
			r := q.asks(Request{Action: ActionPromote, Step: 2})
			q.requests = nil // It is made, and the edit comes before the function looks.
			q.edits("c")
			q.requests = []Request{r}
			q.equals("answer to the promotion of revision 2", q.answer(r), ResultStale)
			q.reaches(3, 50)
			q.stays("revision 3 has half of the requests", 60, func() bool { return q.shareOf(3) == 50 })
			q.promotes()
			q.ends(3, ledger.VerdictVerified)
		},
	},
	"TestCanaryDuration_SupersededRollback": {
		reason: "An edit back to the stable content takes the requests in its first commit, and has no steps.",
		plan:   "0 50/Manual 100",
		play: func(q *sequence) {
			q.edits("b")
			q.reaches(2, 50)
			q.edits("a")
			if took := q.reaches(2, 0); took > 5+gatewayLag {
				q.Errorf("the requests leave after %d seconds", took)
			}
			q.ends(3, ledger.VerdictVerified)
			q.equals("has steps", q.home.Current.HasSteps(), false)
		},
	},
	"TestCanaryDuration_RollbackOutsideWindow": {
		reason:  "An edit back to an older revision than the stable one goes through its steps.",
		differs: "A RolloutRequest with RollbackTo is the way without steps.",
		plan:    "0 50/5s 100",
		play: func(q *sequence) {
			q.edits("b")
			q.ends(2, ledger.VerdictVerified)
			q.edits("a")
			q.reaches(3, 50)
			q.ends(3, ledger.VerdictVerified)
		},
	},
	"TestCanaryDuration_ScalingOnly": {
		reason: "A revision that changes the number of pods alone has no steps.",
		plan:   "0 50/1h 100",
		play: func(q *sequence) {
			q.spec.replicas = 7
			q.until("revision 2 begins", func() bool { return q.home.Current.Number == 2 })
			q.ends(2, ledger.VerdictVerified)
			q.equals("tracks", q.tracks(), ledger.TrackBlue)
			q.equals("pods of a that were made", q.madeOf("a"), 7)
		},
	},
}

var argoTraffic = map[string]argoCase{
	"TestIstioUpdateInMiddleZeroCanaryReplicas": {
		reason:  "An edit in the middle takes the requests from the canary before its pods change.",
		differs: "A Rollout replaces the pods of the canary while they have their weight.",
		plan:    "0 50/Manual 100",
		play: func(q *sequence) {
			q.edits("b")
			q.reaches(2, 50)
			q.edits("c")
			q.until("pods of c start", func() bool { return q.podsOf("c") > 0 })
			q.equals("share of track green", q.edge().effective[ledger.TrackGreen], int32(0))
			q.reaches(3, 50)
		},
	},
	"TestIstioAbortUpdateDeleteAllCanaryPods": {
		reason: "An edit after an abort begins with the pods of the new revision alone.",
		plan:   "0 50/Manual 100",
		play: func(q *sequence) {
			q.edits("b")
			q.reaches(2, 50)
			q.asks(Request{Action: ActionAbort})
			q.reaches(2, 0)
			q.edits("c")
			q.reaches(3, 50)
			q.equals("pods of b", q.podsOf("b"), 0)
			q.equals("pods of a", q.podsOf("a"), 4)
		},
	},
	"TestIstioSubsetSplitInStableDownscaleAfterCanaryAbort": {
		reason: "The stable pods are all there while a canary that was given up is removed.",
		plan:   "0 75/Manual 100",
		play: func(q *sequence) {
			q.edits("b")
			q.reaches(2, 75)
			q.asks(Request{Action: ActionAbort})
			q.stays("the stable pods are there", 60, func() bool { return q.podsOf("a") == 4 })
			q.equals("tracks", q.tracks(), ledger.TrackBlue)
		},
	},
	"TestALBPingPongUpdate": {
		reason: "Revisions take the tracks in turn, and their pods are made once.",
		plan:   "0 50/5s 100",
		play: func(q *sequence) {
			for i, content := range []string{"b", "c", "d"} {
				q.edits(content)
				q.ends(int64(i+2), ledger.VerdictVerified)
				q.equals("tracks", q.tracks(), []string{ledger.TrackGreen, ledger.TrackBlue}[i%2])
				q.equals("pods of "+content+" that were made", q.madeOf(content), 4)
			}
		},
	},
}
