package manifest

import (
	"context"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/test/gitserver"
)

func TestRead(t *testing.T) {
	const file = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: team-a}\n"
	s, err := gitserver.New(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	if err := s.CreateRepo(t.Context(), "fleet", map[string]string{"web/a.yaml": file, "web/blue/b.yaml": file + "data: {b: c}\n", "web/.intentplane": "ours\n"}); err != nil {
		t.Fatal(err)
	}
	id, err := s.Git(t.Context(), "fleet", "rev-parse", "main")
	if err != nil {
		t.Fatal(err)
	}
	c, err := git.NewClient(git.Remote{URL: s.URL("fleet"), Branch: "main", StateRef: "refs/intentplane/test/state"})
	if err != nil {
		t.Fatal(err)
	}
	commit, err := c.FetchCommit(t.Context(), id[:40])
	if err != nil {
		t.Fatal(err)
	}
	archive, err := tree.Encode(tree.Files{"a.yaml": []byte(file), "blue/b.yaml": []byte(file + "data: {b: c}\n")})
	if err != nil {
		t.Fatal(err)
	}
	other, err := tree.Encode(tree.Files{"a.yaml": []byte(file)})
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason    string
		delivered [][]byte
		want      []string
		fetches   int
	}{
		"Delivered": {reason: "Files that the delivery has are not fetched.", delivered: [][]byte{archive}, want: []string{"ConfigMap team-a/a", "ConfigMap team-a/a"}},
		"Part":      {reason: "Files that the delivery lacks are fetched.", delivered: [][]byte{other}, want: []string{"ConfigMap team-a/a", "ConfigMap team-a/a"}, fetches: 1},
		"None":      {reason: "A directory without a delivery is fetched.", delivered: [][]byte{[]byte("junk")}, want: []string{"ConfigMap team-a/a", "ConfigMap team-a/a"}, fetches: 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r, fetches, fail := NewReader(), 0, false
			d := Directory{Tenant: "team-a", Repository: "fleet", Commit: commit, Path: "web", Delivered: tc.delivered, Fetch: func(ctx context.Context) (map[string][]byte, error) {
				if fetches++; fail {
					return nil, errors.New("down")
				}
				return c.ReadCommitFiles(ctx, commit, "web", tree.Marker)
			}}
			for range 2 {
				manifests, err := r.Read(t.Context(), d)
				if err != nil {
					t.Fatal(err)
				}
				got := []string{}
				for _, m := range manifests {
					got = append(got, m.Object.String())
				}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("\n%s\nRead(...): -want, +got:\n%s", tc.reason, diff)
				}
			}
			if diff := cmp.Diff(tc.fetches, fetches); diff != "" {
				t.Errorf("\n%s\nfetches: -want, +got:\n%s", tc.reason, diff)
			}
			d.Repository, d.Delivered, fail = "another", nil, true
			if _, err := r.Read(t.Context(), d); err == nil {
				t.Errorf("\nA file of one repository is not remembered for another one.\nRead(...): want an error")
			}
		})
	}
}
