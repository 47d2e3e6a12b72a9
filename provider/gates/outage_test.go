package gates

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

func TestOutagePolicyJudge(t *testing.T) {
	begun := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	outage, running := Outage{Since: begun, Problem: "silence", Questions: 2}, Judgement{Phase: v1alpha1.CheckRunning, Count: 2}
	hold, reject := OutagePolicy{Timeout: 30 * time.Minute}, OutagePolicy{Timeout: 30 * time.Minute, Reject: true}
	judgedWith := func(a Availability) Judgement {
		return Judgement{Phase: v1alpha1.CheckRunning, Count: 2, Availability: a, UnavailableSince: begun, Message: "silence"}
	}
	cases := map[string]struct {
		reason string
		policy OutagePolicy
		before Judgement
		outage Outage
		after  time.Duration
		want   Judgement
	}{
		"None": {reason: "A check whose backend answers is judged by its measurements.", policy: hold, before: running, want: running},
		"Blip": {reason: "An outage of some seconds is not reported.", policy: hold, before: running, outage: outage, after: 9 * time.Second, want: running},
		"Begins": {
			reason: "A longer outage is reported, and the check goes on.",
			policy: hold, before: running, outage: outage, after: 10 * time.Second, want: judgedWith(Unavailable),
		},
		"JustInTime": {
			reason: "Until the timeout nothing is decided.",
			policy: reject, before: running, outage: outage, after: 30*time.Minute - 1, want: judgedWith(Unavailable),
		},
		"Holds": {
			reason: "After the timeout Hold keeps the check as it is.",
			policy: hold, before: running, outage: outage, after: 30 * time.Minute, want: judgedWith(Held),
		},
		"ShortHold": {
			reason: "A timeout that is shorter than the shortest reported outage holds the check once it is over.",
			policy: OutagePolicy{Timeout: 5 * time.Second}, before: running, outage: outage, after: 5 * time.Second, want: judgedWith(Held),
		},
		"HoldsOn": {reason: "Hold has no end of its own.", policy: hold, before: running, outage: outage, after: 1000 * time.Hour, want: judgedWith(Held)},
		"Rejects": {
			reason: "After the timeout Reject ends the check with an error.", policy: reject, before: running, outage: outage, after: 30 * time.Minute,
			want: Judgement{Phase: v1alpha1.CheckError, Count: 2, Message: messageUnavailableTooLong + "silence"},
		},
		"Restarted": {
			reason: "One question without an answer does not reject, however long ago the outage began that an earlier process saw.",
			policy: reject, before: running, outage: Outage{Since: begun, Problem: "silence", Questions: 1}, after: time.Hour, want: judgedWith(Unavailable),
		},
		"Ended": {
			reason: "A check that has ended stays as it is.", policy: reject, before: Judgement{Phase: v1alpha1.CheckPassed}, outage: outage, after: time.Hour,
			want: Judgement{Phase: v1alpha1.CheckPassed},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.policy.Judge(tc.before, tc.outage, begun.Add(tc.after))); diff != "" {
				t.Errorf("%s\nJudge(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestNextChange(t *testing.T) {
	begun := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	p, got := OutagePolicy{Timeout: time.Minute}, []time.Duration{}
	for timestamp := p.NextChange(Outage{Since: begun}, begun); !timestamp.IsZero(); timestamp = p.NextChange(Outage{Since: begun}, timestamp) {
		got = append(got, timestamp.Sub(begun))
	}
	if diff := cmp.Diff([]time.Duration{minOutage, time.Minute}, got); diff != "" {
		t.Errorf("NextChange(...): -want, +got:\n%s", diff)
	}
}

func TestIsLostQuestion(t *testing.T) {
	begun := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	cases := map[string]struct {
		reason    string
		questions int
		after     time.Duration
		want      bool
	}{
		"None":  {reason: "Without an unanswered question, no question was lost."},
		"One":   {reason: "One question that had no answer in time, and was repeated, was lost.", questions: 1, after: 15 * time.Second, want: true},
		"Late":  {reason: "A question that was repeated much later says nothing of the time in between.", questions: 1, after: time.Minute},
		"Again": {reason: "Two questions without an answer are an outage.", questions: 2, after: 15 * time.Second},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o := Outage{Since: begun, Questions: tc.questions}
			if got := o.IsLostQuestion(begun.Add(tc.after)); got != tc.want {
				t.Errorf("%s\nIsLostQuestion(...): %t", tc.reason, got)
			}
		})
	}
}

func TestRetryAfter(t *testing.T) {
	got := []time.Duration{}
	for n := 1; n <= 7; n++ {
		got = append(got, Outage{Questions: n}.RetryAfter())
	}
	s := time.Second
	if diff := cmp.Diff([]time.Duration{5 * s, 10 * s, 20 * s, 40 * s, 60 * s, 60 * s, 60 * s}, got); diff != "" {
		t.Errorf("RetryAfter(): -want, +got:\n%s", diff)
	}
	if got := (Outage{Questions: 1 << 40}).RetryAfter(); got != slowestRetry {
		t.Errorf("RetryAfter() after very many questions: %s", got)
	}
}

func TestOutagePolicyOf(t *testing.T) {
	cases := map[string]struct {
		reason string
		gate   v1alpha1.GateParameters
		want   OutagePolicy
		fails  string
	}{
		"Absent": {reason: "A Gate without a policy holds after half an hour.", want: OutagePolicy{Timeout: 30 * time.Minute}},
		"Said": {
			reason: "A Gate sets its timeout for outages, and the action after it.",
			gate:   v1alpha1.GateParameters{MetricsUnavailableTimeout: "2m", OnMetricsUnavailable: deploymentv1alpha1.MetricsUnavailableReject},
			want:   OutagePolicy{Timeout: 2 * time.Minute, Reject: true},
		},
		"Long": {
			reason: "A Gate waits for a day at most.", gate: v1alpha1.GateParameters{MetricsUnavailableTimeout: "25h"},
			fails: `metricsUnavailableTimeout: "25h" is not between 1s and 24h0m0s`,
		},
		"Short": {
			reason: "A Gate waits for a second at least.", gate: v1alpha1.GateParameters{MetricsUnavailableTimeout: "0s"},
			fails: `metricsUnavailableTimeout: "0s" is not between 1s and 24h0m0s`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := OutagePolicyOf(tc.gate)
			message := ""
			if err != nil {
				message = err.Error()
			}
			if diff := cmp.Diff(tc.fails, message); diff != "" {
				t.Errorf("%s\nOutagePolicyOf(...): -want error, +got error:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nOutagePolicyOf(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
