package git

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/transport"
)

// A Pushed says what a push did.
type Pushed struct {
	// Snapshot is what the remote holds now.
	Snapshot *Snapshot
	// Atomic is whether the server takes the state and the branch both or not
	// at all. Where it cannot, the state goes first.
	Atomic bool
}

// An refUpdate moves one ref, and brings the objects that it needs.
type refUpdate struct {
	name    string
	old     plumbing.Hash
	next    plumbing.Hash
	objects []Object
}

// Push makes the remote hold what the proposal says. It never forces: a ref
// that is no longer where the snapshot saw it is a conflict, and nothing is
// written (without an atomic server, the state may be). To push a proposal
// again that was pushed before succeeds and writes nothing. It returns an
// *Error.
func (c *Client) Push(ctx context.Context, p *Proposal) (*Pushed, error) {
	if p.after.target != c.remoteKey() {
		return nil, Newf(ClassInvalid, "cannot push: the proposal is for another repository or branch")
	}
	updates := c.refUpdates(p)
	if len(updates) == 0 {
		return &Pushed{Snapshot: p.after}, nil
	}
	ctx, cancel := withDefaultDeadline(ctx)
	defer cancel()

	l, err := c.openPushLine(ctx, len(updates))
	if err != nil {
		return nil, c.Failure(ctx, VerbPush, err)
	}
	atomic := l.adv.Capabilities.Supports(capability.Atomic)
	if p.commits > 1 && !atomic {
		return nil, Newf(ClassNotAtomic, "cannot push several deliveries at once: the server cannot take all or nothing")
	}
	if l.fresh {
		if err := c.checkUnmoved(p, l.adv); err != nil {
			return nil, err
		}
		updates = dropDone(updates, l.adv)
	}
	err = c.sendUpdates(ctx, l.session, l.adv, updates, atomic)
	if err == nil || IsConflict(err) {
		c.keepPushLine(l)
	}
	if err != nil {
		return nil, err
	}
	p.recordPushed()
	return &Pushed{Snapshot: p.after, Atomic: atomic}, nil
}

// A pushLine is a way to a server that said what it can.
type pushLine struct {
	session transport.ReceivePackSession
	adv     *packp.AdvRefs
	// fresh is true if the server has just said which refs it has.
	fresh bool
}

// openPushLine to the server. Where both refs are moved, the server itself sees
// whether they are where we saw them, so that it need not be asked before: a
// race is shorter by one request, the next one after a lost one too. It is
// asked again after anything else went wrong.
func (c *Client) openPushLine(ctx context.Context, updates int) (*pushLine, error) {
	if l := c.idleLine.Swap(nil); l != nil && updates > 1 {
		return &pushLine{session: l.session, adv: l.adv}, nil
	}
	s, err := c.ReceiveSession(ctx)
	if err != nil {
		return nil, err
	}
	adv, err := c.listRefs(ctx, s)
	return &pushLine{session: s, adv: adv, fresh: true}, err
}

// keepPushLine a line that worked. A connection that is more than requests and answers
// serves once.
func (c *Client) keepPushLine(l *pushLine) {
	if strings.HasPrefix(c.endpoint.Protocol, "http") && l.adv.Capabilities.Supports(capability.Atomic) {
		// Refs are read from what the server says next, and a million of them would be held until then.
		l.adv.References, l.adv.Peeled, l.adv.Shallows = nil, nil, nil
		c.idleLine.Store(l)
	}
}

// refUpdates lists the state first, for it is the log that is written ahead.
func (c *Client) refUpdates(p *Proposal) []refUpdate {
	all := []refUpdate{
		{name: c.remote.StateRef, old: p.before.state.Commit, next: p.after.state.Commit, objects: p.state},
		{name: c.remote.branchRef(), old: p.before.branch.Commit, next: p.after.branch.Commit, objects: p.branch},
	}
	out := []refUpdate{}
	for _, u := range all {
		if u.old != u.next {
			out = append(out, u)
		}
	}
	return out
}

// checkUnmoved sees most lost races before anything is sent. Both refs count, also
// one that the proposal leaves as it is: what follows from a snapshot follows
// only while the snapshot is true.
func (c *Client) checkUnmoved(p *Proposal, adv *packp.AdvRefs) error {
	for _, ref := range []struct {
		name   string
		before View
		after  View
	}{{c.remote.StateRef, p.before.state, p.after.state}, {c.remote.branchRef(), p.before.branch, p.after.branch}} {
		now, advertised := adv.References[ref.name]
		// A ref that is not advertised may be hidden: the server says so itself.
		if advertised && now != ref.before.Commit && now != ref.after.Commit {
			return Newf(ClassConflict, "cannot push to %s: it was moved by somebody else", ref.name)
		}
	}
	return nil
}

// dropDone leaves out what a push before this one has done.
func dropDone(updates []refUpdate, adv *packp.AdvRefs) []refUpdate {
	out := []refUpdate{}
	for _, u := range updates {
		if now, advertised := adv.References[u.name]; !advertised || now != u.next {
			out = append(out, u)
		}
	}
	return out
}

func (c *Client) sendUpdates(ctx context.Context, s transport.ReceivePackSession, adv *packp.AdvRefs, updates []refUpdate, atomic bool) error {
	if len(updates) > 1 && !atomic {
		for _, u := range updates {
			if err := c.sendUpdates(ctx, s, adv, []refUpdate{u}, false); err != nil {
				return err
			}
		}
		return nil
	}
	if len(updates) == 0 {
		return nil
	}
	said := &Transcript{}
	req, err := newUpdateRequest(adv, updates, said)
	if err != nil {
		return c.Failure(ctx, VerbPush, err)
	}
	report, err := s.ReceivePack(ctx, req)
	if err == nil && report != nil {
		return nil
	}
	return c.explainRefusal(ctx, updates, report, err, said.String())
}

