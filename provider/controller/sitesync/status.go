package sitesync

import (
	"slices"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/evidence"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/provider/engines"
	"github.com/intentplane/intentplane/provider/instant"
	"github.com/intentplane/intentplane/provider/proof"
)

const (
	// progressQuietTime is how long nothing may have changed before the controller writes progress. Each change that can be seen costs the composite, and while
	// Sites come live one after another the next one is worth waiting for.
	progressQuietTime = 10 * time.Second

	// maxProgressDelay is how long progress is put off where something always changes.
	maxProgressDelay = time.Minute

	// healthAlertTime is how long after a Site went live the controller writes at once that its engine reports trouble: Gates judge the Site then. Later that is
	// progress like any other, since an engine that reads several claims may speak of another one.
	healthAlertTime = 10 * time.Minute
)

// updateStatus writes the decision into the status: the end of a step and terminal states at once; progress when nothing has changed for a
// while.
func (e *external) updateStatus(s *v1alpha1.SiteSync, d proof.Decision) {
	previous := s.GetCondition(xpv2.TypeReady)
	ready := readyCondition(s, d)
	now := e.now()
	released, hasPause := releasedCondition(s, d)
	isNews := hasPause && !s.GetCondition(v1alpha1.TypeReleased).Equal(released) && (!isNextPosition(s, d) || released.Reason == v1alpha1.ReasonPromoted)
	isSame := equality.Semantic.DeepEqual(s.Status.AtProvider, d.Next) && previous.Equal(ready) && !isNews
	e.note.next = instant.Earliest(d.Deadline, d.Recheck)
	if isProofUnknown(d) {
		e.note.next = instant.Earliest(e.note.next, now.Add(retryInterval))
	}
	if isSame || isNews || isChangeUrgent(s, d, previous, ready) || losesHealth(s.Status.AtProvider, d.Next, now) {
		e.note.draft = nil
	} else if due := e.note.deferDecision(d, now); now.Before(due) {
		e.note.next = instant.Earliest(e.note.next, due)
		return
	}
	e.note.draft = nil
	s.Status.AtProvider = d.Next
	s.SetConditions(ready)
	if hasPause {
		s.SetConditions(released)
	}
}

// A draft is a status that is not written yet.
type draft struct {
	decision proof.Decision
	// begun is since when the status differs from the desired status, and changed since when the desired status has been the same.
	begun, changed time.Time
}

// deferDecision defers a decision, and returns until when.
func (n *note) deferDecision(d proof.Decision, now time.Time) time.Time {
	switch {
	case n.draft == nil:
		n.draft = &draft{begun: now, changed: now}
	case !isSameState(n.draft.decision, d):
		n.draft.changed = now
	}
	n.draft.decision = d
	return instant.Earliest(n.draft.begun.Add(maxProgressDelay), n.draft.changed.Add(progressQuietTime))
}

// isSameState is true for decisions that differ in their times at most.
func isSameState(a, b proof.Decision) bool {
	return a.Reason == b.Reason && a.Message == b.Message && equality.Semantic.DeepEqual(withoutTimes(a.Next), withoutTimes(b.Next))
}

func withoutTimes(o v1alpha1.SiteSyncObservation) v1alpha1.SiteSyncObservation {
	o = *o.DeepCopy()
	o.StartedAt = nil
	for i := range o.Sites {
		o.Sites[i].StartedAt, o.Sites[i].LiveSince = nil, nil
		if t := o.Sites[i].Traffic; t != nil {
			for j := range t.Tracks {
				t.Tracks[j].IdleSince = nil
			}
		}
	}
	return o
}

