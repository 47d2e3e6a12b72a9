package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// smallProgram builds a Go program: an image has the licences of the modules that its program was built from.
func smallProgram(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for file, text := range map[string]string{"go.mod": "module example.org/program\n\ngo 1.26\n", "LICENSE": "Free.\n", "main.go": "package main\n\nfunc main() {}\n"} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", "program", ".")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("cannot build a program: %v\n%s", err, out)
	}
	b, err := os.ReadFile(filepath.Join(dir, "program"))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
