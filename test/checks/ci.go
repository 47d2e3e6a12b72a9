package checks

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// printFolder is a Makefile whose checks print the folder that they run in, and its files.
const printFolder = "test:\n\t@echo \"checked $$PWD\" *\n"

func runCI(t *testing.T, project, cache string) string {
	t.Helper()
	out, err := commandOfCI(t, project, cache).CombinedOutput()
	if err != nil {
		t.Fatalf(".ci/run: %v\n%s", err, out)
	}
	return string(out)
}

// commandOfCI returns the command that checks a project.
func commandOfCI(t *testing.T, project, cache string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", ".ci/run")
	// The script installs programs that a machine lacks. Programs that these checks do not run are present as dummies.
	unused := t.TempDir()
	for _, name := range []string{"ssh-keygen", "gpg", "gcc", "ip", "zsh", "fish", "openssl"} {
		writeFiles(t, unused, map[string]string{name: "#!/bin/sh\n"})
	}
	cmd.Dir = project
	cmd.Env = append(os.Environ(), "INTENTPLANE_CACHE="+cache, "MAKEFLAGS=", "MAKELEVEL=", "PATH="+os.Getenv("PATH")+":"+unused)
	return cmd
}

func runGit(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}
