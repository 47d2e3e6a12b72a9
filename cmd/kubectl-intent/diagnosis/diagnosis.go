// Package diagnosis says what is right and wrong with an installation of Intentplane, from what its objects say. It is pure, and what was not read is
// unknown.
package diagnosis

import (
	"cmp"
	"slices"

	"github.com/intentplane/intentplane/apis/advice"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
)

// A Result is what a check found.
type Result string

// Results.
const (
	// OK means that it is as it should be.
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

// A Line is what one check found of one object.
type Line struct {
	Check   string `json:"check"`
	Object  string `json:"object"`
	Result  Result `json:"result"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`

	// Fix is what to do. Each problem has one.
	Fix string `json:"fix,omitempty"`
}

// Examine returns what the facts about an installation say.
func Examine(e *Expected, f *Facts) []Line {
	return slices.Concat(
		versionLines(e, f), packageLines(f), definitionLines(e, f), managedKindLines(e, f), rightLines(e, f), configLines(f), siteLines(f), policyLines(e, f),
	)
}

// ExamineBefore returns what the facts say about a cluster in which Intentplane is to be installed.
func ExamineBefore(e *Expected, f *Facts) []Line {
	return slices.Concat(kubernetesLines(f), crossplaneLines(e, f), installerLines(e, f))
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
	return Line{Check: check, Object: u.What, Result: Unknown, Message: "not read: " + u.Why}
}

// fixForReason returns what to do about a reason.
func fixForReason(k advice.Kind, reason string) string {
	a, _ := advice.For(k, reason)
	return cmp.Or(a.Do, "Do what the message says: this version does not know the reason.")
}
