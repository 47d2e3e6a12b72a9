package verdict

import (
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/gates"
	"github.com/intentplane/intentplane/provider/instant"
)

func noon() time.Time { return time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC) }

func check(name, site string) v1alpha1.GateCheck {
	return v1alpha1.GateCheck{Check: deploymentv1alpha1.Check{
		Name: name, Site: site, Type: "Prometheus", Threshold: "<= 0.5", Interval: "5s", InitialDelay: "1s", Timeout: "1m",
		Prometheus: &deploymentv1alpha1.PrometheusCheck{Query: `sum(rate(errors_total[10s]))`},
	}}
}

func position() *ledger.Position { return &ledger.Position{Epoch: 1, Revision: 2} }

// untilEnd is the message of a Gate that measures without a problem.
const untilEnd = "the checks end at most 2m0s after their Sites went live, without the time in which nothing can be measured"

func given(checks ...CheckFacts) Facts {
	f := Facts{
		Namespace: "team-a", Now: noon(), Checks: checks, Longest: 2 * time.Minute,
		Spec: v1alpha1.GateParameters{ClaimRef: v1alpha1.ClaimReference{Namespace: "team-a"}, Position: position()},
	}
	for _, name := range []string{"errors", "latency"}[:len(checks)] {
		f.Spec.Checks = append(f.Spec.Checks, check(name, "edge1"))
	}
	return f
}

// summary of a decision is the reason, the verdict, and the phases.
func summary(d Decision) []string {
	out := []string{string(d.Reason), string(d.Next.Verdict)}
	for _, c := range d.Next.Checks {
		out = append(out, string(c.Phase))
	}
	return out
}

