package rendering

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/fatih/color"
	"github.com/rogpeppe/go-internal/diff"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
)

// A Change is the difference between a file of a checkout and its rendered content.
type Change struct {
	// File, from the root of the checkout.
	File string `json:"file"`

	// Diff is a unified diff. It hides the data of a Secret.
	Diff string `json:"diff"`
}

// compareDirectory returns the changes of a directory's files. An existing file without rendered content would be removed.
func compareDirectory(root *os.Root, dir string, rendered tree.Files) ([]Change, error) {
	existing, err := readCheckoutFiles(root, dir)
	if err != nil {
		return nil, err
	}
	return compareFiles(dir, existing, rendered), nil
}

// compareDirectories returns the changes of the Sites' directories, and of the directories to remove.
func compareDirectories(root *os.Root, all []Site, claimOwner Owner) ([]Report, error) {
	out := make([]Report, 0, len(all))
	paths := map[string]bool{}
	for _, site := range all {
		paths[site.Path] = true
		changes := []Change{}
		var err error
		if !site.Waits {
			changes, err = compareDirectory(root, site.Path, site.Files)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, Report{Site: site.Name, Path: site.Path, Waits: site.Waits, Changes: changes})
	}
	left, err := claimOwner.findDirectories(root)
	if err != nil {
		return nil, err
	}
	for _, dir := range left {
		if paths[dir] {
			continue
		}
		changes, err := removedFiles(root, dir)
		if err != nil {
			return nil, err
		}
		out = append(out, Report{Path: dir, Removed: true, Changes: changes})
	}
	return out, nil
}

// PrintChanges prints the changes of files as git does.
func PrintChanges(w io.Writer, colours terminal.Palette, all []Report) error {
	for _, rendering := range all {
		for _, c := range rendering.Changes {
			for line := range strings.Lines(c.Diff) {
				text := colours.Paint(terminal.QuoteLineOfText(strings.TrimSuffix(line, "\n")), colourOfDiffLine(line)...)
				if _, err := fmt.Fprintln(w, text); err != nil {
					return errors.Wrap(err, "cannot print")
				}
			}
		}
	}
	return nil
}

// colourOfDiffLine returns the colour of a line of a diff, as in git.
func colourOfDiffLine(line string) []color.Attribute {
	for _, c := range []struct {
		prefix string
		colour color.Attribute
	}{{"--- ", color.Bold}, {"+++ ", color.Bold}, {"@@", color.FgCyan}, {"-", color.FgRed}, {"+", color.FgGreen}} {
		if strings.HasPrefix(line, c.prefix) {
			return []color.Attribute{c.colour}
		}
	}
	return nil
}

// readCheckoutFiles returns the files of a directory of the checkout, or no files if the directory does not exist. It leaves out the marker, which names
// the owner of the directory.
func readCheckoutFiles(root *os.Root, dir string) (tree.Files, error) {
	out := tree.Files{}
	err := fs.WalkDir(root.FS(), dir, func(name string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || e.IsDir() || path.Base(name) == tree.Marker {
			return err
		}
		if !e.Type().IsRegular() {
			return errors.Errorf("%s: is not a regular file", name)
		}
		b, err := fs.ReadFile(root.FS(), name)
		out[strings.TrimPrefix(name, dir+"/")] = b
		return err
	})
	return out, errors.Wrap(err, "cannot read the checkout")
}

// unifiedDiff is a unified diff of one file. The values of a Secret are not shown.
func unifiedDiff(name string, previous, next []byte) string {
	// The name must not add lines to the diff.
	oldName, newName := "a/"+terminal.QuoteInvisible(name), "b/"+terminal.QuoteInvisible(name)
	if isSecretObject(previous) || isSecretObject(next) {
		return fmt.Sprintf("--- %s\n+++ %s\nA Secret differs. Its values are not shown.\n", oldName, newName)
	}
	if previous == nil {
		oldName = os.DevNull
	}
	if next == nil {
		newName = os.DevNull
	}
	// Its result begins with a line that names both files once more.
	_, text, _ := bytes.Cut(diff.Diff(oldName, previous, newName, next), []byte("\n"))
	return string(text)
}

// isSecretObject is also true for undecodable content: it could be a Secret.
func isSecretObject(b []byte) bool {
	o := metav1.TypeMeta{}
	return yaml.Unmarshal(b, &o) != nil || o.Kind == "Secret" || strings.Contains(string(b), "kind: Secret")
}