// isChangeUrgent is true if another object waits for the change: another position, a step that is complete, a cluster that can be delivered to, a
// track that is idle or has its pods, a Site that moved, or a Site that will not be live by itself. The first observation of the next
// position of a deployment in tracks is held until its result: each step would cost the composite a change more.
func isChangeUrgent(s *v1alpha1.SiteSync, d proof.Decision, previous, ready xpv2.Condition) bool {
	isNext := isNextPosition(s, d)
	if !isNext && (previous.ObservedGeneration != ready.ObservedGeneration || isOtherSubject(s.Status.AtProvider, d.Next)) {
		return true
	}
	if ready.Status == corev1.ConditionTrue && (isNext || previous.Status != corev1.ConditionTrue) {
		return true
	}
	previousByName := map[string]v1alpha1.SiteObservation{}
	for _, site := range s.Status.AtProvider.Sites {
		previousByName[site.Name] = site
	}
	for _, site := range d.Next.Sites {
		previousSite := previousByName[site.Name]
		terminal := site.State == v1alpha1.SiteFailed || site.State == v1alpha1.SiteTimedOut
		isNewEnd := terminal && (isNext || previousSite.State != site.State)
		if proof.IsOtherTarget(previousSite.Engine, site.Engine) && site.State == v1alpha1.SiteLive {
			return true // Gates judge the Site since then.
		}
		if isNewEnd || hasPassedCluster(site) && (isNext || !hasPassedCluster(previousSite)) || isTrackAdvanced(previousSite, site, d.Spec.AskedPosition()) {
			return true
		}
	}
	return false
}

// losesHealth is true if the engine of a Site that went live lately reported the Site as healthy, and now reports trouble.
func losesHealth(previous, next v1alpha1.SiteSyncObservation, now time.Time) bool {
	healthy := map[string]bool{}
	for _, o := range previous.Sites {
		healthy[o.Name] = o.Engine != nil && engines.IsHealthy(o.Engine.Health)
	}
	return slices.ContainsFunc(next.Sites, func(o v1alpha1.SiteObservation) bool {
		isRecent := o.LiveSince != nil && now.Before(o.LiveSince.Add(healthAlertTime))
		return isRecent && healthy[o.Name] && o.Engine != nil && engines.IsUnhealthy(o.Engine.Health)
	})
}

// isNextPosition is true for the SiteSync of a deployment in tracks whose status is about another position than a decision.
func isNextPosition(s *v1alpha1.SiteSync, d proof.Decision) bool {
	observed := s.Status.AtProvider.ObservedPosition()
	return d.Spec.AskedPosition() != observed && observed.Revision > 0 && areSitesInTracks(d.Spec)
}

// areSitesInTracks is true for the parameters of a deployment in tracks.
func areSitesInTracks(p v1alpha1.SiteSyncParameters) bool {
	return slices.ContainsFunc(p.Sites, func(t v1alpha1.SiteTree) bool { return t.Traffic != nil })
}

// isOtherSubject is true for observations of different positions.
func isOtherSubject(a, b v1alpha1.SiteSyncObservation) bool {
	return a.ObservedPosition() != b.ObservedPosition()
}

// hasPassedCluster is true for a Site whose cluster was ready for the position.
func hasPassedCluster(o v1alpha1.SiteObservation) bool {
	return o.Cluster != nil && o.Cluster.PassedAt != nil
}

// hasSamePods is true for two observations of the pods of a folder by the same proof.
func hasSamePods(a, b v1alpha1.TrackObservation) bool {
	return a.AvailableTree == b.AvailableTree && equality.Semantic.DeepEqual(a.AvailableAt, b.AvailableAt)
}

// isTrackAdvanced is true if a track of a Site became idle, or got its pods: the next change of its pods or its weight waits for that. A
// track that is idle no more must not lose its pods. A step waits for the pods of all of its Sites together, and so only the stages before
// the steps wait for the pods of one Site.
func isTrackAdvanced(previous, next v1alpha1.SiteObservation, requested ledger.Position) bool {
	if next.Traffic == nil {
		return false
	}
	for _, t := range next.Traffic.Tracks {
		last := evidence.TrackOf(previous, t.Name)
		hasNewPods := requested.Stage != ledger.StageSteps && t.AvailableTree != "" && !hasSamePods(t, last)
		if t.Idle != last.Idle || hasNewPods {
			return true
		}
	}
	return false
}
