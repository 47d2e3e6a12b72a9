package mandate

import (
	"slices"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/xcrd"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/directories"
	"github.com/intentplane/intentplane/apis/evidence"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/step"
)

// holdForward returns why the provider may not go forward to a state: because of the claim, or since a directory cannot be composed. It is empty if it may.
func (f Facts) holdForward(recorded, next ledger.State) v1alpha1.MandateHold {
	switch {
	case !f.IsGuardRead:
		return v1alpha1.HoldClaimUnread
	case f.Guard != "":
		return f.Guard
	case next.Position() != recorded.Position() && f.lacksStepTrees(recorded, next):
		return v1alpha1.HoldFilesMissing
	}
	return ""
}

// lacksStepTrees is true if the tree of some directory is in no object, or cannot be composed, for a state that changes it. In tracks each repository has to follow.
func (f Facts) lacksStepTrees(recorded, s ledger.State) bool {
	if !s.HasTracks() {
		return !directories.CarryStep(s, s.Cursor.Step, f.carryingDeliveries(s)...)
	}
	in := f.newAimInput(recorded, s)
	return slices.ContainsFunc(s.Current.Parts, func(part ledger.Part) bool {
		d := f.deliveryOfPart(part)
		return d == nil || f.lacksTreesOf(d, in, s)
	})
}

// lacksTreesOf is true for a delivery that cannot bring its directories with tracks to a state: a tree cannot be composed, or a follower has the spec of another
// revision.
func (f Facts) lacksTreesOf(d *v1alpha1.GitDelivery, in step.Input, s ledger.State) bool {
	p := d.Spec.ForProvider
	if d != f.Home {
		f.Delivered = deliveredTrees(d)
		if !isOfRevision(p.AskedPosition(), s) {
			return true
		}
	}
	return slices.ContainsFunc(p.Trees, func(t v1alpha1.Tree) bool {
		aim := in.AimAt(s, directories.DirectoryOf(in, t.Site))
		return !aim.Keeps && f.composeStepTree(p, t, in, s).Action == v1alpha1.ActionKeep
	})
}

// holdsFilesOfStep is true if the deliveries carry the files of the revision to each Site of its next step.
func (f Facts) holdsFilesOfStep(s ledger.State) bool {
	return directories.HoldFiles(s, f.carryingDeliveries(s)...)
}

// carryingDeliveries returns the deliveries of the current revision of a state, which carry its files. Files for a Site that gets none do not count, nor those of a
// delivery that cannot follow the ledger: its spec was composed before a recovery.
func (f Facts) carryingDeliveries(s ledger.State) []*v1alpha1.GitDelivery {
	out := []*v1alpha1.GitDelivery{f.withoutClosed(f.Home)}
	for _, d := range f.followersOf(s) {
		if recorded := d.Spec.ForProvider.Copy; recorded.Ledger == s.Ledger && recorded.Epoch == s.Epoch {
			out = append(out, f.withoutClosed(d))
		}
	}
	return out
}

// withoutClosed returns a delivery without the later trees of Sites that get none.
func (f Facts) withoutClosed(d *v1alpha1.GitDelivery) *v1alpha1.GitDelivery {
	if len(f.Closed) == 0 {
		return d
	}
	out := *d
	out.Spec.ForProvider.Later = slices.DeleteFunc(slices.Clone(d.Spec.ForProvider.Later), func(l v1alpha1.LaterTree) bool { return f.Closed[l.Site] })
	return &out
}

