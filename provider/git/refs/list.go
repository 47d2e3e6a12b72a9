package refs

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"

	"github.com/intentplane/intentplane/provider/git/budget"
	"github.com/intentplane/intentplane/provider/git/transport"
)

// timeout ends a list whose context has no deadline before it.
const timeout = time.Minute

// A Set has the refs of a repository that revisions may name.
type Set struct {
	// commits by full names. A tag has the commit that it leads to.
	commits map[string]string
}

// List returns the refs of a repository that revisions may name, at the cost of a namespace's budget. It sends one request, and fetches no objects. An empty
// repository has no refs. It returns a *failure.Error, and another error without a budget, or if the server is not valid.
func List(ctx context.Context, b *budget.Budget, s transport.Server, revisions []string) (Set, error) {
	if b.IsZero() {
		return Set{}, errors.New("cannot list refs: no namespace pays for the answer")
	}
	if err := s.Validate(); err != nil {
		return Set{}, err
	}
	conn, err := transport.New(s, transport.Options{Now: time.Now})
	if err != nil {
		return Set{}, err
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(conn.StartOperation(ctx), timeout)
	defer cancel()
	listed, err := advertisedRefs(ctx, conn, b, revisions)
	if err != nil && !transport.IsEmptyRepository(err) {
		return Set{}, conn.Failure(ctx, transport.VerbRead, err)
	}
	return listed, nil
}

func advertisedRefs(ctx context.Context, conn *transport.Conn, b *budget.Budget, revisions []string) (Set, error) {
	session, err := conn.UploadSession(ctx)
	if err != nil {
		return Set{}, err
	}
	defer session.Close() //nolint:errcheck // Everything was read, or failed before.
	adv, err := conn.ListRefs(ctx, session, b)
	if err != nil {
		return Set{}, err
	}
	return selectRevisionRefs(adv, revisions), nil
}

// selectRevisionRefs keeps the refs that revisions may name. A server may list a hundred thousand others.
func selectRevisionRefs(adv *packp.AdvRefs, revisions []string) Set {
	out := Set{commits: map[string]string{}}
	for _, revision := range revisions {
		for _, name := range []string{revision, BranchPrefix + revision, tagPrefix + revision} {
			commit, ok := adv.Peeled[name]
			if !ok {
				commit, ok = adv.References[name]
			}
			if ok && !commit.IsZero() {
				out.commits[name] = commit.String()
			}
		}
	}
	return out
}

// FindCommit returns the commit of a branch or a tag, by its short or its full name, or "". It is ambiguous if both have the name.
func (s Set) FindCommit(revision string) (commit string, ambiguous bool) {
	if strings.HasPrefix(revision, "refs/") {
		return s.commits[revision], false
	}
	branch, tag := s.commits[BranchPrefix+revision], s.commits[tagPrefix+revision]
	if branch != "" && tag != "" {
		return "", true
	}
	return cmp.Or(branch, tag), false
}
