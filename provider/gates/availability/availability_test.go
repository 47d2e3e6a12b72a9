package availability

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/provider/gates"
	"github.com/intentplane/intentplane/provider/workload"
)

// at returns a time so many seconds after the Site first ran the revision.
func at(seconds int) time.Time {
	return time.Date(2031, 12, 17, 12, 0, 0, 0, time.UTC).Add(time.Duration(seconds) * time.Second)
}

// seconds returns how long after the Site first ran the revision something is. It is "" for no time.
func seconds(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return fmt.Sprint(t.Sub(at(0)).Seconds())
}

// rules let a check pass once pods are available for 10 seconds, and fail after 100.
func rules() gates.Rules {
	return gates.Rules{InitialDelay: 5 * time.Second, Interval: 5 * time.Second, Count: 3, Timeout: 100 * time.Second}
}

// A look is an observation of the Site at some time: s for pods that serve, n for pods that do not serve, x for an unobservable Site, L for a Site that runs
// the revision since then, R for a restart of the provider, which resumes the clock from the status, and B for a restart while the Site does not run the
// revision.
type look struct {
	second int
	what   rune
}

func follow(looks []look) Clock {
	c := Clock{}.Follow(at(0))
	for _, l := range looks {
		switch l.what {
		case 's', 'n':
			c = c.See(l.what == 's', at(l.second))
		case 'x':
			c = c.Miss("no route", at(l.second))
		case 'L':
			c = c.Follow(at(l.second))
		case 'R', 'B':
			unseen := c.UnseenSince
			if at(l.second).Sub(unseen) < minGap {
				unseen = time.Time{} // The status reports no outage that is shorter.
			}
			liveSince := c.LiveSince
			if c = Resume(c.CountsFrom(), unseen, c.IsObserved); l.what == 'R' {
				c = c.Follow(liveSince)
			}
		}
	}
	return c
}

