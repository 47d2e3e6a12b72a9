package function

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
	// excused says that a memory was lost, so that what was rejected may be forgotten.
	forgot bool
	// violations of what has to hold.
	violations []string
}

func newTruth() *truth {
	return &truth{ran: map[string]bool{}, passed: map[string]bool{}, judged: map[subject]rolloutv1alpha1.VerdictResult{}, rejected: map[string]int64{}}
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
	t.judged[about] = o.Verdict.Result
	if o.Rejected() {
		t.rejected[o.Intent] = o.Revision
		return
	}
	t.proven(o)
}

// undecided is an order that delivers.
func (t *truth) undecided(o rolloutv1alpha1.Order) {
	if n, held := t.rejected[o.Intent]; held && o.Revision > n && o.RequestRef == nil && !t.forgot {
		t.violatedf("revision %d delivers the intent of revision %d, which was rejected", o.Revision, n)
	}
	for intent, n := range t.rejected {
		if intent != o.Intent && n < o.Revision || o.RequestRef != nil {
			delete(t.rejected, intent)
		}
	}
}

// proven checks that what is verified ran at every Site, and passed every Gate.
func (t *truth) proven(o rolloutv1alpha1.Order) {
	for i, step := range o.Plan {
		for _, site := range step.Sites {
			if !t.ran[ranKey(o, site, "")] {
				t.violatedf("revision %d is verified, and never ran at %s", o.Revision, site)
			}
		}
		at := o
		at.Step = int32(i)
		if step.Gate != nil && *step.Gate && !t.passed[passKey(at)] {
			t.violatedf("revision %d is verified, and no Gate let step %d pass", o.Revision, i)
		}
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
