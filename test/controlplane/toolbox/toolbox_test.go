package toolbox

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRaceFlag runs the script of "make test" that prints the flag of the race detector.
func TestRaceFlag(t *testing.T) {
	const warning = "tools: tests run WITHOUT the race detector: it needs cgo and a C compiler"
	compiler, err := exec.LookPath("true")
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason string
		env    []string
		want   string
		says   string
	}{
		"Compiler": {reason: "A machine with a C compiler runs tests with the race detector.", env: []string{"CGO_ENABLED=1", "CC=" + compiler}, want: "-race\n"},
		"NoCompiler": {
			reason: "A machine without a C compiler runs tests without the race detector, and prints a note.",
			env:    []string{"CGO_ENABLED=1", "CC=/nowhere/gcc"}, says: warning,
		},
		"NoCgo": {
			reason: "Tests run without the race detector, and print a note, where cgo is switched off.",
			env:    []string{"CGO_ENABLED=0", "CC=" + compiler}, says: warning,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), "../../../tools/tools.sh", "race")
			cmd.Env = append(os.Environ(), tc.env...)
			problems := &bytes.Buffer{}
			cmd.Stderr = problems
			out, err := cmd.Output()
			if diff := cmp.Diff(tc.want, string(out)); diff != "" || err != nil || !strings.HasPrefix(problems.String(), tc.says) || tc.says == "" && problems.Len() > 0 {
				t.Errorf("\n%s\ntools.sh race: %v: %s: -want, +got:\n%s", tc.reason, err, problems, diff)
			}
		})
	}
}

// TestFindPrograms runs the script for programs that need not be built. A copy of it pins an archive of the test, so that a server can serve it.
func TestFindPrograms(t *testing.T) {
	const fits, old = "etcd Version: 3.6.99", "etcd Version: 3.4.0"
	archive := packProgram(t, "etcd", fits)
	cases := map[string]struct {
		reason    string
		installed string
		served    []byte
		want      string
		says      string
	}{
		"Installed": {
			reason:    "A program of the pinned minor version is taken as it is.",
			installed: fits, want: "ETCD=<assets>/etcd\n", says: "tools: takes <assets>/etcd",
		},
		"OtherVersion": {
			reason:    "A program of another minor version is left alone, and named.",
			installed: old, says: "tools: <assets>/etcd is not taken: it is 3.4, and 3.6 is wanted",
		},
		"NoVersion": {
			reason:    "A program that does not print its version is not used.",
			installed: "hello", says: "it is of an unknown version, and 3.6 is wanted",
		},
		"Downloaded": {
			reason: "An archive with the pinned digest is taken.",
			served: archive, want: "ETCD=<cache>/tools/downloads/etcd\n", says: "tools: takes <cache>",
		},
		"OtherDigest": {
			reason: "An archive with another digest than the pinned digest is never opened.",
			served: packProgram(t, "etcd", fits+" of somebody else"), says: "is not what was pinned",
		},
		"NoServer": {reason: "A machine without the server builds the program.", says: "tools: cannot download programs: they are built instead"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			assets, cache := t.TempDir(), t.TempDir()
			if tc.installed != "" {
				writeFile(t, filepath.Join(assets, "etcd"), printsVersion(tc.installed), 0o700)
			}
			cmd := exec.CommandContext(t.Context(), copyTools(t, archive), "find", "ETCD")
			cmd.Env = append(os.Environ(), "ETCD=", "KUBEBUILDER_ASSETS="+assets, "INTENTPLANE_CACHE="+cache, "INTENTPLANE_DOWNLOADS="+serveArchive(t, tc.served), "PATH="+pathOfScript(t))
			problems := &bytes.Buffer{}
			cmd.Stderr = problems
			out, err := cmd.Output()
			shorten := strings.NewReplacer(assets, "<assets>", cache, "<cache>")
			if diff := cmp.Diff(tc.want, shorten.Replace(string(out))); diff != "" || err != nil || !strings.Contains(shorten.Replace(problems.String()), tc.says) {
				t.Errorf("\n%s\ntools.sh find: %v: %s: -want, +got:\n%s", tc.reason, err, problems, diff)
			}
		})
	}
}

