package step

import (
	"math/rand/v2"
	"testing"

	"github.com/intentplane/intentplane/apis/ledger"
)

// A folderStory is one in which the pods of another folder than that of the directory were seen to be available.
type folderStory struct {
	*testing.T
	*canaryModel

	// isBlind is true if the SiteSync does not look.
	isBlind bool
}

// tellUntil lets each part do its work, until something is so, or was broken.
func (q *folderStory) tellUntil(description string, condition func() bool) {
	q.Helper()
	for range patienceTicks {
		if q.truth.broken != "" || condition() {
			return
		}
		q.call(q.view(), func() bool { return true })
		for i := range q.deliveries {
			q.deliver(i, false)
		}
		for _, s := range q.sites {
			s.fetch()
			s.apply()
		}
		if !q.isBlind {
			q.observe()
		}
		if q.gate.result == "" && q.sync.proven == q.gate.position && q.sync.live {
			q.giveVerdict("Passed")
		}
		q.tick()
	}
	q.Fatalf("waited in vain for: %s\n%s", description, q.canaryModel)
}

func (q *folderStory) edits(content string) {
	q.Helper()
	q.spec.content = content
	q.tellUntil("a revision begins", func() bool { return q.home.Current != nil && buildOf(q.home.Current.Request.Intent).Content == content })
}

func (q *folderStory) rests(result ledger.Result) {
	q.Helper()
	q.tellUntil("all is at rest", func() bool { return q.home.Verdict != nil && q.home.Verdict.Result == result && q.atRest() == "" })
}

func (q *folderStory) rollsBackTo(revision int64) {
	ref := ledger.RequestReference{Name: "request", UID: "u"}
	q.requests = []Request{{Ref: ref, Action: ActionRollbackTo, Revision: q.home.Current.Number, ToRevision: revision, CreatedAt: q.time()}}
}

// tellLateFolder goes back to the track of a canary that has its pods and no requests. The second repository follows, so that its directory gets the
// folder of the target some time after it came to the position.
func tellLateFolder(q *folderStory) {
	q.spec.steps = planOf(q.T, "0/Manual 100")
	q.edits("c")
	q.tellUntil("the pods of the canary are there", func() bool { return q.sync.live && q.sync.position == q.home.Position() })
	q.rollsBackTo(1)
	q.tellUntil("revision 1 is restored", func() bool { return q.home.Restored && q.atRest() == "" })
}

// tellFolderAgain goes back to a revision whose folder has just left, before a SiteSync has looked.
func tellFolderAgain(q *folderStory) {
	q.spec.steps = planOf(q.T, "0 100")
	q.edits("c")
	q.tellUntil("the stable revision is without requests", func() bool {
		return q.home.IsVerified() && q.sync.idle["edge1"][ledger.TrackGreen].isSet && q.sync.idle["edge2"][ledger.TrackGreen].isSet
	})
	q.isBlind = true
	q.tellUntil("the folder has left the clusters", func() bool { return len(q.sites[0].pods) == 4 && len(q.sites[1].pods) == 4 })
	q.rollsBackTo(2)
	q.tellUntil("the folder comes again", func() bool { return len(q.sites[0].applied) == 2 && len(q.sites[1].applied) == 2 })
	q.isBlind = false
	q.tellUntil("revision 2 is restored", func() bool { return q.home.Restored && q.atRest() == "" })
}

// TestCanaryFolders shows that a proof of pods needs both, the folder and the position that proved it.
func TestCanaryFolders(t *testing.T) {
	cases := map[string]struct {
		reason string
		play   func(q *folderStory)
		lacks  func(*canaryRules)
	}{
		"SameFolder": {
			reason: "A folder that changes within one position has other pods than the observed ones.",
			play:   tellLateFolder, lacks: func(r *canaryRules) { r.SameFolder = false },
		},
		"NewerThanPlaced": {
			reason: "A folder that left and came again has other pods than before.",
			play:   tellFolderAgain, lacks: func(r *canaryRules) { r.NewerThanPlaced = false },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			lacking := allCanaryRules
			tc.lacks(&lacking)
			for _, rules := range []canaryRules{allCanaryRules, lacking} {
				q := &folderStory{T: t, canaryModel: newCanaryModelOf(rand.New(rand.NewPCG(1, 18)), rules, 2, []string{"edge1", "edge2"})}
				q.spec.steps = planOf(t, "0 100")
				q.edits("a")
				q.rests(ledger.VerdictVerified)
				q.edits("b")
				q.rests(ledger.VerdictVerified)
				tc.play(q)
				if isBroken, isLacking := q.truth.broken != "", rules != allCanaryRules; isBroken != isLacking {
					t.Errorf("\n%s\nwithout the rule: %t; broken: %q\n%s", tc.reason, isLacking, q.truth.broken, q.canaryModel)
				}
			}
		})
	}
}
