package checkout

import (
	"archive/tar"
	"compress/gzip"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// pluginName is the name of the plugin in its archive.
const pluginName = "kubectl-intent"

// UnpackPlugin unpacks the plugin of a release for the platform of this machine, and returns the path of the program.
func (c *Checkout) UnpackPlugin(t *testing.T, version string) string {
	t.Helper()
	archive, err := os.Open(c.Dist(pluginName + "_" + version + "_linux_" + runtime.GOARCH + ".tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = archive.Close() }() // It is only read.
	plain, err := gzip.NewReader(archive)
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), pluginName)
	for r := tar.NewReader(plain); ; {
		h, err := r.Next()
		if err != nil {
			t.Fatalf("the archive has no %s: %v", pluginName, err)
		}
		if h.Name != pluginName {
			continue
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(program, content, fs.FileMode(h.Mode)); err != nil {
			t.Fatal(err)
		}
		return program
	}
}
