package git

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/provider/git/objects"
)

func change(c Change) Change {
	c.Message = "Deliver web\n\nIntent-Claim: team-a/web\n"
	c.Author = objects.Author{Name: "Intentplane", Email: "intentplane@example.org"}
	c.When = time.Date(2026, 11, 21, 12, 0, 0, 0, time.FixedZone("CET", 3600))
	return c
}

func files(kv ...string) map[string][]byte {
	out := map[string][]byte{}
	for i := 0; i < len(kv); i += 2 {
		out[kv[i]] = []byte(kv[i+1])
	}
	return out
}

// planned returns the snapshot after some changes to an empty repository.
func planned(t *testing.T, changes ...Change) *Snapshot {
	t.Helper()
	s := (&Snapshot{empty: true}).Open()
	for _, c := range changes {
		p, err := Plan(t.Context(), s, change(c))
		if err != nil {
			t.Fatal(err)
		}
		s = p.After()
	}
	return s
}

func put(path string, f map[string][]byte) Change {
	return Change{Put: map[string]map[string][]byte{path: f}}
}

func TestPlanIsDeterministic(t *testing.T) {
	c := change(Change{
		Put:   map[string]map[string][]byte{"sites/a/ns/web": files("b.yaml", "b", "sub/c.yaml", "c", "a.yaml", "a"), "sites/b/ns/web": files("b.yaml", "b")},
		State: files("claims/ns/web", "{}"),
	})
	first, err := Plan(t.Context(), (&Snapshot{empty: true}).Open(), c)
	if err != nil {
		t.Fatal(err)
	}
	// Golden: were this to change, a crash during an upgrade would commit twice.
	if diff := cmp.Diff([]string{"a92ad18bb70c407620f4c0fc2ad73afa8cac468e", "840fe9659c919abebbc3c7dd0317c0ea8cc8ac45"}, []string{first.Commit(), first.StateCommit()}); diff != "" {
		t.Errorf("\nThe same change is the same commit for ever\nPlan(...): -want, +got:\n%s", diff)
	}
	for range 20 {
		repeated, err := Plan(t.Context(), (&Snapshot{empty: true}).Open(), c)
		if err != nil {
			t.Fatal(err)
		}
		if repeated.Commit() != first.Commit() || repeated.StateCommit() != first.StateCommit() {
			t.Errorf("\nThe order of maps does not matter\nPlan(...): got other commits")
		}
	}
}

func TestPlanOfSameContentIsEmpty(t *testing.T) {
	c := put("a/b", files("x", "1"))
	c.State = files("claims/web", "1")
	p, err := Plan(t.Context(), planned(t, c), change(c))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"", ""}, []string{p.Commit(), p.StateCommit()}); diff != "" {
		t.Errorf("\nA change without effect makes no commit\nPlan(...): -want, +got:\n%s", diff)
	}
}

