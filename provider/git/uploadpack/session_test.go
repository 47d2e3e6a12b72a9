package uploadpack

import (
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/provider/git/budget"
	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/provider/git/objects"
	"github.com/intentplane/intentplane/provider/git/transport"
	"github.com/intentplane/intentplane/test/gitserver"
)

const (
	repo   = "team/shop"
	branch = "refs/heads/" + gitserver.Branch
)

// serve starts a Git server with one repository, and returns a connection to it.
func serve(t *testing.T, seed map[string]string) (*gitserver.Server, *transport.Conn) {
	t.Helper()
	s, err := gitserver.New(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	if err := s.CreateRepo(t.Context(), repo, seed); err != nil {
		t.Fatal(err)
	}
	conn, err := transport.New(transport.Server{URL: s.URL(repo)}, transport.Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return s, conn
}

// runGit runs a command of git in the repository.
func runGit(t *testing.T, s *gitserver.Server, args ...string) string {
	t.Helper()
	out, err := s.Git(t.Context(), repo, args...)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(out)
}

// open opens a session for the branch, with a limit of the objects in memory.
func open(t *testing.T, conn *transport.Conn, maxInflated int64) *Session {
	t.Helper()
	s, err := Open(t.Context(), conn, Options{Budget: budget.New(), Meter: objects.NewMeter(), MaxInflated: maxInflated, Refs: []string{branch}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func TestOpen(t *testing.T) {
	type result struct {
		Refs      map[string]plumbing.Hash
		HasBranch bool
	}
	cases := map[string]struct {
		reason string
		// isDeleted and isRenamed are true for a server whose branch was deleted, and for one with another branch in its place.
		isDeleted, isRenamed bool
		want                 func(tip plumbing.Hash) result
	}{
		"Branch": {
			reason: "A session has the refs that its reader reads, and no other refs of the server.",
			want: func(tip plumbing.Hash) result {
				return result{Refs: map[string]plumbing.Hash{branch: tip}, HasBranch: true}
			},
		},
		"OtherBranch": {
			reason: "A session without the branch of its reader reports that the server has another branch.", isRenamed: true,
			want: func(plumbing.Hash) result { return result{Refs: map[string]plumbing.Hash{}, HasBranch: true} },
		},
		"TagAlone": {
			reason: "A tag does not count as a branch of the server.", isDeleted: true,
			want: func(plumbing.Hash) result { return result{Refs: map[string]plumbing.Hash{}} },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			server, conn := serve(t, map[string]string{"a": "1"})
			tip := plumbing.NewHash(runGit(t, server, "rev-parse", branch))
			runGit(t, server, "tag", "v1", branch)
			if tc.isRenamed {
				runGit(t, server, "update-ref", "refs/heads/other", branch)
			}
			if tc.isDeleted || tc.isRenamed {
				runGit(t, server, "update-ref", "-d", branch)
			}
			s := open(t, conn, 1<<20)
			if diff := cmp.Diff(tc.want(tip), result{Refs: s.Refs, HasBranch: s.HasBranch}); diff != "" {
				t.Errorf("\n%s\nOpen(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestOpenWithSpentMeter opens a session for a reader that has no requests left.
func TestOpenWithSpentMeter(t *testing.T) {
	server, conn := serve(t, map[string]string{"a": "1"})
	baseline := server.Requests(repo)
	_, err := Open(t.Context(), conn, Options{Budget: budget.New(), Meter: &objects.Meter{}, MaxInflated: 1 << 20, Refs: []string{branch}})
	if failure.ClassOf(err) != failure.ClassTooCostly || server.Requests(repo) != baseline {
		t.Errorf("A session of a reader without requests sends none.\nOpen(...): got %v, and %d requests", err, server.Requests(repo)-baseline)
	}
}
