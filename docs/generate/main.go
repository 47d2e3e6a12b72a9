// Package main writes the tables of docs/*.md that repeat the code: phases and their changes, conditions, reasons, events and metrics. Each table is
// between two marks.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

func main() {
	root := flag.String("root", ".", "Directory of the project.")
	flag.Parse()
	if err := writePages(*root); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func writePages(root string) error {
	all, err := renderPages(root)
	if err != nil {
		return err
	}
	for file, text := range all {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return errors.Wrap(err, "cannot write page")
		}
	}
	return nil
}