func TestJudgeAvailability(t *testing.T) {
	cases := map[string]struct {
		reason string
		looks  []look
		now    int
		// want is the phase, with the availability of the Site where it cannot be looked at, and when to look again.
		want, next string
	}{
		"Starts": {reason: "Pods have until the timeout to become available.", looks: []look{{1, 'n'}}, now: 1, want: "Running", next: "100"},
		"Settles": {
			reason: "Pods that have become available have to stay so for as long as count measurements take.",
			looks:  []look{{1, 'n'}, {20, 's'}}, now: 29, want: "Running", next: "30",
		},
		"Settled": {reason: "Pods that stayed available pass.", looks: []look{{1, 'n'}, {20, 's'}}, now: 30, want: "Passed"},
		"Early":   {reason: "Pods of a revision that has just gone live wait for initialDelay.", looks: []look{{-20, 's'}}, now: 4, want: "Running", next: "5"},
		"Flaps": {
			reason: "A container that ends soon after its start does not pass.",
			looks:  []look{{20, 's'}, {25, 'n'}, {28, 's'}}, now: 31, want: "Running", next: "38",
		},
		"TimesOut":    {reason: "Pods that are not available when the timeout has passed fail.", looks: []look{{1, 'n'}}, now: 100, want: "Failed"},
		"LastMoment":  {reason: "Pods that are available by then get the time to stay so.", looks: []look{{95, 's'}}, now: 101, want: "Running", next: "105"},
		"FlapsAtLast": {reason: "Pods that do not stay so after the timeout fail at once.", looks: []look{{95, 's'}, {103, 'n'}}, now: 103, want: "Failed"},
		"Unseen":      {reason: "A Site that has just gone out of sight is not reported.", looks: []look{{1, 'n'}, {50, 'x'}}, now: 55, want: "Running", next: "60"},
		"UnseenLong": {
			reason: "A Site that stays out of sight is reported, and not rejected after the timeout.",
			looks:  []look{{1, 'n'}, {50, 'x'}, {150, 'x'}}, now: 150, want: "Running Unavailable no route", next: "1850",
		},
		"Held": {
			reason: "A Site that is out of sight for too long holds the check, whatever happens to other backends.",
			looks:  []look{{50, 'x'}}, now: 1850, want: "Running Held no route",
		},
		"SeenAgain": {
			reason: "The time out of sight is no part of the timeout.",
			looks:  []look{{1, 'n'}, {50, 'x'}, {150, 'n'}}, now: 150, want: "Running", next: "200",
		},
		"Blink": {reason: "A connection that is made again at once stops no clock.", looks: []look{{1, 'n'}, {50, 'x'}, {55, 'n'}}, now: 100, want: "Failed"},
		"ServedAway": {
			reason: "Pods of a Site that was out of sight have to stay available again.",
			looks:  []look{{20, 's'}, {22, 'x'}, {29, 's'}}, now: 30, want: "Running", next: "39",
		},
		"Restart": {reason: "A restart of the provider starts no clock again.", looks: []look{{1, 'n'}, {60, 'R'}, {70, 'n'}}, now: 100, want: "Failed"},
		"RestartGap": {
			reason: "After a restart the time out of sight is still no part of the timeout.",
			looks:  []look{{50, 'x'}, {150, 'n'}, {160, 'R'}, {170, 'n'}}, now: 199, want: "Running", next: "200",
		},
		"RestartOut": {
			reason: "A restart while the Site is out of sight does not lose that time.",
			looks:  []look{{50, 'x'}, {100, 'R'}, {150, 'n'}}, now: 199, want: "Running", next: "200",
		},
		"RestartServes": {
			reason: "Pods have to stay available again after a restart.", looks: []look{{20, 's'}, {29, 'R'}, {31, 's'}}, now: 40, want: "Running", next: "41",
		},
		"LiveAgain": {
			reason: "A Site that did not run the revision for a while goes on where it was.",
			looks:  []look{{1, 'n'}, {60, 'n'}, {200, 'L'}, {201, 'n'}}, now: 239, want: "Running", next: "240",
		},
		"LiveLater": {
			reason: "A Site that runs the revision only after an outage was reported has the whole timeout.",
			looks:  []look{{50, 'x'}, {100, 'R'}, {200, 'L'}, {201, 'n'}}, now: 249, want: "Running", next: "250",
		},
		"ServedBefore": {
			reason: "Pods that were available before the Site went live again have to stay so again.",
			looks:  []look{{20, 's'}, {200, 'L'}, {201, 's'}}, now: 205, want: "Running", next: "211",
		},
		"LiveAfterRestart": {
			reason: "A Site that went live only after a restart has the whole timeout, whatever was reported before.",
			looks:  []look{{50, 'x'}, {100, 'B'}, {200, 'L'}, {201, 'n'}}, now: 249, want: "Running", next: "300",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			j, next := follow(tc.looks).Judge(rules(), gates.OutagePolicy{Timeout: 30 * time.Minute}, at(tc.now))
			got := string(j.Phase)
			if j.Availability != gates.Available {
				got += fmt.Sprintf(" %s %s", map[gates.Availability]string{gates.Unavailable: "Unavailable", gates.Held: "Held"}[j.Availability], j.Message)
			}
			if diff := cmp.Diff([]string{tc.want, tc.next}, []string{got, seconds(next)}); diff != "" {
				t.Errorf("\n%s\nJudge(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestCountsFrom(t *testing.T) {
	cases := map[string]struct {
		reason string
		looks  []look
		want   string
	}{
		"Seen":   {reason: "A clock that was never moved has nothing to keep.", looks: []look{{1, 'n'}, {20, 's'}}},
		"Blink":  {reason: "A short gap moves no clock.", looks: []look{{1, 'x'}, {10, 'n'}}},
		"Gap":    {reason: "A gap moves the clock.", looks: []look{{1, 'x'}, {31, 'n'}}, want: "30"},
		"Gaps":   {reason: "Gaps add up.", looks: []look{{1, 'x'}, {31, 'n'}, {40, 'x'}, {60, 'n'}}, want: "50"},
		"Second": {reason: "A restart keeps the time that was added before.", looks: []look{{1, 'x'}, {31, 'n'}, {35, 'R'}, {40, 'x'}, {60, 'n'}}, want: "50"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, seconds(follow(tc.looks).CountsFrom())); diff != "" {
				t.Errorf("\n%s\nCountsFrom(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestIsServing(t *testing.T) {
	cases := map[string]struct {
		reason string
		health workload.Health
		least  int32
		want   bool
	}{
		"One": {
			reason: "One available pod is enough where one is asked for.",
			health: workload.Health{State: deliveryv1alpha1.HealthAvailable, Available: 1, Desired: 2}, least: 1, want: true,
		},
		"TooFew": {
			reason: "Fewer pods than minAvailable are not enough.",
			health: workload.Health{State: deliveryv1alpha1.HealthAvailable, Available: 1, Desired: 2}, least: 2,
		},
		"AllOfFew": {
			reason: "All pods of a Site that is asked for fewer are enough.",
			health: workload.Health{State: deliveryv1alpha1.HealthAvailable, Available: 2, Desired: 2}, least: 5, want: true,
		},
		"Zero": {
			reason: "A Site that is asked for no pods has enough.",
			health: workload.Health{State: deliveryv1alpha1.HealthScaledToZero}, least: 1, want: true,
		},
		"Partly": {
			reason: "One of two Deployments without a pod is not enough.",
			health: workload.Health{State: deliveryv1alpha1.HealthProgressing, Available: 3, Desired: 4}, least: 1,
		},
		"Missing": {reason: "Without a Deployment nothing is available.", health: workload.Health{State: deliveryv1alpha1.HealthMissing}, least: 1},
		"Other": {
			reason: "Pods of another image are not pods of the revision.",
			health: workload.Health{State: deliveryv1alpha1.HealthOtherImage, AvailableOther: 3, Desired: 3}, least: 1,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := IsServing(tc.health, tc.least); got != tc.want {
				t.Errorf("\n%s\nIsServing(%+v, %d): %t", tc.reason, tc.health, tc.least, got)
			}
		})
	}
}

func TestExplain(t *testing.T) {
	cases := map[string]struct {
		reason  string
		health  workload.Health
		trouble workload.Trouble
		least   int32
		want    string
	}{
		"Trouble": {
			reason: "A known problem of the pods is the reason.", health: workload.Health{Reason: "Progressing", Desired: 2}, least: 1,
			trouble: workload.Trouble{Reason: "CrashLoopBackOff", Message: "container app ends again and again: exit code 3, Error"},
			want:    "0 of 1 pods are available: CrashLoopBackOff: container app ends again and again: exit code 3, Error",
		},
		"Health": {
			reason: "Without a problem of a pod, the problem of the Deployment is reported.",
			health: workload.Health{Reason: "QuotaExceeded", Message: "exceeded quota: small", Desired: 5, Available: 2}, least: 3,
			want: "2 of 3 pods are available: QuotaExceeded: exceeded quota: small",
		},
		"Missing": {
			reason: "A Site without a Deployment is said to have one pod too few.",
			health: workload.Health{Reason: "WorkloadMissing"}, least: 2, want: "0 of 1 pods are available: WorkloadMissing",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Explain(tc.health, tc.trouble, tc.least)); diff != "" {
				t.Errorf("\n%s\nExplain(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
