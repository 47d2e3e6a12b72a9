package transition

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/provider/tracing"
)

// A change of the phase, as a status has it. Only deployments have revisions.
type change struct {
	Index    int64       `json:"index"`
	From     string      `json:"from"`
	To       string      `json:"to"`
	At       metav1.Time `json:"at"`
	Revision int64       `json:"revision"`
}

// A step is one change of the phase.
type step struct {
	change

	// key identifies the step, in every process.
	key string

	// duration of the phase that was left, if hasDuration.
	duration    time.Duration
	hasDuration bool
}

// A judgement identifies the result of one check for one revision.
type judgement struct {
	revision   int64
	name, site string
}

// A phaseLog is the observed history of one deployment or cluster in this process. A status holds the last changes only; the log continues
// where they are truncated.
type phaseLog struct {
	uid    string
	seen   []change
	judged map[judgement]bool

	// phase and outcome of the last observation.
	phase, outcome string

	// isLedgerUnreachable is true if the ledger could not be read or written in the last observation.
	isLedgerUnreachable bool

	// pending steps have no event yet.
	pending []step

	// drift is the key of the last event about restored drift.
	drift string

	// canary is the canary of the last observation.
	canary canaryLog

	// syncs are the spans of the Sites of a revision, as they were when it began to be validated.
	syncs   []tracing.Span
	syncsOf int64

	// rejected is the revision whose rejection this process reported last.
	rejected int64

	// observed is true after the first complete reconcile in this process.
	observed bool

	// startedRevision is the newest revision whose start this process counted.
	startedRevision int64
}

// takeNewSteps returns the changes of a status that were not observed before.
func (s *phaseLog) takeNewSteps(now []change) []step {
	begins := len(now) - countNewChanges(s.seen, now)
	if begins == len(now) {
		// A status that was restored to an earlier state has nothing new, and may continue later.
		return nil
	}
	var out []step
	for i := begins; i < len(now); i++ {
		transition := step{change: now[i], key: transitionKey(s.uid, now[i])}
		if previous, ok := s.previousChange(now, i); ok && previous.To == now[i].From {
			transition.duration, transition.hasDuration = now[i].At.Sub(previous.At.Time), true
		}
		out = append(out, transition)
	}
	s.seen = slices.Clone(now)
	return out
}

// previousChange returns the change before index i. The status may have truncated it.
func (s *phaseLog) previousChange(now []change, i int) (change, bool) {
	if i > 0 {
		return now[i-1], true
	}
	return changeWithIndex(s.seen, now[i].Index-1)
}

// changeWithIndex returns the change with an index, if it was not truncated.
func changeWithIndex(all []change, index int64) (change, bool) {
	i := slices.IndexFunc(all, func(t change) bool { return t.Index == index })
	if i < 0 {
		return change{}, false
	}
	return all[i], true
}

// countNewChanges returns the number of new entries. Entries are added at the end and truncated at the beginning. A status that was restored to an earlier
// state has none. An entry that Crossplane wrote again, from a stale read, has another time and is the same entry. A cleared status starts a new log.
func countNewChanges(observed, now []change) int {
	if logStartsOver(observed, now) {
		return len(now)
	}
	for i, t := range now {
		if !isKnownChange(observed, t) {
			return len(now) - i
		}
	}
	return 0
}

// logStartsOver reports whether a log begins before the observed one and shares no entry with it.
func logStartsOver(observed, now []change) bool {
	if len(observed) == 0 || len(now) == 0 || now[0].Index >= observed[0].Index {
		return false
	}
	return !slices.ContainsFunc(now, func(t change) bool {
		s, ok := changeWithIndex(observed, t.Index)
		return ok && s.isSameChange(t)
	})
}

func (c change) isSameChange(t change) bool {
	return c.From == t.From && c.To == t.To && c.Revision == t.Revision
}

func isKnownChange(observed []change, t change) bool {
	if len(observed) == 0 || t.Index > observed[len(observed)-1].Index {
		return false
	}
	s, ok := changeWithIndex(observed, t.Index)
	return !ok || s.isSameChange(t)
}

func transitionKey(uid string, t change) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d %d %q %q", uid, t.Index, t.Revision, t.From, t.To))
	return hex.EncodeToString(sum[:8])
}

// takeNewResults returns the check results that were not counted before: whether each check passed.
func (s *phaseLog) takeNewResults(revision int64, all []deploymentv1alpha1.ValidationResult) []bool {
	var out []bool
	for _, r := range all {
		j := judgement{revision, r.Name, r.Site}
		if s.judged[j] {
			continue
		}
		s.judged[j] = true
		out = append(out, r.Passed)
	}
	// The results of an earlier revision do not appear again.
	for j := range s.judged {
		if j.revision < revision {
			delete(s.judged, j)
		}
	}
	return out
}
