package uploadpack

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/provider/git/objects"
	"github.com/intentplane/intentplane/test/gitserver"
)

// idsOf returns the ids of commits.
func idsOf(commits []objects.Object) []plumbing.Hash {
	out := []plumbing.Hash{}
	for _, c := range commits {
		out = append(out, c.ID)
	}
	return out
}

func TestFetchCommits(t *testing.T) {
	server, conn := serve(t, map[string]string{"a": "0"})
	first := plumbing.NewHash(runGit(t, server, "rev-parse", branch))
	made := []plumbing.Hash{}
	for n := range 3 {
		id, err := server.Commit(t.Context(), repo, gitserver.Branch, map[string]string{"a": fmt.Sprint(n + 1)}, "Change a")
		if err != nil {
			t.Fatal(err)
		}
		made = append([]plumbing.Hash{plumbing.NewHash(strings.TrimSpace(id))}, made...)
	}
	unknown := plumbing.NewHash(strings.Repeat("a", 40))
	cases := map[string]struct {
		reason string
		fetch  func(s *Session) ([]plumbing.Hash, bool, error)
		want   []plumbing.Hash
		// isOlder is true if the history of the tip has the older commit.
		isOlder bool
	}{
		"Last": {
			reason: "The last commits come first, up to the limit.",
			fetch: func(s *Session) ([]plumbing.Hash, bool, error) {
				commits, err := s.FetchCommits(t.Context(), made[0], 2)
				return idsOf(commits), false, err
			},
			want: made[:2],
		},
		"Since": {
			reason: "The commits after an older commit lack the older commit.",
			fetch: func(s *Session) ([]plumbing.Hash, bool, error) {
				commits, isOlder, err := s.FetchCommitsSince(t.Context(), made[0], first)
				return idsOf(commits), isOlder, err
			},
			want: made, isOlder: true,
		},
		"SinceUnknown": {
			reason: "A server that lacks the older commit sends no history.",
			fetch: func(s *Session) ([]plumbing.Hash, bool, error) {
				commits, isOlder, err := s.FetchCommitsSince(t.Context(), made[0], unknown)
				return idsOf(commits), isOlder, err
			},
			want: []plumbing.Hash{},
		},
		"Until": {
			reason: "The commits up to an older commit end with the older commit.",
			fetch: func(s *Session) ([]plumbing.Hash, bool, error) {
				ids, err := s.FetchCommitsUntil(t.Context(), made[0], first)
				return ids, false, err
			},
			want: append(append([]plumbing.Hash{}, made...), first),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, isOlder, err := tc.fetch(open(t, conn, 1<<20))
			if err != nil {
				t.Fatalf("\n%s\n%v", tc.reason, err)
			}
			if diff := cmp.Diff([]any{tc.want, tc.isOlder}, []any{got, isOlder}); diff != "" {
				t.Errorf("\n%s\ncommits: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
