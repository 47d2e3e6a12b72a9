package tree

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestValidatePath(t *testing.T) {
	cases := map[string]struct {
		reason string
		path   string
		valid  bool
	}{
		"Plain":        {reason: "A file's name is a path.", path: "deployment-web.yaml", valid: true},
		"Nested":       {reason: "A path may have folders.", path: "a/b/c.yaml", valid: true},
		"Empty":        {reason: "An empty path is refused.", path: ""},
		"Absolute":     {reason: "A path stays in its directory.", path: "/etc/passwd"},
		"Parent":       {reason: "A path stays in its directory.", path: "../x.yaml"},
		"InnerParent":  {reason: "A path stays in its directory, also by a detour.", path: "a/../../x.yaml"},
		"NotClean":     {reason: "A path with an empty folder is refused, since each file has one spelling.", path: "a//b.yaml"},
		"Dot":          {reason: "A path that begins with a dot is refused, since each file has one spelling.", path: "./a.yaml"},
		"GitFolder":    {reason: "A repository in a repository would be configured by us.", path: ".git/config"},
		"InnerGit":     {reason: "A .git folder below another folder is refused.", path: "a/.git/hooks/pre-push"},
		"Marker":       {reason: "A file of the name of the provider's marker is refused.", path: Marker},
		"Trailing":     {reason: "A path that ends with a slash is refused.", path: "a/"},
		"NewLine":      {reason: "A line break would end a line of a manifest list.", path: "a\nb"},
		"NoByte":       {reason: "Git ends names with a zero byte.", path: "a\x00b"},
		"Backslash":    {reason: "Windows reads it as a separator.", path: `a\b`},
		"Colon":        {reason: "NTFS reads a stream's name behind it.", path: "a:b"},
		"NotASCII":     {reason: "A character with two encodings would be two files, and is refused.", path: "\u00e4.yaml"},
		"InvisibleDot": {reason: "HFS+ ignores some characters, and finds .git.", path: "\u200c.git"},
		"TooLong":      {reason: "A path that is too long is refused.", path: strings.Repeat("a", 513)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := ValidatePath(tc.path) == nil; got != tc.valid {
				t.Errorf("\n%s\nValidatePath(%q): -want, +got:\n%s", tc.reason, tc.path, cmp.Diff(tc.valid, got))
			}
		})
	}
}

// TestID compares with git itself.
func TestID(t *testing.T) {
	cases := map[string]struct {
		reason string
		files  Files
	}{
		"Empty":  {reason: "The empty tree has an id of its own.", files: Files{}},
		"One":    {reason: "A tree of one file has the id that Git computes.", files: Files{"a.yaml": []byte("a: 1\n")}},
		"Empty2": {reason: "A file may be empty, and hold any byte.", files: Files{"a": nil, "b": {0, 255, '\r', '\n'}}},
		"Order": {
			reason: "Git sorts a folder as if its name ended with a slash: a.b, a-b and a0 are around a/.",
			files:  Files{"a/x": []byte("1"), "a.b": []byte("2"), "a-b": []byte("3"), "a0": []byte("4"), "A": []byte("5")},
		},
		"Deep": {
			reason: "A tree of nested folders has the id that Git computes.",
			files:  Files{"x/y/z/a": []byte("1"), "x/y/z.b": []byte("2"), "x/y-b": []byte("3"), "x.y/a": []byte("4"), "x/y/a": []byte("5")},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(byGit(t, tc.files), ID(tc.files)); diff != "" {
				t.Errorf("\n%s\nID(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestInFolder(t *testing.T) {
	files := Files{"kustomization.yaml": []byte("a"), "blue/web.yaml": []byte("b"), "blue/config/web.yaml": []byte("c"), "blue2/web.yaml": []byte("d")}
	cases := map[string]struct {
		reason, folder string
		want           Files
	}{
		"Folder":  {reason: "A folder has its files and the files of its folders.", folder: "blue", want: Files{"web.yaml": []byte("b"), "config/web.yaml": []byte("c")}},
		"Missing": {reason: "A folder that does not exist has no files.", folder: "green", want: Files{}},
		"File":    {reason: "A file is not a folder.", folder: "kustomization.yaml", want: Files{}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, files.InFolder(tc.folder)); diff != "" {
				t.Errorf("\n%s\nInFolder(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func byGit(t *testing.T, f Files) string {
	t.Helper()
	_, id := writeTree(t, f)
	return id
}

// writeTree returns a repository of git with the files in its index, and the id of their tree.
func writeTree(t *testing.T, f Files) (dir, id string) {
	t.Helper()
	dir = t.TempDir()
	git(t, dir, "init", "-q")
	for name, content := range f {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	git(t, dir, "add", "-A", "-f")
	return dir, git(t, dir, "write-tree")
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", append([]string{"-c", "core.autocrlf=false"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("cannot run git %s: %s", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out))
}
