package pages

import (
	"bytes"
	"os"
	"regexp"
	"testing"
)

// TestEngineVersions holds the pages that say which GitOps engines were tested to the versions that tests run.
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
		for _, page := range []string{"../../README.md", "../../docs/gitops.md"} {
			b, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Contains(b, found[1]) {
				t.Errorf("%s does not say that %s is tested in %s", page, module, found[1])
			}
		}
	}
}
