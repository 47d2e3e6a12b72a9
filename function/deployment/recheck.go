package deployment

import (
	"time"

	"github.com/intentplane/intentplane/function/phase"
)

// renderRetry is the time until a rendering that exceeded its timeout is retried.
const renderRetry = time.Minute

// A recheck records whether a value depends on the time, and the time at which it has to be computed again.
type recheck struct {
	// isDated is true if the same input may have another output later.
	isDated bool

	// wait is the longest time until then. 0 means that it does not change without another input.
	wait time.Duration
}

// mergeRecheck returns the recheck of two values together.
func (r recheck) mergeRecheck(otherRecheck recheck) recheck {
	out := recheck{isDated: r.isDated || otherRecheck.isDated, wait: r.wait}
	if otherRecheck.wait > 0 && (r.wait == 0 || otherRecheck.wait < r.wait) {
		out.wait = otherRecheck.wait
	}
	return out
}

// recheckOfProblem returns the time of the next attempt after a problem.
func recheckOfProblem(p *phase.Problem) recheck {
	if p == nil || !p.Retried {
		return recheck{}
	}
	return recheck{isDated: true, wait: renderRetry}
}
