package plugin

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A file is a file of an archive, as its reader shows it.
type file struct {
	Content  string
	Mode     fs.FileMode
	Modified time.Time
}

func TestArchive(t *testing.T) {
	modified := time.Unix(1700000000, 0).UTC()
	cases := map[string]struct {
		reason   string
		platform Platform
		read     func(*testing.T, []byte) map[string]file
		name     string
		want     map[string]file
	}{
		"Linux": {
			reason: "The archive for Linux is a tar, whose program can be run.", platform: Platform{OS: "linux", Architecture: "arm64"}, read: readTar,
			name: "kubectl-intent_v0.1.0_linux_arm64.tar.gz",
			want: map[string]file{"LICENSE": {"Free.", 0o644, modified}, "kubectl-intent": {"program", 0o755, modified}},
		},
		"Windows": {
			reason: "The archive for Windows is a zip, whose program ends in .exe.", platform: Platform{OS: "windows", Architecture: "amd64"}, read: readZip,
			name: "kubectl-intent_v0.1.0_windows_amd64.zip",
			want: map[string]file{"LICENSE": {"Free.", 0o644, modified}, "kubectl-intent.exe": {"program", 0o755, modified}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			text, err := Archive(tc.platform, []byte("program"), []byte("Free."), modified)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, tc.read(t, text)); diff != "" {
				t.Errorf("\n%s\nArchive(...): -want, +got:\n%s", tc.reason, diff)
			}
			if got := tc.platform.File("v0.1.0"); got != tc.name {
				t.Errorf("\n%s\nFile(): want %s, got %s", tc.reason, tc.name, got)
			}
			repeat, err := Archive(tc.platform, []byte("program"), []byte("Free."), modified.In(time.FixedZone("east", 3600)))
			if err != nil || !bytes.Equal(text, repeat) {
				t.Errorf("\n%s\nArchive(...): an archive that another machine makes differs: %v", tc.reason, err)
			}
		})
	}
}

func readTar(t *testing.T, text []byte) map[string]file {
	t.Helper()
	plain, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]file{}
	for r := tar.NewReader(plain); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		out[h.Name] = file{Content: readAll(t, r), Mode: fs.FileMode(h.Mode), Modified: h.ModTime.UTC()} //nolint:gosec // A mode of our own.
	}
}

func readZip(t *testing.T, text []byte) map[string]file {
	t.Helper()
	r, err := zip.NewReader(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]file{}
	for _, f := range r.File {
		content, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		out[f.Name] = file{Content: readAll(t, content), Mode: f.Mode(), Modified: f.Modified.UTC()}
	}
	return out
}

func readAll(t *testing.T, r io.Reader) string {
	t.Helper()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestParsePlatform(t *testing.T) {
	for _, text := range []string{"", "linux", "linux/", "/amd64", "linux/arm/v7"} {
		if p, err := ParsePlatform(text); err == nil {
			t.Errorf("%q is no platform of an operating system and an architecture, and was read as %v", text, p)
		}
	}
}
