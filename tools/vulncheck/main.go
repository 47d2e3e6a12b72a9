// Command vulncheck checks Go modules for known vulnerabilities:
//
//	vulncheck -govulncheck PROGRAM -entries FOLDER -accepted FILE MODULE...
//
// It makes a database of a folder of entries, since govulncheck would otherwise ask a server, and runs govulncheck with it on the packages of each module. It
// exits with 1 if a module reaches a vulnerable function, unless the file of accepted findings has a reason.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A request has the flags and the arguments of the command.
type request struct {
	govulncheck string
	entries     string
	accepted    string
	modules     []string
}

func main() {
	r := request{}
	flag.StringVar(&r.govulncheck, "govulncheck", "", "The path of govulncheck.")
	flag.StringVar(&r.entries, "entries", "", "The folder of vulnerabilities in OSV format: data/osv of golang.org/x/vulndb.")
	flag.StringVar(&r.accepted, "accepted", "", "The file of accepted findings.")
	flag.Parse()
	r.modules = flag.Args()

	if err := r.run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "vulncheck:", err)
		os.Exit(1)
	}
}

// run makes the database in a temporary folder, and checks each module.
func (r request) run(ctx context.Context, output io.Writer) error {
	program, err := filepath.Abs(r.govulncheck)
	if err != nil {
		return fmt.Errorf("cannot find -govulncheck: %w", err)
	}
	accepted, err := readAccepted(r.accepted)
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "vulncheck-")
	if err != nil {
		return fmt.Errorf("cannot make a folder for the database: %w", err)
	}
	defer os.RemoveAll(folder)
	d, err := readDatabase(r.entries)
	if err != nil {
		return err
	}
	if err := d.write(folder); err != nil {
		return err
	}
	fmt.Fprintf(output, "database with %d entries, the newest of %s\n", len(d.entries), d.lastChange().Format(time.DateOnly))
	c := &checker{scanner: scanner{program: program, database: folder}, accepted: accepted, output: output}
	return errors.Join(c.checkModules(ctx, r.modules), c.refuse(r.accepted))
}

// A checker prints the findings of modules, and counts the findings that are not accepted.
type checker struct {
	scanner  scanner
	accepted map[acceptance]string
	output   io.Writer
	refused  int
}

// checkModules checks all modules, although one of them cannot be scanned.
func (c *checker) checkModules(ctx context.Context, modules []string) error {
	if len(modules) == 0 {
		return errors.New("cannot scan without a module: name its folder")
	}
	var failures []error
	for _, module := range modules {
		failures = append(failures, c.checkModule(ctx, module))
	}
	return errors.Join(failures...)
}

// checkModule scans one module. A module without packages pins programs that others wrote.
func (c *checker) checkModule(ctx context.Context, module string) error {
	isScanned, err := hasPackages(module)
	if err != nil {
		return fmt.Errorf("cannot find packages: %w", err)
	}
	if !isScanned {
		fmt.Fprintf(c.output, "%s: has no packages to scan\n", module)
		return nil
	}
	found, err := c.scanner.scan(ctx, module)
	if err != nil {
		return err
	}
	fmt.Fprintf(c.output, "%s: reached vulnerabilities: %d, not reached: %d\n", module, len(found.reached), len(found.unreached))
	for _, f := range found.reached {
		c.report(module, f)
	}
	c.reportUnused(module, found.reached)
	return nil
}

// report prints a finding, with its trace unless it is accepted.
func (c *checker) report(module string, f finding) {
	if reason := c.accepted[acceptance{module: module, id: f.id}]; reason != "" {
		fmt.Fprintf(c.output, "\t%s\n\t\taccepted: %s\n", f, reason)
		return
	}
	c.refused++
	fmt.Fprintf(c.output, "\t%s\n\t\t%s\n", f, strings.Join(f.trace, "\n\t\t"))
}

// reportUnused prints the accepted findings that a scan did not find. They are not an error, since another version of Go may have them.
func (c *checker) reportUnused(module string, reached []finding) {
	var unused []string
	for a := range c.accepted {
		if a.module == module && !slices.ContainsFunc(reached, func(f finding) bool { return f.id == a.id }) {
			unused = append(unused, a.id)
		}
	}
	slices.Sort(unused)
	for _, id := range unused {
		fmt.Fprintf(c.output, "\t%s is accepted and was not found: its line can be removed\n", id)
	}
}

// refuse returns an error if a finding is not accepted.
func (c *checker) refuse(accepted string) error {
	if c.refused == 0 {
		return nil
	}
	return fmt.Errorf("findings that are not accepted: %d. Require a fixed version, or add a line with the reason to %s", c.refused, accepted)
}

// hasPackages reports whether a folder has Go files. It does not read folders that go leaves out, such as .git and _output.
func hasPackages(folder string) (bool, error) {
	found := false
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != folder && strings.ContainsAny(d.Name()[:1], "._"):
			return fs.SkipDir
		case !d.IsDir() && filepath.Ext(path) == ".go":
			found = true
			return fs.SkipAll
		}
		return nil
	})
	return found, err
}