// forwardProof returns the evidence that the step of a state has come to its end. It is empty if the mandate lists nothing that goes forward.
func (f Facts) forwardProof(s ledger.State) step.Proof {
	if !slices.ContainsFunc(f.Home.Spec.ForProvider.Mandate.May, step.Kind.GoesForward) {
		return step.Proof{}
	}
	c, gates, end := f.newComparison(s), f.gatesOfStep(s), f.PauseEnd(s)
	out := step.Proof{
		IsLive: c.IsLive() && f.runsEachTree(c), AwaitsCluster: c.AwaitsCluster(), IsPauseOver: !end.IsZero() && !f.Now.Before(end),
		HasPassed: len(gates) > 0 && !slices.ContainsFunc(gates, func(g *rolloutv1alpha1.Gate) bool { return !hasPassedEach(g) }),
	}
	for _, g := range gates {
		if evidence.GateVerdict(g) == rolloutv1alpha1.GateInconclusive {
			out.IsHeld, out.HeldAt = true, ptr.Deref(g.Status.AtProvider.EndedAt, metav1.Time{}).Time
		}
	}
	if out.IsLive && s.IsAtLastStep() {
		out.Trees, out.IsLive = f.provenTrees(s)
	}
	return out
}

// newComparison compares the deliveries of the revision, and its SiteSync, with themselves: their specs are the desired state. A repository of a later wave has the
// trees of an earlier revision in its spec, and no part in the step.
func (f Facts) newComparison(s ledger.State) *evidence.Comparison {
	deliveries := map[string]*v1alpha1.GitDelivery{xcrd.GetCompositionResourceName(f.Home): f.homeAtPosition(s)}
	for _, d := range f.followersOf(s) {
		if name := xcrd.GetCompositionResourceName(d); evidence.IsReached(name, d, s) {
			deliveries[name] = effectiveAt(d, s)
		}
	}
	sync := f.deploymentSync()
	return &evidence.Comparison{
		State: s, Recorded: s, Desired: deliveries, Observed: deliveries, Sync: withLatestTrees(sync), ObservedSync: sync, Unobserved: f.Unobserved,
	}
}

// withLatestTrees returns a SiteSync with a spec that names the trees that it looks for: it may have followed the ledger to them.
func withLatestTrees(s *v1alpha1.SiteSync) *v1alpha1.SiteSync {
	if s == nil {
		return nil
	}
	out, trees := *s, evidence.LatestTrees(s)
	out.Spec.ForProvider.Sites = slices.Clone(out.Spec.ForProvider.Sites)
	for i, t := range out.Spec.ForProvider.Sites {
		out.Spec.ForProvider.Sites[i].Tree = trees[t.Name]
	}
	return &out
}

// runsEachTree is true if each Site with an engine that the revision has come to was observed to run the tree in its repository.
func (f Facts) runsEachTree(c *evidence.Comparison) bool {
	observed := f.observedSites()
	return !slices.ContainsFunc(c.Trees(), func(t *v1alpha1.Tree) bool {
		_, isUnobserved := f.Unobserved[t.Site]
		o := observed[t.Site]
		isReached := directories.WaveOf(c.State, t.Site) <= c.State.Cursor.Step
		return isReached && t.Action != v1alpha1.ActionKeep && !isUnobserved && (o.State != v1alpha1.SiteLive || o.Tree != t.Tree)
	})
}

// hasPassedEach is true for a Gate that passed, and whose status has a result for each of its checks that passed.
func hasPassedEach(g *rolloutv1alpha1.Gate) bool {
	checks, results := g.Spec.ForProvider.Checks, g.Status.AtProvider.Checks
	if evidence.GateVerdict(g) != rolloutv1alpha1.GatePassed || len(results) != len(checks) {
		return false
	}
	for i, c := range checks {
		if r := results[i]; r.Name != c.Name || r.Site != c.Site || r.Phase != rolloutv1alpha1.CheckPassed {
			return false
		}
	}
	return true
}

// PauseEnd returns when the pause behind the step of a state ends: the SiteSync observed its start, and the plan has its length. It is zero before the start,
// and if time does not end the step.
func (f Facts) PauseEnd(s ledger.State) time.Time {
	if s.Current == nil || s.Verdict != nil {
		return time.Time{}
	}
	length, err := time.ParseDuration(s.PauseAfterStep())
	sync := f.deploymentSync()
	if err != nil || sync == nil {
		return time.Time{}
	}
	p := sync.Status.AtProvider.Pause
	if p == nil || p.Position != s.Position() {
		return time.Time{}
	}
	return p.Start().Add(length)
}
