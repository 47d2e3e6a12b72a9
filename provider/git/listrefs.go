package git

import (
	"context"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"

	"github.com/intentplane/intentplane/provider/git/budget"
	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/provider/git/transport"
)

const tagPrefix = "refs/tags/"

// Refs are the refs of a repository that revisions may name.
type Refs struct {
	// commits by full names. A tag has the commit that it leads to.
	commits map[string]plumbing.Hash
}

// ListRefs lists the refs of a repository that revisions may name, at the cost of a namespace's budget. It sends one request, and fetches no objects. An empty
// repository has no refs. It returns an *Error, and another error without a budget, or if the server is not valid.
func ListRefs(ctx context.Context, b *budget.Budget, s transport.Server, revisions []string, o ...Option) (Refs, error) {
	if b.IsZero() {
		return Refs{}, errors.New("cannot list refs: no namespace pays for the answer")
	}
	if err := s.Validate(); err != nil {
		return Refs{}, err
	}
	opts := newOptions(o)
	conn, err := transport.New(s, transport.Options{Now: opts.now, Resolver: opts.resolver, Limits: opts.limits})
	if err != nil {
		return Refs{}, err
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(conn.StartOperation(ctx), defaultTimeout)
	defer cancel()
	refs, err := advertisedRefs(ctx, conn, b, revisions)
	if err != nil && !transport.IsEmptyRepository(err) {
		return Refs{}, conn.Failure(ctx, transport.VerbRead, err)
	}
	return refs, nil
}

func advertisedRefs(ctx context.Context, conn *transport.Conn, b *budget.Budget, revisions []string) (Refs, error) {
	session, err := conn.UploadSession(ctx)
	if err != nil {
		return Refs{}, err
	}
	defer session.Close() //nolint:errcheck // Everything was read, or failed before.
	adv, err := conn.ListRefs(ctx, session, b)
	if err != nil {
		return Refs{}, err
	}
	return selectRefs(adv, revisions), nil
}

// selectRefs keeps the refs that revisions may name. A server may list a hundred thousand others.
func selectRefs(adv *packp.AdvRefs, revisions []string) Refs {
	out := Refs{commits: map[string]plumbing.Hash{}}
	for _, revision := range revisions {
		for _, name := range []string{revision, branchPrefix + revision, tagPrefix + revision} {
			commit, ok := adv.Peeled[name]
			if !ok {
				commit, ok = adv.References[name]
			}
			if ok {
				out.commits[name] = commit
			}
		}
	}
	return out
}

// FindCommit returns the commit of a branch or a tag, by its short or its full name, or "". It is ambiguous if both have the name.
func (r Refs) FindCommit(revision string) (commit string, ambiguous bool) {
	if strings.HasPrefix(revision, "refs/") {
		return hexUnlessZero(r.commits[revision]), false
	}
	branch, tag := r.commits[branchPrefix+revision], r.commits[tagPrefix+revision]
	if !branch.IsZero() && !tag.IsZero() {
		return "", true
	}
	if branch.IsZero() {
		return hexUnlessZero(tag), false
	}
	return hexUnlessZero(branch), false
}

// IsCommitID reports whether a revision is a whole commit id.
func IsCommitID(revision string) bool { return plumbing.IsHash(revision) }

// CheckRevision returns an error unless a revision is a commit id, or the short or full name of a branch or a tag.
func CheckRevision(revision string) error {
	if IsCommitID(revision) {
		return nil
	}
	if !strings.HasPrefix(revision, "refs/") {
		return CheckBranch(revision)
	}
	if !strings.HasPrefix(revision, branchPrefix) && !strings.HasPrefix(revision, tagPrefix) {
		return failure.Newf(failure.ClassInvalid, "a full name must begin with refs/heads/, for a branch, or refs/tags/, for a tag")
	}
	return CheckRef(revision)
}
