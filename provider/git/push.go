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
	gogit "github.com/go-git/go-git/v5/plumbing/transport"

	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/provider/git/objects"
	"github.com/intentplane/intentplane/provider/git/pack"
	"github.com/intentplane/intentplane/provider/git/transport"
)

// A Pushed is the result of a push.
type Pushed struct {
	// Snapshot is the state of the remote after the push.
	Snapshot *Snapshot
	// Atomic is whether the server takes the state and the branch both or not
	// at all. Where it cannot, the state goes first.
	Atomic bool
}

// A refUpdate moves one ref, and brings the objects that it needs.
type refUpdate struct {
	name    string
	old     plumbing.Hash
	next    plumbing.Hash
	objects []objects.Object
}

// Push updates the refs of the remote to the commits of the proposal. It never
// forces: a ref that moved since the snapshot is a conflict, and nothing is
// written (without an atomic server, the state may be). A second push of the
// same proposal succeeds and writes nothing. It returns an *Error.
func (c *Client) Push(ctx context.Context, p *Proposal) (*Pushed, error) {
	if p.after.target != c.remoteKey() {
		return nil, failure.Newf(failure.ClassInvalid, "cannot push: the proposal is for another repository or branch")
	}
	updates := c.refUpdates(p)
	if len(updates) == 0 {
		return &Pushed{Snapshot: p.after}, nil
	}
	ctx, cancel := c.startOperation(ctx)
	defer cancel()

	l, err := c.openPushSession(ctx, len(updates))
	if err != nil {
		return nil, c.conn.Failure(ctx, transport.VerbPush, err)
	}
	atomic := l.adv.Capabilities.Supports(capability.Atomic)
	if p.commits > 1 && !atomic {
		return nil, failure.Newf(failure.ClassNotAtomic, "cannot push several deliveries at once: the server cannot take all or nothing")
	}
	if l.fresh {
		if err := c.checkUnmoved(p, l.adv); err != nil {
			return nil, err
		}
		updates = dropDoneUpdates(updates, l.adv)
	}
	err = c.sendRefUpdates(ctx, l.session, l.adv, updates, atomic)
	if err == nil || failure.IsConflict(err) {
		c.keepPushSession(l)
	}
	if err != nil {
		return nil, err
	}
	p.recordPushed()
	return &Pushed{Snapshot: p.after, Atomic: atomic}, nil
}

// A pushSession is a session with a server that has advertised its capabilities.
type pushSession struct {
	session gogit.ReceivePackSession
	adv     *packp.AdvRefs
	// fresh is true if the server has just said which refs it has.
	fresh bool
}

// openPushSession returns a session with the server. Where both refs are moved, the
// server itself compares them with the refs of the snapshot, and is not asked
// before: a race is shorter by one request, also the next push after a lost race.
// After any other failure the server is asked for its refs again.
func (c *Client) openPushSession(ctx context.Context, updates int) (*pushSession, error) {
	if l := c.idleSession.Swap(nil); l != nil && updates > 1 {
		return &pushSession{session: l.session, adv: l.adv}, nil
	}
	s, err := c.conn.ReceiveSession(ctx)
	if err != nil {
		return nil, err
	}
	adv, err := c.conn.ListRefs(ctx, s, c.budget)
	return &pushSession{session: s, adv: adv, fresh: true}, err
}

// keepPushSession keeps a session that worked for the next push. One over a single
// connection, as with SSH, serves once.
func (c *Client) keepPushSession(l *pushSession) {
	if c.conn.IsHTTP() && l.adv.Capabilities.Supports(capability.Atomic) {
		// Refs are read from the next answer of the server, and a million of them would be held until then.
		l.adv.References, l.adv.Peeled, l.adv.Shallows = nil, nil, nil
		c.idleSession.Store(l)
	}
}

// refUpdates lists the state first, for it is the log that is written ahead.
func (c *Client) refUpdates(p *Proposal) []refUpdate {
	return slices.DeleteFunc(c.refsOf(p), func(u refUpdate) bool { return u.old == u.next })
}

// refsOf returns both refs of a Proposal, whether they change or not.
func (c *Client) refsOf(p *Proposal) []refUpdate {
	return []refUpdate{
		{name: c.remote.StateRef, old: p.before.state.Commit, next: p.after.state.Commit, objects: p.state},
		{name: c.remote.branchRef(), old: p.before.branch.Commit, next: p.after.branch.Commit, objects: p.branch},
	}
}

// checkUnmoved sees most lost races before anything is sent. Both refs count, also
// a ref that the proposal does not move: a result of a snapshot is valid only
// while the snapshot is current.
func (c *Client) checkUnmoved(p *Proposal, adv *packp.AdvRefs) error {
	for _, ref := range c.refsOf(p) {
		now, advertised := adv.References[ref.name]
		// A ref that is not advertised may be hidden: the server says so itself.
		if advertised && now != ref.old && now != ref.next {
			return failure.Newf(failure.ClassConflict, "cannot push to %s: another writer moved it", ref.name)
		}
	}
	return nil
}

