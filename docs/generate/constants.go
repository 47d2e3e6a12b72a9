package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// A constant is a value of a condition or an event, such as a reason.
type constant struct {
	// file that declares it, from the root of the project, and group, the comment above its group.
	file, group string

	// name in the code, value in objects, and doc without the name.
	name, value, doc string
}

// apiConstant matches the names of constants that stand in conditions and events.
var apiConstant = regexp.MustCompile(`^(?:Site|Health|Package)?(Type|Reason|Result)[A-Z]`)

// visitGoFiles reads the Go files of a directory, except for tests and generated files, in the order of their names.
func visitGoFiles(root, dir string, do func(file string, f *ast.File) error) error {
	fset := token.NewFileSet()
	return filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
		name := filepath.Base(path)
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "zz_") {
			return err
		}
		f, err := parser.ParseFile(fset, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return errors.Wrap(err, "cannot parse")
		}
		file, err := filepath.Rel(root, path)
		if err != nil {
			return errors.Wrap(err, "cannot name file")
		}
		return do(filepath.ToSlash(file), f)
	})
}

// readConstants returns the constants of a directory for conditions and events.
func readConstants(root, dir string) ([]constant, error) {
	var out []constant
	err := visitGoFiles(root, dir, func(file string, f *ast.File) error {
		for _, d := range f.Decls {
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.CONST {
				out = append(out, constantsOf(file, g)...)
			}
		}
		return nil
	})
	return out, err
}

func constantsOf(file string, g *ast.GenDecl) []constant {
	var out []constant
	for _, s := range g.Specs {
		v, ok := s.(*ast.ValueSpec)
		if !ok || len(v.Names) != 1 || len(v.Values) != 1 || !apiConstant.MatchString(v.Names[0].Name) {
			continue
		}
		literal, ok := v.Values[0].(*ast.BasicLit)
		if !ok || literal.Kind != token.STRING {
			continue
		}
		// The parser accepts only valid literals.
		value, _ := strconv.Unquote(literal.Value)
		c := constant{file: file, group: tableCellText(g.Doc.Text()), name: v.Names[0].Name, value: value, doc: v.Doc.Text()}
		if !g.Lparen.IsValid() {
			c.group, c.doc = "", g.Doc.Text()
		}
		c.doc = tableCellText(strings.TrimPrefix(c.doc, c.name+" "))
		out = append(out, c)
	}
	return out
}

// tableCellText is a text in one line, fit for a table.
func tableCellText(text string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "|", `\|`)
}
