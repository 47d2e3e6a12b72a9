// Package diagnosis has the checks of kubectl intent doctor: the health and the errors of an installation of Intentplane, from the reports of its objects.
// It is pure, and an unread object is unknown.
package diagnosis

import (
	"cmp"
	"slices"

	"github.com/intentplane/intentplane/apis/advice"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
)

// A Result is the result of a check.
type Result string

// Results.
const (
	// OK means that the check found no problem.
	OK Result = "ok"

	// Problem means that something does not work until a person acts.
	Problem Result = "problem"

	// Unknown means that no object that could be read says how it is.
	Unknown Result = "unknown"

	// Advice means that it works, and that there is something better.
	Advice Result = "advice"
)

// Checks that lines are about.
const (
	checkVersions       = "versions"
	checkPackages       = "packages"
	checkDefinitions    = "definitions"
	checkKinds          = "kinds"
	checkRights         = "rights"
	checkConfigurations = "configurations"
	checkSites          = "sites"
	checkPolicies       = "policies"
)

// A Line is the result of one check for one object.
type Line struct {
	Check   string `json:"check"`
	Object  string `json:"object"`
	Result  Result `json:"result"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`

	// Fix is the remedy. Each problem has one.
	Fix string `json:"fix,omitempty"`
}

// Examine returns the checks of an installation, from the facts.
func Examine(e *Expected, f *Facts) []Line {
	return slices.Concat(
		versionLines(e, f), packageLines(f), mirrorLines(f, Problem), definitionLines(e, f), managedKindLines(e, f), rightLines(e, f), configLines(f), siteLines(f),
		policyLines(e, f),
	)
}

// ExamineBefore returns the checks of a cluster in which Intentplane is to be installed, from the facts.
func ExamineBefore(e *Expected, f *Facts) []Line {
	return slices.Concat(kubernetesLines(f), crossplaneLines(e, f), servedLines(e, f), installedLines(f), mirrorLines(f, Advice), installerLines(e, f))
}

// CountResults returns how many lines have each result.
func CountResults(all []Line) map[Result]int {
	out := map[Result]int{}
	for _, l := range all {
		out[l.Result]++
	}
	return out
}

// unreadLine says that something could not be read.
func unreadLine(check string, u *cause.Unread) Line {
	return Line{Check: check, Object: u.Object, Result: Unknown, Message: "not read: " + u.Reason}
}

// fixForReason returns the remedy for a reason.
func fixForReason(k advice.Kind, reason string) string {
	a, _ := advice.For(k, reason)
	return cmp.Or(a.Do, "Follow the message: this version does not know the reason.")
}