// dropDoneUpdates leaves out the updates that an earlier push has completed.
func dropDoneUpdates(updates []refUpdate, adv *packp.AdvRefs) []refUpdate {
	return slices.DeleteFunc(slices.Clone(updates), func(u refUpdate) bool {
		now, advertised := adv.References[u.name]
		return advertised && now == u.next
	})
}

func (c *Client) sendRefUpdates(ctx context.Context, s gogit.ReceivePackSession, adv *packp.AdvRefs, updates []refUpdate, atomic bool) error {
	if len(updates) > 1 && !atomic {
		for _, u := range updates {
			if err := c.sendRefUpdates(ctx, s, adv, []refUpdate{u}, false); err != nil {
				return err
			}
		}
		return nil
	}
	if len(updates) == 0 {
		return nil
	}
	transcript := &transport.Transcript{}
	req, err := newUpdateRequest(adv, updates, transcript)
	if err != nil {
		return c.conn.Failure(ctx, transport.VerbPush, err)
	}
	report, err := s.ReceivePack(ctx, req)
	if err == nil && report != nil {
		return nil
	}
	return c.explainRefusal(ctx, updates, report, err, transcript.String())
}

func newUpdateRequest(adv *packp.AdvRefs, updates []refUpdate, transcript io.Writer) (*packp.ReferenceUpdateRequest, error) {
	req := packp.NewReferenceUpdateRequestFromCapabilities(adv.Capabilities)
	req.Progress = transcript
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
	sent := []objects.Object{}
	for _, u := range updates {
		req.Commands = append(req.Commands, &packp.Command{Name: plumbing.ReferenceName(u.name), Old: u.old, New: u.next})
		sent = append(sent, u.objects...)
	}
	data, err := pack.Encode(sent, adv.Capabilities.Supports(capability.OFSDelta))
	req.Packfile = io.NopCloser(bytes.NewReader(data))
	return req, err
}

// explainRefusal explains a push that failed.
func (c *Client) explainRefusal(ctx context.Context, updates []refUpdate, report *packp.ReportStatus, err error, transcript string) error {
	if report == nil && err == nil {
		return failure.Newf(failure.ClassTransient, "cannot push to the repository: the server sent no status report")
	}
	if report == nil || len(report.CommandStatuses) == 0 {
		return c.conn.Failure(ctx, transport.VerbPush, err)
	}
	statuses := map[string]string{}
	for _, s := range report.CommandStatuses {
		if s.Error() != nil {
			statuses[s.ReferenceName.String()] = s.Status
		}
	}
	e := c.findRefusedRefs(updates, statuses, report.UnpackStatus, transcript)
	e.Remote = c.conn.CleanLines(transcript)
	return e
}

// findRefusedRefs finds the refs that were refused for a reason of their own: in an
// atomic push the others only fell with them. It names all of them, for a hook
// that refuses a push as a whole has nothing against one of its refs.
func (c *Client) findRefusedRefs(updates []refUpdate, statuses map[string]string, unpack, transcript string) *failure.Error {
	var first *failure.Error
	fell := ""
	refused := map[string]bool{}
	for _, u := range updates {
		status, ng := statuses[u.name]
		if !ng {
			continue
		}
		if isAtomicFallout(status) {
			fell = status
			continue
		}
		refused[u.name] = true
		class := classifyRefusal(status, unpack, transcript)
		if first == nil || class == failure.ClassConflict {
			first = failure.Newf(class, "cannot push to %s: %s", u.name, c.conn.CleanText(status))
		}
	}
	if first == nil {
		return c.explainAtomicFailure(fell, transcript)
	}
	if first.Class != failure.ClassConflict && len(refused) > 1 {
		first.Detail = c.describeRefusals(updates, statuses, refused)
	}
	if first.Class == failure.ClassPolicy && refused[c.remote.StateRef] && !refused[c.remote.branchRef()] {
		first.Class = failure.ClassStateRefused
	}
	return first
}

// describeRefusals names the refs that were refused, the branch first, and why.
func (c *Client) describeRefusals(updates []refUpdate, statuses map[string]string, refused map[string]bool) string {
	refs, reasons := []string{}, []string{}
	for _, u := range slices.Backward(updates) {
		if !refused[u.name] {
			continue
		}
		refs = append(refs, u.name)
		if reason := c.conn.CleanText(statuses[u.name]); !slices.Contains(reasons, reason) {
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
func (c *Client) explainAtomicFailure(status, transcript string) *failure.Error {
	class := transport.ClassifyText(transcript)
	if class == failure.ClassUnknown {
		class = failure.ClassTransient
	}
	return failure.Newf(class, "cannot push to the repository: %s", c.conn.CleanText(status))
}

func isAtomicFallout(status string) bool {
	status = strings.ToLower(status)
	return strings.Contains(status, "atomic push fail") || strings.Contains(status, "atomic transaction fail")
}
