package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/intentplane/intentplane/tools/release/statement"
)

// A dist is the folder of a release while it is made.
type dist struct {
	dir string

	// files are the names of the files in the folder, with their digests, in the order in which they were written.
	files []statement.Subject
}

// newDist makes an empty folder.
func newDist(dir string) (*dist, error) {
	if err := os.RemoveAll(dir); err != nil {
		return nil, fmt.Errorf("cannot empty %s: %w", dir, err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("cannot make %s: %w", dir, err)
	}
	return &dist{dir: dir}, nil
}

// add writes a file of the release, and returns its digest in hex.
func (d *dist) add(name string, content []byte) (string, error) {
	if err := os.WriteFile(filepath.Join(d.dir, name), content, 0o644); err != nil { //nolint:gosec // Everybody may read a release.
		return "", fmt.Errorf("cannot write %s: %w", name, err)
	}
	digest := sha256.Sum256(content)
	text := hex.EncodeToString(digest[:])
	d.files = append(d.files, statement.Subject{Name: name, SHA256: text})
	return text, nil
}

// checksums lists the files as sha256sum does, sorted by name.
func (d *dist) checksums() []byte {
	slices.SortFunc(d.files, func(a, b statement.Subject) int { return bytes.Compare([]byte(a.Name), []byte(b.Name)) })
	out := &bytes.Buffer{}
	for _, f := range d.files {
		fmt.Fprintf(out, "%s  %s\n", f.SHA256, f.Name)
	}
	return out.Bytes()
}
