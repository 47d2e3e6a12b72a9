package hostile_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/git/budget"
	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/test/hostile"
)

func TestGit(t *testing.T) {
	cases := map[string]struct {
		reason string
		server *hostile.Git
		want   failure.Class
	}{
		"Harmless": {
			reason: "A pack with the commit alone is read, so the other packs are refused for their additional objects.",
			server: hostile.NewGit(hostile.TinyObjects(0)),
		},
		"TinyObjects": {
			reason: "A pack of many tiny objects is too large for memory.",
			server: hostile.NewGit(hostile.TinyObjects(400_000)), want: failure.ClassTooLarge,
		},
		"BrokenPack": {reason: "A pack that has fewer objects than it says is broken.", server: hostile.NewGit(hostile.BrokenPack()), want: failure.ClassTransient},
		"Refs":       {reason: "A list of a million refs is too large.", server: hostile.NewGitWithRefs(1_000_000), want: failure.ClassTooLarge},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Cleanup(tc.server.Stop)
			c, err := git.NewClient(git.Remote{URL: tc.server.RepositoryURL(), Branch: "main", StateRef: "refs/intentplane/test/state"}, budget.New())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(c.Close)
			_, err = c.Look(t.Context(), nil)
			if diff := cmp.Diff(tc.want, failure.ClassOf(err)); diff != "" {
				t.Errorf("%s\nLook(...): -want, +got:\n%s\n%v", tc.reason, diff, err)
			}
		})
	}
}
