package sites

import (
	"context"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/intentplane/intentplane/test/controlplane"
)

const (
	// kills in one story, at most, each within so long after the previous kill.
	kills  = 3
	within = 4 * time.Second
)

// A victim is a part of the control plane that is killed, as kill -9 does, and started again, as a kubelet would.
type victim struct {
	name string
	kill func(ctx context.Context) error
}

func partsToKill() []victim {
	return []victim{
		{name: "function", kill: func(ctx context.Context) error { return cp.RestartFunction(ctx) }},
		{name: "provider", kill: func(ctx context.Context) error {
			cp.KillProvider()
			return cp.StartProvider(ctx, controlplane.Program{})
		}},
		{name: "API server", kill: func(ctx context.Context) error { return cp.RestartAPIServer(ctx) }},
	}
}

// killRandomParts kills some parts of the control plane, at random moments.
func (r *trial) killRandomParts(random *rand.Rand) {
	r.T.Helper()
	var descriptions []string
	for range 1 + random.IntN(kills) {
		v, delay := partsToKill()[random.IntN(len(partsToKill()))], time.Duration(random.Int64N(int64(within)))
		descriptions = append(descriptions, v.name+" after "+delay.Round(time.Millisecond).String())
		<-time.After(delay)
		r.Must(v.kill(r.T.Context()))
	}
	r.T.Logf("killed: %s", strings.Join(descriptions, ", "))
}
