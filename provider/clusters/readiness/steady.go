package readiness

import "time"

const (
	// Stabilization is how long a cluster has to be ready without interruption, where no user says otherwise.
	Stabilization = 10 * time.Second

	// leastDoubt is the first value to double, for users who set no stabilization.
	leastDoubt = time.Second

	// longestDoubt is the longest time that it is not trusted after it was ready for a short while only.
	longestDoubt = 10 * time.Minute
)

// A Steady is the recorded readiness of an unsteady cluster. Its zero value means that the cluster was never observed.
type Steady struct {
	// UID of the Cluster. Another Cluster starts again.
	UID string
	// Ready says whether it counts as ready.
	Ready bool
	// Since is since when it is ready, or not, without interruption.
	Since time.Time
	// is holds the last observed readiness.
	is bool
	// flaps are how often it was lost since it was trusted for long.
	flaps int
}

// Trusted is a Steady of a Cluster that counts as ready since a time, as an earlier process recorded it.
func Trusted(uid string, start time.Time) Steady {
	return Steady{UID: uid, Ready: true, Since: start, is: true}
}

// Observe records a report, and returns the stabilized readiness. A report without a UID counts for the same Cluster.
func (s Steady) Observe(r Report, ready bool, now time.Time, stabilization time.Duration) Steady {
	uid := r.UID
	if uid == "" && r.Blocker().Reason != ReasonObjectMissing {
		uid = s.UID
	}
	return s.See(uid, ready, now, stabilization)
}

// See records the readiness of a cluster and returns the stabilized readiness. It counts as not ready at once, and as ready when it was so
// for the time of stabilization without interruption. That doubles each time that it is lost, up to 10 minutes, and is forgotten once it was
// ready for longer than that.
func (s Steady) See(uid string, ready bool, now time.Time, stabilization time.Duration) Steady {
	if s.UID != uid {
		s = Steady{UID: uid}
	}
	if s.Since.IsZero() || s.is != ready {
		s.is, s.Since = ready, now
	}
	switch {
	case !ready:
		if s.Ready {
			s.flaps++
		}
		s.Ready = false
	case s.Ready && now.Sub(s.Since) >= longestDoubt:
		s.flaps = 0
	case !now.Before(s.Due(stabilization)):
		s.Ready = true
	}
	return s
}

// Due is when the cluster will count as ready if nothing happens. It is zero if it already does, or does not come by itself.
func (s Steady) Due(stabilization time.Duration) time.Time {
	if s.Ready || !s.is {
		return time.Time{}
	}
	return s.Since.Add(doubtPeriod(stabilization, s.flaps))
}

func doubtPeriod(stabilization time.Duration, flaps int) time.Duration {
	d := stabilization
	if flaps > 0 {
		d = max(d, leastDoubt)
	}
	for range flaps {
		if d *= 2; d >= longestDoubt {
			return max(longestDoubt, stabilization)
		}
	}
	return d
}
