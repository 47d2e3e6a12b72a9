package gates

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// atMost is a Limit.
type atMost float64

func (a atMost) Holds(v float64) bool { return v <= float64(a) }

// tally of one letter for each measurement: passed, failed, inconclusive, error, early, waiting.
func tally(letters string) Tally {
	t, timestamp := Tally{}, time.Unix(0, 0)
	for _, l := range letters {
		timestamp = timestamp.Add(time.Second)
		m := map[rune]Measurement{
			'p': {Outcome: Pass, Value: "1"}, 'f': {Outcome: Fail, Value: "9", Message: "bad"},
			'i': {Outcome: Inconclusive, Message: "unclear"}, 'e': {Outcome: Error, Message: "broken"}, 'y': {Outcome: Early, Message: "young"},
			'w': {Outcome: Waiting, Message: "dry"},
		}[l]
		m.At = timestamp
		t = t.Add(m)
	}
	return t
}

func TestJudgeMeasurements(t *testing.T) {
	strict := Rules{Count: 3, ErrorLimit: 2, Timeout: 5 * time.Minute}
	lax := Rules{Count: 3, FailureLimit: 3, ErrorLimit: 2, InconclusiveLimit: 3, Timeout: 5 * time.Minute}
	watching, counted, holding := strict, strict, strict
	watching.GoesOn, counted.HasCount, holding.HoldsInconclusive = true, true, true
	cases := map[string]struct {
		reason string
		rules  Rules
		of     string
		after  time.Duration
		want   Judgement
	}{
		"Nothing": {reason: "A check without a measurement keeps running.", rules: strict, want: Judgement{Phase: v1alpha1.CheckRunning}},
		"Some": {
			reason: "Fewer good measurements than count keep the check running.",
			rules:  strict, of: "pp", want: Judgement{Phase: v1alpha1.CheckRunning, Value: "1", Count: 2},
		},
		"Passed": {
			reason: "As many good measurements as count pass the check.",
			rules:  strict, of: "ppp", want: Judgement{Phase: v1alpha1.CheckPassed, Value: "1", Count: 3},
		},
		"PassedLate": {
			reason: "Measurements take precedence over the timeout.",
			rules:  strict, of: "ppp", after: time.Hour, want: Judgement{Phase: v1alpha1.CheckPassed, Value: "1", Count: 3},
		},
		"FailedAtOnce": {
			reason: "Without a limit the first failure decides.",
			rules:  strict, of: "pf", want: Judgement{Phase: v1alpha1.CheckFailed, Value: "9", Message: "bad", Count: 2},
		},
		"FailedLate": {
			reason: "A failure takes precedence over the timeout.",
			rules:  strict, of: "f", after: time.Hour, want: Judgement{Phase: v1alpha1.CheckFailed, Value: "9", Message: "bad", Count: 1},
		},
		"FailureAllowed": {
			reason: "A check passes with as many failures as the limit allows.",
			rules:  lax, of: "fpf", want: Judgement{Phase: v1alpha1.CheckPassed, Value: "9", Count: 3},
		},
		"OnlyFailures": {
			reason: "A check without a passed measurement fails, even if the limit allows each failure.",
			rules:  lax, of: "fff", want: Judgement{Phase: v1alpha1.CheckFailed, Value: "9", Message: "bad", Count: 3},
		},
		"OnlyInconclusive": {
			reason: "A check whose measurements are all inconclusive ends with an error.",
			rules:  lax, of: "iii", want: Judgement{Phase: v1alpha1.CheckError, Message: messageNothing, Count: 3},
		},
		"Inconclusive": {
			reason: "Too many inconclusive measurements are an error.",
			rules:  strict, of: "pi", want: Judgement{Phase: v1alpha1.CheckError, Value: "1", Message: messageInconclusive, Count: 2},
		},
		"ErrorsAllowed": {
			reason: "Tolerated errors do not count against a check that passes.",
			rules:  strict, of: "peepp", want: Judgement{Phase: v1alpha1.CheckPassed, Value: "1", Count: 3},
		},
		"ErrorsInARow": {
			reason: "Too many errors in a row end the check.",
			rules:  strict, of: "peee", want: Judgement{Phase: v1alpha1.CheckError, Value: "1", Message: "broken", Count: 1},
		},
		"ErrorsApart": {
			reason: "A measurement that works resets the count of errors in a row.",
			rules:  strict, of: "eepee", want: Judgement{Phase: v1alpha1.CheckRunning, Value: "1", Count: 1},
		},
		"EarlyBetween": {reason: "An answer without data is an answer.", rules: strict, of: "eeyee", want: Judgement{Phase: v1alpha1.CheckRunning}},
		"Early":        {reason: "An early measurement does not count.", rules: strict, of: "yyyy", want: Judgement{Phase: v1alpha1.CheckRunning}},
		"EarlyForEver": {reason: "A check with only early measurements ends with the timeout.", rules: strict, of: "yyyy", after: 5 * time.Minute, want: Judgement{Phase: v1alpha1.CheckTimedOut, Message: messageTimedOut + "; at last: young"}},
		"Watching": {
			reason: "A watching check does not end with its count.",
			rules:  watching, of: "pppp", after: time.Hour, want: Judgement{Phase: v1alpha1.CheckRunning, Value: "1", Count: 4, IsCounted: true},
		},
		"WatchingFails": {
			reason: "A failure after the count ends a watching check.",
			rules:  watching, of: "pppf", want: Judgement{Phase: v1alpha1.CheckFailed, Value: "9", Message: "bad", Count: 4},
		},
		"WatchingNotYet": {
			reason: "A watching check times out before it has its count.",
			rules:  watching, of: "pp", after: time.Hour,
			want: Judgement{Phase: v1alpha1.CheckTimedOut, Value: "1", Message: messageTimedOut, Count: 2},
		},
		"WatchedBefore": {
			reason: "A check keeps a count that it reached before a restart.",
			rules:  counted, of: "", after: time.Hour, want: Judgement{Phase: v1alpha1.CheckPassed},
		},
		"WatchedThenFails": {
			reason: "A failure after a restart counts although the check had its count.",
			rules:  counted, of: "f", want: Judgement{Phase: v1alpha1.CheckFailed, Value: "9", Message: "bad", Count: 1},
		},
		"Held": {
			reason: "Too many inconclusive measurements leave the verdict to a user, where the check requests that.",
			rules:  holding, of: "i", want: Judgement{Phase: v1alpha1.CheckInconclusive, Message: messageInconclusive, Count: 1},
		},
		"Waits": {
			reason: "A measurement that waits for data does not count, and is reported.",
			rules:  strict, of: "pwww",
			want: Judgement{Phase: v1alpha1.CheckRunning, Value: "1", Count: 1, Availability: WithoutData, Message: messageWaiting},
		},
		"WaitsNoMore": {
			reason: "A measurement with data ends the wait for data.",
			rules:  strict, of: "wwwp", want: Judgement{Phase: v1alpha1.CheckRunning, Value: "1", Count: 1},
		},
		"TimedOut": {
			reason: "A check that measured nothing within its timeout timed out.",
			rules:  strict, after: 5 * time.Minute, want: Judgement{Phase: v1alpha1.CheckTimedOut, Message: messageTimedOut},
		},
		"AlmostTimedOut": {
			reason: "A check runs until its timeout has passed.",
			rules:  strict, after: 5*time.Minute - 1, want: Judgement{Phase: v1alpha1.CheckRunning},
		},
		"TimedOutInErrors": {reason: "The message of a timeout has the last error.", rules: strict, of: "pe", after: time.Hour, want: Judgement{Phase: v1alpha1.CheckTimedOut, Value: "1", Message: messageTimedOut + "; at last: broken", Count: 1}},
		"NoErrorsTolerated": {
			reason: "With a limit of 0 the first error ends the check.",
			rules:  Rules{Count: 3, Timeout: time.Hour}, of: "e", want: Judgement{Phase: v1alpha1.CheckError, Message: "broken"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Judge(tc.rules, tally(tc.of), tc.after)); diff != "" {
				t.Errorf("%s\nJudge(%q): -want, +got:\n%s", tc.reason, tc.of, diff)
			}
		})
	}
}

