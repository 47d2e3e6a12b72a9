package prune

import "time"

// An Answer is the result of an approval.
type Answer string

// Answers.
const (
	// AnswerGo means that the plan may be carried out.
	AnswerGo Answer = "Go"

	// AnswerNotADigest means that the approval names no digest.
	AnswerNotADigest Answer = "NotADigest"

	// AnswerOtherPlan means that the approval names another plan than the shown plan.
	AnswerOtherPlan Answer = "OtherPlan"

	// AnswerExpired means that the plan was shown too long ago.
	AnswerExpired Answer = "Expired"

	// AnswerPlanChanged means that the plan has changed, or is refused.
	AnswerPlanChanged Answer = "PlanChanged"
)

// Confirm decides on an approval that names a plan by its digest. Displayed is the digest that the request shows since start, and fresh is the
// plan of facts that were read for this approval. Only AnswerGo lets anything be removed.
func Confirm(approved, displayed string, start time.Time, fresh *Plan, now time.Time) Answer {
	age := now.Sub(start)
	switch {
	case !digestPattern.MatchString(approved):
		return AnswerNotADigest
	case approved != displayed:
		return AnswerOtherPlan
	case start.IsZero() || age < 0 || age >= PlanLifetime:
		return AnswerExpired
	case fresh.Refusal != "" || fresh.Digest != approved:
		return AnswerPlanChanged
	}
	return AnswerGo
}
