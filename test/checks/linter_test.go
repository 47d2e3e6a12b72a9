package checks

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// linterConfig has the parts of the linter's configuration that forbid identifiers.
type linterConfig struct {
	Linters struct {
		Settings struct {
			Forbidigo struct {
				AnalyzeTypes bool `json:"analyze-types"` //nolint:tagliatelle // The linter names its fields so.
				Forbid       []struct {
					Pattern string `json:"pattern"`
					Pkg     string `json:"pkg"`
					Msg     string `json:"msg"`
				} `json:"forbid"`
			} `json:"forbidigo"`
		} `json:"settings"`
		Exclusions struct {
			Rules []struct {
				Path       string   `json:"path"`
				PathExcept string   `json:"path-except"` //nolint:tagliatelle // The linter names its fields so.
				Linters    []string `json:"linters"`
				Text       string   `json:"text"`
				Source     string   `json:"source"`
			} `json:"rules"`
		} `json:"exclusions"`
	} `json:"linters"`
}

// refuses reports whether the linter refuses an identifier of a package in a file.
func (c *linterConfig) refuses(file, pkg, identifier string) bool {
	for _, rule := range c.Linters.Settings.Forbidigo.Forbid {
		isMeant := regexp.MustCompile(rule.Pattern).MatchString(identifier) && regexp.MustCompile(rule.Pkg).MatchString(pkg)
		if isMeant && !c.isExcluded(file, rule.Msg) {
			return true
		}
	}
	return false
}

// isExcluded reports whether a finding of the rules about identifiers counts in no line of a file.
func (c *linterConfig) isExcluded(file, message string) bool {
	for _, rule := range c.Linters.Exclusions.Rules {
		isPath := regexp.MustCompile(rule.Path).MatchString(file) && (rule.PathExcept == "" || !regexp.MustCompile(rule.PathExcept).MatchString(file))
		if strings.Contains(strings.Join(rule.Linters, " "), "forbidigo") && rule.Source == "" && isPath && regexp.MustCompile(rule.Text).MatchString(message) {
			return true
		}
	}
	return false
}

