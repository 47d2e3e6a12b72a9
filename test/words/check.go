package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// A finding is one place that does not pass, as compilers print places.
type finding struct {
	file    string
	line    int
	message string
}

// String is one line: the place, the finding, and the remedy.
func (f finding) String() string { return fmt.Sprintf("%s:%d: %s", f.file, f.line, f.message) }

// A checker collects findings over several files.
type checker struct {
	files *token.FileSet
	terms []term
	// refused are the terms that are not allowed in the current file.
	refused  []term
	names    map[string]map[string]string
	findings []finding
}

// checkTree returns the findings in the Go files below a directory, without the files in pending directories, ordered by place.
func checkTree(root string, pending []string) ([]finding, error) {
	tree, err := os.OpenRoot(root)
	if err != nil {
		return nil, errors.Wrap(err, "cannot open directory")
	}
	defer tree.Close()
	c := &checker{files: token.NewFileSet(), terms: refusedTerms(), names: map[string]map[string]string{}}
	err = fs.WalkDir(tree.FS(), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return errors.Wrapf(err, "cannot read %s", path)
		}
		if d.IsDir() && isSkippedDir(path, d.Name()) {
			return fs.SkipDir
		}
		if d.IsDir() || !isCheckedFile(path) || isInPendingDir(path, pending) {
			return nil
		}
		text, err := fs.ReadFile(tree.FS(), path)
		if err != nil {
			return errors.Wrapf(err, "cannot read %s", path)
		}
		return c.checkFile(path, text)
	})
	slices.SortStableFunc(c.findings, func(a, b finding) int {
		return strings.Compare(fmt.Sprintf("%s %09d", a.file, a.line), fmt.Sprintf("%s %09d", b.file, b.line))
	})
	return c.findings, err
}

func isSkippedDir(path, name string) bool {
	return path != "." && (strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "testdata")
}

// isInPendingDir reports whether a file is in one of some pending directories. A directory that ends in /... includes all directories below it.
func isInPendingDir(file string, directories []string) bool {
	dir := filepath.Dir(file)
	return slices.ContainsFunc(directories, func(pending string) bool {
		root, hasTree := strings.CutSuffix(pending, "/...")
		return root == dir || hasTree && strings.HasPrefix(dir, root+"/")
	})
}

// isCheckedFile reports whether the tree's authors write a file, and not for tests.
func isCheckedFile(path string) bool {
	return strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") && !strings.HasPrefix(filepath.Base(path), "zz_")
}

// checkFile checks the comments, sentences and names of one file.
func (c *checker) checkFile(path string, text []byte) error {
	f, err := parser.ParseFile(c.files, path, text, parser.ParseComments)
	if err != nil {
		return errors.Wrapf(err, "cannot parse %s", path)
	}
	if ast.IsGenerated(f) {
		return nil
	}
	c.refused = slices.DeleteFunc(slices.Clone(c.terms), func(t term) bool { return isInPendingDir(path, t.pending) })
	for _, group := range f.Comments {
		for _, comment := range group.List {
			c.checkText("comment", comment.Pos(), comment.Text)
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.FuncDecl:
			c.checkFuncName(filepath.Dir(path), n)
		case *ast.Field:
			c.checkFieldComment(n)
		case *ast.BasicLit:
			c.checkString(n)
		}
		return true
	})
	return nil
}

// checkString checks a string of three words or more, which is a sentence for a reader.
func (c *checker) checkString(l *ast.BasicLit) {
	if l.Kind != token.STRING {
		return
	}
	if text, err := strconv.Unquote(l.Value); err == nil && len(strings.Fields(text)) > 2 {
		c.checkText("sentence", l.Pos(), text)
	}
}

func (c *checker) checkText(subject string, pos token.Pos, text string) {
	for n, line := range strings.Split(text, "\n") {
		c.checkLine(subject, pos, n, line)
	}
}

// checkLine checks one line of a text. The line has a number from 0.
func (c *checker) checkLine(subject string, pos token.Pos, n int, line string) {
	for _, t := range c.refused {
		for _, word := range t.pattern.FindAllString(line, -1) {
			c.addFinding(pos, n, fmt.Sprintf("%s has %q: %s", subject, word, t.instead))
		}
	}
}

// checkFuncName reports a function or method whose name differs from another one's of the same package or type by the capital alone.
func (c *checker) checkFuncName(dir string, f *ast.FuncDecl) {
	scope := dir
	if f.Recv != nil && len(f.Recv.List) > 0 {
		scope += "." + receiverName(f.Recv.List[0].Type)
	}
	if c.names[scope] == nil {
		c.names[scope] = map[string]string{}
	}
	first, size := utf8.DecodeRuneInString(f.Name.Name)
	key := string(unicode.ToLower(first)) + f.Name.Name[size:]
	if otherName, ok := c.names[scope][key]; ok && otherName != f.Name.Name {
		c.addFinding(f.Pos(), 0, fmt.Sprintf("%s and %s differ by a capital alone: name one of them by its other action", f.Name.Name, otherName))
	}
	c.names[scope][key] = f.Name.Name
}

// fieldSubject matches a comment that begins with the name of its subject.
var fieldSubject = regexp.MustCompile(`^//\s+([a-z]\w*) (?:are|counts|has|holds|is|keeps|lists|names|says)\b`)

// checkFieldComment reports a comment that begins with another name than the field's: a field that was renamed keeps its old comment.
func (c *checker) checkFieldComment(f *ast.Field) {
	if f.Doc == nil || len(f.Names) == 0 {
		return
	}
	subject := fieldSubject.FindStringSubmatch(f.Doc.List[0].Text)
	if subject == nil || slices.ContainsFunc(f.Names, func(name *ast.Ident) bool { return name.Name == subject[1] }) {
		return
	}
	c.addFinding(f.Doc.Pos(), 0, fmt.Sprintf("comment of field %s is about %q: begin it with the field's name", f.Names[0].Name, subject[1]))
}

// receiverName returns the name of a method's type.
func receiverName(e ast.Expr) string {
	switch t := e.(type) {
	case *ast.StarExpr:
		return receiverName(t.X)
	case *ast.IndexExpr:
		return receiverName(t.X)
	case *ast.IndexListExpr:
		return receiverName(t.X)
	case *ast.Ident:
		return t.Name
	}
	return ""
}

func (c *checker) addFinding(pos token.Pos, below int, message string) {
	p := c.files.Position(pos)
	c.findings = append(c.findings, finding{file: p.Filename, line: p.Line + below, message: message})
}
