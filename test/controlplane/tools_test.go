package controlplane

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
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRaceFlag asks the script that "make test" asks for the flag of the race detector.
func TestRaceFlag(t *testing.T) {
	const without = "tools: tests run WITHOUT the race detector: it needs cgo and a C compiler"
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
		"Compiler":   {reason: "A machine with a C compiler runs tests with the race detector.", env: []string{"CGO_ENABLED=1", "CC=" + compiler}, want: "-race\n"},
		"NoCompiler": {reason: "A machine without a C compiler runs tests without the race detector, and says so.", env: []string{"CGO_ENABLED=1", "CC=/nowhere/gcc"}, says: without},
		"NoCgo":      {reason: "Where cgo is switched off tests run without the race detector, which is said.", env: []string{"CGO_ENABLED=0", "CC=" + compiler}, says: without},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), "../../tools/tools.sh", "race")
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

// TestFind asks the script for programs that need not be built. A copy of it pins an archive of the test's own, so that a server can have it.
func TestFind(t *testing.T) {
	const fits, old = "etcd Version: 3.6.99", "etcd Version: 3.4.0"
	archive := packProgram(t, "etcd", fits)
	cases := map[string]struct {
		reason    string
		installed string
		served    []byte
		want      string
		says      string
	}{
		"Installed":    {reason: "A program of the pinned minor version is taken as it is.", installed: fits, want: "ETCD=<assets>/etcd\n", says: "tools: takes <assets>/etcd"},
		"OtherVersion": {reason: "A program of another minor version is left alone, and named.", installed: old, says: "tools: <assets>/etcd is not taken: it is 3.4, and 3.6 is wanted"},
		"NoVersion":    {reason: "A program that does not say its version is left alone.", installed: "hello", says: "it is of an unknown version, and 3.6 is wanted"},
		"Downloaded":   {reason: "An archive with the pinned digest is taken.", served: archive, want: "ETCD=<cache>/tools/downloads/etcd\n", says: "tools: takes <cache>"},
		"OtherDigest":  {reason: "An archive that is not the pinned one is never opened.", served: packProgram(t, "etcd", fits+" of somebody else"), says: "is not what was pinned"},
		"NoServer":     {reason: "A machine without the server builds the program.", says: "tools: cannot download programs: they are built instead"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			assets, cache := t.TempDir(), t.TempDir()
			if tc.installed != "" {
				writeFile(t, filepath.Join(assets, "etcd"), printsVersion(tc.installed), 0o700)
			}
			cmd := exec.CommandContext(t.Context(), copyTools(t, archive), "find", "ETCD")
			cmd.Env = append(os.Environ(), "ETCD=", "KUBEBUILDER_ASSETS="+assets, "INTENTPLANE_CACHE="+cache, "INTENTPLANE_DOWNLOADS="+serveArchive(t, tc.served), "PATH="+pathWithoutEtcd(t))
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

// pathWithoutEtcd is a folder with what the script runs, so that no program of this machine is found.
func pathWithoutEtcd(t *testing.T) string {
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
	for _, file := range []string{"tools.sh", "etcd/go.mod", "etcd/go.sum"} {
		content, err := os.ReadFile(filepath.Join("..", "..", "tools", file))
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