// TestSameAnswerAgain adds answers that are not later than the first answer: they count neither as measurements nor as errors.
func TestSameAnswerAgain(t *testing.T) {
	now := time.Unix(100, 0)
	got := Tally{}.Add(Measurement{Outcome: Pass, Value: "1", At: now}).Add(Measurement{Outcome: Fail, Value: "2", At: now})
	if got.Count() != 1 || got.errors != 0 || got.value != "1" {
		t.Errorf("the same answer counts again: %+v", got)
	}
	got = got.Add(Measurement{Outcome: Error, Message: "down"}).Add(Measurement{Outcome: Pass, At: now.Add(-time.Second)})
	if got.Count() != 1 || got.errors != 1 {
		t.Errorf("an older answer counts after an error without a time: %+v", got)
	}
}

func TestRequireNew(t *testing.T) {
	now := time.Unix(100, 0)
	outage := Answer{Problem: messageStandstill, Unavailable: true}
	cases := map[string]struct {
		reason string
		answer Answer
		want   Answer
	}{
		"Later":    {reason: "A later answer is new.", answer: Answer{At: now.Add(time.Second)}, want: Answer{At: now.Add(time.Second)}},
		"Timeless": {reason: "An answer without a time has nothing to compare.", answer: Answer{Problem: "no"}, want: Answer{Problem: "no"}},
		"Same":     {reason: "A cache in front of the backend is an outage of the backend.", answer: Answer{Values: []float64{9}, At: now}, want: outage},
		"Older":    {reason: "An older answer comes from a cache, too.", answer: Answer{Values: []float64{9}, At: now.Add(-time.Second)}, want: outage},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			measured := Tally{}.Add(Measurement{Outcome: Pass, Value: "1", At: now})
			if diff := cmp.Diff(tc.want, measured.RequireNew(tc.answer)); diff != "" {
				t.Errorf("\n%s\nRequireNew(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestVerdict(t *testing.T) {
	cases := map[string]struct {
		reason string
		phases []v1alpha1.CheckPhase
		want   v1alpha1.GateVerdict
	}{
		"None":    {reason: "A Gate without checks does not pass.", want: v1alpha1.GateError},
		"Passed":  {reason: "A Gate passes when all its checks passed.", phases: []v1alpha1.CheckPhase{"Passed", "Passed"}, want: v1alpha1.GatePassed},
		"Running": {reason: "A running check holds back the verdict of passed checks.", phases: []v1alpha1.CheckPhase{"Passed", "Running"}, want: ""},
		"Pending": {reason: "A pending check holds back the verdict.", phases: []v1alpha1.CheckPhase{"Passed", "Pending"}, want: ""},
		"First": {
			reason: "The first failure ends the Gate while other checks run.",
			phases: []v1alpha1.CheckPhase{"Failed", "Running", "Pending"}, want: v1alpha1.GateFailed,
		},
		"FirstErr": {reason: "The first error ends the Gate while other checks run.", phases: []v1alpha1.CheckPhase{"Running", "Error"}, want: v1alpha1.GateError},
		"FirstOut": {
			reason: "The first timeout ends the Gate while other checks run.",
			phases: []v1alpha1.CheckPhase{"Passed", "TimedOut", "Running"}, want: v1alpha1.GateTimedOut,
		},
		"Failed": {
			reason: "A failed check outweighs every other result of a Gate.",
			phases: []v1alpha1.CheckPhase{"Passed", "TimedOut", "Error", "Failed"}, want: v1alpha1.GateFailed,
		},
		"Error": {reason: "An error decides where no check failed.", phases: []v1alpha1.CheckPhase{"Passed", "TimedOut", "Error"}, want: v1alpha1.GateError},
		"TimedOut": {
			reason: "A timeout decides where no check failed or had an error.",
			phases: []v1alpha1.CheckPhase{"Passed", "TimedOut"}, want: v1alpha1.GateTimedOut,
		},
		"Open": {
			reason: "An inconclusive check gives no verdict while other checks may fail.",
			phases: []v1alpha1.CheckPhase{"Inconclusive", "Running"}, want: "",
		},
		"Unclear": {
			reason: "An inconclusive check decides where all other checks passed.",
			phases: []v1alpha1.CheckPhase{"Passed", "Inconclusive"}, want: v1alpha1.GateInconclusive,
		},
		"Graver": {
			reason: "A failure decides where another check is inconclusive.",
			phases: []v1alpha1.CheckPhase{"Failed", "Inconclusive"}, want: v1alpha1.GateFailed,
		},
		"Unknown": {reason: "A phase that this version does not know does not pass.", phases: []v1alpha1.CheckPhase{"Passed", "Fine"}, want: v1alpha1.GateError},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			checks := []v1alpha1.CheckResult{}
			for _, p := range tc.phases {
				checks = append(checks, v1alpha1.CheckResult{Phase: p})
			}
			if diff := cmp.Diff(tc.want, Verdict(checks)); diff != "" {
				t.Errorf("%s\nVerdict(%q): -want, +got:\n%s", tc.reason, tc.phases, diff)
			}
		})
	}
}

// FuzzJudge checks the invariants of all measurements.
func FuzzJudge(f *testing.F) {
	f.Add("ppfie", 3, 1, 1, 1, int64(10))
	f.Add("eeeee", 1, 0, 0, 0, int64(0))
	f.Fuzz(func(t *testing.T, letters string, count, failures, errs, unclear int, seconds int64) {
		letters = strings.Map(func(r rune) rune {
			if strings.ContainsRune("pfiey", r) {
				return r
			}
			return -1
		}, letters)
		r := Rules{Count: max(count, 1), FailureLimit: max(failures, 0), ErrorLimit: max(errs, 0), InconclusiveLimit: max(unclear, 0), Timeout: time.Minute}
		j := Judge(r, tally(letters), time.Duration(seconds)*time.Second)
		if j.Phase == v1alpha1.CheckPassed && (!strings.Contains(letters, "p") || strings.Count(letters, "f") > r.FailureLimit || j.Count < r.Count) {
			t.Errorf("%q passed by %+v", letters, r)
		}
		if seconds >= 60 && !j.Ended() {
			t.Errorf("%q never ends", letters)
		}
	})
}
