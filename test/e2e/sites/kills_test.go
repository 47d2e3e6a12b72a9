package sites

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/scene"
	"github.com/intentplane/intentplane/test/soak"
)

const (
	// kills in one story, at most, each within so long after the one before.
	kills  = 3
	within = 4 * time.Second
)

// A victim is a part of the control plane that is killed, as kill -9 does, and started again, as a kubelet would.
type victim struct {
	name string
	kill func(ctx context.Context) error
}

func victims() []victim {
	return []victim{
		{name: "function", kill: func(ctx context.Context) error { return cp.RestartFunction(ctx) }},
		{name: "provider", kill: func(ctx context.Context) error {
			cp.KillProvider()
			return cp.StartProvider(ctx, controlplane.Program{})
		}},
		{name: "API server", kill: func(ctx context.Context) error { return cp.RestartAPIServer(ctx) }},
	}
}

// TestKillsDuringRollback kills parts of the control plane while a revision is delivered, judged and rolled back. It runs before the tests that
// run at once.
func TestKillsDuringRollback(t *testing.T) {
	rounds, random := soak.Random(t, 2, 50)
	for range rounds {
		r := unobserved(t)
		dir := r.Directory("edge1", claim)
		r.Succeed(r.judged(1, 1))
		one := r.Tree(dir)
		r.target.Set("error_ratio", bad)
		o := r.judged(2, 60)
		r.Apply(o)
		r.murder(random)
		seen := r.outcome(o, "Succeeded", "RolledBack")
		r.AwaitCommits(3)
		if diff := cmp.Diff(one, r.Tree(dir)); diff != "" {
			t.Errorf("tree after the way back: -want, +got:\n%s", diff)
		}
		if diff := cmp.Diff(int64(1), scene.Number(seen, "status", "rollback", "attempts")); diff != "" {
			t.Errorf("attempts: -want, +got:\n%s", diff)
		}
		// What a claim waited for before its first revision is of none.
		if diff := cmp.Diff(slices.Concat(forth("1", "")[1:], andBack("2", "Succeeded")), r.log(seen)[1:]); diff != "" {
			t.Errorf("transitions: -want, +got:\n%s", diff)
		}
		r.wantTold(seen)
		if t.Failed() {
			return
		}
	}
}

// murder some parts of the control plane, at random moments.
func (r *trial) murder(random *rand.Rand) {
	r.T.Helper()
	var said []string
	for range 1 + random.IntN(kills) {
		v, after := victims()[random.IntN(len(victims()))], time.Duration(random.Int64N(int64(within)))
		said = append(said, v.name+" after "+after.Round(time.Millisecond).String())
		<-time.After(after)
		r.must(v.kill(r.T.Context()))
	}
	r.T.Logf("killed: %s", strings.Join(said, ", "))
}
