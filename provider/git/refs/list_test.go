package refs

import (
	"context"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/provider/address"
	"github.com/intentplane/intentplane/provider/git/budget"
	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/provider/git/transport"
	"github.com/intentplane/intentplane/test/gitserver"
	"github.com/intentplane/intentplane/test/hostile"
)

// sourceServer serves a repository with a branch, a tag object, and a name that both have.
func sourceServer(t *testing.T) (s *gitserver.Server, tip, tagged string) {
	t.Helper()
	s, err := gitserver.New(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	if err := s.CreateRepo(t.Context(), "team/shop", map[string]string{"a": "1"}); err != nil {
		t.Fatal(err)
	}
	command := func(args ...string) string {
		out, err := s.Git(t.Context(), "team/shop", args...)
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(out)
	}
	tagged = command("rev-parse", gitserver.Branch)
	command("-c", "user.name=x", "-c", "user.email=x@example.org", "tag", "-a", "-m", "First", "v1", gitserver.Branch)
	command("branch", "both", gitserver.Branch)
	command("tag", "both", gitserver.Branch)
	tip, err = s.Commit(t.Context(), "team/shop", gitserver.Branch, map[string]string{"a": "2"}, "Second")
	if err != nil {
		t.Fatal(err)
	}
	return s, strings.TrimSpace(tip), tagged
}

func TestFindCommit(t *testing.T) {
	s, tip, tagged := sourceServer(t)
	cases := map[string]struct {
		reason    string
		revision  string
		commit    string
		ambiguous bool
	}{
		"Branch":     {reason: "A branch has the commit of its tip.", revision: gitserver.Branch, commit: tip},
		"FullBranch": {reason: "The full name of a branch is the branch.", revision: "refs/heads/" + gitserver.Branch, commit: tip},
		"Tag":        {reason: "A tag object leads to its commit.", revision: "v1", commit: tagged},
		"FullTag":    {reason: "The full name of a tag leads to its commit.", revision: "refs/tags/v1", commit: tagged},
		"Both":       {reason: "A branch and a tag of one name are not distinguished by chance.", revision: "both", ambiguous: true},
		"OneOfBoth":  {reason: "The full name selects the branch or the tag.", revision: "refs/tags/both", commit: tagged},
		"Missing":    {reason: "A name that no ref has leads nowhere.", revision: "mian"},
		"Short":      {reason: "The beginning of a commit id is no revision.", revision: tip[:8]},
		"Head":       {reason: "The default branch is no revision.", revision: "HEAD"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			listed, err := List(t.Context(), budget.New(), transport.Server{URL: s.URL("team/shop")}, []string{tc.revision})
			if err != nil {
				t.Fatal(err)
			}
			commit, ambiguous := listed.FindCommit(tc.revision)
			if diff := cmp.Diff([]any{tc.commit, tc.ambiguous}, []any{commit, ambiguous}); diff != "" {
				t.Errorf("\n%s\nFindCommit(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestList(t *testing.T) {
	s, _, _ := sourceServer(t)
	if err := s.CreateRepo(t.Context(), "team/empty", nil); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason string
		server transport.Server
		class  failure.Class
	}{
		"Empty":   {reason: "A repository without a commit has no refs.", server: transport.Server{URL: s.URL("team/empty")}},
		"Missing": {reason: "A repository that does not exist is not found.", server: transport.Server{URL: s.URL("team/none")}, class: failure.ClassNotFound},
		"Near": {
			reason: "An address of the provider's own machine is refused.",
			server: transport.Server{URL: s.URL("team/shop"), Guard: &address.Guard{}}, class: failure.ClassAddress,
		},
		"Scheme": {reason: "A file is no repository.", server: transport.Server{URL: "file:///etc"}, class: failure.ClassUnknown},
		"Helper": {reason: "A helper of Git is not started.", server: transport.Server{URL: "ext::sh -c id"}, class: failure.ClassUnknown},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := List(context.Background(), budget.New(), tc.server, nil)
			if diff := cmp.Diff(tc.class, failure.ClassOf(err)); diff != "" {
				t.Errorf("\n%s\nList(...): -want, +got:\n%s\n%v", tc.reason, diff, err)
			}
		})
	}
}

// TestListWithoutBudget lists refs that no namespace pays for.
func TestListWithoutBudget(t *testing.T) {
	requests := &atomic.Int32{}
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { requests.Add(1) }))
	t.Cleanup(s.Close)
	for name, b := range map[string]*budget.Budget{"nil": nil, "zero": {}} {
		if _, err := List(t.Context(), b, transport.Server{URL: s.URL + "/team/shop"}, nil); err == nil || requests.Load() > 0 {
			t.Errorf("With a %s budget no request is sent.\nList(...): got %v, and %d requests", name, err, requests.Load())
		}
	}
}

// TestListKeepsRevisions lists a hundred thousand refs, one of them named by a revision.
func TestListKeepsRevisions(t *testing.T) {
	s := hostile.NewGitWithRefs(100_000)
	t.Cleanup(s.Stop)
	server, heap := transport.Server{URL: s.RepositoryURL()}, func() int64 {
		runtime.GC()
		m := runtime.MemStats{}
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	baseline, all := heap(), []Set{}
	for range 5 {
		listed, err := List(t.Context(), budget.New(), server, []string{"main", "none"})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, listed)
	}
	if growth := heap() - baseline; growth > 8<<20 {
		t.Errorf("Refs that no revision names are not kept.\nheap: want at most 8 MiB more, got %d bytes", growth)
	}
	for _, listed := range all {
		if commit, _ := listed.FindCommit("main"); commit == "" {
			t.Error("The ref that a revision names is kept.\nFindCommit(...): want a commit")
		}
	}
}