func TestDecide(t *testing.T) {
	live := noon().Add(-time.Minute)
	judged := func(p v1alpha1.CheckPhase) CheckFacts {
		return CheckFacts{LiveSince: live, Judgement: gates.Judgement{Phase: p, Message: "m"}}
	}
	ended := v1alpha1.GateObservation{Position: position(), Verdict: v1alpha1.GateFailed, Checks: []v1alpha1.CheckResult{
		{Name: "errors", Site: "edge1", Phase: v1alpha1.CheckFailed},
	}}
	running := v1alpha1.GateObservation{StartedAt: instant.Timestamp(live), Checks: []v1alpha1.CheckResult{
		{Name: "errors", Site: "edge1", Phase: v1alpha1.CheckFailed, Message: "first"},
	}}
	missed := func(a gates.Availability) CheckFacts {
		return CheckFacts{LiveSince: live, Judgement: gates.Judgement{Phase: v1alpha1.CheckRunning, Availability: a, UnavailableSince: live, Message: "silence"}}
	}
	dry := CheckFacts{LiveSince: live, Judgement: gates.Judgement{Phase: v1alpha1.CheckRunning, Availability: gates.WithoutData, Message: "it waits"}}
	missing := v1alpha1.GateObservation{StartedAt: instant.Timestamp(live), Checks: []v1alpha1.CheckResult{
		{Name: "errors", Site: "edge1", Phase: v1alpha1.CheckRunning, UnavailableSince: instant.Timestamp(live), Message: "silence"},
	}}
	cases := map[string]struct {
		reason  string
		facts   func() Facts
		want    []string
		message string
	}{
		"NotLive": {
			reason: "A revision that is not proven live is not judged, whatever was measured.",
			facts: func() Facts {
				return given(CheckFacts{Judgement: gates.Judgement{Phase: v1alpha1.CheckPassed}})
			},
			want: []string{"NotLive", "", "Pending"}, message: "no Site of the checks is proven to run the revision",
		},
		"Begins": {
			reason: "The start is shown.",
			facts:  func() Facts { return given(judged(v1alpha1.CheckRunning), CheckFacts{}) },
			want:   []string{"Measuring", "", "Running", "Pending"}, message: untilEnd,
		},
		"Passed": {
			reason: "A Gate passes if all of its checks pass.",
			facts:  func() Facts { return given(judged(v1alpha1.CheckPassed), judged(v1alpha1.CheckPassed)) },
			want:   []string{"Passed", "Passed", "Passed", "Passed"},
		},
		"FirstFailure": {
			reason:  "The first failure ends the Gate, while another check goes on.",
			facts:   func() Facts { return given(judged(v1alpha1.CheckFailed), judged(v1alpha1.CheckRunning)) },
			want:    []string{"Failed", "Failed", "Failed", "Running"},
			message: `check "errors" at Site "edge1": Failed, m`,
		},
		"Failed": {
			reason:  "Of several checks that did not pass the gravest decides.",
			facts:   func() Facts { return given(judged(v1alpha1.CheckFailed), judged(v1alpha1.CheckTimedOut)) },
			want:    []string{"Failed", "Failed", "Failed", "TimedOut"},
			message: `check "errors" at Site "edge1": Failed, m; check "latency" at Site "edge1": TimedOut, m`,
		},
		"MetricsUnavailable": {
			reason:  "A check whose metrics backend does not answer goes on, and the Gate reports the outage.",
			facts:   func() Facts { return given(judged(v1alpha1.CheckPassed), missed(gates.Unavailable)) },
			want:    []string{"MetricsUnavailable", "", "Passed", "Running"},
			message: `check "latency" at Site "edge1": silence`,
		},
		"Held": {
			reason:  "A check that waits for its metrics backend for too long holds the Gate.",
			facts:   func() Facts { return given(missed(gates.Held), missed(gates.Unavailable)) },
			want:    []string{"Held", "", "Running", "Running"},
			message: `check "errors" at Site "edge1": silence; check "latency" at Site "edge1": silence`,
		},
		"NoData": {
			reason:  "A check that waits for data goes on, and the Gate reports the wait.",
			facts:   func() Facts { return given(judged(v1alpha1.CheckPassed), dry) },
			want:    []string{"NoData", "", "Passed", "Running"},
			message: `check "latency" at Site "edge1": it waits`,
		},
		"NoDataInOutage": {
			reason:  "An unavailable metrics backend is reported before a lack of data, and both checks are named.",
			facts:   func() Facts { return given(dry, missed(gates.Unavailable)) },
			want:    []string{"MetricsUnavailable", "", "Running", "Running"},
			message: `check "errors" at Site "edge1": it waits; check "latency" at Site "edge1": silence`,
		},
		"FailsInOutage": {
			reason:  "A failure ends the Gate also while another check waits for its metrics backend.",
			facts:   func() Facts { return given(judged(v1alpha1.CheckFailed), missed(gates.Held)) },
			want:    []string{"Failed", "Failed", "Failed", "Running"},
			message: `check "errors" at Site "edge1": Failed, m`,
		},
		"AnswersAgain": {
			reason: "A metrics backend that answers again leaves nothing behind.",
			facts: func() Facts {
				f := given(judged(v1alpha1.CheckRunning))
				f.Last = missing
				return f
			},
			want: []string{"Measuring", "", "Running"}, message: untilEnd,
		},
		"NotLiveInOutage": {
			reason: "A check whose subject is lost waits for that, and not for its metrics backend.",
			facts: func() Facts {
				f := given(CheckFacts{})
				f.Last = missing
				return f
			},
			want: []string{"Measuring", "", "Running"}, message: untilEnd,
		},
		"Impossible": {
			reason: "An impossible measurement is an error, and does not pass.",
			facts:  func() Facts { return given(CheckFacts{LiveSince: live, Impossible: "why"}) },
			want:   []string{"Error", "Error", "Error"}, message: `check "errors" at Site "edge1": Error, why`,
		},
		"Kept": {
			reason: "A finished check keeps its result, whatever is measured later.",
			facts: func() Facts {
				f := given(judged(v1alpha1.CheckPassed), judged(v1alpha1.CheckPassed))
				f.Last = running
				return f
			},
			want: []string{"Failed", "Failed", "Failed", "Passed"}, message: `check "errors" at Site "edge1": Failed, first`,
		},
		"VerdictStays": {
			reason: "A verdict stays, also when no Site is live any more.",
			facts: func() Facts {
				f := given(CheckFacts{})
				f.Last = ended
				return f
			},
			want: []string{"Failed", "Failed", "Failed"}, message: `check "errors" at Site "edge1": Failed`,
		},
		"Waits": {
			reason: "A check that began waits when its subject is lost, and says how long it may take.",
			facts: func() Facts {
				f := given(CheckFacts{Judgement: gates.Judgement{Phase: v1alpha1.CheckFailed}})
				f.Last = v1alpha1.GateObservation{StartedAt: instant.Timestamp(live), Checks: []v1alpha1.CheckResult{
					{Name: "errors", Site: "edge1", Phase: v1alpha1.CheckRunning},
				}}
				return f
			},
			want: []string{"Measuring", "", "Running"}, message: untilEnd,
		},
		"Stranger": {
			reason: "A Gate judges claims of its own namespace only.",
			facts: func() Facts {
				f := given(judged(v1alpha1.CheckPassed))
				f.Namespace = "team-b"
				return f
			},
			want: []string{"PolicyDenied", ""}, message: `spec.forProvider.claimRef.namespace: "team-a" is not the namespace of the Gate`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := Decide(tc.facts())
			if diff := cmp.Diff(tc.want, summary(d)); diff != "" {
				t.Errorf("%s\nDecide(...): -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.message, d.Message); diff != "" {
				t.Errorf("%s\nDecide(...): -want message, +got message:\n%s", tc.reason, diff)
			}
			if (d.Reason == xpv2.ConditionReason(v1alpha1.GatePassed)) != (d.Next.Verdict == v1alpha1.GatePassed) {
				t.Errorf("%s: Ready with verdict %q", d.Reason, d.Next.Verdict)
			}
		})
	}
}

// TestDecideRecent writes the last measurements of a check when it has ended, and not while another check goes on.
func TestDecideRecent(t *testing.T) {
	recent := []v1alpha1.Measurement{{At: *instant.Timestamp(noon()), Outcome: "Pass", Value: "0.1"}}
	live := noon().Add(-time.Minute)
	f := given(
		CheckFacts{LiveSince: live, Judgement: gates.Judgement{Phase: v1alpha1.CheckPassed, Recent: recent}},
		CheckFacts{LiveSince: live, Judgement: gates.Judgement{Phase: v1alpha1.CheckRunning}},
	)
	f.Last = Decide(f).Next
	f.Checks[0].Judgement = gates.Judgement{} // A check that has ended is not measured again.
	var got [][]v1alpha1.Measurement
	for _, c := range Decide(f).Next.Checks {
		got = append(got, c.Recent)
	}
	if diff := cmp.Diff([][]v1alpha1.Measurement{recent, nil}, got); diff != "" {
		t.Errorf("recent measurements: -want, +got:\n%s", diff)
	}
}
