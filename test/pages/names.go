package pages

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	// codeWord is a word between backticks.
	codeWord = regexp.MustCompile("`([^`\n]+)`")

	// The classes of words that are compared with the code. Other words, such as a command, are not.
	qualified  = regexp.MustCompile(`^([a-z][a-z0-9]*)\.([A-Z]\w*)(?:\.([A-Z]\w*))?$`)
	fieldPath  = regexp.MustCompile(`^[a-z]\w*(\[\])?(\.[a-z]\w*(\[\])?)+$`)
	filePath   = regexp.MustCompile(`^[\w-]+(/[\w.-]+)+$|^\w+\.go$`)
	identifier = regexp.MustCompile(`^[A-Za-z]\w*$`)

	// jsonName is the name of a field in its tag.
	jsonName = regexp.MustCompile(`json:"([^",]+)`)
)

// ofKubernetes are names of fields that the API server has and our code does not.
var ofKubernetes = []string{"managedFields", "lastTransitionTime"}

// A vocabulary has the names of the code.
type vocabulary struct {
	// words are identifiers, whole strings, and names of fields in tags, and fields are the latter alone.
	words, fields map[string]bool

	// declared are the names that packages declare, as pkg.Name, by the last element of the package's path. Methods and fields are pkg.Name.Member.
	declared map[string]bool

	// packages are the last elements of their paths, and paths all files and directories of the project.
	packages map[string]bool
	paths    []string
}

// vocabularyOf reads the code of a project, without code for tests alone: a name that only a test uses is gone.
func vocabularyOf(files fs.FS) (*vocabulary, error) {
	v := &vocabulary{words: map[string]bool{}, fields: map[string]bool{}, declared: map[string]bool{}, packages: map[string]bool{}}
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && (strings.HasPrefix(d.Name(), ".") && name != "." || d.Name() == "_output") {
			return skipUnlessFailed(err)
		}
		v.paths = append(v.paths, name)
		if path.Ext(name) != ".go" || isTestSupport(name) {
			return nil
		}
		b, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, b, parser.SkipObjectResolution)
		if err == nil {
			v.addFileNames(path.Base(path.Dir(name)), f)
		}
		return err
	})
	return v, err
}

// isTestSupport reports whether a file serves tests. Files of test/bench have the names of the figures, which pages claim.
func isTestSupport(name string) bool {
	return strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "test/") && !strings.HasPrefix(name, "test/bench/")
}

func (v *vocabulary) addFileNames(pkg string, f *ast.File) {
	v.packages[pkg] = true
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			v.words[n.Name] = true
		case *ast.BasicLit:
			v.addStringLiteral(n)
		case *ast.FuncDecl:
			v.declared[declaredName(pkg, n)] = true
		case *ast.TypeSpec:
			v.addDeclaredType(pkg, n)
		case *ast.ValueSpec:
			for _, name := range n.Names {
				v.declared[pkg+"."+name.Name] = true
			}
		}
		return true
	})
}

func (v *vocabulary) addStringLiteral(l *ast.BasicLit) {
	if l.Kind != token.STRING {
		return
	}
	text, err := strconv.Unquote(l.Value)
	if err != nil {
		return
	}
	v.words[text] = true
	if found := jsonName.FindStringSubmatch(text); found != nil {
		v.fields[found[1]], v.words[found[1]] = true, true
	}
}

func (v *vocabulary) addDeclaredType(pkg string, n *ast.TypeSpec) {
	v.declared[pkg+"."+n.Name.Name] = true
	s, ok := n.Type.(*ast.StructType)
	if !ok {
		return
	}
	for _, field := range s.Fields.List {
		for _, name := range field.Names {
			v.declared[pkg+"."+n.Name.Name+"."+name.Name] = true
		}
	}
}

// declaredName returns pkg.Name of a function, and pkg.Type.Name of a method.
func declaredName(pkg string, n *ast.FuncDecl) string {
	if n.Recv == nil || len(n.Recv.List) == 0 {
		return pkg + "." + n.Name.Name
	}
	t := n.Recv.List[0].Type
	if s, ok := t.(*ast.StarExpr); ok {
		t = s.X
	}
	if g, ok := t.(*ast.IndexExpr); ok {
		t = g.X
	}
	if i, ok := t.(*ast.Ident); ok {
		return pkg + "." + i.Name + "." + n.Name.Name
	}
	return ""
}

// isKnownWord returns whether the code has a word. Words of no class are not looked at.
func (v *vocabulary) isKnownWord(word string) bool {
	flag, isFlag := strings.CutPrefix(word, "--")
	found := qualified.FindStringSubmatch(word)
	switch {
	case isFlag:
		name, _, _ := strings.Cut(flag, "=")
		return v.words[fieldOfFlag(name)] || v.words[name]
	case found != nil && v.hasFilePath(found[1]):
		return v.declared[word]
	case v.words[word]:
		return true
	case fieldPath.MatchString(word) && !strings.HasSuffix(word, ".go"):
		return v.hasFieldPath(word)
	case filePath.MatchString(word):
		return v.hasFilePath(word)
	case identifier.MatchString(word):
		return v.packages[word] || v.hasFilePath(word)
	}
	return true
}

func (v *vocabulary) hasFieldPath(word string) bool {
	return !slices.ContainsFunc(strings.Split(strings.ReplaceAll(word, "[]", ""), "."), func(part string) bool { return !v.fields[part] && !v.words[part] })
}

// hasFilePath returns whether a file or directory has a path, which may leave out the directories that it begins with.
func (v *vocabulary) hasFilePath(word string) bool {
	return slices.ContainsFunc(v.paths, func(p string) bool { return p == word || strings.HasSuffix(p, "/"+word) })
}

// fieldOfFlag returns the name of the field that a flag is made from.
func fieldOfFlag(flag string) string {
	out := &strings.Builder{}
	for part := range strings.SplitSeq(flag, "-") {
		out.WriteString(strings.ToUpper(part[:min(1, len(part))]) + part[min(1, len(part)):])
	}
	return out.String()
}

// namesOnPage returns the words between backticks that stand in a page outside of code blocks.
func namesOnPage(page string) []string {
	var out []string
	for _, found := range codeWord.FindAllStringSubmatch(strings.Join(withoutCode(page), "\n"), -1) {
		out = append(out, found[1])
	}
	return out
}
