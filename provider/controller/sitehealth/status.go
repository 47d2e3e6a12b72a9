package sitehealth

import (
	"math"
	"slices"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/provider/instant"
)

const (
	// still is the delay of a change that nothing waits for: the next change may follow soon, and each write costs the composite.
	still = 10 * time.Second

	// writeInterval is the long-term interval of status writes for one image, and writeBurst the number of writes at once.
	writeInterval = time.Minute
	writeBurst    = 5
)

// updateStatus writes the decision into the status: at once if it is about another spec, if a Site begins or ends to serve, or if the routes of all Sites
// are of a later revision; else after a while. Where that changes all the time, it is written once per minute. Of the next image nothing is written before
// its first pod is available, or for a while: until then the pods of the previous image serve, according to the status.
func (e *external) updateStatus(s *v1alpha1.SiteHealth, d decision) {
	previous, ready, now := s.GetCondition(xpv2.TypeReady), readyCondition(s, d), e.now()
	e.note.next = d.again
	if equality.Semantic.DeepEqual(s.Status.AtProvider, d.next) && previous.Equal(ready) {
		e.note.pendingSince = time.Time{}
		return
	}
	due := now
	isSame := previous.ObservedGeneration == ready.ObservedGeneration && s.Status.AtProvider.Image == d.next.Image && !isNextRoute(s.Status.AtProvider, d.next)
	switch {
	case isSame:
		due = e.note.nextDueTime(now, isChangeUrgent(s.Status.AtProvider, d.next))
	case isNextImage(s.Status.AtProvider, d.next):
		due = e.note.pendingUntil(now, isNextUrgent(s.Status.AtProvider, d.next))
	}
	if now.Before(due) {
		e.note.next = instant.Earliest(e.note.next, due)
		return
	}
	if !e.quick {
		e.note.recordStatusWrite(now, isSame, s.Status.AtProvider.Image == d.next.Image)
	}
	s.Status.AtProvider = d.next
	s.SetConditions(ready)
}

// recordStatusWrite notes a write of the status, which counts if it is of the same spec. The next image has all of its writes, whatever an earlier image took.
func (n *note) recordStatusWrite(now time.Time, isSame, isSameImage bool) {
	n.pendingSince = time.Time{}
	switch {
	case isSame:
		n.writes.AllowN(now, 1)
	case !isSameImage:
		n.writes = newWriteLimiter()
	}
}

// nextDueTime returns when a status that changed may be written.
func (n *note) nextDueTime(now time.Time, urgent bool) time.Time {
	due := n.pendingUntil(now, urgent)
	if missing := 1 - n.writes.TokensAt(now); missing > 0 {
		// A limiter computes in floating point: less than a millisecond of waiting is a rounding error.
		due = laterOfTimes(due, now.Add(time.Duration(missing*float64(writeInterval)).Truncate(time.Millisecond)))
	}
	return due
}

// pendingUntil returns until when a status that changed is put off, as long as it is not written all the time.
func (n *note) pendingUntil(now time.Time, urgent bool) time.Time {
	if n.pendingSince.IsZero() {
		n.pendingSince = now
	}
	if urgent {
		return n.pendingSince
	}
	return n.pendingSince.Add(still)
}

func laterOfTimes(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// isChangeUrgent is true if a Site begins or ends to serve. A cluster that does not answer for a moment is not news.
func isChangeUrgent(previous, next v1alpha1.SiteHealthObservation) bool {
	previousByName := map[string]v1alpha1.SiteHealthState{}
	for _, s := range previous.Sites {
		previousByName[s.Name] = s
	}
	for _, s := range next.Sites {
		if s.State != v1alpha1.HealthNotObserved && s.IsServing() != previousByName[s.Name].IsServing() {
			return true
		}
	}
	return false
}

// isNextImage is true if the status is about an earlier image at the same Sites.
func isNextImage(previous, next v1alpha1.SiteHealthObservation) bool {
	isSame := func(a, b v1alpha1.SiteHealthState) bool { return a.Name == b.Name }
	return previous.Image != "" && next.Image != "" && previous.Image != next.Image && slices.EqualFunc(previous.Sites, next.Sites, isSame)
}

// isNextRoute is true if the routes of each Site are those of a later revision than in the status: an Application that succeeded waits for that. Without an
// earlier observation of the routes it is false: the writes for a cluster that comes and goes count against their limit.
func isNextRoute(previous, next v1alpha1.SiteHealthObservation) bool {
	earlier, isRead := lowestRevision(previous)
	later, isReadNow := lowestRevision(next)
	return isRead && isReadNow && later > earlier
}

// lowestRevision returns the earliest revision of the routes of all Sites. It returns false if the routes of a Site were not read.
func lowestRevision(o v1alpha1.SiteHealthObservation) (int64, bool) {
	lowest := int64(math.MaxInt64)
	for _, s := range o.Sites {
		if s.Route == nil {
			return 0, false
		}
		lowest = min(lowest, ptr.Deref(s.Route.Revision, 0))
	}
	return lowest, len(o.Sites) > 0
}

// isNextUrgent is true if a Site serves the next image, or serves no image any more. Both are about the same Sites.
func isNextUrgent(previous, next v1alpha1.SiteHealthObservation) bool {
	for i, s := range next.Sites {
		if isUrgentChange(previous.Sites[i], s) {
			return true
		}
	}
	return false
}

// isUrgentChange reports whether a Site serves now, or has lost all pods.
func isUrgentChange(previous, s v1alpha1.SiteHealthState) bool {
	hadPods := previous.IsServing() || previous.AvailableOther > 0
	return s.IsServing() || hadPods && s.AvailableOther == 0 && s.State != v1alpha1.HealthNotObserved
}

func readyCondition(s *v1alpha1.SiteHealth, d decision) xpv2.Condition {
	status := corev1.ConditionFalse
	if d.reason == v1alpha1.ReasonServing {
		status = corev1.ConditionTrue
	}
	c := xpv2.Condition{Type: xpv2.TypeReady, Status: status, LastTransitionTime: metav1.Now(), Reason: d.reason, Message: d.message}
	return c.WithObservedGeneration(s.GetGeneration())
}