// TestFindNearVersion runs the script for programs of versions around the pinned version.
func TestFindNearVersion(t *testing.T) {
	cases := map[string]struct {
		reason  string
		tool    string
		program string
		version string
		want    string
	}{
		"KubectlOlder": {
			reason: "A kubectl that is one minor version older than the API server is taken, as Kubernetes supports it.",
			tool:   "KUBECTL", program: "kubectl", version: "Client Version: v1.35.9", want: "KUBECTL=<assets>/kubectl\n",
		},
		"KubectlNewer": {
			reason: "A kubectl that is one minor version newer than the API server is taken.",
			tool:   "KUBECTL", program: "kubectl", version: "Client Version: v1.37.0", want: "KUBECTL=<assets>/kubectl\n",
		},
		"KubectlTooOld": {
			reason: "A kubectl that is two minor versions older is left alone.",
			tool:   "KUBECTL", program: "kubectl", version: "Client Version: v1.34.0",
		},
		"KubectlMajor": {reason: "A kubectl of another major version is left alone.", tool: "KUBECTL", program: "kubectl", version: "Client Version: v2.36.0"},
		"KubectlWords": {reason: "A kubectl that does not print its version is not used.", tool: "KUBECTL", program: "kubectl", version: "hello"},
		"Core": {
			reason: "A core of Crossplane of the pinned minor version is taken.",
			tool:   "CROSSPLANE_CORE", program: "crossplane-core", version: "v2.4.7", want: "CROSSPLANE_CORE=<assets>/crossplane-core\n",
		},
		"CoreOther": {
			reason: "A core of Crossplane of the next minor version is left alone.",
			tool:   "CROSSPLANE_CORE", program: "crossplane-core", version: "v2.5.0",
		},
		"CommandNewer": {
			reason: "A newer command of Crossplane is taken, because it only pushes packages.",
			tool:   "CROSSPLANE_CLI", program: "crossplane", version: "Client Version: v2.4.0", want: "CROSSPLANE_CLI=<assets>/crossplane\n",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			assets := t.TempDir()
			writeFile(t, filepath.Join(assets, tc.program), printsVersion(tc.version), 0o700)
			cmd := exec.CommandContext(t.Context(), copyTools(t, nil), "find", tc.tool)
			cmd.Env = append(os.Environ(), tc.tool+"=", "KUBEBUILDER_ASSETS="+assets, "INTENTPLANE_CACHE="+t.TempDir(), "INTENTPLANE_DOWNLOADS=none", "PATH="+pathOfScript(t))
			problems := &bytes.Buffer{}
			cmd.Stderr = problems
			out, err := cmd.Output()
			if diff := cmp.Diff(tc.want, strings.ReplaceAll(string(out), assets, "<assets>")); diff != "" || err != nil {
				t.Errorf("\n%s\ntools.sh find: %v: %s: -want, +got:\n%s", tc.reason, err, problems, diff)
			}
		})
	}
}

