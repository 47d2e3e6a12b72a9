package main

import (
	"go/ast"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var root = filepath.Join("..", "..")

var (
	explaining = regexp.MustCompile(`^\| (reason|type|condition) \|`)
	word       = regexp.MustCompile("`([A-Z][A-Za-z]+)`")
)

// literals are all strings in the code.
func literals(t *testing.T) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	for _, dir := range []string{"apis", "function", "provider"} {
		err := visitGoFiles(root, dir, func(_ string, f *ast.File) error {
			ast.Inspect(f, func(n ast.Node) bool {
				if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
					out[strings.Trim(l.Value, "\"`")] = true
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// handwritten are the pages beside the reference.
func handwritten(t *testing.T) map[string]string {
	t.Helper()
	all, err := renderPages(root)
	if err != nil {
		t.Fatal(err)
	}
	delete(all, filepath.Join(root, "docs", "reference.md"))
	return all
}
