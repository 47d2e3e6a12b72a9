package transition

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

// A change of the phase, as a status has it. Only deployments have revisions.
type change struct {
	From     string      `json:"from"`
	To       string      `json:"to"`
	At       metav1.Time `json:"at"`
	Revision int64       `json:"revision"`
}

// A step is one change of the phase.
type step struct {
	change

	// key tells the step apart from all others, also for another process.
	key string

	// took is how long it was in the phase that it left, where that is known.
	took time.Duration
	long bool
}

// A judgement is how one check of one revision was judged.
type judgement struct {
	revision   int64
	name, site string
}

// A story is what a process has seen of one deployment or cluster. A status remembers the last changes only, and a story goes on where they are
// cut off.
type story struct {
	uid    string
	seen   []change
	judged map[judgement]bool

	// untold are steps that have no event yet.
	untold []step
}

// follow returns what is new in a status.
func (s *story) follow(now []change) []step {
	begins := len(now) - fresh(s.seen, now)
	if begins == len(now) {
		// Nothing is new in a status that went back in time, and it may come forward again.
		return nil
	}
	var out []step
	for i := begins; i < len(now); i++ {
		one := step{change: now[i], key: keyOf(s.uid, now, i)}
		if before, ok := s.before(now, i); ok && before.To == now[i].From {
			one.took, one.long = now[i].At.Sub(before.At.Time), true
		}
		out = append(out, one)
	}
	s.seen = slices.Clone(now)
	return out
}

// before is the change before one, which the status may have forgotten.
func (s *story) before(now []change, i int) (change, bool) {
	if i > 0 {
		return now[i-1], true
	}
	if len(s.seen) > 0 {
		return s.seen[len(s.seen)-1], true
	}
	return change{}, false
}

// fresh is how many of the last entries were not there before. Entries are added at the end, and cut off at the beginning; a status
// that went back in time has none.
func fresh(seen, now []change) int {
	for cut := range seen {
		kept := seen[cut:]
		if len(kept) <= len(now) && slices.EqualFunc(kept, now[:len(kept)], same) {
			return len(now) - len(kept)
		}
		if len(now) < len(kept) && slices.EqualFunc(now, kept[:len(now)], same) {
			return 0
		}
	}
	return len(now)
}

func same(a, b change) bool {
	return a.From == b.From && a.To == b.To && a.Revision == b.Revision && a.At.Equal(&b.At)
}

// keyOf one entry: of equal ones, which times in whole seconds cannot tell apart, how many came before tells which it is.
func keyOf(uid string, all []change, i int) string {
	t, nth := all[i], 0
	for _, other := range all[:i] {
		if same(other, t) {
			nth++
		}
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d %d %q %q %d", uid, t.Revision, t.At.Unix(), t.From, t.To, nth))
	return hex.EncodeToString(sum[:8])
}

// results are the checks that were judged since, by whether they passed.
func (s *story) results(revision int64, all []deploymentv1alpha1.ValidationResult) []bool {
	var out []bool
	for _, r := range all {
		j := judgement{revision, r.Name, r.Site}
		if s.judged[j] {
			continue
		}
		s.judged[j] = true
		out = append(out, r.Passed)
	}
	// What a revision was judged by does not come back after the next one.
	for j := range s.judged {
		if j.revision < revision {
			delete(s.judged, j)
		}
	}
	return out
}