// TestBuildProgress builds two tools that are folders of a Go module, and reads the output of the script meanwhile.
func TestBuildProgress(t *testing.T) {
	const tail = " (github.com/crossplane/crossplane/v2 VERSION)"
	cases := map[string]struct {
		reason  string
		seconds string
		want    string
	}{
		"First": {
			reason: "A build without an earlier measurement prints the tool, and the number of remaining tools.",
			want: "tools: builds crds webhookconfigurations\n" +
				"[1/2] building crds" + tail + " ... N s\n[2/2] building webhookconfigurations" + tail + " ... N s\n",
		},
		"Again": {
			reason:  "A build that was measured on this machine prints its duration, and the duration of the builds that follow.",
			seconds: "crds 7\nother 100\nwebhookconfigurations 3\n",
			want: "tools: builds crds webhookconfigurations\ntools: that took 10 s the last time\n" +
				"[1/2] building crds" + tail + ": 7 s the last time, 3 s for the 1 after it ... N s\n[2/2] building webhookconfigurations" + tail + ": 3 s the last time ... N s\n",
		},
		"Unreadable": {
			reason:  "A record of seconds that is damaged is left out.",
			seconds: "crds many\n\n",
			want: "tools: builds crds webhookconfigurations\n" +
				"[1/2] building crds" + tail + " ... N s\n[2/2] building webhookconfigurations" + tail + " ... N s\n",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			cache := t.TempDir()
			record := filepath.Join(cache, "tools", "seconds")
			if tc.seconds != "" {
				writeFile(t, record, []byte(tc.seconds), 0o600)
			}
			cmd := exec.CommandContext(t.Context(), copyTools(t, nil), "build", "CROSSPLANE_CRDS", "CROSSPLANE_WEBHOOKS")
			cmd.Env = append(os.Environ(), "CROSSPLANE_CRDS=", "CROSSPLANE_WEBHOOKS=", "INTENTPLANE_CACHE="+cache)
			out, err := cmd.CombinedOutput()
			output := regexp.MustCompile(`\.\.\. \d+ s`).ReplaceAllString(regexp.MustCompile(` v2\.\d+\.\d+\)`).ReplaceAllString(string(out), " VERSION)"), "... N s")
			if diff := cmp.Diff(tc.want, output); diff != "" || err != nil {
				t.Errorf("\n%s\ntools.sh build: %v: -want, +got:\n%s", tc.reason, err, diff)
			}
			recorded, err := os.ReadFile(record)
			if err != nil || !regexp.MustCompile(`(?m)^crds \d+\nwebhookconfigurations \d+\n\z`).Match(recorded) {
				t.Errorf("\n%s\nThe seconds of both builds are not written down: %v: %s", tc.reason, err, recorded)
			}
		})
	}
}

// pathOfScript is a folder with the programs that the script runs, so that no program of this machine is found.
func pathOfScript(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for program := range strings.FieldsSeq("awk bash cat curl cut dirname env find git go grep gzip head mkdir mktemp mv rm sh sha256sum sha512sum tar touch") {
		path, err := exec.LookPath(program)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(path, filepath.Join(dir, program)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// copyTools copies the script beside the modules that it reads versions from, pins an archive, and returns the path of the script.
func copyTools(t *testing.T, archive []byte) string {
	t.Helper()
	dir := t.TempDir()
	for _, file := range []string{
		"tools.sh", "etcd/go.mod", "etcd/go.sum", "kubernetes/go.mod", "kubernetes/go.sum", "crossplane/go.mod", "crossplane/go.sum",
		"crossplane-cli/go.mod", "crossplane-cli/go.sum",
	} {
		content, err := os.ReadFile(filepath.Join("..", "..", "..", "tools", file))
		if err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(dir, file), content, 0o700)
	}
	pin := fmt.Sprintf("%s/%s programs.tar.gz %x\n", runtime.GOOS, runtime.GOARCH, sha512.Sum512(archive))
	writeFile(t, filepath.Join(dir, "kubernetes", "downloads"), []byte(pin), 0o600)
	return filepath.Join(dir, "tools.sh")
}

// serveArchive returns the address of a server with an archive. Without one the server has nothing.
func serveArchive(t *testing.T, archive []byte) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if archive == nil {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		_, _ = w.Write(archive)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// packProgram makes an archive with a program that prints its version.
func packProgram(t *testing.T, name, version string) []byte {
	t.Helper()
	buf := &bytes.Buffer{}
	zipped := gzip.NewWriter(buf)
	w := tar.NewWriter(zipped)
	content := printsVersion(version)
	if err := w.WriteHeader(&tar.Header{Name: "controller-tools/envtest/" + name, Mode: 0o755, Size: int64(len(content))}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func printsVersion(version string) []byte {
	return []byte("#!/bin/sh\necho '" + version + "'\n")
}

func writeFile(t *testing.T, path string, content []byte, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, mode); err != nil {
		t.Fatal(err)
	}
}
