package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// write writes the file of a source.
func (s source) write() error {
	dir, version, err := findModule(s.module)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(dir, s.file))
	if err != nil {
		return err
	}
	out, err := s.extract(text, version)
	if err != nil {
		return err
	}
	return os.WriteFile(s.output, out, 0o600)
}

// findModule returns the directory and the version of a module that this module requires.
func findModule(name string) (string, string, error) {
	out, err := exec.Command("go", "list", "-mod=readonly", "-m", "-f", "{{.Dir}} {{.Version}}", name).Output()
	if err != nil {
		return "", "", fmt.Errorf("cannot find module %s: %w", name, err)
	}
	dir, version, ok := strings.Cut(strings.TrimSpace(string(out)), " ")
	if !ok || dir == "" {
		return "", "", fmt.Errorf("cannot find module %s: run \"go mod download\"", name)
	}
	return dir, version, nil
}

// extract returns the file of a source, made of the text of the file of its module.
func (s source) extract(text []byte, version string) ([]byte, error) {
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, s.file, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("cannot parse: %w", err)
	}
	x := extraction{source: s, text: text, files: files, found: map[string]bool{}}
	for _, d := range f.Decls {
		x.addDeclaration(d)
	}
	if missing := x.missing(); len(missing) > 0 {
		return nil, fmt.Errorf("cannot find %s in %s", strings.Join(missing, ", "), s.file)
	}
	out := fmt.Sprintf("// Code generated from %s of %s %s. DO NOT EDIT.\n\npackage %s\n\n%s\n%s", s.file, s.module, version, s.name, x.importsOf(f), x.body.String())
	return format.Source([]byte(out))
}

// An extraction collects parts of a file.
type extraction struct {
	source

	text  []byte
	files *token.FileSet
	body  bytes.Buffer
	found map[string]bool
}

// addDeclaration adds a declaration, or the parts of it that are wanted.
func (x *extraction) addDeclaration(d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		name := nameOf(d)
		if x.isWanted(name) {
			x.addNode(d)
		}
		for _, s := range x.statements {
			if s.function == name {
				x.addStatements(s, d.Body)
			}
		}
	case *ast.GenDecl:
		if d.Tok == token.IMPORT {
			return
		}
		if len(x.declarations) == 0 {
			x.addNode(d)
			return
		}
		for _, spec := range d.Specs {
			if slices.ContainsFunc(namesOf(spec), x.isWanted) {
				fmt.Fprintf(&x.body, "%s ", d.Tok)
				x.addNode(spec)
			}
		}
	}
}

// isWanted reports whether a declaration is a part of the file, and records that it was found.
func (x *extraction) isWanted(name string) bool {
	x.found[name] = true
	return slices.Contains(x.declarations, name) || len(x.declarations) == 0
}

func (x *extraction) missing() []string {
	var out []string
	for _, name := range x.declarations {
		if !x.found[name] {
			out = append(out, name)
		}
	}
	for _, s := range x.statements {
		if !x.found[s.begin] {
			out = append(out, s.begin)
		}
	}
	return out
}

// addStatements adds a function of statements.
func (x *extraction) addStatements(s statements, body *ast.BlockStmt) {
	found, err := x.findStatements(s, body)
	if err != nil {
		return
	}
	x.found[s.begin] = true
	fmt.Fprintf(&x.body, "%s\n", s.header)
	for _, statement := range found {
		x.addNode(statement)
	}
	fmt.Fprint(&x.body, "}\n\n")
}

// findStatements returns the statements of the innermost block that begin with a text.
func (x *extraction) findStatements(s statements, body *ast.BlockStmt) ([]ast.Stmt, error) {
	var found []ast.Stmt
	ast.Inspect(body, func(n ast.Node) bool {
		block, ok := n.(*ast.BlockStmt)
		if !ok {
			return true
		}
		i := slices.IndexFunc(block.List, func(st ast.Stmt) bool { return strings.Contains(x.headOf(st), s.begin) })
		if i >= 0 && found == nil {
			found = block.List[i:]
		}
		return true
	})
	if len(found) == 0 {
		return nil, errors.New("cannot find statements")
	}
	if s.only {
		return found[:1], nil
	}
	return found, nil
}

// headOf returns a statement up to its block.
func (x *extraction) headOf(s ast.Stmt) string {
	end := s.End()
	switch s := s.(type) {
	case *ast.IfStmt:
		end = s.Body.Lbrace + 1
	case *ast.SwitchStmt:
		end = s.Body.Lbrace + 1
	case *ast.ForStmt:
		end = s.Body.Lbrace + 1
	case *ast.RangeStmt:
		end = s.Body.Lbrace + 1
	case *ast.GoStmt:
		end = s.Go
	}
	return string(x.text[x.offset(s.Pos()):x.offset(end)])
}

func (x *extraction) offset(p token.Pos) int { return x.files.Position(p).Offset }

func (x *extraction) addNode(n ast.Node) {
	x.body.Write(x.text[x.offset(n.Pos()):x.offset(n.End())])
	x.body.WriteString("\n\n")
}

// importsOf returns the imports of a file that its parts use.
func (x *extraction) importsOf(f *ast.File) string {
	out := "import (\n"
	for _, i := range f.Imports {
		target, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			continue
		}
		name := path.Base(target)
		if i.Name != nil {
			name = i.Name.Name
		}
		if !regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\.`).Match(x.body.Bytes()) {
			continue
		}
		if replaced, ok := x.imports[target]; ok {
			target = replaced
		}
		out += fmt.Sprintf("\t%s %q\n", name, target)
	}
	return out + ")\n"
}

// nameOf returns the name of a function, with the name of its receiver.
func nameOf(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return d.Name.Name
	}
	receiver := d.Recv.List[0].Type
	if star, ok := receiver.(*ast.StarExpr); ok {
		receiver = star.X
	}
	if name, ok := receiver.(*ast.Ident); ok {
		return name.Name + "." + d.Name.Name
	}
	return d.Name.Name
}

// namesOf returns the names that a specification declares.
func namesOf(s ast.Spec) []string {
	switch s := s.(type) {
	case *ast.TypeSpec:
		return []string{s.Name.Name}
	case *ast.ValueSpec:
		var out []string
		for _, name := range s.Names {
			out = append(out, name.Name)
		}
		return out
	}
	return nil
}
