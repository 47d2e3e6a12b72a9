// Package main writes docs/reference.md: each condition, reason, event and metric, as the code says it.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// page is where the reference is, from the root of the project.
const page = "docs/reference.md"

func main() {
	root := flag.String("root", ".", "Directory of the project.")
	flag.Parse()
	if err := write(*root); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func write(root string) error {
	text, err := reference(root)
	if err != nil {
		return err
	}
	return errors.Wrap(os.WriteFile(filepath.Join(root, page), []byte(text), 0o600), "cannot write the reference")
}
