package overview

import (
	"slices"
	"strings"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
)

// RowForInstalled returns the row of a package or a definition in a list.
func RowForInstalled(o *cause.Object, found cause.Finding) Row {
	phase := "Ready"
	if !found.IsGood {
		phase = "NotReady"
	}
	link := found.Cause()
	return Row{Overview: Overview{Name: o.Metadata.Name, Kind: o.Kind, Group: groupOfAPIVersion(o.APIVersion), Phase: phase, Since: link.Since, Message: link.Message, Finding: found}}
}

// UnreadSummary returns a line for each reason why something could not be read, with all that it is about.
func UnreadSummary(all []cause.Unread) []string {
	var reasons []string
	kindsByReason := map[string][]string{}
	for _, u := range all {
		if !slices.Contains(reasons, u.Reason) {
			reasons = append(reasons, u.Reason)
		}
		kindsByReason[u.Reason] = append(kindsByReason[u.Reason], u.Object)
	}
	var out []string
	for _, reason := range reasons {
		out = append(out, "Not read: "+strings.Join(kindsByReason[reason], ", ")+": "+reason)
	}
	return out
}
