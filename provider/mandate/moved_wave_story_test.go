package mandate

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
)

// withdrawnBack returns the state in which a user rolled revision 2 back by revision 3.
func (c *scene) withdrawnBack() ledger.State {
	c.Helper()
	withdrawn := ledger.Withdrawn{Target: 1, Message: "as the test has it", RequestRef: ledger.RequestReference{Name: "back", UID: "back-uid"}}
	return record(c, c.recorded, verified("two"), ledger.Event{Withdrawn: &withdrawn}, rolledBack(1))
}

// movedPath is the path of a directory that a wave brings edge2, at another path than before.
const movedPath = "moved/edge2/team-a/web"

// TestRollBackMovedWave rolls back a wave for which another repository got a directory at another path than before.
func TestRollBackMovedWave(t *testing.T) {
	rejectedBack := func(c *scene) ledger.State { return record(c, c.recorded, rejected("SyncFailed"), rolledBack(1)) }
	atWave := func(c *scene, _ ledger.State) ledger.State { return c.recorded }
	atRollback := func(_ *scene, back ledger.State) ledger.State { return back.Essentials() }
	written := v1alpha1.DeliveredTree{Site: "edge2", Path: movedPath, Tree: "two2", Revision: 2}
	cases := map[string]struct {
		reason string
		back   func(c *scene) ledger.State
		copied func(c *scene, back ledger.State) ledger.State
		moved  v1alpha1.DeliveredTree
		want   string
	}{
		"Rejected": {
			reason: "The directory that the wave wrote gets the tree of the target.",
			back:   rejectedBack, copied: atWave, moved: written, want: "Restore one2 " + movedPath,
		},
		"Withdrawn": {
			reason: "The directory that the wave wrote gets the tree of the target of a user.",
			back:   (*scene).withdrawnBack, copied: atWave, moved: written, want: "Restore one2 " + movedPath,
		},
		"Repeated": {
			reason: "A repository that came to the rollback of a user keeps the restored directory.",
			back:   (*scene).withdrawnBack, copied: atRollback,
			moved: v1alpha1.DeliveredTree{Site: "edge2", Path: movedPath, Tree: "one2", Revision: 3}, want: "Restore one2 " + movedPath,
		},
		"NotWritten": {
			reason: "A directory that the withdrawn revision did not write gets no tree of the target.",
			back:   (*scene).withdrawnBack, copied: atRollback, want: "Keep  " + other2,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newFollowerInWaves(t)
			p, back := *c.Followers[0].Spec.ForProvider.DeepCopy(), tc.back(c)
			p.Later[0].Path = movedPath
			c.Delivered = map[string]v1alpha1.DeliveredTree{other2: {Site: "edge2", Path: other2, Tree: "one2", Revision: 1}}
			if tc.moved.Path != "" {
				c.Delivered[movedPath] = tc.moved
			}
			c.Copy, c.Home.Status.AtProvider.Ledger = new(tc.copied(c, back)), &back
			out, isAhead := c.FollowHome(p)
			var got []string
			for _, tree := range out.Trees {
				got = append(got, fmt.Sprintf("%s %s %s", tree.Action, tree.Tree, tree.Path))
			}
			if diff := cmp.Diff([]string{tc.want}, got); diff != "" || !isAhead {
				t.Errorf("\n%s\nFollowHome(...): -want, +got:\n%s\nahead %t", tc.reason, diff, isAhead)
			}
		})
	}
}

// TestObserveMovedWave observes the rollback of a wave for which another repository got a directory at another path than before.
func TestObserveMovedWave(t *testing.T) {
	cases := map[string]struct {
		reason string
		back   func(c *scene) ledger.State
		copied func(c *scene, back ledger.State) ledger.State
	}{
		"Rejected": {
			reason: "The SiteSync observes the directory that the wave wrote.",
			back:   func(c *scene) ledger.State { return record(c, c.recorded, rejected("SyncFailed"), rolledBack(1)) },
			copied: func(c *scene, _ ledger.State) ledger.State { return c.recorded },
		},
		"Withdrawn": {
			reason: "The SiteSync observes the directory that the wave of a withdrawn revision wrote.",
			back:   (*scene).withdrawnBack,
			copied: func(_ *scene, back ledger.State) ledger.State { return back.Essentials() },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newFollowerInWaves(t)
			d, back := &c.Followers[0], tc.back(c)
			d.Spec.ForProvider.Later[0].Path = movedPath
			d.Status.AtProvider.Follows = &v1alpha1.FollowStatus{Position: back.Position()}
			d.Status.AtProvider.Record.Copy = new(tc.copied(c, back))
			d.Status.AtProvider.Trees = append(d.Status.AtProvider.Trees, v1alpha1.DeliveredTree{Site: "edge2", Path: movedPath, Tree: "two2", Revision: 2})
			sync := newSync(c.Home, c.recorded, corev1.ConditionTrue, "Live")
			sync.Spec.ForProvider.Sites = []v1alpha1.SiteTree{{Name: "edge2", Path: movedPath, Tree: "two2", Wave: 1}}
			c.Home.Status.AtProvider.Ledger, c.Home.Status.AtProvider.Mandate = &back, Status(c.Home.Spec.ForProvider.Mandate, back)
			p, isAhead := FollowLedger(&sync, []v1alpha1.GitDelivery{*c.Home, *d})
			if diff := cmp.Diff([]v1alpha1.SiteTree{{Name: "edge2", Path: movedPath, Tree: "one2"}}, p.Sites); diff != "" || !isAhead {
				t.Errorf("\n%s\nFollowLedger(...): -want, +got:\n%s\nahead %t", tc.reason, diff, isAhead)
			}
		})
	}
}
