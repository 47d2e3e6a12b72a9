package pages

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestNames finds names of code that changed or went, in the pages about the code.
func TestNames(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join("..", "..", "docs", "decisions", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	v, err := vocabularyOf(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, page := range append(pages, "../../docs/architecture.md") {
		b, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range namesOnPage(string(b)) {
			if n++; !v.isKnownWord(word) && !slices.Contains(ofKubernetes, word) {
				t.Errorf("%s names %s, which the code does not have", page, word)
			}
		}
	}
	if n < 200 {
		t.Errorf("The pages have %d names, want at least 200", n)
	}
}

// TestPackages finds packages that the page about the code does not have. Packages that only make files, and packages of single suites, are not
// on it.
func TestPackages(t *testing.T) {
	page, err := os.ReadFile("../../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for _, word := range codeWord.FindAllStringSubmatch(string(page), -1) {
		named[word[1]] = true
	}
	n := 0
	for _, root := range []string{"apis", "cmd", "function", "provider", "test"} {
		for _, dir := range packageDirectories(t, "../../"+root) {
			dir = strings.TrimPrefix(dir, "../../")
			if n++; !named[dir] && !named[path.Base(dir)] && !named[strings.TrimPrefix(dir, "provider/")] {
				t.Errorf("docs/architecture.md does not describe the content of %s", dir)
			}
		}
	}
	if n < 90 {
		t.Errorf("The project has %d packages, want at least 90", n)
	}
}

// packageDirectories returns the directories below a root that have Go files, and are on the page.
func packageDirectories(t *testing.T, root string) []string {
	t.Helper()
	out := []string{}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		isLeftOut := name == "../../test/e2e" || slices.Contains([]string{"generate", "testdata", "v1alpha1", "packtest"}, d.Name())
		if err == nil && d.IsDir() && isLeftOut {
			return fs.SkipDir
		}
		files, _ := filepath.Glob(filepath.Join(name, "*.go"))
		if err == nil && d.IsDir() && len(files) > 0 {
			out = append(out, filepath.ToSlash(name))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestVocabulary(t *testing.T) {
	v := &vocabulary{
		words: map[string]bool{"gather": true, "OrderBehind": true, "PollInterval": true}, fields: map[string]bool{"status": true, "order": true},
		declared: map[string]bool{"git.Remote": true, "git.Client.Reach": true}, packages: map[string]bool{"git": true},
		paths: []string{"provider/git", "provider/git/pack.go", "fn.go"},
	}
	cases := map[string]struct {
		reason string
		words  []string
		want   bool
	}{
		"Declared": {reason: "A name that its package declares is known.", words: []string{"git.Remote", "git.Client.Reach"}, want: true},
		"Renamed": {
			reason: "A name that its package does not declare is unknown, though another package may have it.",
			words:  []string{"git.Gone", "git.Client.Gone"},
		},
		"OtherPackage": {reason: "A name of a package that is not part of the project is not looked at.", words: []string{"yaml.Gone"}, want: true},
		"Word":         {reason: "An identifier, a reason and a package are known.", words: []string{"gather", "OrderBehind", "git"}, want: true},
		"MissingWord":  {reason: "An identifier that the code does not have is unknown.", words: []string{"collect"}},
		"Field":        {reason: "A path of fields is known if each of them is.", words: []string{"status.order"}, want: true},
		"MissingField": {reason: "A path with a field that no type has is unknown.", words: []string{"status.plan"}},
		"Path": {
			reason: "A file or directory is known without the directories that it begins with.",
			words:  []string{"git/pack.go", "provider/git", "fn.go"}, want: true,
		},
		"MissingPath": {reason: "A file or directory that does not exist is unknown.", words: []string{"git/gone.go", "provider/gone", "gone.go"}},
		"Flag":        {reason: "A flag is known if the field that it is made from exists.", words: []string{"--poll-interval"}, want: true},
		"MissingFlag": {reason: "A flag without a field is unknown.", words: []string{"--gone"}},
		"CommandAndValue": {
			reason: "A command, a pattern and a value of a user are not looked at.",
			words:  []string{"make demo", "refs/intentplane/*", "5m"}, want: true,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for _, word := range tc.words {
				if diff := cmp.Diff(tc.want, v.isKnownWord(word)); diff != "" {
					t.Errorf("\n%s\nhas(%q): -want, +got:\n%s", tc.reason, word, diff)
				}
			}
		})
	}
}
