package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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

// A vocabulary is what the code names.
type vocabulary struct {
	// words are identifiers, whole strings, and names of fields in tags, and fields are the latter alone.
	words, fields map[string]bool

	// declared are the names that packages declare, as pkg.Name, by the last element of the package's path. Methods and fields are pkg.Name.Member.
	declared map[string]bool

	// packages are the last elements of their paths, and paths all files and directories of the project.
	packages map[string]bool
	paths    []string
}

// vocabularyOf reads the code of a project, without its tests: a name that a test alone uses is gone.
func vocabularyOf(files fs.FS) (*vocabulary, error) {
	v := &vocabulary{words: map[string]bool{}, fields: map[string]bool{}, declared: map[string]bool{}, packages: map[string]bool{}}
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && (strings.HasPrefix(d.Name(), ".") && name != "." || d.Name() == "_output") {
			return orSkip(err)
		}
		v.paths = append(v.paths, name)
		if path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		b, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, b, parser.SkipObjectResolution)
		if err == nil {
			v.add(path.Base(path.Dir(name)), f)
		}
		return err
	})
	return v, err
}

func (v *vocabulary) add(pkg string, f *ast.File) {
	v.packages[pkg] = true
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			v.words[n.Name] = true
		case *ast.BasicLit:
			v.addLiteral(n)
		case *ast.FuncDecl:
			v.declared[declaredName(pkg, n)] = true
		case *ast.TypeSpec:
			v.addType(pkg, n)
		case *ast.ValueSpec:
			for _, name := range n.Names {
				v.declared[pkg+"."+name.Name] = true
			}
		}
		return true
	})
}

func (v *vocabulary) addLiteral(l *ast.BasicLit) {
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

func (v *vocabulary) addType(pkg string, n *ast.TypeSpec) {
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

// has returns whether the code has a word. Words of no class are not looked at.
func (v *vocabulary) has(word string) bool {
	flag, isFlag := strings.CutPrefix(word, "--")
	found := qualified.FindStringSubmatch(word)
	switch {
	case isFlag:
		name, _, _ := strings.Cut(flag, "=")
		return v.words[camel(name)] || v.words[name]
	case found != nil && v.hasPath(found[1]):
		return v.declared[word]
	case v.words[word]:
		return true
	case fieldPath.MatchString(word) && !strings.HasSuffix(word, ".go"):
		return v.hasFields(word)
	case filePath.MatchString(word):
		return v.hasPath(word)
	case identifier.MatchString(word):
		return v.packages[word] || v.hasPath(word)
	}
	return true
}

func (v *vocabulary) hasFields(word string) bool {
	return !slices.ContainsFunc(strings.Split(strings.ReplaceAll(word, "[]", ""), "."), func(part string) bool { return !v.fields[part] && !v.words[part] })
}

// hasPath returns whether a file or directory has a path, which may leave out the directories that it begins with.
func (v *vocabulary) hasPath(word string) bool {
	return slices.ContainsFunc(v.paths, func(p string) bool { return p == word || strings.HasSuffix(p, "/"+word) })
}

// camel returns the name of the field that a flag is made from.
func camel(flag string) string {
	out := &strings.Builder{}
	for part := range strings.SplitSeq(flag, "-") {
		out.WriteString(strings.ToUpper(part[:min(1, len(part))]) + part[min(1, len(part)):])
	}
	return out.String()
}

// namesOf returns the words between backticks that stand in a page outside of code blocks.
func namesOf(page string) []string {
	var out []string
	for _, found := range codeWord.FindAllStringSubmatch(strings.Join(withoutCode(page), "\n"), -1) {
		out = append(out, found[1])
	}
	return out
}

// TestNames finds names of code that changed or went, in the pages about the code.
func TestNames(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join("decisions", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	v, err := vocabularyOf(os.DirFS(".."))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, page := range append(pages, "architecture.md") {
		b, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range namesOf(string(b)) {
			if n++; !v.has(word) && !slices.Contains(ofKubernetes, word) {
				t.Errorf("%s names %s, which the code does not have", page, word)
			}
		}
	}
	if n < 200 {
		t.Errorf("The pages have %d names, want at least 200", n)
	}
}

func TestVocabulary(t *testing.T) {
	v := &vocabulary{
		words: map[string]bool{"gather": true, "OrderBehind": true, "PollInterval": true}, fields: map[string]bool{"status": true, "order": true},
		declared: map[string]bool{"git.Remote": true, "git.Client.Reach": true}, packages: map[string]bool{"git": true},
		paths: []string{"provider/git", "provider/git/pack.go", "fn.go"},
	}
	cases := map[string]struct {
		reason string
		words  []string
		want   bool
	}{
		"Declared":        {reason: "A name that its package declares is known.", words: []string{"git.Remote", "git.Client.Reach"}, want: true},
		"Renamed":         {reason: "A name that its package does not declare is unknown, though another package may have it.", words: []string{"git.Gone", "git.Client.Gone"}},
		"OtherPackage":    {reason: "A name of a package that is not part of the project is not looked at.", words: []string{"yaml.Gone"}, want: true},
		"Word":            {reason: "An identifier, a reason and a package are known.", words: []string{"gather", "OrderBehind", "git"}, want: true},
		"MissingWord":     {reason: "An identifier that the code does not have is unknown.", words: []string{"collect"}},
		"Field":           {reason: "A path of fields is known if each of them is.", words: []string{"status.order"}, want: true},
		"MissingField":    {reason: "A path with a field that no type has is unknown.", words: []string{"status.plan"}},
		"Path":            {reason: "A file or directory is known without the directories that it begins with.", words: []string{"git/pack.go", "provider/git", "fn.go"}, want: true},
		"MissingPath":     {reason: "A file or directory that does not exist is unknown.", words: []string{"git/gone.go", "provider/gone", "gone.go"}},
		"Flag":            {reason: "A flag is known if the field that it is made from exists.", words: []string{"--poll-interval"}, want: true},
		"MissingFlag":     {reason: "A flag without a field is unknown.", words: []string{"--gone"}},
		"CommandAndValue": {reason: "A command, a pattern and a value of a user are not looked at.", words: []string{"make demo", "refs/intentplane/*", "5m"}, want: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for _, word := range tc.words {
				if diff := cmp.Diff(tc.want, v.has(word)); diff != "" {
					t.Errorf("\n%s\nhas(%q): -want, +got:\n%s", tc.reason, word, diff)
				}
			}
		})
	}
}
