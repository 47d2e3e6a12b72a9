package tree

import (
	"maps"
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestGraftedID(t *testing.T) {
	track := Files{"deployment-web.yaml": []byte("a: 1\n"), "kustomization.yaml": []byte("b: 2\n"), "deep/x.yaml": nil}
	cases := map[string]struct {
		reason string
		files  Files
		at     []string
	}{
		"Beside": {
			reason: "A part beside files has the id that Git computes for the whole.",
			files:  Files{"shared/a.yaml": nil, "green/b.yaml": nil, "k.yaml": nil}, at: []string{"blue"},
		},
		"Alone": {reason: "A tree may have no files of its own.", at: []string{"blue"}},
		"Two":   {reason: "Two parts may be the same tree.", files: Files{"a.yaml": nil}, at: []string{"blue", "green"}},
		"Order": {
			reason: "A part is sorted as a folder, between blue- and blue0.",
			files:  Files{"blue-": nil, "blue.a": nil, "blue0": nil}, at: []string{"blue"},
		},
		"Deep":       {reason: "A part may be below folders that have files too.", files: Files{"x/y/a.yaml": nil}, at: []string{"x/y/blue", "x/z/green"}},
		"NoPart":     {reason: "Without a part the id is that of the files.", files: Files{"x/y/a.yaml": nil}},
		"NamePrefix": {reason: "A folder whose name begins as the part's is another one.", files: Files{"blue2/a.yaml": nil}, at: []string{"blue"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			whole, parts := Files{}, map[string]string{}
			maps.Copy(whole, tc.files)
			for _, dir := range tc.at {
				parts[dir] = ID(track)
				putBelow(whole, dir, track)
			}
			got, err := GraftedID(tc.files, parts)
			if err != nil {
				t.Fatalf("\n%s\nGraftedID(...): %v", tc.reason, err)
			}
			if diff := cmp.Diff(byGit(t, whole), got); diff != "" {
				t.Errorf("\n%s\nGraftedID(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestGraftedIDRefuses(t *testing.T) {
	id := ID(Files{"a": nil})
	cases := map[string]struct {
		reason string
		files  Files
		parts  map[string]string
		want   string
	}{
		"Short": {
			reason: "A short id could stand for several trees.",
			parts:  map[string]string{"blue": id[:39]}, want: `part "blue": "` + id[:39] + `" is not the id of a tree`,
		},
		"UpperCase": {
			reason: "One tree has one spelling of its id.",
			parts:  map[string]string{"blue": strings.ToUpper(id)}, want: `part "blue": "` + strings.ToUpper(id) + `" is not the id of a tree`,
		},
		"Empty":   {reason: "Git keeps no empty folder.", parts: map[string]string{"blue": ID(nil)}, want: `part "blue": the empty tree cannot be a folder`},
		"Outside": {reason: "A part stays in its directory.", parts: map[string]string{"a/../blue": id}, want: `part: "a/../blue" is not a clean relative path`},
		"File": {
			reason: "A part cannot take the place of a file.",
			files:  Files{"blue": nil}, parts: map[string]string{"blue": id}, want: `part "blue": the tree has a file or a folder of this path`,
		},
		"Folder": {
			reason: "A part cannot replace files.",
			files:  Files{"blue/a": nil}, parts: map[string]string{"blue": id}, want: `part "blue": the tree has a file or a folder of this path`,
		},
		"BelowFile": {
			reason: "A file has nothing below it.",
			files:  Files{"x": nil}, parts: map[string]string{"x/blue": id}, want: `part "x/blue": "x" of this path is a file or another part`,
		},
		"BelowPart": {
			reason: "A part's own content is not known.",
			parts:  map[string]string{"x": id, "x/blue": id}, want: `part "x/blue": "x" of this path is a file or another part`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := GraftedID(tc.files, tc.parts)
			got := ""
			if err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nGraftedID(...): -want error, +got error:\n%s", tc.reason, diff)
			}
		})
	}
}

// FuzzGraftedID takes a folder out of a tree that git made, and gives its id back.
func FuzzGraftedID(f *testing.F) {
	f.Add("a.yaml\nb/c.yaml\nblue/x.yaml\nblue/y/z.yaml", "blue", "text")
	f.Add("blue-\nblue.\nblue0\nblue/a", "blue", "")
	f.Add("x/y/z/a\nx/y/z.b\nx/y-b\nx.y/a\nx/y/a", "x/y", "\x00\xff")
	f.Add("only/a", "only", "one")
	f.Fuzz(func(t *testing.T, names, dir, text string) {
		whole, rest := Files{}, Files{}
		for name := range strings.SplitSeq(names, "\n") {
			whole[name] = []byte(text + name)
			if !strings.HasPrefix(name, dir+"/") {
				rest[name] = whole[name]
			}
		}
		if whole.Validate() != nil || ValidatePath(dir) != nil || len(whole) > 100 || whole[dir] != nil || len(rest) == len(whole) {
			return
		}
		part := byGitAt(t, whole, dir)
		got, err := GraftedID(rest, map[string]string{dir: part})
		if err != nil {
			t.Fatalf("GraftedID(...): %v", err)
		}
		if diff := cmp.Diff(byGit(t, whole), got); diff != "" {
			t.Errorf("%q without %q: -git, +got:\n%s", names, dir, diff)
		}
	})
}

func putBelow(whole Files, dir string, f Files) {
	for name, content := range f {
		whole[path.Join(dir, name)] = content
	}
}

// byGitAt returns the id of a folder of the tree that git makes of files.
func byGitAt(t *testing.T, f Files, dir string) string {
	t.Helper()
	work, id := writeTree(t, f)
	return git(t, work, "rev-parse", "--verify", id+":"+dir)
}
