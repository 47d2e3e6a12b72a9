package deployment

import (
	"fmt"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// A subject is what a verdict is about.
type subject struct {
	revision int64
	request  string
}

// A cause is why a revision may be rejected.
type cause struct {
	revision int64
	reason   string
}

// A visit of a revision to a directory.
type visit struct {
	revision int64
	path     string
}

// The truth is what really happened, whoever forgot it.
type truth struct {
	// ran are the Sites that ran a tree of a revision's try, by attempt.
	ran map[string]bool
	// passed are the steps that a Gate let pass.
	passed map[string]bool
	// judged are the verdicts that were ever asked for.
	judged map[subject]rolloutv1alpha1.VerdictResult
	// rejected are the intents of rejected revisions, with the revision, until another intent was ordered.
	rejected map[string]int64
	// causes are why revisions may be rejected, and tried the attempts that failed.
	causes map[cause]bool
	tried  map[try]bool
	// forwarded are the directories that a revision was to change.
	forwarded map[visit]bool
	// admitted are the Sites whose clusters were seen ready for a revision's try.
	admitted map[string]bool
	// done are the revisions that RolloutRequests were done for, by uid.
	done map[string]int64
	// intents are the digests of what was said.
	intents map[string]string
	// excused says that a memory was lost, so that what was rejected may be forgotten.
	forgot bool
	// violations of what has to hold.
	violations []string
}

func newTruth() *truth {
	return &truth{
		ran: map[string]bool{}, passed: map[string]bool{}, judged: map[subject]rolloutv1alpha1.VerdictResult{}, rejected: map[string]int64{},
		causes: map[cause]bool{}, tried: map[try]bool{}, forwarded: map[visit]bool{}, admitted: map[string]bool{}, done: map[string]int64{}, intents: map[string]string{},
	}
}

func (t *truth) violatedf(format string, args ...any) {
	t.violations = append(t.violations, fmt.Sprintf(format, args...))
}

func ranKey(o rolloutv1alpha1.Order, site, tree string) string {
	return fmt.Sprint(o.Revision, o.Request, o.Attempt > 0, site, tree)
}

func (t *truth) live(o rolloutv1alpha1.Order, s deliveryv1alpha1.SiteTree) {
	t.ran[ranKey(o, s.Name, s.Tree)] = true
	t.ran[ranKey(o, s.Name, "")] = true
}

func passKey(o rolloutv1alpha1.Order) string { return fmt.Sprint(o.Revision, o.Request, o.Step) }

func (t *truth) pass(o rolloutv1alpha1.Order) { t.passed[passKey(o)] = true }

// fails notes what an order failed for.
func (t *truth) fails(o rolloutv1alpha1.Order, reason string) {
	t.tried[try{o.Revision, o.Step, o.Attempt}] = true
	if o.Attempt == 0 && o.Verdict == nil {
		t.causes[cause{o.Revision, reason}] = true
	}
}

// blames checks that there was a reason to reject. Of two requests that had one number, the next one carries the rejection over.
func (t *truth) blames(o rolloutv1alpha1.Order) {
	for _, n := range []int64{o.Revision, o.Revision - 1} {
		if t.causes[cause{n, o.Verdict.Reason}] {
			return
		}
	}
	if !t.forgot && o.Verdict.Reason != rolloutv1alpha1.RejectedRequested {
		t.violatedf("revision %d is rejected for %s, and nobody said so", o.Revision, o.Verdict.Reason)
	}
}

// ordered looks at an order that is asked for.
func (t *truth) ordered(o rolloutv1alpha1.Order, maxRetries int32) {
	about := subject{o.Revision, o.Request}
	if o.Attempt > maxRetries {
		t.violatedf("revision %d has attempt %d of %d", o.Revision, o.Attempt, maxRetries)
	}
	switch {
	case o.Verdict == nil:
		t.undecided(o)
		return
	case t.judged[about] != "" && t.judged[about] != o.Verdict.Result && !t.forgot:
		t.violatedf("revision %d was %s, and is %s", o.Revision, t.judged[about], o.Verdict.Result)
	}
	first := t.judged[about] == ""
	t.judged[about] = o.Verdict.Result
	if o.Rejected() && first {
		t.blames(o)
		t.rejected[o.Intent] = o.Revision
	}
	if o.Rejected() {
		return
	}
	t.proven(o)
}

// undecided is an order that delivers.
func (t *truth) undecided(o rolloutv1alpha1.Order) {
	if n, held := t.rejected[o.Intent]; held && o.Revision > n && o.RequestRef == nil && !t.forgot {
		t.violatedf("revision %d delivers the intent of revision %d, which was rejected", o.Revision, n)
	}
	t.releases(o)
}

// releases is an order by which something else, or the same again, was asked for.
func (t *truth) releases(o rolloutv1alpha1.Order) {
	if o.Verdict != nil {
		return
	}
	for intent, n := range t.rejected {
		if intent != o.Intent && n < o.Revision || o.RequestRef != nil {
			delete(t.rejected, intent)
		}
	}
}

// proven checks that what is verified ran at every Site, and passed every Gate.
func (t *truth) proven(o rolloutv1alpha1.Order) {
	for i := range o.Plan {
		at := o
		at.Step = int32(i)
		t.provenStep(at, "is verified")
	}
}

// provenStep checks that the step of an order ran at each of its Sites, and passed its Gate.
func (t *truth) provenStep(o rolloutv1alpha1.Order, does string) {
	step := o.Plan[o.Step]
	for _, site := range step.Sites {
		if !t.ran[ranKey(o, site, "")] {
			t.violatedf("revision %d %s, and never ran at %s", o.Revision, does, site)
		}
	}
	if step.Gate != nil && *step.Gate && !t.passed[passKey(o)] {
		t.violatedf("revision %d %s, and no Gate let step %d pass", o.Revision, does, o.Step)
	}
}

// restored checks that what is said to be back ran there.
func (t *truth) restored(o rolloutv1alpha1.Order, trees map[string]string) {
	for site, tree := range trees {
		if !t.ran[ranKey(o, site, tree)] {
			t.violatedf("revision %d is taken back, and %s never ran its tree", o.Revision, site)
		}
	}
}

// mustBeVerified checks that a deployment which succeeded has a verdict that was ever recorded.
func (t *truth) mustBeVerified(ds map[string]*deliveryv1alpha1.GitDelivery, revision int64) {
	for _, d := range ds {
		o := d.Status.AtProvider.Order
		if o != nil && o.Revision == revision && !o.Verified() {
			t.violatedf("revision %d succeeded, and is not recorded to be verified", revision)
		}
	}
}
