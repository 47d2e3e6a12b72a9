package disruption

import (
	"context"
	"testing"

	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/scene"
	"github.com/intentplane/intentplane/test/soak"
)

// TestReplicaFailover removes the active replica of two while all deliver and an unmanaged writer pushes at full speed.
func TestReplicaFailover(t *testing.T) {
	cases := map[string]struct {
		reason   string
		stranger func(f *fleet) pusher
		lose     func(t *testing.T) (end func())
		long     bool
	}{
		"Killed": {
			reason:   "The second provider continues the work of the first provider.",
			stranger: newClonePusher, lose: killProvider,
		},
		"Frozen": {
			reason:   "A replica that wakes up too late, in the middle of a write, writes nothing more.",
			stranger: newClonePusher, lose: freezeProvider, long: true,
		},
		"KilledBesideEngine": {
			reason:   "The second replica continues the work of the first replica, beside an engine with the same speed.",
			stranger: newClientPusher, lose: killProvider, long: true,
		},
		"FrozenBesideEngine": {
			reason:   "A replica that wakes up too late writes nothing, beside an engine that is as fast.",
			stranger: newClientPusher, lose: freezeProvider, long: true,
		},
	}
	rounds, writers := soak.Rounds(t, 3, 50), 20
	if !soak.Long() {
		writers = 8
	}
	for name, tc := range cases {
		if tc.long && !soak.Long() {
			continue
		}
		t.Run(name, func(t *testing.T) {
			args := controlplane.Program{Args: []string{"--leader-election", "--leader-lease=15s"}}
			cp.KillProvider()
			startProvider(t, args.Args...)
			if err := cp.StartStandby(t.Context(), args); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				cp.KillProvider()
				cp.KillStandby()
				if err := cp.StartProvider(context.WithoutCancel(t.Context()), controlplane.Program{}); err != nil {
					t.Error(err)
				}
			})
			t.Log(tc.reason)
			f := newFleet(scene.New(t, cp, "edge1"), writers)
			f.raceWithPusher(int64(rounds), tc.stranger(f), func() func() { return tc.lose(t) })
			f.wantEachCommitOnce()
		})
	}
}
