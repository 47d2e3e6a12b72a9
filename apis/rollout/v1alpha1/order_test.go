package v1alpha1

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOrderBehind(t *testing.T) {
	verified := &Verdict{Result: VerdictVerified}
	cases := map[string]struct {
		reason string
		a, b   Order
		// Whether a is behind b, and b behind a.
		want [2]bool
	}{
		"Same":       {reason: "An order is never behind itself.", a: Order{Revision: 2, Step: 1, Verdict: verified}, b: Order{Revision: 2, Step: 1, Verdict: verified}},
		"Revision":   {reason: "A lower revision is behind.", a: Order{Revision: 1}, b: Order{Revision: 2}, want: [2]bool{true, false}},
		"FirstOfAll": {reason: "The revision counts before all else.", a: Order{Revision: 1, Attempt: 3, Step: 3, Promoted: 3, Verdict: verified}, b: Order{Revision: 2}, want: [2]bool{true, false}},
		"Attempt":    {reason: "A way back comes after every step forward.", a: Order{Revision: 2, Step: 3}, b: Order{Revision: 2, Attempt: 1}, want: [2]bool{true, false}},
		"Step":       {reason: "An earlier step is behind.", a: Order{Revision: 2, Step: 1, Promoted: 2}, b: Order{Revision: 2, Step: 2}, want: [2]bool{true, false}},
		"Promoted":   {reason: "A promotion moves on.", a: Order{Revision: 2, Step: 1, Verdict: verified}, b: Order{Revision: 2, Step: 1, Promoted: 1}, want: [2]bool{true, false}},
		"Verdict":    {reason: "So does a verdict.", a: Order{Revision: 2}, b: Order{Revision: 2, Verdict: verified}, want: [2]bool{true, false}},
		"Withdraws":  {reason: "Who takes a revision back is not followed by who does not.", a: Order{Revision: 2, Verdict: verified}, b: Order{Revision: 2, Withdraws: new(int64(1))}, want: [2]bool{true, false}},
		"Restored":   {reason: "What was restored stays so.", a: Order{Revision: 2, Attempt: 1, Verdict: verified, Restored: new(false)}, b: Order{Revision: 2, Attempt: 1, Verdict: verified, Restored: new(true)}, want: [2]bool{true, false}},
		"Judged":     {reason: "A verdict that is missing is lost, whatever was restored.", a: Order{Revision: 2, Attempt: 1, Restored: new(true)}, b: Order{Revision: 2, Attempt: 1, Verdict: verified}, want: [2]bool{true, false}},
		"Request":    {reason: "Another request under the same number is not behind: it is a conflict.", a: Order{Revision: 2, Request: "a"}, b: Order{Revision: 2, Request: "b"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := [2]bool{tc.a.Behind(tc.b), tc.b.Behind(tc.a)}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nBehind(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestOrderRejudges(t *testing.T) {
	verified, rejected := &Verdict{Result: VerdictVerified}, &Verdict{Result: VerdictRejected, Reason: "GateFailed"}
	cases := map[string]struct {
		reason string
		a, b   Order
		want   bool
	}{
		"First":    {reason: "A verdict comes once.", a: Order{Revision: 2, Verdict: verified}, b: Order{Revision: 2}},
		"Same":     {reason: "It stays.", a: Order{Revision: 2, Verdict: rejected}, b: Order{Revision: 2, Verdict: rejected}},
		"Other":    {reason: "It never changes.", a: Order{Revision: 2, Verdict: verified}, b: Order{Revision: 2, Verdict: rejected}, want: true},
		"Revision": {reason: "Another revision has its own.", a: Order{Revision: 3, Verdict: verified}, b: Order{Revision: 2, Verdict: rejected}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.a.Rejudges(tc.b)); diff != "" {
				t.Errorf("\n%s\nRejudges(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestOrderTakesBack(t *testing.T) {
	cases := map[string]struct {
		reason string
		o      Order
		want   []int64
	}{
		"None":    {reason: "An order takes nothing back.", o: Order{Revision: 4, Target: new(int64(1))}},
		"Between": {reason: "Who goes from 3 to 1 does not want 2 either.", o: Order{Revision: 4, Withdraws: new(int64(3)), Target: new(int64(1))}, want: []int64{2, 3}},
		"One":     {reason: "There may be nothing between.", o: Order{Revision: 4, Withdraws: new(int64(3)), Target: new(int64(2))}, want: []int64{3}},
		"Unaimed": {reason: "What is withdrawn is known without a target.", o: Order{Revision: 4, Withdraws: new(int64(3))}, want: []int64{3}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got []int64
			for n := range int64(6) {
				if tc.o.TakesBack(n) {
					got = append(got, n)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nTakesBack(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestOrderRevives changes one thing at a time about an order that redelivers what was rejected.
func TestOrderRevives(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(o, last *Order)
		eased  bool
		want   bool
	}{
		"Same":     {reason: "Nobody asked for that.", change: func(_, _ *Order) {}, want: true},
		"Request":  {reason: "Nor for another request of that intent.", change: func(o, _ *Order) { o.Request = "other" }, want: true},
		"Intent":   {reason: "Another intent is something else.", change: func(o, _ *Order) { o.Intent = "other" }},
		"NoIntent": {reason: "Nobody knows what they deliver.", change: func(o, last *Order) { o.Intent, last.Intent = "", "" }},
		"Later":    {reason: "Somebody may have asked for what was in between.", change: func(o, _ *Order) { o.Revision = 4 }},
		"Verified": {reason: "It was not rejected.", change: func(_, last *Order) { last.Verdict = &Verdict{Result: VerdictVerified} }},
		"Judged":   {reason: "It is rejected, and delivers nothing.", change: func(o, last *Order) { o.Verdict = last.Verdict }},
		"Asked":    {reason: "A person did.", change: func(o, _ *Order) { o.RequestRef = &RequestReference{UID: "a"} }},
		"AskedToo": {reason: "And one before.", change: func(o, last *Order) {
			o.RequestRef, last.RequestRef = &RequestReference{UID: "a"}, &RequestReference{UID: "b"}
		}},
		"NotAgain": {reason: "That was the one before.", change: func(o, last *Order) {
			o.RequestRef, last.RequestRef = &RequestReference{UID: "a"}, &RequestReference{UID: "a"}
		}, want: true},
		"Eased":     {reason: "What was refused may be taken now.", change: func(_, last *Order) { last.Verdict.Reason = RejectedDeliveryRefused }, eased: true},
		"NotEased":  {reason: "It may not.", change: func(_, last *Order) { last.Verdict.Reason = RejectedDeliveryRefused }, want: true},
		"EasedOnly": {reason: "It was rejected for something else.", change: func(_, _ *Order) {}, eased: true, want: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			last := Order{Revision: 2, Request: "a", Intent: "i", Verdict: &Verdict{Result: VerdictRejected, Reason: RejectedGateFailed}}
			o := Order{Revision: 3, Request: "a", Intent: "i"}
			tc.change(&o, &last)
			if diff := cmp.Diff(tc.want, o.Revives(last, tc.eased)); diff != "" {
				t.Errorf("\n%s\nRevives(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestOrderConflicts(t *testing.T) {
	cases := map[string]struct {
		reason string
		a, b   Order
		want   bool
	}{
		"Same":    {reason: "One request.", a: Order{Revision: 2, Request: "a"}, b: Order{Revision: 2, Request: "a", Step: 1}},
		"Other":   {reason: "Two requests under one number.", a: Order{Revision: 2, Request: "a"}, b: Order{Revision: 2, Request: "b"}, want: true},
		"Numbers": {reason: "Two requests under two numbers.", a: Order{Revision: 1, Request: "a"}, b: Order{Revision: 2, Request: "b"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.a.Conflicts(tc.b)); diff != "" {
				t.Errorf("\n%s\nConflicts(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestOrderSame(t *testing.T) {
	b, c := &BlueprintReference{Name: "web-1.0.0"}, &BlueprintReference{Name: "web-1.1.0"}
	cases := map[string]struct {
		reason string
		a, b   Order
		want   bool
	}{
		"Same":    {reason: "What it points at counts, and not where.", a: Order{Blueprint: b}, b: Order{Blueprint: &BlueprintReference{Name: "web-1.0.0"}}, want: true},
		"Empty":   {reason: "Absent and empty are the same.", a: Order{Plan: []Step{}}, b: Order{}, want: true},
		"Unnamed": {reason: "An earlier version did not name its Blueprint.", a: Order{Revision: 1}, b: Order{Revision: 1, Blueprint: b}, want: true},
		"Other":   {reason: "Two Blueprints are two.", a: Order{Blueprint: b}, b: Order{Blueprint: c}},
		"Step":    {reason: "So are two steps.", a: Order{Step: 1}, b: Order{Step: 2, Blueprint: b}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff([]bool{tc.want, tc.want}, []bool{tc.a.Same(tc.b), tc.b.Same(tc.a)}); diff != "" {
				t.Errorf("\n%s\nSame(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
