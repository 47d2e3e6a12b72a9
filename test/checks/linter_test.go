package checks

import (
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

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
