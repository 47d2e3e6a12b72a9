package pages

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// testedPage says which programs were tested, in which versions.
const testedPage = "docs/tested.md"

// pinnedRow is a row of that page about a program which a module of tools pins: its name, its version, the module, and the path
// that the module requires.
var pinnedRow = regexp.MustCompile("(?m)^\\| ([^|]+) \\| (v[^ |]+) \\| `tools/([a-z0-9-]+)`: `([^`]+)` \\|")

// buildTools are the modules of tools whose programs build, generate, lint or scan, and are not tested against.
var buildTools = []string{"actionlint", "codegen", "gofumpt", "golangci-lint", "gotestsum", "govulncheck", "images", "release", "vulncheck", "vulndb", "xpkg"}

// TestTestedVersions holds the page about tested programs to the modules that pin them.
func TestTestedVersions(t *testing.T) {
	onPage := map[string]bool{}
	for _, row := range pinnedRow.FindAllStringSubmatch(readProjectFile(t, testedPage), -1) {
		version, module, path := row[2], row[3], row[4]
		onPage[module] = true
		pinned := regexp.MustCompile(regexp.QuoteMeta(path) + `(?: => \S+)? ` + regexp.QuoteMeta(version) + `(?:\s|$)`)
		if !pinned.MatchString(readProjectFile(t, "tools/"+module+"/go.mod")) {
			t.Errorf("%s says that %s is %s of %s, which tools/%s/go.mod does not pin", testedPage, row[1], version, path, module)
		}
	}
	modules, err := filepath.Glob("../../tools/*/go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range modules {
		if module := filepath.Base(filepath.Dir(file)); !onPage[module] && !slices.Contains(buildTools, module) {
			t.Errorf("%s has no row for a program of tools/%s", testedPage, module)
		}
	}
	if len(onPage) < 10 {
		t.Errorf("%s has rows for %d modules, want at least 10", testedPage, len(onPage))
	}
}

// TestEngineVersions holds the page about GitOps engines to the versions that tests run.
func TestEngineVersions(t *testing.T) {
	for module, text := range map[string]string{
		"flux":   `github.com/fluxcd/kustomize-controller (v\S+)`,
		"argocd": `github.com/argoproj/argo-cd/v3 (v\S+)`,
	} {
		b, err := os.ReadFile("../../tools/" + module + "/go.mod")
		if err != nil {
			t.Fatal(err)
		}
		found := regexp.MustCompile(text).FindSubmatch(b)
		if found == nil {
			t.Fatalf("tools/%s/go.mod does not pin the engine", module)
		}
		if !strings.Contains(readProjectFile(t, "docs/gitops.md"), string(found[1])) {
			t.Errorf("docs/gitops.md does not say that %s is tested in %s", module, found[1])
		}
	}
}
