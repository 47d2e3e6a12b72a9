package git

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/test/gitserver"
)

const marker = ".intentplane"

func commit(t *testing.T, s *gitserver.Server, files map[string]string) string {
	t.Helper()
	id, err := s.Commit(t.Context(), repo, gitserver.Branch, files, "More")
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestFetchCommit(t *testing.T) {
	s := serve(t, map[string]string{"clusters/a/web/x.yaml": "1\n", "clusters/a/web/" + marker: "ours\n", "clusters/a/kustomization.yaml": "a: 1\n"})
	first := strings.TrimSpace(run(t, s, "rev-parse", "main"))
	bare := strings.TrimSpace(run(t, s, "rev-parse", "main:clusters/a/web"))
	lostCommit := commit(t, s, map[string]string{"clusters/a/web/x.yaml": "3\n"})
	run(t, s, "update-ref", "refs/heads/main", first)
	tip := commit(t, s, map[string]string{"clusters/a/web/x.yaml": "2\n"})
	cases := map[string]struct {
		reason string
		id     string
		want   failure.Class
	}{
		"Tip":     {reason: "The commit at the tip of a branch is fetched by its id.", id: tip},
		"Old":     {reason: "A commit behind the tip is fetched by its id.", id: first},
		"Lost":    {reason: "A commit that no branch reaches any more is not found where the server does not give it.", id: lostCommit, want: failure.ClassNotFound},
		"Unknown": {reason: "A commit that does not exist is not found.", id: strings.Repeat("a", 40), want: failure.ClassNotFound},
		"Tree":    {reason: "The id of a tree is not accepted as a commit.", id: bare, want: failure.ClassUnknown},
		"SHA256":  {reason: "An id of another hash is refused before the server is asked.", id: strings.Repeat("a", 64), want: failure.ClassInvalid},
		"Option":  {reason: "A text that is not an id is refused before the server is asked.", id: "--upload-pack=x", want: failure.ClassInvalid},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, err := client(t, s).FetchCommit(context.Background(), tc.id)
			if diff := cmp.Diff(tc.want, failure.ClassOf(err)); diff != "" {
				t.Fatalf("\n%s\nFetchCommit(): -want, +got:\n%s\n%v", tc.reason, diff, err)
			}
			if err != nil {
				return
			}
			want := strings.TrimSpace(run(t, s, "rev-parse", tc.id+":clusters/a/web"))
			got, err := c.Subtree(t.Context(), "clusters/a/web", "nothing")
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("\n%s\nSubtree(): -want, +got:\n%s\n%v", tc.reason, diff, err)
			}
		})
	}
}

func TestSubtreeWithout(t *testing.T) {
	s := serve(t, map[string]string{"web/x.yaml": "1\n", "web/" + marker: "ours\n", "bare/x.yaml": "1\n", "file": "1\n"})
	c, err := client(t, s).FetchCommit(t.Context(), strings.TrimSpace(run(t, s, "rev-parse", "main")))
	if err != nil {
		t.Fatal(err)
	}
	bare := strings.TrimSpace(run(t, s, "rev-parse", "main:bare"))
	cases := map[string]struct {
		reason string
		path   string
		want   string
		class  failure.Class
	}{
		"Marked":  {reason: "The entry that is left out does not count in the id of the directory.", path: "web", want: bare},
		"Bare":    {reason: "A directory that lacks the entry has the same id as one without it.", path: "bare", want: bare},
		"Missing": {reason: "A directory that does not exist has no id.", path: "other"},
		"File":    {reason: "A file has no id as a directory.", path: "file"},
		"Outside": {reason: "A path that leads out of the repository is refused.", path: "../web", class: failure.ClassInvalid},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := c.Subtree(t.Context(), tc.path, marker)
			if diff := cmp.Diff(tc.class, failure.ClassOf(err)); diff != "" {
				t.Errorf("\n%s\nSubtree(): error: -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nSubtree(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestHasAny(t *testing.T) {
	s := serve(t, map[string]string{"web/x.yaml": "1\n", "web/" + marker: "ours\n", "bare/x.yaml": "1\n", "argo/.argocd-source-edge1.yaml": "1\n"})
	c, err := client(t, s).FetchCommit(t.Context(), strings.TrimSpace(run(t, s, "rev-parse", "main")))
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason   string
		dir      string
		patterns []string
		want     bool
	}{
		"Named":     {reason: "A directory has an entry with one of the names.", dir: "web", patterns: []string{"kustomization.yaml", marker}, want: true},
		"Other":     {reason: "A directory with other entries has none of the names.", dir: "bare", patterns: []string{"kustomization.yaml", marker}},
		"Root":      {reason: "The entries of a directory below the root are none of the root.", patterns: []string{"kustomization.yaml", marker}},
		"Missing":   {reason: "A directory that does not exist has no entry.", dir: "other", patterns: []string{marker}},
		"Pattern":   {reason: "A pattern matches a part of a name.", dir: "argo", patterns: []string{".argocd-source-*.yaml"}, want: true},
		"Malformed": {reason: "A malformed pattern matches no name.", dir: "argo", patterns: []string{"[", ".argocd-source-["}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got, err := c.HasAny(t.Context(), tc.dir, tc.patterns...); err != nil || got != tc.want {
				t.Errorf("\n%s\nHasAny(%q): want %t, got %t, %v", tc.reason, tc.dir, tc.want, got, err)
			}
		})
	}
}
