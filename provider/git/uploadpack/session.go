// Package uploadpack fetches the objects of a repository with git-upload-pack: trees and files of the branch and of the state, and commits of the history.
package uploadpack

import (
	"context"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	gogit "github.com/go-git/go-git/v5/plumbing/transport"

	"github.com/intentplane/intentplane/provider/git/budget"
	"github.com/intentplane/intentplane/provider/git/objects"
	"github.com/intentplane/intentplane/provider/git/refs"
	"github.com/intentplane/intentplane/provider/git/transport"
)

// Options of a Session. All are required.
type Options struct {
	// Budget pays for the answers of the server.
	Budget *budget.Budget
	// Meter of the reader that the session is for.
	Meter *objects.Meter
	// MaxInflated limits the memory of the objects of one answer, in bytes.
	MaxInflated int64
	// Refs that the reader reads, by their full names.
	Refs []string
}

// A Session asks one session of a server for objects, for one reader.
type Session struct {
	// Refs of the server that the reader reads, by their full names.
	Refs map[string]plumbing.Hash
	// HasBranch is true if the server has any branch.
	HasBranch bool

	session      gogit.UploadPackSession
	capabilities *capability.List
	limit        int64
	budget       *budget.Budget
	meter        *objects.Meter
}

// Open opens a session, which is a request of the meter's reader. The caller closes it.
func Open(ctx context.Context, conn *transport.Conn, o Options) (*Session, error) {
	if err := o.Meter.CountRequest(ctx); err != nil {
		return nil, err
	}
	session, err := conn.UploadSession(ctx)
	if err != nil {
		return nil, err
	}
	adv, err := conn.ListRefs(ctx, session, o.Budget)
	if err != nil {
		_ = session.Close()
		return nil, err
	}
	s := &Session{
		session: session, Refs: selectNamedRefs(adv.References, o.Refs), HasBranch: hasAnyBranch(adv.References), capabilities: adv.Capabilities,
		limit: o.MaxInflated, budget: o.Budget, meter: o.Meter,
	}
	adv.References, adv.Peeled, adv.Shallows = nil, nil, nil // The session holds the list until it ends.
	return s, nil
}

// Close ends the session. Everything was read, or failed before.
func (s *Session) Close() { _ = s.session.Close() }

// selectNamedRefs returns the refs of some names: a server may list a hundred thousand others.
func selectNamedRefs(all map[string]plumbing.Hash, names []string) map[string]plumbing.Hash {
	out := map[string]plumbing.Hash{}
	for _, name := range names {
		if hash, ok := all[name]; ok {
			out[name] = hash
		}
	}
	return out
}

func hasAnyBranch(all map[string]plumbing.Hash) bool {
	for name := range all {
		if strings.HasPrefix(name, refs.BranchPrefix) {
			return true
		}
	}
	return false
}