// TestLinterRefuses asks the configuration of the linter about each way around the bounds of peers, in a controller and in the package that may.
func TestLinterRefuses(t *testing.T) {
	const (
		ownModule = "github.com/intentplane/intentplane/"
		runtime   = "sigs.k8s.io/controller-runtime"
		anywhere  = "provider/controller/gate/gather.go"
		web       = "provider/fetch/transports.go"
		ofGit     = "provider/git/transport/http.go"
		ofSites   = "provider/clusters/transport.go"
		ofLists   = "provider/listing/listing.go"
	)
	cases := map[string][]string{ // The package, and the file that may use it.
		"http.Transport":                        {"net/http", web},
		"http.Client":                           {"net/http", web},
		"http.DefaultClient":                    {"net/http", web},
		"http.DefaultTransport":                 {"net/http", web},
		"http.Get":                              {"net/http", web},
		"http.Post":                             {"net/http", web},
		"net.Dialer":                            {"net", ofGit},
		"net.Dial":                              {"net", ofGit},
		"net.DialTCP":                           {"net", ofGit},
		"net.LookupHost":                        {"net", ofGit},
		"tls.Dial":                              {"crypto/tls", ofGit},
		"tls.DialWithDialer":                    {"crypto/tls", ofGit},
		"tls.Dialer":                            {"crypto/tls", ofGit},
		"http2.Transport":                       {"golang.org/x/net/http2", web},
		"ssh.Dial":                              {"golang.org/x/crypto/ssh", ofGit},
		"ssh.NewClientConn":                     {"golang.org/x/crypto/ssh", ofGit},
		"http.NewClientWithOptions":             {"github.com/go-git/go-git/v5/plumbing/transport/http", ofGit},
		"git.PlainClone":                        {"github.com/go-git/go-git/v5", ofGit},
		"rest.TransportFor":                     {"k8s.io/client-go/rest", ofSites},
		"rest.TLSConfigFor":                     {"k8s.io/client-go/rest", ofSites},
		"rest.HTTPClientFor":                    {"k8s.io/client-go/rest", ofSites},
		"rest.HTTPWrappersForConfig":            {"k8s.io/client-go/rest", ofSites},
		"rest.RESTClientForConfigAndClient":     {"k8s.io/client-go/rest", ofSites},
		"transport.New":                         {"k8s.io/client-go/transport", ofSites},
		"metadata.NewForConfig":                 {"k8s.io/client-go/metadata", ofSites},
		"discovery.NewDiscoveryClientForConfig": {"k8s.io/client-go/discovery", ofSites},
		"dynamic.NewForConfig":                  {"k8s.io/client-go/dynamic", ofSites},
		"kubernetes.NewForConfig":               {"k8s.io/client-go/kubernetes", ofSites},
		"client.New":                            {runtime + "/pkg/client", ofSites},
		"cache.New":                             {runtime + "/pkg/cache", ofSites},
		"cluster.New":                           {runtime + "/pkg/cluster", ofSites},
		"transport.ListRefs":                    {ownModule + "provider/git/transport", "provider/git/refs/list.go"},
		"refs.List":                             {ownModule + "provider/git/refs", "provider/controller/imagebuild/setup.go"},
		"git.NewClient":                         {ownModule + "provider/git", "provider/repository/pool.go"},
		"budget.New":                            {ownModule + "provider/git/budget", "provider/repository/limits.go"},
		"account.New":                           {ownModule + "provider/clusters/account", "provider/main.go"},
		"controllerruntime.NewControllerManagedBy": {runtime, "provider/controller/setup/controller.go"},
		"builder.ControllerManagedBy":              {runtime + "/pkg/builder", "provider/controller/setup/controller.go"},
		"controller.NewUnmanaged":                  {runtime + "/pkg/controller", "provider/controller/setup/controller.go"},
		"client.Client.List":                       {runtime + "/pkg/client", ofLists},
		"client.Reader.List":                       {runtime + "/pkg/client", ofLists},
		"cache.Cache.List":                         {runtime + "/pkg/cache", ofLists},
		"dynamic.ResourceInterface.List":           {"k8s.io/client-go/dynamic", "provider/clusters/list.go"},
		"v1.SecretInterface.List":                  {"k8s.io/client-go/kubernetes/typed/core/v1", "bundles/state/list.go"},
		"client.UnsafeDisableDeepCopy":             {runtime + "/pkg/client", ofLists},
		"client.FieldIndexer.IndexField":           {runtime + "/pkg/client", "provider/listing/index.go"},
		"cache.Cache.IndexField":                   {runtime + "/pkg/cache", "provider/listing/index.go"},
		"listing.Cached":                           {ownModule + "provider/listing", "provider/controller/setup/states.go"},
		"yaml.Unmarshal":                           {"sigs.k8s.io/yaml", "apis/boundedyaml/boundedyaml.go"},
		"yaml.UnmarshalStrict":                     {"sigs.k8s.io/yaml", "apis/boundedyaml/boundedyaml.go"},
		"yaml.YAMLToJSONStrict":                    {"sigs.k8s.io/yaml", "apis/boundedyaml/boundedyaml.go"},
		"yaml.NewYAMLOrJSONDecoder":                {"k8s.io/apimachinery/pkg/util/yaml", "apis/boundedyaml/boundedyaml.go"},
		"event.NewAPIRecorder":                     {"github.com/crossplane/crossplane-runtime/v2/pkg/event", "provider/controller/setup/event.go"},
	}
	c := readLinterConfig(t)
	if !c.Linters.Settings.Forbidigo.AnalyzeTypes {
		t.Error("The linter compares types, since a package may be imported under another name.")
	}
	for identifier, tc := range cases {
		t.Run(identifier, func(t *testing.T) {
			if diff := cmp.Diff([]bool{true, false}, []bool{c.refuses(anywhere, tc[0], identifier), c.refuses(tc[1], tc[0], identifier)}); diff != "" {
				t.Errorf("\nThe package with the bounds uses it, and no other.\nrefuses(...) in %s, and in %s: -want, +got:\n%s", anywhere, tc[1], diff)
			}
		})
	}
}

// hidingComment matches a comment that hides findings about identifiers, or all findings, and generatedComment a comment by which the linter leaves a file out.
var (
	hidingComment    = regexp.MustCompile(`//\s*nolint(\s|$|:[\w,\s]*\b(all|forbidigo)\b)`)
	generatedComment = regexp.MustCompile(`(?im)^//.*(code generated|do not edit|autogenerated file)`)
	buildConstraint  = regexp.MustCompile(`(?m)^//go:build (.+)$`)
)

