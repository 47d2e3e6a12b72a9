package clone_test

import (
	"context"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/clone"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/samples"
	"github.com/intentplane/intentplane/test/gitserver"
)

const (
	stateRef    = "refs/intentplane/edge/state"
	stateBranch = "refs/heads/intentplane-state/edge"
	tracked     = "refs/remotes/origin/intentplane-state/edge"
	rivalRef    = "refs/intentplane/other/state"
)

func stateFiles(t *testing.T, group string, isHome bool) map[string]string {
	t.Helper()
	s := samples.RollingBack()
	s.Group = group
	out, err := s.StateFiles(isHome)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// newClone makes a bare repository that has these refs.
func newClone(t *testing.T, refs map[string]map[string]string) string {
	t.Helper()
	s, err := gitserver.New(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	if err := s.CreateRepo(t.Context(), "fleet", map[string]string{"README.md": "Not ours.\n"}); err != nil {
		t.Fatal(err)
	}
	for ref, files := range refs {
		if _, err := s.CommitRef(t.Context(), "fleet", ref, files, "state"); err != nil {
			t.Fatal(err)
		}
	}
	return s.Path("fleet")
}

func findShop(t *testing.T, dir string, q clone.Query) (clone.Memory, error) {
	t.Helper()
	c, err := clone.Open(t.Context(), dir)
	if err != nil {
		return clone.Memory{}, err
	}
	return c.FindDeployment(t.Context(), q)
}

func TestFindDeployment(t *testing.T) {
	home, follower, claim := stateFiles(t, "intentplane.dev", true), stateFiles(t, "intentplane.dev", false), stateFiles(t, "claims.intentplane.dev", true)
	refs := maps.Clone(home)
	maps.Copy(refs, claim)
	retired := map[string]string{"retired.json": "{}"}
	broken := maps.Clone(home)
	broken["intentplane.dev/team-a/shop/ledger.json"] = "{"
	shop := clone.Query{Name: "shop"}
	cases := map[string]struct {
		reason string
		refs   map[string]map[string]string
		query  clone.Query
		ref    string
		isHome bool
		past   int
		err    string
	}{
		"Home": {
			reason: "The home has the whole ledger.",
			refs:   map[string]map[string]string{stateRef: home}, query: shop, ref: stateRef, isHome: true, past: 3,
		},
		"Branch": {
			reason: "A branch holds the state where a server takes no other ref.",
			refs:   map[string]map[string]string{stateBranch: home}, query: shop, ref: stateBranch, isHome: true, past: 3,
		},
		"Tracked": {
			reason: "A clone has the branch of its remote.",
			refs:   map[string]map[string]string{tracked: home}, query: shop, ref: tracked, isHome: true, past: 3,
		},
		"Retired": {
			reason: "A state that was retired does not count.",
			refs:   map[string]map[string]string{stateRef: retired, stateBranch: home}, query: shop, ref: stateBranch, isHome: true, past: 3,
		},
		"Follower": {
			reason: "The follower's repository has the records that a rollback needs.",
			refs:   map[string]map[string]string{stateRef: follower}, query: shop, ref: stateRef, past: 1,
		},
		"Group": {
			reason: "A group selects one of two deployments.",
			refs:   map[string]map[string]string{stateRef: refs}, query: clone.Query{APIGroup: "claims.intentplane.dev", Name: "shop"}, ref: stateRef,
			isHome: true, past: 3,
		},
		"Namespace": {
			reason: "A deployment of another namespace is not taken.",
			refs:   map[string]map[string]string{stateRef: home}, query: clone.Query{Namespace: "team-b", Name: "shop"},
			err: "remembers no deployment shop",
		},
		"Two": {
			reason: "Two deployments of one name are not mixed.",
			refs:   map[string]map[string]string{stateRef: refs}, query: shop,
			err: "intentdeployments.claims.intentplane.dev/shop in namespace team-a of control plane edge",
		},
		"Planes": {
			reason: "Two control planes are not mixed.",
			refs:   map[string]map[string]string{stateRef: home, rivalRef: home}, query: shop,
			err: "control plane other: say which one with --namespace, intentdeployments.GROUP/NAME or --control-plane",
		},
		"Plane": {
			reason: "A control plane selects one of two states.",
			refs:   map[string]map[string]string{stateRef: home, rivalRef: home}, query: clone.Query{ControlPlane: "other", Name: "shop"},
			ref: rivalRef, isHome: true, past: 3,
		},
		"NoState": {reason: "The error says how the state gets into a clone.", query: shop, err: `git fetch origin "refs/intentplane/*:refs/intentplane/*"`},
		"Unreadable": {
			reason: "A ledger that cannot be decoded is an error.",
			refs:   map[string]map[string]string{stateRef: broken}, query: shop, err: "cannot decode state",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			m, err := findShop(t, newClone(t, tc.refs), tc.query)
			if (err != nil) != (tc.err != "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Fatalf("\n%s\nFindDeployment(%v): want error %q, got %v", tc.reason, tc.query, tc.err, err)
			}
			if m.Ref != tc.ref || m.IsHome != tc.isHome || len(m.State.History) != tc.past {
				t.Errorf("\n%s\nFindDeployment(%v): want %s, home %v and %d past revisions, got %s, %v and %d", tc.reason, tc.query, tc.ref, tc.isHome, tc.past, m.Ref, m.IsHome, len(m.State.History))
			}
		})
	}
}

func TestReadFiles(t *testing.T) {
	ctx := context.Background()
	home := stateFiles(t, "intentplane.dev", true)
	c, err := clone.Open(ctx, newClone(t, map[string]map[string]string{stateRef: home}))
	if err != nil {
		t.Fatal(err)
	}
	want := samples.Delivered("3")
	got, err := c.ReadFiles(ctx, tree.ID(want))
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("ReadFiles(...) of a retained tree: %v: -want, +got:\n%s", err, diff)
	}
	if _, err := c.ReadFiles(ctx, strings.Repeat("1", 40)); err == nil {
		t.Error("ReadFiles(...) of a tree that the clone does not have: want an error")
	}
	if _, err := clone.Open(ctx, filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("Open(...) of a folder that does not exist: want an error")
	}
}
