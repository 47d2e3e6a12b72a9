package subject

import (
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
)

// UnreadLines returns a line for each object that was not read, with the reason.
func UnreadLines(unread []cause.Unread) []string {
	var out []string
	for _, u := range unread {
		out = append(out, "not read: "+u.Object+": "+u.Reason)
	}
	return out
}
