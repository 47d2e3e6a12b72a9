package transport_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/test/gitserver"
)

// The tests of this package reach servers as the provider does: with the client of package git.
const (
	repo     = "team/repo"
	stateRef = "refs/intentplane/demo/state"
)

// serve starts a real Git server with one repository.
func serve(tb testing.TB, seed map[string]string, o ...gitserver.Option) *gitserver.Server {
	tb.Helper()
	s, err := gitserver.New(context.Background(), tb.TempDir(), o...)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(s.Close)
	if err := s.CreateRepo(context.Background(), repo, seed); err != nil {
		tb.Fatal(err)
	}
	return s
}

func client(tb testing.TB, s *gitserver.Server, change ...func(r *git.Remote)) *git.Client {
	tb.Helper()
	r := git.Remote{URL: s.URL(repo), Branch: gitserver.Branch, StateRef: stateRef}
	for _, fn := range change {
		fn(&r)
	}
	c, err := git.NewClient(r)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(c.Close)
	return c
}

func look(tb testing.TB, c *git.Client) *git.Snapshot {
	tb.Helper()
	s, err := c.Look(context.Background(), nil)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func plan(tb testing.TB, s *git.Snapshot, c git.Change) *git.Proposal {
	tb.Helper()
	p, err := git.Plan(s, c)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

func push(tb testing.TB, c *git.Client, p *git.Proposal) *git.Pushed {
	tb.Helper()
	done, err := c.Push(context.Background(), p)
	if err != nil {
		tb.Fatal(err)
	}
	return done
}

func run(tb testing.TB, s *gitserver.Server, args ...string) string {
	tb.Helper()
	out, err := s.Git(context.Background(), repo, args...)
	if err != nil {
		tb.Fatal(err)
	}
	return strings.TrimSpace(out)
}

// delivery writes a revision to a directory and to the state.
func delivery(n int) git.Change {
	return git.Change{
		Put:     map[string]map[string][]byte{"sites/a/ns/web": {"deployment.yaml": fmt.Appendf(nil, "replicas: %d\n", n), ".intentplane": []byte("claim: ns/web\n")}},
		State:   map[string][]byte{"claims/ns/web": fmt.Appendf(nil, "revision: %d\n", n)},
		Message: "Deliver web\n", Author: git.Author{Name: "Intentplane", Email: "intentplane@example.org"},
		When: time.Date(2026, 11, 21, 12, 0, n, 0, time.UTC),
	}
}
