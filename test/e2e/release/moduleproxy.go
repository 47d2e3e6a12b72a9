package release

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"

	"github.com/intentplane/intentplane/test/checkout"
)

const modulePath = "github.com/intentplane/intentplane"

// writeModule writes the files with which a module proxy serves the commit of a checkout as a version.
func writeModule(t *testing.T, c *checkout.Checkout) string {
	t.Helper()
	proxy := t.TempDir()
	dir := filepath.Join(proxy, filepath.FromSlash(modulePath), "@v")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	info, err := json.Marshal(map[string]string{"Version": version, "Time": "2023-11-14T22:13:20Z"})
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{version + ".info": string(info), version + ".mod": readFileText(t, filepath.Join(c.Dir, "go.mod")), "list": version + "\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	archive, err := os.Create(filepath.Join(dir, version+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	if err := zip.CreateFromVCS(archive, module.Version{Path: modulePath, Version: version}, c.Dir, "HEAD", ""); err != nil {
		t.Fatal(err)
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	return proxy
}

// installPlugin runs "go install" outside of a checkout, and returns the program. Other modules come from the cache of this machine.
func installPlugin(t *testing.T, proxy string) string {
	t.Helper()
	cache, err := exec.CommandContext(t.Context(), "go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "go", "install", modulePath+"/cmd/kubectl-intent@"+version)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(),
		"GOPROXY=file://"+proxy+",file://"+filepath.Join(strings.TrimSpace(string(cache)), "cache", "download"),
		"GOSUMDB=off", "GOBIN="+bin, "GOMODCACHE="+t.TempDir(), "GOFLAGS="+os.Getenv("GOFLAGS")+" -modcacherw", "GOTOOLCHAIN=local")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go install: %v\n%s", err, out)
	}
	return filepath.Join(bin, "kubectl-intent")
}
