package canary

import (
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/test/release"
)

// gatesWithoutVerdict are Gates that measure nothing for a minute: a user decides meanwhile.
func gatesWithoutVerdict() map[string]any {
	return map[string]any{"checks": []any{map[string]any{
		"name": "up", "type": "Prometheus", "threshold": "> 0", "initialDelay": "1m", "prometheus": map[string]any{"query": "vector(time())"},
	}}}
}

// isMovedInVain moves to another Blueprint, and gives that up once it has all requests.
func (y *followedRelease) isMovedInVain(revision int, p release.Plan) {
	y.Helper()
	p.Gates = gatesWithoutVerdict()
	y.asksForImage(revision, p)
	y.awaitCanaryState(int64(revision), "Measuring", "2/2")
	y.requireNoError(y.Request(y.Context(), rolloutv1alpha1.ActionAbort, int64(revision), nil))
	y.awaitOutcome(int64(revision), "RolledBack")
}
