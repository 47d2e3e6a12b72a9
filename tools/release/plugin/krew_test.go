package plugin

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

func TestManifest(t *testing.T) {
	linux, windows := Platform{OS: "linux", Architecture: "amd64"}, Platform{OS: "windows", Architecture: "arm64"}
	text, err := Manifest("v0.1.0", []Platform{linux, windows}, map[Platform]string{linux: "aa", windows: "bb"})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]any{}
	if err := yaml.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	head := map[string]any{"apiVersion": got["apiVersion"], "kind": got["kind"], "metadata": got["metadata"]}
	wantHead := map[string]any{
		"apiVersion": "krew.googlecontainertools.github.com/v1alpha2", "kind": "Plugin", "metadata": map[string]any{"name": "intent"},
	}
	if diff := cmp.Diff(wantHead, head); diff != "" {
		t.Errorf("The manifest has the kind of krew, and the name of its file intent.yaml: -want, +got:\n%s", diff)
	}
	described := got["spec"].(map[string]any)                                                              //nolint:forcetypeassert // A panic fails the test.
	if short := described["shortDescription"].(string); len(short) > 50 || strings.Contains(short, "\n") { //nolint:forcetypeassert // The same.
		t.Errorf("The short description is one line of at most 50 characters in the list of krew, got %q", short)
	}
	const folder = "https://github.com/intentplane/intentplane/releases/download/v0.1.0/"
	want := []any{
		map[string]any{
			"selector": map[string]any{"matchLabels": map[string]any{"os": "linux", "arch": "amd64"}}, "sha256": "aa",
			"uri": folder + "kubectl-intent_v0.1.0_linux_amd64.tar.gz", "bin": "kubectl-intent",
		},
		map[string]any{
			"selector": map[string]any{"matchLabels": map[string]any{"os": "windows", "arch": "arm64"}}, "sha256": "bb",
			"uri": folder + "kubectl-intent_v0.1.0_windows_arm64.zip", "bin": "kubectl-intent.exe",
		},
	}
	if diff := cmp.Diff(want, described["platforms"]); diff != "" {
		t.Errorf("Each platform has its archive, digest and program: -want, +got:\n%s", diff)
	}
	if _, err := Manifest("v0.1.0", []Platform{linux, windows}, map[Platform]string{linux: "aa"}); err == nil || !strings.Contains(err.Error(), "windows/arm64") {
		t.Errorf("A platform without an archive is refused by its name: %v", err)
	}
}
