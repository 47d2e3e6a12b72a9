package deployment

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/function/compose"
)

// heal removes all faults.
func (w *walk) heal() {
	for _, r := range w.repos {
		r.refuses = false
	}
	for _, s := range w.sites {
		s.stuck, s.built = false, true
	}
	if w.prometheusDown = false; w.isInvalid() {
		w.wish(3)
	}
}

// calm lets everything heal, or some of it stay wrong for good, and comes to an end.
func (w *walk) calm() {
	w.core, w.in.Spec.Suspend = w.cores[len(w.cores)-1], nil
	for name, r := range w.repos {
		r.dead, r.gone = false, r.gone && w.isAbandoned(name)
	}
	if w.lasting = w.chance(4); !w.lasting {
		w.heal()
	}
	for quiet := 0; w.rounds < 200; w.rounds++ {
		out := w.playRound()
		if len(w.truth.violations) > 0 {
			return
		}
		if w.last != nil && w.brief(out) == w.brief(w.last) && isSame(out.Status, w.last.Status) {
			quiet++
		} else {
			quiet = 0
		}
		w.last = out
		if quiet > w.patience() && (out.Status.Phase == deploymentv1alpha1.PhaseSucceeded || out.Status.Phase == deploymentv1alpha1.PhaseFailed) {
			w.ended(out)
			return
		}
	}
	w.truth.violatedf("it comes to no end: %s %s %s", w.brief(w.last), w.last.Status.Message, w.describeRepositories())
}

// describeRepositories returns the content and the report of each repository.
func (w *walk) describeRepositories() string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(w.repos)) {
		r, l := w.repos[name], w.repos[name].memory.ledger
		text := &strings.Builder{}
		fmt.Fprintf(text, "%s: gone %t, event %d of epoch %d of %.4s, home %s, successor %s", name, r.gone, l.Seq, l.Epoch, l.Ledger, l.Home, l.Successor)
		for _, d := range w.deliveries {
			if c := d.GetCondition(xpv2.TypeReady); d.Spec.ProviderConfigReference.Name == name {
				fmt.Fprintf(text, ", %s of %d: %s", d.Name, d.Generation, c.Reason)
			}
		}
		out = append(out, text.String())
	}
	return strings.Join(out, "; ")
}

// patience is how many rounds nothing may change before it is the end. While a spec is refused the phase is Failed, whatever was begun before goes
// on, and only its timeouts, of half an hour at most, end it.
func (w *walk) patience() int {
	if w.isInvalid() {
		return 40
	}
	return 3
}

// round lets everybody work once, without faults.
func (w *walk) round() *Output { return w.playRound().Output }

// playRound plays a round, and returns the answer of the call.
func (w *walk) playRound() *reply {
	w.now = w.now.Add(time.Minute)
	out := w.calls()
	for _, name := range slices.Sorted(maps.Keys(w.deliveries)) {
		w.provide(name, false)
	}
	w.engines()
	if w.sync != nil {
		w.lookAgain()
	}
	w.measureAll()
	w.concludeByMandate()
	return out
}

// isBlockedByLimit reports whether a limit that was set later refuses the delivery for good, and the deployment reports that.
func (w *walk) isBlockedByLimit(out *reply) bool {
	return w.refuses() && conditionOf(out.Output, deploymentv1alpha1.TypeDelivered).Reason == deploymentv1alpha1.ReasonDeliveryBlocked
}

// ended checks the end of a scenario.
func (w *walk) ended(out *reply) {
	w.mustBeJudged()
	w.isWhereItWasMoved()
	w.areMovesAnswered(out)
	switch out.Status.Outcome {
	case deploymentv1alpha1.OutcomeSucceeded:
		if w.truth.lossy && w.refuses() {
			return // Lost state cannot be written again.
		}
		if w.mustHold("Succeeded"); !out.Ready && !w.isBlockedByLimit(out) {
			w.truth.violatedf("it succeeded, and is not ready: %+v", out.Conditions)
		}
	case deploymentv1alpha1.OutcomeRolledBack:
		w.mustHold("RolledBack")
	case deploymentv1alpha1.OutcomeFailed:
		if c := conditionOf(out.Output, deploymentv1alpha1.TypeRolledBack); c.Reason == deploymentv1alpha1.ReasonNotRecorded && !w.hasLostPart() {
			w.truth.violatedf("the target of a rollback is never known")
		}
	}
	w.mustCommitOnce()
}

// mustCommitOnce checks that each attempt changed each repository in one commit.
func (w *walk) mustCommitOnce() {
	// A Site whose cluster was not ready is served by a commit of its own.
	limit := 1
	if w.sites["edge3"].clustered {
		limit = 2
	}
	for name, r := range w.repos {
		for t, n := range r.commits {
			if n > limit && !w.lost && !w.wiped && !w.truth.isExcused("directory restored where its Site moved to", n == limit+1 && t.attempt > 0 && w.restoresMoved(name)) {
				w.truth.violatedf("%d commits for %+v in %s", n, t, name)
			}
		}
	}
}

// restoresMoved is true for a repository in which the directory of a Site is restored that moved there after the revision was ordered.
func (w *walk) restoresMoved(repository string) bool {
	s, d := w.ledger(), w.deliveries[w.deliveryTo(repository)]
	return d != nil && s.Current != nil && slices.ContainsFunc(d.Spec.ForProvider.Trees, func(t deliveryv1alpha1.Tree) bool {
		isOfPart := func(p ledger.Part) bool { return p.ConfigRef == repository && slices.Contains(p.Sites, t.Site) }
		return t.Action == deliveryv1alpha1.ActionRestore && !slices.ContainsFunc(s.Current.Parts, isOfPart)
	})
}

