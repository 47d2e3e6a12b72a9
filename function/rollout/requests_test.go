package rollout

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// situations are the phases that an order can be in, in the order of the table.
func situations() []string {
	return []string{"Delivering", "Validating", "Succeeded", "Failed", "RollingBack", "RolledBack", "Frozen", "Nothing"}
}

// situation is revision 3 of a deployment that can go back to 1. It has three steps, and waits for a person before the step 1.
func situation(name string) Standing {
	o := changed(order(3, "c"), func(o *rolloutv1alpha1.Order) {
		o.Steps, o.Plan = 3, []rolloutv1alpha1.Step{{Sites: []string{"a"}, Pause: PauseManual}, {Sites: []string{"b"}}, {Sites: []string{"c"}}}
	})
	s := Standing{Order: &o, Remembered: true, Free: true, Waits: true, Targets: []int64{1}, Known: []int64{1, 2, 3}}
	switch name {
	case "Validating":
		o.Step = 1
	case "Succeeded":
		o.Step, o.Verdict, s.Ended = 1, verified, true
	case "Failed":
		o.Verdict, s.Ended = failure, true
	case "RollingBack":
		o.Verdict, o.Attempt, o.Target = failure, 1, new(int64(1))
	case "RolledBack":
		o.Verdict, o.Attempt, o.Target, o.Restored, s.Ended = failure, 1, new(int64(1)), new(true), true
	case "Frozen":
		s.Free = false
	case "Nothing":
		return Standing{Free: true}
	}
	return s
}

// asking is a request about revision 3, made at a minute.
func asking(action string, minute int) rolloutv1alpha1.RolloutRequest {
	r := request("r-"+action, minute)
	r.UID = "uid-" + r.UID
	r.Spec.Revision = 3
	verb, what, _ := strings.Cut(action, " ")
	r.Spec.Action = rolloutv1alpha1.Action(verb)
	number := int64(0)
	_, _ = fmt.Sscan(what, &number)
	switch r.Spec.Action {
	case rolloutv1alpha1.ActionRollbackTo:
		r.Spec.ToRevision = &number
	case rolloutv1alpha1.ActionPromote:
		r.Spec.Step = new(int32(number))
	case rolloutv1alpha1.ActionAbort, rolloutv1alpha1.ActionRetry, rolloutv1alpha1.ActionApproveUpdate:
	}
	return r
}

// answers has a cell for each action in each phase: what is answered, where it is not done.
func answers() map[string][]string {
	return map[string][]string{ // Delivering, Validating, Succeeded, Failed, RollingBack, RolledBack, Frozen, Nothing
		"Abort":         {"Taken", "Taken", "AlreadyJudged", "AlreadyJudged", "AlreadyJudged", "AlreadyJudged", "Taken", "Waiting"},
		"RollbackTo 1":  {"Taken", "Taken", "Taken", "Taken", "NothingToRestore", "NothingToRestore", "Taken", "Waiting"},
		"RollbackTo 2":  {"NoTarget", "NoTarget", "NoTarget", "NoTarget", "NoTarget", "NoTarget", "NoTarget", "Waiting"},
		"RollbackTo 3":  {"NoTarget", "NoTarget", "NoTarget", "NoTarget", "NoTarget", "NoTarget", "NoTarget", "Waiting"},
		"RollbackTo 9":  {"UnknownRevision", "UnknownRevision", "UnknownRevision", "UnknownRevision", "UnknownRevision", "UnknownRevision", "UnknownRevision", "Waiting"},
		"Promote 0":     {"UnknownStep", "UnknownStep", "AlreadyJudged", "AlreadyJudged", "AlreadyJudged", "AlreadyJudged", "UnknownStep", "Waiting"},
		"Promote 1":     {"Taken", "Stale", "AlreadyJudged", "AlreadyJudged", "AlreadyJudged", "AlreadyJudged", "Waiting", "Waiting"},
		"Promote 2":     {"UnknownStep", "UnknownStep", "AlreadyJudged", "AlreadyJudged", "AlreadyJudged", "AlreadyJudged", "UnknownStep", "Waiting"},
		"Promote 3":     {"UnknownStep", "UnknownStep", "AlreadyJudged", "AlreadyJudged", "AlreadyJudged", "AlreadyJudged", "UnknownStep", "Waiting"},
		"ApproveUpdate": {"Taken", "Taken", "Taken", "Taken", "Taken", "Taken", "Waiting", "Waiting"},
		"Retry":         {"Taken", "Taken", "Taken", "Taken", "Taken", "Taken", "Waiting", "Waiting"},
	}
}

// TestActions asks one thing in each phase.
func TestActions(t *testing.T) {
	for action, row := range answers() {
		for i, phase := range situations() {
			t.Run(action+"/"+phase, func(t *testing.T) {
				r, s := asking(action, 1), situation(phase)
				result, open := resultNow(&r, s)
				if diff := cmp.Diff(row[i], string(result)); diff != "" || open != (row[i] == "Taken") {
					t.Errorf("judge(...): -want, +got:\n%s", diff)
				}
			})
		}
	}
}

