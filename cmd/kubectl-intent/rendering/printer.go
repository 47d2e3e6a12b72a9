package rendering

import (
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/manifest"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
)

// A Printer prints the files of Sites, writes them to folders, or compares them with a checkout.
type Printer struct {
	terminal.ObjectsFlag

	// To is the folder to write to, and Diff the checkout to compare with. Without both the files are printed.
	To, Diff string

	// IsInput is true if the files are the input of kustomize.
	IsInput bool
}

// CheckForm returns an error for -o name where no objects are printed.
func (p Printer) CheckForm() error {
	if p.Output == "name" && (p.To != "" || p.Diff != "" || p.IsInput) {
		return terminal.UsageError{Err: errors.New("-o name prints the names of objects: leave out --to, --diff and --inputs")}
	}
	return nil
}

// PrintSites prints the files, writes them, or prints the changes of the directories of their owner.
func (p Printer) PrintSites(s *terminal.Streams, all []Site, claimOwner Owner) error {
	switch {
	case p.Diff != "":
		return p.printDifferences(s, all, claimOwner)
	case p.To != "":
		return p.writeFolders(s.Out, all)
	}
	return p.printSiteFiles(s.Out, all)
}

// kustomization is the name of a file for kustomize, which is not an object of an API server.
const kustomization = "kustomization.yaml"

// printSiteFiles prints the files. The text form is one stream of YAML with the path in the repository before each file.
func (p Printer) printSiteFiles(w io.Writer, all []Site) error {
	report := make([]Report, 0, len(all))
	for _, site := range all {
		report = append(report, Report{Site: site.Name, Path: site.Path, Waits: site.Waits, Files: textOfFiles(site.Files)})
	}
	return p.PrintValue(w, report, func() ([]string, error) { return namesOfObjects(all) }, func(w io.Writer) error { return p.printStream(w, all) })
}

// namesOfObjects returns the unique names of the objects in the form of kubectl -o name.
func namesOfObjects(all []Site) ([]string, error) {
	var out []string
	for _, site := range all {
		for _, name := range site.Files.Names() {
			if path.Base(name) == kustomization {
				continue
			}
			documents, err := manifest.SplitDocuments(site.Files[name])
			if err != nil {
				return nil, errors.Wrapf(err, "cannot read %s", name)
			}
			for _, d := range documents {
				o := metav1.PartialObjectMetadata{}
				if err := yaml.Unmarshal(d.Text, &o); err != nil {
					return nil, errors.Wrapf(err, "cannot read %s", name)
				}
				out = append(out, strings.TrimSuffix(strings.ToLower(o.Kind)+"."+o.GroupVersionKind().Group, ".")+"/"+o.Name)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

func textOfFiles(files tree.Files) map[string]string {
	out := map[string]string{}
	for name, b := range files {
		out[name] = string(b)
	}
	return out
}

func (p Printer) printStream(w io.Writer, all []Site) error {
	for _, site := range all {
		if site.Waits {
			head := terminal.QuoteInvisible(site.Name) + ": " + terminal.QuoteInvisible(site.Path)
			if _, err := fmt.Fprintf(w, "---\n# Site %s: receives nothing before its cluster is known to be ready\n", head); err != nil {
				return errors.Wrap(err, "cannot print")
			}
		}
		for _, name := range site.Files.Names() {
			if path.Base(name) == kustomization && !p.IsInput {
				continue
			}
			head := terminal.QuoteInvisible(site.Name) + ": " + terminal.QuoteInvisible(path.Join(site.Path, name))
			if _, err := fmt.Fprintf(w, "---\n# Site %s\n%s", head, p.printableFile(site.Files[name])); err != nil {
				return errors.Wrap(err, "cannot print")
			}
		}
	}
	return nil
}

// printableFile returns the printed form of a file. Rendered YAML is printed unquoted: it has no control characters.
func (p Printer) printableFile(file []byte) string {
	if p.IsInput {
		return terminal.QuoteInvisibleInText(string(file))
	}
	return string(file)
}

// writeFolders makes a folder for each Site, and prints its name.
func (p Printer) writeFolders(w io.Writer, all []Site) error {
	root, err := emptyFolder(p.To)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // Its files are closed one by one.
	report := make([]Report, 0, len(all))
	for _, site := range all {
		if err := writeRenderedFiles(root, site.Name, site.Files); err != nil {
			return err
		}
		report = append(report, Report{Site: site.Name, Path: site.Path, Waits: site.Waits, Folder: filepath.Join(p.To, site.Name)})
	}
	return terminal.FormFlag(p.ObjectsFlag).PrintValue(w, report, func(w io.Writer) error {
		for _, rendering := range report {
			if _, err := fmt.Fprintln(w, terminal.QuoteLine(rendering.Folder)); err != nil {
				return errors.Wrap(err, "cannot print")
			}
		}
		return nil
	})
}

func (p Printer) printDifferences(s *terminal.Streams, all []Site, claimOwner Owner) error {
	root, err := os.OpenRoot(p.Diff)
	if err != nil {
		return terminal.UsageError{Err: errors.Wrap(err, "cannot open the checkout")}
	}
	defer root.Close() //nolint:errcheck // Nothing was written.
	report, err := compareDirectories(root, all, claimOwner)
	if err != nil {
		return err
	}
	if err := terminal.FormFlag(p.ObjectsFlag).PrintValue(s.Out, report, func(w io.Writer) error { return PrintChanges(w, s.Colours, report) }); err != nil {
		return err
	}
	if slices.ContainsFunc(report, func(r Report) bool { return len(r.Changes) > 0 }) {
		return terminal.VerdictError{}
	}
	return nil
}

// emptyFolder creates a folder, or uses an empty folder. It returns an error for a folder with files, so that no file of the user is overwritten.
func emptyFolder(name string) (*os.Root, error) {
	if err := os.MkdirAll(name, 0o750); err != nil {
		return nil, errors.Wrap(err, "cannot make the folder to write to")
	}
	entries, err := os.ReadDir(name)
	if err != nil {
		return nil, errors.Wrap(err, "cannot read the folder to write to")
	}
	if len(entries) > 0 {
		return nil, errors.Errorf("%s is not empty", name)
	}
	root, err := os.OpenRoot(name)
	return root, errors.Wrap(err, "cannot open the folder to write to")
}

func writeRenderedFiles(root *os.Root, folder string, files tree.Files) error {
	for _, name := range files.Names() {
		if err := writeRenderedFile(root, path.Join(folder, name), files[name]); err != nil {
			return err
		}
	}
	return nil
}

func writeRenderedFile(root *os.Root, name string, b []byte) error {
	if err := root.MkdirAll(path.Dir(name), 0o750); err != nil {
		return errors.Wrapf(err, "cannot make the folder of %s", name)
	}
	return errors.Wrapf(root.WriteFile(name, b, 0o600), "cannot write %s", name)
}
