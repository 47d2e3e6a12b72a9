package sources

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/intentplane/intentplane/provider/git/refs"
)

// A repository has the cached answers of one repository. Who has its turn reads and writes the answers; the Pool's lock guards asked.
type repository struct {
	turn chan struct{}
	// asked has the objects that ask for each revision, and until when that counts.
	asked map[string]map[types.NamespacedName]time.Time
	// answers by revision.
	answers map[string]Answer
	// forgotten is when unused revisions were dropped last.
	forgotten time.Time
}

func (r *repository) recordRequest(req Request, now time.Time) {
	if r.asked[req.Revision] == nil {
		r.asked[req.Revision] = map[types.NamespacedName]time.Time{}
	}
	r.asked[req.Revision][req.For] = now.Add(keptIntervals * req.Interval)
}

// dropAskingObject drops an object that asks for a revision, and reports whether no object asks for any.
func (r *repository) dropAskingObject(revision string, object types.NamespacedName) bool {
	delete(r.asked[revision], object)
	if len(r.asked[revision]) == 0 {
		delete(r.asked, revision)
	}
	return len(r.asked) == 0
}

// forgetUnused drops the revisions that no object asks for any more, once in a while: a repository may have any number of objects. The caller has the Pool's
// lock.
func (r *repository) forgetUnused(now time.Time) {
	if now.Sub(r.forgotten) < forgetInterval {
		return
	}
	r.forgotten = now
	for revision, askers := range r.asked {
		for key, deadline := range askers {
			if now.After(deadline) {
				delete(askers, key)
			}
		}
		if len(askers) == 0 {
			delete(r.asked, revision)
		}
	}
}

// youngAnswer returns the answer to a request if it is young enough.
func (r *repository) youngAnswer(req Request, now time.Time) (Answer, bool) {
	a, ok := r.answers[req.Revision]
	maxAge, answeredAt := req.Interval, a.At
	if a.Err != nil {
		maxAge, answeredAt = min(maxAge, FailedAge), a.failedAt
	}
	if !a.IsSince(req.Since) {
		maxAge = Spacing
	}
	return a, ok && now.Sub(answeredAt) < maxAge
}

// A look is when a repository was looked at, for which revisions, and why that failed.
type look struct {
	began, ended time.Time
	revisions    []string
	err          error
}

// keepAnswers keeps the result of a look, and returns the objects whose revision has another answer than before. A failed look returns
// none. A revision that an object asked for during the look has no answer yet.
func (r *repository) keepAnswers(listed refs.Set, l look) map[types.NamespacedName]bool {
	changed, next := map[types.NamespacedName]bool{}, map[string]Answer{}
	for _, revision := range l.revisions {
		users, isAsked := r.asked[revision]
		if !isAsked {
			continue
		}
		a := Answer{Err: l.err, At: l.began}
		if l.err != nil {
			a.failedAt = l.ended
		}
		if l.err == nil {
			a.Commit, a.Ambiguous = listed.FindCommit(revision)
		}
		previous, isKnown := r.answers[revision]
		if isKnown && l.err == nil && (previous.Err != nil || previous.Commit != a.Commit || previous.Ambiguous != a.Ambiguous) {
			for key := range users {
				changed[key] = true
			}
		}
		next[revision] = a
	}
	r.answers = next
	return changed
}