// TestTwo asks two things at once: who wins, and what the other one hears when the order follows.
func TestTwo(t *testing.T) {
	cases := map[string]struct {
		reason string
		a, b   rolloutv1alpha1.RolloutRequest
		want   string
		other  rolloutv1alpha1.Result
	}{
		"AbortRetry":    {reason: "Abort comes first.", a: asking("Retry", 1), b: asking("Abort", 2), want: "r-Abort", other: rolloutv1alpha1.ResultStale},
		"AbortBack":     {reason: "Also before RollbackTo.", a: asking("RollbackTo 1", 1), b: asking("Abort", 2), want: "r-Abort", other: rolloutv1alpha1.ResultStale},
		"BackPromote":   {reason: "RollbackTo comes before Promote.", a: asking("Promote 1", 1), b: asking("RollbackTo 1", 2), want: "r-RollbackTo 1", other: rolloutv1alpha1.ResultStale},
		"PromoteUpdate": {reason: "Promote comes before ApproveUpdate.", a: asking("ApproveUpdate", 1), b: asking("Promote 1", 2), want: "r-Promote 1", other: rolloutv1alpha1.ResultStale},
		"UpdateRetry":   {reason: "ApproveUpdate comes before Retry.", a: asking("Retry", 1), b: asking("ApproveUpdate", 2), want: "r-ApproveUpdate"},
		"Later":         {reason: "What was asked after an Abort knows of it.", a: asking("Abort", 1), b: asking("Retry", 2), want: "r-Abort", other: rolloutv1alpha1.ResultWaiting},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := situation("Delivering")
			both := []rolloutv1alpha1.RolloutRequest{tc.a, tc.b}
			first := Choice(both, s)
			if diff := cmp.Diff(tc.want, first.GetName()); diff != "" {
				t.Fatalf("\n%s\nChoice(...): -want, +got:\n%s", tc.reason, diff)
			}
			next := Obey(*s.Order, first)
			s.Order = &next
			for i := range both {
				want := tc.other
				if both[i].GetName() == tc.want {
					want = rolloutv1alpha1.ResultTaken
				}
				if got := ResultOf(&both[i], s); tc.other != "" && got != want {
					t.Errorf("\n%s\nResultOf(%s): want %s, got %s", tc.reason, both[i].GetName(), want, got)
				}
			}
		})
	}
}

// TestObey looks at the orders that requests make.
func TestObey(t *testing.T) {
	now := changed(order(3, "c"), func(o *rolloutv1alpha1.Order) { o.Steps, o.Step, o.Promoted = 2, 1, 1 })
	by := func(r rolloutv1alpha1.RolloutRequest) *rolloutv1alpha1.RequestReference {
		at := r.GetCreationTimestamp()
		return &rolloutv1alpha1.RequestReference{Name: r.GetName(), UID: string(r.GetUID()), By: "ann", Reason: "bad numbers", At: &at}
	}
	taken := &rolloutv1alpha1.Verdict{Result: "Rejected", Reason: "Requested"}
	cases := map[string]struct {
		reason string
		action string
		change func(*rolloutv1alpha1.Order)
	}{
		"Abort": {reason: "It is rejected.", action: "Abort", change: func(o *rolloutv1alpha1.Order) { o.Verdict = taken }},
		"RollbackTo": {reason: "The next revision is, and takes this one back.", action: "RollbackTo 1", change: func(o *rolloutv1alpha1.Order) {
			o.Revision, o.Step, o.Promoted, o.Verdict, o.Target, o.Withdraws = 4, 0, 0, taken, new(int64(1)), new(int64(3))
		}},
		"Promote": {reason: "The step is released.", action: "Promote 1", change: func(o *rolloutv1alpha1.Order) { o.Promoted = 1 }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := asking(tc.action, 1)
			r.Spec.RequestedBy, r.Spec.Reason = "ann", "bad\nnumbers"
			want := changed(now, tc.change)
			want.RequestRef = by(r)
			got := Obey(now, &r)
			if want.Verdict != nil {
				want.Verdict.Message = "RolloutRequest " + r.GetName() + " of ann: bad numbers"
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("\n%s\nObey(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestReapplied makes a request again that was done before, as a backup does: with another uid.
func TestReapplied(t *testing.T) {
	for _, action := range []string{"Abort", "RollbackTo 1", "Promote 1", "ApproveUpdate", "Retry"} {
		r, s := asking(action, 1), situation("Delivering")
		next := following(*s.Order, &r)
		s.Order = &next
		if got := ResultOf(&r, s); got != rolloutv1alpha1.ResultTaken {
			t.Errorf("ResultOf(%s): want Taken, got %s", action, got)
		}
		r.UID, r.CreationTimestamp = "uid-again", metav1.NewTime(time.Date(2032, 1, 1, 0, 0, 0, 0, time.UTC))
		if got := ResultOf(&r, s); !got.Refused() {
			t.Errorf("ResultOf(%s): what a backup brings again is refused, got %s", action, got)
		}
	}
}