func TestPlan(t *testing.T) {
	unmanaged := put("theirs", files("readme", "hello"))
	cases := map[string]struct {
		reason string
		before []Change
		change Change
		want   map[string]string
		state  map[string]string
	}{
		"FirstDelivery": {
			reason: "An empty repository gets its first commit.",
			change: put("a/b", files("x", "1", "sub/y", "2")),
			want:   map[string]string{"a/b/x": "1", "a/b/sub/y": "2"},
		},
		"Replace": {
			reason: "A directory holds the files that were put into it and nothing else.",
			before: []Change{unmanaged, put("a/b", files("x", "1", "old", "1", "dir/f", "1"))},
			change: put("a/b", files("x", "2", "dir", "a file now", "old/f", "a directory now")),
			want:   map[string]string{"theirs/readme": "hello", "a/b/x": "2", "a/b/dir": "a file now", "a/b/old/f": "a directory now"},
		},
		"RemovePrunes": {
			reason: "A directory without files is removed, with the parents that become empty.",
			before: []Change{unmanaged, put("a/b/c", files("x", "1"))},
			change: Change{Remove: []string{"a/b/c"}},
			want:   map[string]string{"theirs/readme": "hello"},
		},
		"RemoveKeepsSiblings": {
			reason: "A parent with something else in it stays.",
			before: []Change{put("a/b/c", files("x", "1")), put("a/b/d", files("y", "1"))},
			change: Change{Remove: []string{"a/b/c"}},
			want:   map[string]string{"a/b/d/y": "1"},
		},
		"RemoveLast": {
			reason: "A repository may become empty.",
			before: []Change{put("a/b/c", files("x", "1"))},
			change: Change{Remove: []string{"a/b/c"}},
			want:   map[string]string{},
		},
		"RemoveAbsent": {
			reason: "Removing a directory that does not exist changes nothing.",
			before: []Change{unmanaged},
			change: Change{Remove: []string{"a/b/c", "theirs/readme/below"}},
			want:   map[string]string{"theirs/readme": "hello"},
		},
		"PutNothing": {
			reason: "A directory without files is removed.",
			before: []Change{unmanaged, put("a/b", files("x", "1"))},
			change: put("a/b", nil),
			want:   map[string]string{"theirs/readme": "hello"},
		},
		"SortsLikeGit": {
			reason: "A directory sorts as if its name ended with a slash.",
			before: []Change{put("d", files("x", "1")), put("d-e", files("x", "1"))},
			change: put("d.f", files("x", "1")),
			want:   map[string]string{"d/x": "1", "d-e/x": "1", "d.f/x": "1"},
		},
		"State": {
			reason: "The state is changed file by file.",
			before: []Change{{State: files("claims/a", "1", "claims/b", "1", "more/c", "1")}},
			change: Change{State: map[string][]byte{"claims/a": []byte("2"), "more/c": nil, "claims/absent": nil, "claims/empty": {}}},
			want:   map[string]string{},
			state:  map[string]string{"claims/a": "2", "claims/b": "1", "claims/empty": ""},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p, err := Plan(t.Context(), planned(t, tc.before...), change(tc.change))
			if err != nil {
				t.Fatalf("\n%s\nPlan(...): %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, flatten(t, p.After().branch, "", p.After().branch.Tree)); diff != "" {
				t.Errorf("\n%s\nPlan(...): branch: -want, +got:\n%s", tc.reason, diff)
			}
			state := flatten(t, p.After().state.View, "", p.After().state.Tree)
			if diff := cmp.Diff(len(tc.state), len(state)); diff != "" {
				t.Errorf("\n%s\nPlan(...): number of state files: -want, +got:\n%s", tc.reason, diff)
			}
			for path, want := range tc.state {
				got, ok, err := p.After().StateFile(t.Context(), path)
				if diff := cmp.Diff(fmt.Sprint(want, true, nil), fmt.Sprint(string(got), ok, err)); diff != "" {
					t.Errorf("\n%s\nStateFile(%q): -want, +got:\n%s", tc.reason, path, diff)
				}
			}
		})
	}
}

func flatten(t *testing.T, v objects.View, prefix string, tree plumbing.Hash) map[string]string {
	t.Helper()
	out := map[string]string{}
	for e, err := range v.Entries(t.Context(), tree) {
		if err != nil {
			t.Fatal(err)
		}
		if e.IsDir() {
			maps.Copy(out, flatten(t, v, prefix+e.Name+"/", e.ID))
			continue
		}
		data, err := v.Read(t.Context(), plumbing.BlobObject, e.ID)
		if err != nil {
			t.Fatal(err)
		}
		out[prefix+e.Name] = string(data)
	}
	return out
}

func TestSubtreeIsTheTreeThatTravels(t *testing.T) {
	f := files("b.yaml", "1", "sub/c.yaml", "2", "sub-a", "3", "sub.a", "4", ".intentplane", "5")
	got, err := planned(t, put("a/b", f)).Subtree(t.Context(), "a/b")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(tree.ID(f), got); diff != "" {
		t.Errorf("\nThe id equals the id that the source of the files computed\nSubtree(): -want, +got:\n%s", diff)
	}
}

