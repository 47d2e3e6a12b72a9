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
		"File":          {reason: "A plain file name is a path.", path: "kustomization.yaml", want: true},
		"Deep":          {reason: "A path of several directories is accepted.", path: "sites/a/ns/web/deployment.yaml", want: true},
		"Marker":        {reason: "A name that begins with a dot is accepted.", path: "a/.intentplane", want: true},
		"GitInName":     {reason: "A name that contains git is accepted.", path: "gitops/.github/my.git", want: true},
		"Unicode":       {reason: "Letters of other scripts are accepted.", path: "größe/東京", want: true},
		"Empty":         {reason: "The empty path is refused.", path: ""},
		"Absolute":      {reason: "An absolute path is refused.", path: "/a"},
		"Slash":         {reason: "A slash at the end is refused.", path: "a/"},
		"Double":        {reason: "Two slashes in a row are refused.", path: "a//b"},
		"Dot":           {reason: "A part that is a dot is refused.", path: "a/./b"},
		"Up":            {reason: "A part that is two dots is refused.", path: "a/../b"},
		"Backslash":     {reason: "A backslash is refused, for it separates directories on Windows.", path: `a\..\b`},
		"Null":          {reason: "A null character is refused, for it ends a name in a tree.", path: "a\x00b"},
		"Newline":       {reason: "A control character in a path is refused.", path: "a\nb"},
		"NotUTF8":       {reason: "A name that is not UTF-8 is refused.", path: "a\xffb"},
		"Git":           {reason: "A .git directory is refused.", path: "a/.git/config"},
		"GitCase":       {reason: "A .git directory is refused in any case.", path: ".GiT/config"},
		"GitShort":      {reason: "The short name of .git on NTFS is refused.", path: "git~1/config"},
		"GitShortCase":  {reason: "The short name of .git on NTFS is refused in any case.", path: "a/GIT~1"},
		"GitDots":       {reason: "A .git with dots at the end is refused, since NTFS drops them.", path: ".git./x"},
		"GitSpaces":     {reason: "A .git with spaces at the end is refused, since NTFS drops them.", path: ".git . /x"},
		"GitStream":     {reason: "A .git with an NTFS stream is refused.", path: ".git::$INDEX_ALLOCATION/x"},
		"GitZeroWidth":  {reason: "A .git with zero width characters is refused, since HFS+ ignores them.", path: ".g\u200cit/x"},
		"GitModules":    {reason: "A .gitmodules file is refused.", path: ".gitmodules"},
		"SegmentLong":   {reason: "A name of more than 255 bytes is refused.", path: strings.Repeat("a", 256)},
		"PathLong":      {reason: "A path of more than 1024 bytes is refused.", path: strings.Repeat("a/", 600) + "a"},
		"SegmentLonger": {reason: "A name of 255 bytes is accepted.", path: strings.Repeat("a", 255), want: true},
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
