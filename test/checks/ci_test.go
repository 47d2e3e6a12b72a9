package checks

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestRunOfCI(t *testing.T) {
	cases := map[string]struct {
		reason string
		// change makes the folder of the project differ from its commit, or the cache unusable. It may be nil.
		change func(project, cache string) error
		// inPlace is true if the checks run in the folder of the project, and otherwise in the checkout that stays.
		inPlace bool
		// want is a part of the output.
		want string
	}{
		"Commit": {
			reason: "A commit is checked in the checkout that stays.",
			want:   "which stays",
		},
		"Dirty": {
			reason:  "A folder with changes that no commit has is checked where it is.",
			change:  func(project, _ string) error { return os.WriteFile(filepath.Join(project, "new.go"), nil, 0o600) },
			inPlace: true,
			want:    "it has changes that no commit has",
		},
		"Tarball": {
			reason:  "A folder without git is checked where it is.",
			change:  func(project, _ string) error { return os.RemoveAll(filepath.Join(project, ".git")) },
			inPlace: true,
			want:    "there is no commit",
		},
		"HalfACheckout": {
			reason: "A half-written checkout of a killed run is made again.",
			change: func(_, cache string) error {
				return os.MkdirAll(filepath.Join(cache, "checkout", ".git", "refs"), 0o700)
			},
			want: "which stays",
		},
		"Shallow": {
			reason: "A clone without its history, as CI makes it, is checked in the checkout that stays.",
			change: func(project, _ string) error {
				return exec.CommandContext(t.Context(), "sh", "-c", `cd "$1" && git rev-parse HEAD >.git/shallow`, "sh", project).Run()
			},
			want: "which stays",
		},
		"Full": {
			reason: "A commit that the checkout cannot take, as on a full disk, is checked where it is.",
			change: func(project, _ string) error {
				return exec.CommandContext(t.Context(), "git", "-C", project, "config", "transfer.hideRefs", "HEAD").Run()
			},
			inPlace: true,
			want:    "cannot take its commit",
		},
		"NoLock": {
			reason:  "Where the checkout cannot be locked, the commit is checked where it is.",
			change:  func(_, cache string) error { return os.MkdirAll(filepath.Join(cache, "checkout.lock"), 0o700) },
			inPlace: true,
			want:    "cannot be written",
		},
		"NoCache": {
			reason:  "Where the cache cannot be a folder, the commit is checked where it is.",
			change:  func(_, cache string) error { return os.WriteFile(cache, nil, 0o600) },
			inPlace: true,
			want:    "cannot be written",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			project, cache := filepath.Join(dir, "project"), filepath.Join(dir, "cache")
			writeFiles(t, project, map[string]string{"Makefile": printFolder, ".ci/run": readFile(t, "../../.ci/run")})
			runGit(t, project, "init", "-q")
			runGit(t, project, "add", ".")
			runGit(t, project, "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "-m", "a")
			if tc.change == nil {
				tc.change = func(string, string) error { return nil }
			}
			if err := tc.change(project, cache); err != nil {
				t.Fatal(err)
			}
			folder := filepath.Join(cache, "checkout")
			if tc.inPlace {
				folder = project
			}
			for range 2 {
				out := runCI(t, project, cache)
				if !strings.Contains(out, "checked "+folder+" ") || !strings.Contains(out, tc.want) {
					t.Errorf("\n%s\n.ci/run: want %q and checks in %s:\n%s", tc.reason, tc.want, folder, out)
				}
			}
		})
	}
}

// TestRunOfCIKeepsTimes checks two commits: a file that both have keeps its time, by which go finds the result of its tests in the cache, and the output of the
// build stays.
func TestRunOfCIKeepsTimes(t *testing.T) {
	dir := t.TempDir()
	project, cache := filepath.Join(dir, "project"), filepath.Join(dir, "cache")
	writeFiles(t, project, map[string]string{"Makefile": printFolder, ".ci/run": readFile(t, "../../.ci/run"), "same.go": "", "other.go": ""})
	commit := []string{"-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "-a", "-m", "a"}
	runGit(t, project, "init", "-q")
	runGit(t, project, "add", ".")
	runGit(t, project, commit...)
	runCI(t, project, cache)
	file := filepath.Join(cache, "checkout", "same.go")
	first, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	writeFiles(t, filepath.Join(cache, "checkout"), map[string]string{"_output/bin/provider": "", "left.go": ""})
	writeFiles(t, project, map[string]string{"other.go": "package other"})
	runGit(t, project, commit...)
	out := runCI(t, project, cache)
	second, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if !first.ModTime().Equal(second.ModTime()) {
		t.Errorf("the time of an unchanged file moved from %s to %s", first.ModTime(), second.ModTime())
	}
	if !strings.Contains(out, "_output") || strings.Contains(out, "left.go") {
		t.Errorf("want the built programs and no file that no commit has:\n%s", out)
	}
	if got := readFile(t, filepath.Join(cache, "checkout", "other.go")); got != "package other" {
		t.Errorf("the changed file has %q", got)
	}
}

// TestRunsOfCITakeTurns starts two runs at once, from two folders. The checks of a run find no files of the other run in the checkout that stays.
func TestRunsOfCITakeTurns(t *testing.T) {
	dir := t.TempDir()
	cache, outputs := filepath.Join(dir, "cache"), [2]bytes.Buffer{}
	commands := [2]*exec.Cmd{}
	for i, name := range []string{"first", "second"} {
		project := filepath.Join(dir, name)
		writeFiles(t, project, map[string]string{
			"Makefile": "test:\n\t@mkdir -p _output && mkdir _output/busy && sleep 0.2 && cat name && rmdir _output/busy\n",
			".ci/run":  readFile(t, "../../.ci/run"), "name": "checks of " + name,
		})
		runGit(t, project, "init", "-q")
		runGit(t, project, "add", ".")
		runGit(t, project, "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "-m", "a")
		commands[i] = commandOfCI(t, project, cache)
		commands[i].Stdout, commands[i].Stderr = &outputs[i], &outputs[i]
	}
	for _, cmd := range commands {
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
	}
	for i, cmd := range commands {
		want := "checks of " + []string{"first", "second"}[i]
		if err := cmd.Wait(); err != nil || !strings.Contains(outputs[i].String(), want) || !strings.Contains(outputs[i].String(), "which stays") {
			t.Errorf(".ci/run: %v, want %q in the checkout that stays:\n%s", err, want, outputs[i].String())
		}
	}
}
