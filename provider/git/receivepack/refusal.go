package receivepack

import (
	"context"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/protocol/packp"

	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/provider/git/transport"
)

// explainRefusal explains a push that failed.
func (p *Pusher) explainRefusal(ctx context.Context, updates []Update, report *packp.ReportStatus, err error, transcript string) error {
	if report == nil && err == nil {
		return failure.Newf(failure.ClassTransient, "cannot push to the repository: the server sent no status report")
	}
	if report == nil || len(report.CommandStatuses) == 0 {
		return p.conn.Failure(ctx, transport.VerbPush, err)
	}
	statuses := map[string]string{}
	for _, s := range report.CommandStatuses {
		if s.Error() != nil {
			statuses[s.ReferenceName.String()] = s.Status
		}
	}
	e := p.findRefusedRefs(updates, statuses, report.UnpackStatus, transcript)
	e.Remote = p.conn.CleanLines(transcript)
	return e
}

// findRefusedRefs finds the refs that were refused for a reason of their own: in an
// atomic push the others only fell with them. It names all of them, for a hook
// that refuses a push as a whole has nothing against one of its refs.
func (p *Pusher) findRefusedRefs(updates []Update, statuses map[string]string, unpack, transcript string) *failure.Error {
	var first *failure.Error
	fell := ""
	refused := map[string]bool{}
	for _, u := range updates {
		status, ng := statuses[u.Ref]
		if !ng {
			continue
		}
		if isAtomicFallout(status) {
			fell = status
			continue
		}
		refused[u.Ref] = true
		class := classifyRefusal(status, unpack, transcript)
		if first == nil || class == failure.ClassConflict {
			first = failure.Newf(class, "cannot push to %s: %s", u.Ref, p.conn.CleanText(status))
		}
	}
	if first == nil {
		return p.explainAtomicFailure(fell, transcript)
	}
	if first.Class != failure.ClassConflict && len(refused) > 1 {
		first.Detail = p.describeRefusals(updates, statuses, refused)
	}
	if first.Class == failure.ClassPolicy && !slices.ContainsFunc(updates, func(u Update) bool { return refused[u.Ref] && !u.IsState }) {
		first.Class = failure.ClassStateRefused
	}
	return first
}

// describeRefusals names the refs that were refused, the branch first, and why.
func (p *Pusher) describeRefusals(updates []Update, statuses map[string]string, refused map[string]bool) string {
	refs, reasons := []string{}, []string{}
	for _, u := range slices.Backward(updates) {
		if !refused[u.Ref] {
			continue
		}
		refs = append(refs, u.Ref)
		if reason := p.conn.CleanText(statuses[u.Ref]); !slices.Contains(reasons, reason) {
			reasons = append(reasons, reason)
		}
	}
	return "cannot push to " + strings.Join(refs, " and ") + ": " + strings.Join(reasons, "; ")
}

// classifyRefusal returns the class of one ref's refusal. A server that could not unpack the pack gives the reason only in its message to users.
func classifyRefusal(status, unpack, transcript string) failure.Class {
	class := transport.ClassifyText(status)
	if class == failure.ClassUnknown {
		class = transport.ClassifyText(unpack)
	}
	if !strings.Contains(status, "unpacker error") {
		return class
	}
	switch {
	case transport.ClassifyText(transcript) == failure.ClassTooLarge:
		return failure.ClassTooLarge
	case strings.Contains(transcript, "fsck error"):
		return failure.ClassPolicy
	}
	return class
}

// explainAtomicFailure explains an atomic push in which no ref was refused for a reason of
// its own. Git gives the reason only in its message to users: mostly a ref was moved
// meanwhile.
func (p *Pusher) explainAtomicFailure(status, transcript string) *failure.Error {
	class := transport.ClassifyText(transcript)
	if class == failure.ClassUnknown {
		class = failure.ClassTransient
	}
	return failure.Newf(class, "cannot push to the repository: %s", p.conn.CleanText(status))
}

func isAtomicFallout(status string) bool {
	status = strings.ToLower(status)
	return strings.Contains(status, "atomic push fail") || strings.Contains(status, "atomic transaction fail")
}
