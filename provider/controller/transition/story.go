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
	Index    int64       `json:"index"`
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

	// phase and outcome in which it was seen last.
	phase, outcome string

	// untold are steps that have no event yet.
	untold []step

	// drift is the key of the event about restored drift that was made last.
	drift string

	// visited says that this process followed the status before.
	visited bool

	// begun is the newest revision whose beginning this process counted.
	begun int64
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
		one := step{change: now[i], key: keyOf(s.uid, now[i])}
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
	return at(s.seen, now[i].Index-1)
}

// at an index, which need not be there any more.
func at(all []change, index int64) (change, bool) {
	i := slices.IndexFunc(all, func(t change) bool { return t.Index == index })
	if i < 0 {
		return change{}, false
	}
	return all[i], true
}

// fresh is how many of the last entries were not there before. Entries are added at the end, and cut off at the beginning; a status
// that went back in time has none. One that Crossplane wrote again from what it saw too late has another time, and is still the same. A
// status that was cleared begins a log of its own.
func fresh(seen, now []change) int {
	if anew(seen, now) {
		return len(now)
	}
	for i, t := range now {
		if !known(seen, t) {
			return len(now) - i
		}
	}
	return 0
}

// anew is true for a log that begins before the one that was seen, and says nothing that was in there.
func anew(seen, now []change) bool {
	if len(seen) == 0 || len(now) == 0 || now[0].Index >= seen[0].Index {
		return false
	}
	return !slices.ContainsFunc(now, func(t change) bool {
		s, ok := at(seen, t.Index)
		return ok && s.same(t)
	})
}

func (c change) same(t change) bool {
	return c.From == t.From && c.To == t.To && c.Revision == t.Revision
}

func known(seen []change, t change) bool {
	if len(seen) == 0 || t.Index > seen[len(seen)-1].Index {
		return false
	}
	s, ok := at(seen, t.Index)
	return !ok || s.same(t)
}

func keyOf(uid string, t change) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d %d %q %q", uid, t.Index, t.Revision, t.From, t.To))
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
