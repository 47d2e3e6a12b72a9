package receivepack

import (
	"bytes"
	"context"
	"io"
	"slices"

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

// An Update moves one ref, and brings the objects that it needs.
type Update struct {
	// Ref is the full name of the ref.
	Ref string
	// IsState is true for the ref of the state. Where a policy of the server refuses it alone, the error has ClassStateRefused.
	IsState bool
	// Old and New are the commits of the ref before and after the push. Zero means that the ref does not exist.
	Old, New plumbing.Hash
	// Objects that the server lacks.
	Objects []objects.Object
}

// checkUnmoved sees most lost races before anything is sent. All refs count, also
// a ref that the push does not move: the new commits follow from the old commits of all.
func checkUnmoved(refs []Update, adv *packp.AdvRefs) error {
	for _, ref := range refs {
		now, advertised := adv.References[ref.Ref]
		// A ref that is not advertised may be hidden: the server says so itself.
		if advertised && now != ref.Old && now != ref.New {
			return failure.Newf(failure.ClassConflict, "cannot push to %s: another writer moved it", ref.Ref)
		}
	}
	return nil
}

// dropDoneUpdates leaves out the updates that an earlier push has completed.
func dropDoneUpdates(updates []Update, adv *packp.AdvRefs) []Update {
	return slices.DeleteFunc(slices.Clone(updates), func(u Update) bool {
		now, advertised := adv.References[u.Ref]
		return advertised && now == u.New
	})
}

func (p *Pusher) sendUpdates(ctx context.Context, s gogit.ReceivePackSession, adv *packp.AdvRefs, updates []Update, atomic bool) error {
	if len(updates) > 1 && !atomic {
		for _, u := range updates {
			if err := p.sendUpdates(ctx, s, adv, []Update{u}, false); err != nil {
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
		return p.conn.Failure(ctx, transport.VerbPush, err)
	}
	report, err := s.ReceivePack(ctx, req)
	if err == nil && report != nil {
		return nil
	}
	return p.explainRefusal(ctx, updates, report, err, transcript.String())
}

func newUpdateRequest(adv *packp.AdvRefs, updates []Update, transcript io.Writer) (*packp.ReferenceUpdateRequest, error) {
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
		req.Commands = append(req.Commands, &packp.Command{Name: plumbing.ReferenceName(u.Ref), Old: u.Old, New: u.New})
		sent = append(sent, u.Objects...)
	}
	data, err := pack.Encode(sent, adv.Capabilities.Supports(capability.OFSDelta))
	req.Packfile = io.NopCloser(bytes.NewReader(data))
	return req, err
}