func newUpdateRequest(adv *packp.AdvRefs, updates []refUpdate, said io.Writer) (*packp.ReferenceUpdateRequest, error) {
	req := packp.NewReferenceUpdateRequestFromCapabilities(adv.Capabilities)
	req.Progress = said
	use := []capability.Capability{capability.Sideband64k}
	if len(updates) > 1 {
		use = append(use, capability.Atomic)
	}
	for _, u := range use {
		if !adv.Capabilities.Supports(u) {
			continue
		}
		if err := req.Capabilities.Set(u); err != nil {
			return nil, errors.Wrapf(err, "cannot ask for %s", u)
		}
	}
	objects := []Object{}
	for _, u := range updates {
		req.Commands = append(req.Commands, &packp.Command{Name: plumbing.ReferenceName(u.name), Old: u.old, New: u.next})
		objects = append(objects, u.objects...)
	}
	pack, err := EncodePack(objects, adv.Capabilities.Supports(capability.OFSDelta))
	req.Packfile = io.NopCloser(bytes.NewReader(pack))
	return req, err
}

// explainRefusal explains a push that failed.
func (c *Client) explainRefusal(ctx context.Context, updates []refUpdate, report *packp.ReportStatus, err error, said string) error {
	if report == nil && err == nil {
		return Newf(ClassTransient, "cannot push to the repository: the server did not say what it did")
	}
	if report == nil || len(report.CommandStatuses) == 0 {
		return c.Failure(ctx, VerbPush, err)
	}
	statuses := map[string]string{}
	for _, s := range report.CommandStatuses {
		if s.Error() != nil {
			statuses[s.ReferenceName.String()] = s.Status
		}
	}
	e := c.findRefused(updates, statuses, report.UnpackStatus, said)
	e.Remote = c.cleanLines(said)
	return e
}

// findRefused finds the refs that were refused for a reason of their own: in an
// atomic push the others only fell with them. It names all of them, for a hook
// that refuses a push as a whole has nothing against one of its refs.
func (c *Client) findRefused(updates []refUpdate, statuses map[string]string, unpack, said string) *Error {
	var first *Error
	fell := ""
	own := map[string]bool{}
	for _, u := range updates {
		status, ng := statuses[u.name]
		if !ng {
			continue
		}
		if isAtomicFallout(status) {
			fell = status
			continue
		}
		own[u.name] = true
		class := classifyRefusal(status, unpack, said)
		if first == nil || class == ClassConflict {
			first = Newf(class, "cannot push to %s: %s", u.name, c.cleanText(status))
		}
	}
	if first == nil {
		return c.explainAtomicFailure(fell, said)
	}
	if first.Class != ClassConflict && len(own) > 1 {
		first.Detail = c.describeRefusals(updates, statuses, own)
	}
	if first.Class == ClassPolicy && own[c.remote.StateRef] && !own[c.remote.branchRef()] {
		first.Class = ClassStateRefused
	}
	return first
}

// describeRefusals names the refs that were refused, the branch first, and why.
func (c *Client) describeRefusals(updates []refUpdate, statuses map[string]string, own map[string]bool) string {
	refs, reasons := []string{}, []string{}
	for _, u := range slices.Backward(updates) {
		if !own[u.name] {
			continue
		}
		refs = append(refs, u.name)
		if reason := c.cleanText(statuses[u.name]); !slices.Contains(reasons, reason) {
			reasons = append(reasons, reason)
		}
	}
	return "cannot push to " + strings.Join(refs, " and ") + ": " + strings.Join(reasons, "; ")
}

// classifyRefusal of one ref. A server that could not unpack what it got says why to people only.
func classifyRefusal(status, unpack, said string) Class {
	class := ClassifyText(status)
	if class == ClassUnknown {
		class = ClassifyText(unpack)
	}
	if strings.Contains(status, "unpacker error") && ClassifyText(said) == ClassTooLarge {
		return ClassTooLarge
	}
	return class
}

// explainAtomicFailure explains an atomic push in which no ref was refused for a reason of
// its own. Git says why to people only: mostly one ref was moved meanwhile.
func (c *Client) explainAtomicFailure(status, said string) *Error {
	class := ClassifyText(said)
	if class == ClassUnknown {
		class = ClassTransient
	}
	return Newf(class, "cannot push to the repository: %s", c.cleanText(status))
}

func isAtomicFallout(status string) bool {
	status = strings.ToLower(status)
	return strings.Contains(status, "atomic push fail") || strings.Contains(status, "atomic transaction fail")
}

// A Transcript keeps the beginning of what a server says to a person.
type Transcript struct {
	text []byte
}

// mostSaid is how many bytes of it are kept.
const mostSaid = 4096

// String returns the lines that were kept as a whole: half a credential would
// not be known as one.
func (t *Transcript) String() string {
	if len(t.text) < mostSaid {
		return string(t.text)
	}
	return string(t.text[:bytes.LastIndexByte(t.text, '\n')+1])
}

// Write keeps what fits and takes all.
func (t *Transcript) Write(p []byte) (int, error) {
	if room := mostSaid - len(t.text); room > 0 {
		t.text = append(t.text, p[:min(room, len(p))]...)
	}
	return len(p), nil
}