// refuses is true while a repository refuses trees.
func (w *walk) refuses() bool {
	for _, r := range w.repos {
		if r.refuses {
			return true
		}
	}
	return false
}

// mustBeJudged checks that a revision which was begun came to a verdict, also where nothing new may be ordered.
func (w *walk) mustBeJudged() {
	s := w.ledger()
	if s.Current == nil || len(s.Current.Plan) > 1 || w.wiped || w.lost || w.sync == nil || len(w.sync.Spec.ForProvider.Sites) < len(w.sites) {
		return
	}
	for _, p := range s.Current.Parts {
		d := w.deliveries[p.Delivery]
		if w.isInvalid() && (d == nil || askedPosition(d) != s.Position() || w.truth.isExcused("trees dropped with a verdict that was not recorded", keepsReached(d, s))) {
			return // The next tree of the repository cannot be rendered any more.
		}
	}
	if w.hasLostGate() {
		return
	}
	if s.Verdict == nil {
		w.truth.violatedf("revision %d comes to no verdict", s.Current.Number)
	}
}

// keepsReached is true for a delivery that keeps the directory of a Site which a revision that is not judged came to: a verdict was proposed, and another ledger
// counts.
func keepsReached(d *deliveryv1alpha1.GitDelivery, s ledger.State) bool {
	return s.Verdict == nil && slices.ContainsFunc(d.Spec.ForProvider.Trees, func(t deliveryv1alpha1.Tree) bool {
		return t.Action == deliveryv1alpha1.ActionKeep && s.HasReached(t.Site)
	})
}

// isInvalid is true while the spec cannot be compiled: no lost object can be composed again.
func (w *walk) isInvalid() bool { return *w.in.Spec.Intent == "{" }

// hasLostGate is true while the Gate of the current step is lost, and its measurements are unknown.
func (w *walk) hasLostGate() bool {
	s := w.ledger()
	return w.isInvalid() && s.IsGated() && w.gates[compose.GateName(s.Position())] == nil
}

// hasLostPart is true while the content of the current revision's directories is unknown, and no call can learn it: a delivery is lost, and the
// directories of its Sites are unknown or elsewhere now, or the repository is gone.
func (w *walk) hasLostPart() bool {
	s := w.ledger()
	isLost := func(p ledger.Part) bool {
		r := w.repos[p.ConfigRef]
		return w.deliveries[p.Delivery] == nil && (w.isInvalid() || !w.hasSites(p.ConfigRef)) || r != nil && r.gone
	}
	return s.Current != nil && slices.ContainsFunc(s.Current.Parts, isLost)
}

// ledger is the newest that a repository holds. It goes on in another home once it moved.
func (w *walk) ledger() ledger.State {
	out := ledger.State{}
	for _, r := range w.repos {
		if s := r.memory.ledger; s.Successor == "" && !s.IsClosed && s.Compare(out.Head) > 0 {
			out = s
		}
	}
	return out
}

// mustHold checks that each repository reached the position of the ledger, and that each Site runs its desired tree.
func (w *walk) mustHold(claim string) {
	now := w.ledger().Position()
	for name, d := range w.deliveries {
		if !now.HasReached(askedPosition(d)) {
			continue
		}
		if w.isRefusedForGood(d) {
			continue
		}
		if r := w.repos[d.Spec.ProviderConfigReference.Name].memory.record; r == nil || r.position != askedPosition(d) {
			w.truth.violatedf("%s, and %s is not at the position of the ledger", claim, name)
		}
		for _, t := range d.Spec.ForProvider.Trees {
			running := w.sites[t.Site].runs[place(d.Spec.ProviderConfigReference.Name, t.Path)]
			if t.Action != deliveryv1alpha1.ActionKeep && running != t.Tree && !w.sites[t.Site].untold && !w.isRestoredElsewhere(t) && !w.isStuckForGood(t, running) {
				w.truth.violatedf("%s, and %s runs %s instead of %s", claim, t.Site, running, t.Tree)
			}
		}
	}
}

// isRestoredElsewhere is true for a Site that ran the tree which a rollback restored before its directory moved, whose engine is stuck for good, and all of
// whose objects were lost since. The deployment reports the running tree as unknown.
func (w *walk) isRestoredElsewhere(t deliveryv1alpha1.Tree) bool {
	s := w.ledger()
	isKnown := conditionOf(w.last.Output, deploymentv1alpha1.TypeAvailable).Status == corev1.ConditionTrue
	holds := w.wiped && w.sites[t.Site].stuck && s.Restored && !isKnown && w.truth.ran[run{goalOf(s.Position()), t.Site, t.Tree}]
	return w.truth.isExcused("restored before its Site moved", holds)
}

// isNotRestored is true once a rollback came to its end, and the deployment is not ready since, because of a permanent fault: a later commit of another user,
// or a commit at a Site that the revision did not reach, differs from the restored trees.
func (w *walk) isNotRestored() bool { return w.ledger().Restored && !w.last.Ready }

// isRefusedForGood is true for a repository that refuses for good the repeated request of a rollback.
func (w *walk) isRefusedForGood(d *deliveryv1alpha1.GitDelivery) bool {
	return w.truth.isExcused("refused for good after a rollback", w.isNotRestored() && w.repos[d.Spec.ProviderConfigReference.Name].refuses)
}

// isStuckForGood is true for a Site whose engine is stuck for good on a commit of another user, or on the tree in the Site's previous directory.
func (w *walk) isStuckForGood(t deliveryv1alpha1.Tree, runs string) bool {
	site := w.sites[t.Site]
	isOld := runs == "stranger" || runs == "" && slices.Contains(slices.Collect(maps.Values(site.runs)), t.Tree)
	return w.truth.isExcused("stuck for good after a rollback", w.isNotRestored() && site.stuck && isOld)
}
