package render

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/test/controlplane/toolbox"
)

// TestPackages compares the packages of "make xpkg" with the packages that Crossplane's own command builds from the same
// folders.
func TestPackages(t *testing.T) {
	cases := map[string]struct {
		reason string
		image  string
	}{
		"configuration":            {reason: "The package of claims equals the package that Crossplane's own command builds of its files."},
		"configuration-namespaced": {reason: "The package of namespaced composites equals the package that Crossplane's own command builds of its files."},
		"function":                 {reason: "The function's package has the program in it as Crossplane's own command puts it there.", image: "function.tar"},
		"provider":                 {reason: "The provider's package has the program in it as Crossplane's own command puts it there.", image: "provider.tar"},
	}
	output := filepath.Join("..", "..", "..", "_output")
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			stage, file := name, filepath.Join(t.TempDir(), "want.xpkg")
			args := []string{"xpkg", "build", "--package-file=" + file}
			if tc.image != "" {
				stage += "-" + runtime.GOARCH
				args = append(args, "--embed-runtime-image-tarball="+filepath.Join(output, "image", runtime.GOARCH, tc.image))
			}
			root := filepath.Join(output, "stage", stage)
			runCrossplane(t, crossplaneCLI(t), append(args, "--package-root="+root, "--examples-root="+filepath.Join(root, "examples"))...)
			if diff := cmp.Diff(digestOfPackage(t, file), digestOfPackage(t, filepath.Join(output, "xpkg", stage+".xpkg"))); diff != "" {
				t.Errorf("\n%s\nmake xpkg: -crossplane xpkg build, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestVersion asks the programs that make built for the version that make gave them.
func TestVersion(t *testing.T) {
	t.Parallel()
	root, err := toolbox.Root()
	if err != nil {
		t.Fatal(err)
	}
	settings, err := os.ReadFile(filepath.Join(root, "_output", "settings"))
	if err != nil {
		t.Fatal(err)
	}
	want, _, _ := strings.Cut(string(settings), " ")
	for _, name := range []string{"function", "provider", "kubectl-intent"} {
		out, err := exec.CommandContext(t.Context(), filepath.Join(root, "_output", "bin", name), "--version").CombinedOutput()
		if diff := cmp.Diff(want+"\n", string(out)); diff != "" || err != nil {
			t.Errorf("%s --version: %v: -want, +got:\n%s", name, err, diff)
		}
	}
}
