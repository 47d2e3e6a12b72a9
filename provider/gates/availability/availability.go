// Package availability judges whether pods of a revision become available at a Site in time. It is pure: time is passed in.
//
// An unobservable Site is neither available nor unavailable: the clock of the check stands still, and the check gives no verdict.
package availability

import (
	"fmt"
	"slices"
	"strings"
	"time"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/gates"
	"github.com/intentplane/intentplane/provider/workload"
)

// minGap is how long a Site has to be out of sight before the clock is moved for it. A connection that is made again takes less.
const minGap = 10 * time.Second

// A Clock measures the passed part of the timeout of a check. The zero Clock has not begun.
type Clock struct {
	// LiveSince is since when the Site runs the revision.
	LiveSince time.Time

	// Start is from when on the timeout counts.
	Start time.Time

	// UnseenSince is since when the Site cannot be looked at. Zero while it can.
	UnseenSince time.Time

	// Problem is the reason why the Site is unobservable.
	Problem string

	// ServingSince is since when enough pods are available without interruption. Zero while they are not.
	ServingSince time.Time

	// IsObserved is true once the pods of the Site were looked at. From then on no report stands in for them.
	IsObserved bool

	// seenAt is when the Site was last looked at, or found out of sight.
	seenAt time.Time
}

// Resume returns the Clock of a check whose status was written by an earlier process: from when on its timeout counts, since when its Site could not be
// looked at, and whether its pods were observed by then. Both times may be zero.
func Resume(countsFrom, unseenSince time.Time, isObserved bool) Clock {
	return Clock{Start: countsFrom, UnseenSince: unseenSince, IsObserved: isObserved}
}

// Follow returns the Clock for a Site that runs the revision since some time. For a Site that ran it before, and did not for a while, the time that had
// passed by then counts.
func (c Clock) Follow(liveSince time.Time) Clock {
	switch {
	case c.LiveSince.Equal(liveSince):
		return c
	case !c.LiveSince.IsZero():
		c.Start = liveSince.Add(-c.elapsedTimeout(c.seenAt))
		c.UnseenSince, c.Problem = time.Time{}, ""
	default:
		c.Start = laterOfTimes(c.Start, liveSince)
		if c.UnseenSince.Before(liveSince) {
			c.UnseenSince = time.Time{}
		}
	}
	c.LiveSince, c.ServingSince = liveSince, time.Time{}
	return c
}

// Miss returns the Clock after the Site could not be looked at.
func (c Clock) Miss(problem string, now time.Time) Clock {
	if c.UnseenSince.IsZero() {
		c.UnseenSince = now
	}
	c.Problem, c.ServingSince, c.seenAt = problem, time.Time{}, now
	return c
}

// See returns the Clock after the Site was looked at.
func (c Clock) See(isServing bool, now time.Time) Clock {
	if gap := now.Sub(c.UnseenSince); !c.UnseenSince.IsZero() && gap >= minGap {
		c.Start = c.Start.Add(gap)
	}
	c.UnseenSince, c.Problem, c.seenAt = time.Time{}, "", now
	switch {
	case !isServing:
		c.ServingSince = time.Time{}
	case c.ServingSince.IsZero():
		c.ServingSince = now
	}
	return c
}

// CountsFrom returns from when on the timeout counts, to be kept in a status. It is zero while that is when the Site went live.
func (c Clock) CountsFrom() time.Time {
	if c.Start.Sub(c.LiveSince) < minGap {
		return time.Time{}
	}
	return c.Start
}

// elapsedTimeout returns how much of the timeout has passed.
func (c Clock) elapsedTimeout(now time.Time) time.Duration {
	if !c.UnseenSince.IsZero() {
		now = c.UnseenSince
	}
	return max(now.Sub(c.Start), 0)
}

// Judge a check, and say when to look at it again if nothing happens. Zero leaves that to an event. It passes once enough pods were available for as long
// as count measurements take, and fails if they are not when its timeout has passed. Pods that are available by then get the time to stay so.
func (c Clock) Judge(r gates.Rules, outages gates.OutagePolicy, now time.Time) (gates.Judgement, time.Time) {
	j := gates.Judgement{Phase: rolloutv1alpha1.CheckRunning}
	switch {
	case !c.UnseenSince.IsZero():
		o := gates.Outage{Since: c.UnseenSince, Problem: c.Problem}
		return outages.Judge(j, o, now), outages.NextChange(o, now)
	case !c.ServingSince.IsZero():
		passes := laterOfTimes(c.LiveSince.Add(r.InitialDelay), c.ServingSince.Add(time.Duration(r.Count-1)*r.Interval))
		if now.Before(passes) {
			return j, passes
		}
		j.Phase, j.Count = rolloutv1alpha1.CheckPassed, r.Count
		return j, time.Time{}
	case c.elapsedTimeout(now) < r.Timeout:
		return j, now.Add(r.Timeout - c.elapsedTimeout(now))
	}
	j.Phase, j.Count = rolloutv1alpha1.CheckFailed, 1
	return j, time.Time{}
}

func laterOfTimes(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// IsServing reports whether enough pods of the Deployments of a Site are available. A Site without desired pods has enough.
func IsServing(h workload.Health, minAvailable int32) bool {
	if h.State == deliveryv1alpha1.HealthScaledToZero {
		return true
	}
	return h.State == deliveryv1alpha1.HealthAvailable && h.Available >= min(minAvailable, h.Desired)
}

// Explain returns the reason why a Site has not enough available pods, with the problem of its pods if it is known.
func Explain(h workload.Health, t workload.Trouble, minAvailable int32) string {
	reason, message := h.Reason, h.Message
	if t.Reason != "" {
		reason, message = t.Reason, t.Message
	}
	count := fmt.Sprintf("%d of %d pods are available", h.Available, max(min(minAvailable, h.Desired), 1))
	parts := slices.DeleteFunc([]string{count, reason, message}, func(s string) bool { return s == "" })
	return strings.Join(parts, ": ")
}
