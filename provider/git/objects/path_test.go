package objects

import (
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/test/soak"
)

func TestCheckPath(t *testing.T) {
	cases := map[string]struct {
		reason string
		path   string
		want   bool
	}{
		"File":          {reason: "A file", path: "kustomization.yaml", want: true},
		"Deep":          {reason: "A path", path: "sites/a/ns/web/deployment.yaml", want: true},
		"Marker":        {reason: "Hidden files are files", path: "a/.intentplane", want: true},
		"GitInName":     {reason: "Git in a name is allowed", path: "gitops/.github/my.git", want: true},
		"Unicode":       {reason: "Letters of other scripts are letters", path: "größe/東京", want: true},
		"Empty":         {reason: "The root is not ours", path: ""},
		"Absolute":      {reason: "Paths are relative", path: "/a"},
		"Slash":         {reason: "Paths are clean", path: "a/"},
		"Double":        {reason: "Paths are clean", path: "a//b"},
		"Dot":           {reason: "Paths are clean", path: "a/./b"},
		"Up":            {reason: "No way up", path: "a/../b"},
		"Backslash":     {reason: "A backslash is a slash elsewhere", path: `a\..\b`},
		"Null":          {reason: "Null ends a name in a tree", path: "a\x00b"},
		"Newline":       {reason: "No control characters", path: "a\nb"},
		"NotUTF8":       {reason: "Names are UTF-8", path: "a\xffb"},
		"Git":           {reason: "Git's own", path: "a/.git/config"},
		"GitCase":       {reason: "Git's own in any case", path: ".GiT/config"},
		"GitShort":      {reason: "Git's short name on NTFS", path: "git~1/config"},
		"GitShortCase":  {reason: "Git's short name on NTFS", path: "a/GIT~1"},
		"GitDots":       {reason: "NTFS drops dots at the end", path: ".git./x"},
		"GitSpaces":     {reason: "NTFS drops spaces at the end", path: ".git . /x"},
		"GitStream":     {reason: "NTFS has streams", path: ".git::$INDEX_ALLOCATION/x"},
		"GitZeroWidth":  {reason: "HFS+ ignores zero width characters", path: ".g\u200cit/x"},
		"GitModules":    {reason: "Submodules are not ours to declare", path: ".gitmodules"},
		"SegmentLong":   {reason: "Names are bounded", path: strings.Repeat("a", 256)},
		"PathLong":      {reason: "Paths are bounded", path: strings.Repeat("a/", 600) + "a"},
		"SegmentLonger": {reason: "255 bytes fit", path: strings.Repeat("a", 255), want: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, CheckPath(tc.path) == nil); diff != "" {
				t.Errorf("\n%s\nCheckPath(%q): -want, +got:\n%s", tc.reason, tc.path, diff)
			}
		})
	}
}

func FuzzCheckPath(f *testing.F) {
	for _, seed := range []string{"a/b", "../a", ".git", ".GIT/x", "a//b", "git~1", ".g\u200cit", "a\\b", " ", ".git ."} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, p string) {
		defer soak.Input(t)()
		if CheckPath(p) != nil {
			return
		}
		if path.Clean("/"+p) != "/"+p || strings.Contains(strings.ToLower("/"+p+"/"), "/.git/") || strings.ContainsAny(p, "\\\x00\n") {
			t.Errorf("CheckPath(%q): it is accepted", p)
		}
	})
}
