// Package plugin makes the files from which users install kubectl-intent: an archive for each platform, and the manifest of krew.
package plugin

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"
)

const name = "kubectl-intent"

// A Platform is an operating system and an architecture, by their names in Go.
type Platform struct{ OS, Architecture string }

// ParsePlatform reads a platform such as linux/amd64.
func ParsePlatform(text string) (Platform, error) {
	system, architecture, ok := strings.Cut(text, "/")
	if !ok || system == "" || architecture == "" || strings.Contains(architecture, "/") {
		return Platform{}, fmt.Errorf("cannot read platform %q: want a system and an architecture, such as linux/amd64", text)
	}
	return Platform{OS: system, Architecture: architecture}, nil
}

// program returns the name of the program in an archive.
func (p Platform) program() string {
	if p.OS == "windows" {
		return name + ".exe"
	}
	return name
}

// File returns the name of the archive for a platform.
func (p Platform) File(version string) string {
	extension := ".tar.gz"
	if p.OS == "windows" {
		extension = ".zip"
	}
	return fmt.Sprintf("%s_%s_%s_%s%s", name, version, p.OS, p.Architecture, extension)
}

// An entry is a file of an archive.
type entry struct {
	name    string
	mode    fs.FileMode
	content []byte
}

// Archive returns the archive for a platform, with the program and its licence. All files have one time, so equal programs make equal archives.
func Archive(p Platform, program, licence []byte, modified time.Time) ([]byte, error) {
	entries := []entry{{name: "LICENSE", mode: 0o644, content: licence}, {name: p.program(), mode: 0o755, content: program}}
	out := &bytes.Buffer{}
	write := writeTar
	if p.OS == "windows" {
		write = writeZip
	}
	if err := write(out, entries, modified.UTC()); err != nil {
		return nil, fmt.Errorf("cannot make the archive for %s/%s: %w", p.OS, p.Architecture, err)
	}
	return out.Bytes(), nil
}

func writeTar(out io.Writer, entries []entry, modified time.Time) error {
	compressed, err := gzip.NewWriterLevel(out, gzip.BestCompression)
	if err != nil {
		return err
	}
	w := tar.NewWriter(compressed)
	for _, e := range entries {
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: e.name, Mode: int64(e.mode), Size: int64(len(e.content)), ModTime: modified}); err != nil {
			return err
		}
		if _, err := w.Write(e.content); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	return compressed.Close()
}

func writeZip(out io.Writer, entries []entry, modified time.Time) error {
	w := zip.NewWriter(out)
	for _, e := range entries {
		header := &zip.FileHeader{Name: e.name, Method: zip.Deflate, Modified: modified}
		header.SetMode(e.mode)
		file, err := w.CreateHeader(header)
		if err != nil {
			return err
		}
		if _, err := file.Write(e.content); err != nil {
			return err
		}
	}
	return w.Close()
}