func TestPlanRefuses(t *testing.T) {
	ok := change(put("a/b", files("x", "1")))
	changeWith := func(fn func(c *Change)) Change {
		c := ok
		fn(&c)
		return c
	}
	cases := map[string]struct {
		reason string
		before []Change
		change Change
		want   failure.Class
	}{
		"Root":      {reason: "The root of the repository is refused as a directory.", change: change(put("", files("x", "1"))), want: failure.ClassInvalid},
		"Traversal": {reason: "A path that leads out of the repository is refused.", change: change(put("a/../b", files("x", "1"))), want: failure.ClassInvalid},
		"FileTraverse": {
			reason: "A file whose path leads out of its directory is refused.",
			change: change(put("a", files("../x", "1"))), want: failure.ClassInvalid,
		},
		"FileGit":   {reason: "A file below a .git directory is refused.", change: change(put("a", files("sub/.GIT/config", "1"))), want: failure.ClassInvalid},
		"RemoveGit": {reason: "A .git directory is not removed.", change: change(Change{Remove: []string{".git"}}), want: failure.ClassInvalid},
		"StateUp": {
			reason: "A state file whose path leads out of the state is refused.",
			change: change(Change{State: files("../x", "1")}), want: failure.ClassInvalid,
		},
		"Nested": {
			reason: "A directory below another directory of the same change is refused.",
			change: change(Change{Put: map[string]map[string][]byte{"a": files("x", "1"), "a/b": files("x", "1")}}), want: failure.ClassInvalid,
		},
		"PutRemove": {
			reason: "A directory cannot be put and removed in one change.",
			change: change(Change{Put: map[string]map[string][]byte{"a/b": files("x", "1")}, Remove: []string{"a/b"}}), want: failure.ClassInvalid,
		},
		"RemoveAbove": {
			reason: "A directory cannot be put below a directory that the same change removes.",
			change: change(Change{Put: map[string]map[string][]byte{"a/b": files("x", "1")}, Remove: []string{"a"}}), want: failure.ClassInvalid,
		},
		"FileInFile": {reason: "A file cannot lie below another file.", change: change(put("a", files("x", "1", "x/y", "1"))), want: failure.ClassInvalid},
		"StateInGone": {
			reason: "A state file cannot lie below a removed state file.",
			change: change(Change{State: map[string][]byte{"x": nil, "x/y": []byte("1")}}), want: failure.ClassInvalid,
		},
		"NoDate":    {reason: "A commit without a date is refused.", change: changeWith(func(c *Change) { c.When = time.Time{} }), want: failure.ClassInvalid},
		"NoMessage": {reason: "A commit without a message is refused.", change: changeWith(func(c *Change) { c.Message = "\n" }), want: failure.ClassInvalid},
		"NullMessage": {
			reason: "A message with a null character is refused, as fsck does.",
			change: changeWith(func(c *Change) { c.Message = "a\x00b" }), want: failure.ClassInvalid,
		},
		"Author": {
			reason: "A line break in the name of the author is refused, for it could begin another header.",
			change: changeWith(func(c *Change) { c.Author.Name = "x\nparent y" }), want: failure.ClassInvalid,
		},
		"AuthorEmail": {
			reason: "An angle bracket in the email of the author is refused, for it could add another address.",
			change: changeWith(func(c *Change) { c.Author.Email = "a> <b" }), want: failure.ClassInvalid,
		},
		"FileInTheWay": {
			reason: "A directory cannot be written where its parent is a file.",
			before: []Change{put("a", files("b", "1"))}, change: change(put("a/b/c", files("x", "1"))), want: failure.ClassOccupied,
		},
		"FileThere": {
			reason: "A directory cannot be written where a file is.",
			before: []Change{put("a", files("b", "1"))}, change: change(put("a/b", files("x", "1"))), want: failure.ClassOccupied,
		},
		"StateDir": {
			reason: "A state file cannot be written where a directory is.",
			before: []Change{{State: files("a/b", "1")}}, change: change(Change{State: files("a", "1")}), want: failure.ClassOccupied,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := Plan(t.Context(), planned(t, tc.before...), tc.change)
			if diff := cmp.Diff(tc.want, failure.ClassOf(err)); diff != "" {
				t.Errorf("\n%s\nPlan(...): -want, +got:\n%s\n%v", tc.reason, diff, err)
			}
		})
	}
}

func TestPlanDoesNotMakeABranchBesideOthers(t *testing.T) {
	_, err := Plan(t.Context(), (&Snapshot{}).Open(), change(put("a", files("x", "1"))))
	if diff := cmp.Diff(failure.ClassNotFound, failure.ClassOf(err)); diff != "" {
		t.Errorf("\nA missing branch beside others is not made\nPlan(...): -want, +got:\n%s", diff)
	}
	p, err := Plan(t.Context(), (&Snapshot{}).Open(), change(Change{Remove: []string{"a"}, State: files("x", "1")}))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("", p.Commit()); diff != "" {
		t.Errorf("\nNothing is removed from no branch\nCommit(): -want, +got:\n%s", diff)
	}
}

func TestSnapshotSizeIsBounded(t *testing.T) {
	s := planned(t, put("theirs", files("readme", "hello")))
	for i := range 1000 {
		p, err := Plan(t.Context(), s, change(put("a/b/c", files("x", fmt.Sprint(i)))))
		if err != nil {
			t.Fatal(err)
		}
		s = p.After()
	}
	if got := s.branch.Count(); got > 4*256 {
		t.Errorf("\nReplaced objects are dropped\nlen(objects): %d", got)
	}
}