// TestNothingHidesFromTheLinter looks for files, lines and expressions of the product in which the linter finds no forbidden identifier.
func TestNothingHidesFromTheLinter(t *testing.T) {
	constraints, c := map[string]bool{"!linux": true}, readLinterConfig(t)
	for _, dir := range []string{"apis", "bundles", "function", "provider"} {
		root := os.DirFS("../../" + dir)
		err := fs.WalkDir(root, ".", func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
				return err
			}
			content, err := fs.ReadFile(root, file)
			if err != nil {
				return err
			}
			reportHiding(t, dir+"/"+file, content, constraints)
			hidden, err := c.hiddenIdentifiers(dir+"/"+file, content)
			for _, identifier := range hidden {
				t.Errorf("%s/%s: the linter does not look into the expression before a method or a field, which uses %s", dir, file, identifier)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// hiddenIdentifiers returns the refused identifiers of a file in expressions before a method or a field, as in http.DefaultClient.Do. The linter compares the type
// of such an expression, and does not look into it.
func (c *linterConfig) hiddenIdentifiers(file string, content []byte) ([]string, error) {
	parsed, err := parser.ParseFile(token.NewFileSet(), file, content, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	imports, out := map[string]string{}, []string{}
	for _, i := range parsed.Imports {
		pkg := strings.Trim(i.Path.Value, `"`)
		if imports[path.Base(pkg)] = pkg; i.Name != nil {
			imports[i.Name.Name] = pkg
		}
	}
	findRefused := func(n ast.Node) bool {
		inner, isSelector := n.(*ast.SelectorExpr)
		if !isSelector {
			return true
		}
		if pkg, isIdent := inner.X.(*ast.Ident); isIdent && c.refuses(file, imports[pkg.Name], path.Base(imports[pkg.Name])+"."+inner.Sel.Name) {
			out = append(out, pkg.Name+"."+inner.Sel.Name)
		}
		return true
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		if outer, isSelector := n.(*ast.SelectorExpr); isSelector {
			ast.Inspect(outer.X, findRefused)
		}
		return true
	})
	return out, nil
}

// TestHiddenIdentifiers finds refused identifiers in expressions that the linter does not look into.
func TestHiddenIdentifiers(t *testing.T) {
	const file = `package gate

import (
	"net/http"

	kube "k8s.io/client-go/dynamic"
)

var (
	_ = http.StatusText(http.StatusOK)
	_, _ = http.DefaultClient.Do(nil)
	_, _ = (&http.Transport{}).RoundTrip(nil)
	_ = kube.NewForConfigOrDie(nil).Resource(x)
)
`
	got, err := readLinterConfig(t).hiddenIdentifiers("provider/controller/gate/gather.go", []byte(file))
	if diff := cmp.Diff([]string{"http.DefaultClient", "http.Transport", "kube.NewForConfigOrDie"}, got); err != nil || diff != "" {
		t.Errorf("\nA refused identifier is found before a method, under each name of its package.\nhiddenIdentifiers(...): %v, -want, +got:\n%s", err, diff)
	}
}

// reportHiding reports what the linter does not see in a file.
func reportHiding(t *testing.T, file string, content []byte, constraints map[string]bool) {
	t.Helper()
	if found := hidingComment.Find(content); found != nil {
		t.Errorf("%s: %q hides forbidden identifiers: an exclusion in .golangci.yml names the file that may use them", file, found)
	}
	if strings.HasPrefix(file, "apis/") { // The types have generated methods, and their generators.
		return
	}
	if head, _, _ := bytes.Cut(content, []byte("\npackage ")); generatedComment.Match(head) {
		t.Errorf("%s: the linter takes the file for a generated one", file)
	}
	if found := buildConstraint.FindSubmatch(content); found != nil && !constraints[string(found[1])] {
		t.Errorf("%s: the linter leaves the file out, by %q", file, found[1])
	}
}

// TestHidingComments matches comments that hide findings, and comments that do not.
func TestHidingComments(t *testing.T) {
	cases := map[string]bool{
		"//nolint:forbidigo // Why.": true, "// nolint": true, "//nolint": true, "//nolint:all": true, "//nolint:gosec,forbidigo": true,
		"//nolint:nilerr // The queue waits.": false, "// The linter is asked.": false,
	}
	for comment, want := range cases {
		if diff := cmp.Diff(want, hidingComment.MatchString(comment)); diff != "" {
			t.Errorf("A comment hides findings of the linters that it names, or of all.\n%s: -want, +got:\n%s", comment, diff)
		}
	}
}

func readLinterConfig(t *testing.T) *linterConfig {
	t.Helper()
	c := &linterConfig{}
	if err := yaml.Unmarshal([]byte(readFile(t, "../../.golangci.yml")), c); err != nil {
		t.Fatal(err)
	}
	return c
}
