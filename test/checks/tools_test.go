package checks

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestBuildWithBadCache builds a tool several times in one cache.
func TestBuildWithBadCache(t *testing.T) {
	const built = "[1/1] building etcd (go.etcd.io/etcd/server/v3 v3.6.9) ..."
	cases := map[string]struct {
		reason string
		// isFile makes the cache a file, in which no folder can be made.
		isFile bool
		builds []toolBuild
	}{
		"Killed": {
			reason: "A killed build leaves no program: the next build makes it, and the build after it needs no disk.",
			builds: []toolBuild{
				{arch: "amd64", disk: "killed", want: built, fails: true}, {arch: "amd64", disk: "good", want: built}, {arch: "amd64", disk: "full"},
			},
		},
		"Full": {
			reason: "A build on a full disk fails with the error of the compiler, and the next build makes the program.",
			builds: []toolBuild{
				{arch: "amd64", disk: "full", want: "write: no space left on device\ntools: cannot build etcd\n", fails: true}, {arch: "amd64", disk: "good", want: built},
			},
		},
		"OtherArchitecture": {
			reason: "A program of another architecture is left where it is, and is not used.",
			builds: []toolBuild{
				{arch: "arm64", disk: "good", want: built}, {arch: "amd64", disk: "good", want: built}, {arch: "arm64", disk: "full"}, {arch: "amd64", disk: "full"},
			},
		},
		"NotWritable": {
			reason: "A build in a cache that cannot be written names the variable of another cache.",
			isFile: true,
			builds: []toolBuild{{arch: "amd64", disk: "good", want: "name a folder that can be written, as in INTENTPLANE_CACHE=$HOME/intentplane\n", fails: true}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			cache := filepath.Join(dir, "cache")
			writeFiles(t, dir, map[string]string{
				"bin/go": fakeGo, "tools.sh": readFile(t, "../../tools/tools.sh"), "etcd/go.mod": "require go.etcd.io/etcd/server/v3 v3.6.9\n", "etcd/go.sum": "",
			})
			if tc.isFile {
				writeFiles(t, dir, map[string]string{"cache": ""})
			}
			for i, b := range tc.builds {
				cmd := exec.CommandContext(t.Context(), filepath.Join(dir, "tools.sh"), "build", "ETCD")
				cmd.Env = []string{"PATH=" + filepath.Join(dir, "bin") + ":" + os.Getenv("PATH"), "INTENTPLANE_CACHE=" + cache, "ARCH=" + b.arch, "DISK=" + b.disk}
				cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
				out, err := cmd.CombinedOutput()
				if (err != nil) != b.fails || !strings.Contains(string(out), b.want) || (b.want == "") != (len(out) == 0) {
					t.Errorf("\n%s\nbuild %d: %v, want a failure: %t, and %q:\n%s", tc.reason, i+1, err, b.fails, b.want, out)
				}
			}
		})
	}
}

// TestLintCopies runs the script of the linter with a linter that prints the folder that it looks at, and the folder of its results.
func TestLintCopies(t *testing.T) {
	cases := map[string]struct {
		reason string
		// isFile makes the cache a file, in which no folder can be made.
		isFile bool
		// want is the folder of the copy, below the folder of the test.
		want string
	}{
		"Cache":       {reason: "All checkouts of a user are linted at one place.", want: "cache/lint"},
		"NotWritable": {reason: "Where the cache cannot be written, the copy is among the files that are built.", isFile: true, want: "project/_output/lint"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			writeFiles(t, dir, map[string]string{
				"project/tools/lint.sh": readFile(t, "../../tools/lint.sh"), "project/fn.go": "", "project/_output/bin/function": "",
				"linter": "#!/usr/bin/env bash\necho $PWD $GOLANGCI_LINT_CACHE *\n",
			})
			if tc.isFile {
				writeFiles(t, dir, map[string]string{"cache": ""})
			}
			for range 2 {
				cmd := exec.CommandContext(t.Context(), filepath.Join(dir, "project", "tools", "lint.sh"))
				cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "INTENTPLANE_CACHE=" + filepath.Join(dir, "cache"), "GOLANGCI_LINT=" + filepath.Join(dir, "linter")}
				out, err := cmd.CombinedOutput()
				folder := filepath.Join(dir, tc.want)
				if want := folder + "/checkout " + folder + "/cache fn.go tools\n"; err != nil || string(out) != want {
					t.Errorf("\n%s\nlint.sh: %v, printed %q, want %q", tc.reason, err, out, want)
				}
			}
		})
	}
}
