package prune

import (
	"strings"
	"testing"
	"time"
)

func TestConfirm(t *testing.T) {
	digest, otherDigest := "sha256:"+strings.Repeat("a", 64), "sha256:"+strings.Repeat("b", 64)
	cases := map[string]struct {
		reason          string
		approved, shown string
		age             time.Duration
		fresh           Plan
		want            Answer
	}{
		"Go":    {reason: "A plan that is the same is carried out.", approved: digest, shown: digest, fresh: Plan{Digest: digest}, want: AnswerGo},
		"Empty": {reason: "An approval without a digest approves nothing, also if the plan has no digest.", want: AnswerNotADigest},
		"Word":  {reason: "An approval of a word approves nothing.", approved: "yes", shown: "yes", fresh: Plan{Digest: "yes"}, want: AnswerNotADigest},
		"Upper": {
			reason:   "A digest in capitals is invalid.",
			approved: strings.ToUpper(digest), shown: digest, fresh: Plan{Digest: digest}, want: AnswerNotADigest,
		},
		"Line": {
			reason:   "A digest with a line behind it is invalid.",
			approved: digest + "\n", shown: digest + "\n", fresh: Plan{Digest: digest + "\n"}, want: AnswerNotADigest,
		},
		"Other": {
			reason:   "An approval of another plan does not approve the present plan.",
			approved: otherDigest, shown: digest, fresh: Plan{Digest: otherDigest}, want: AnswerOtherPlan,
		},
		"NotShown": {reason: "A plan that was never shown cannot be approved.", approved: digest, fresh: Plan{Digest: digest}, want: AnswerOtherPlan},
		"Almost":   {reason: "A plan is good for an hour.", approved: digest, shown: digest, age: time.Hour - 1, fresh: Plan{Digest: digest}, want: AnswerGo},
		"Expired": {
			reason:   "A plan of an hour ago has to be shown again.",
			approved: digest, shown: digest, age: time.Hour, fresh: Plan{Digest: digest}, want: AnswerExpired,
		},
		"Future": {
			reason:   "A plan that was shown in the future is not believed.",
			approved: digest, shown: digest, age: -time.Second, fresh: Plan{Digest: digest}, want: AnswerExpired,
		},
		"Changed": {
			reason:   "A plan that changed meanwhile is not carried out.",
			approved: digest, shown: digest, fresh: Plan{Digest: otherDigest}, want: AnswerPlanChanged,
		},
		"Refused": {
			reason:   "A plan that is refused meanwhile is not carried out.",
			approved: digest, shown: digest, fresh: Plan{Digest: digest, Refusal: RefusalUncertain}, want: AnswerPlanChanged,
		},
		"NoneFresh": {reason: "A plan that has no digest any more is not carried out.", approved: digest, shown: digest, want: AnswerPlanChanged},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := Confirm(tc.approved, tc.shown, now.Add(-tc.age), &tc.fresh, now); got != tc.want {
				t.Errorf("\n%s\nConfirm(...): %s, want %s", tc.reason, got, tc.want)
			}
		})
	}
	if got := Confirm(digest, digest, time.Time{}, &Plan{Digest: digest}, time.Time{}); got != AnswerExpired {
		t.Errorf("A plan of an unknown time: %s, want %s", got, AnswerExpired)
	}
}
