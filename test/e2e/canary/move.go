package canary

import (
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/test/release"
)

// waiting are Gates that measure nothing for a minute: a user decides meanwhile.
func waiting() map[string]any {
	return map[string]any{"checks": []any{map[string]any{
		"name": "up", "type": "Prometheus", "threshold": "== 1", "initialDelay": "1m", "prometheus": map[string]any{"query": "vector(1)"},
	}}}
}

// isMovedInVain moves to another Blueprint, and gives that up once it has all requests.
func (y *followedRelease) isMovedInVain(revision int, p release.Plan) {
	y.Helper()
	p.Gates = waiting()
	y.asks(revision, p)
	y.reaches(int64(revision), "Measuring", "2/2")
	y.must(y.Request(y.Context(), rolloutv1alpha1.ActionAbort, int64(revision), nil))
	y.ends(int64(revision), "RolledBack")
}
