// Package cve tests, by the identifiers of advisories, that vulnerabilities of other projects of this field do not exist here. The tests
// about Blueprints are in function/render, and docs/security.md lists them all.
package cve

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/apis/promql"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/function/intent"
	"github.com/intentplane/intentplane/function/render"
	"github.com/intentplane/intentplane/provider/clusters"
	"github.com/intentplane/intentplane/provider/gates"
)

const root = "../.."

func kubeconfigReaches(t *testing.T) {
	t.Helper()
	for name, user := range map[string]string{
		"exec":          "exec: {apiVersion: client.authentication.k8s.io/v1, command: sh, interactiveMode: Never}",
		"auth-provider": "auth-provider: {name: gcp}",
		"tokenFile":     "tokenFile: /var/run/secrets/kubernetes.io/serviceaccount/token",
	} {
		config := "apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts: [{name: c, context: {cluster: c, user: u}}]\n" +
			"clusters: [{name: c, cluster: {server: 'https://example.org'}}]\nusers: [{name: u, user: {" + user + "}}]\n"
		if _, err := clusters.Parse([]byte(config), clusters.Limits{}); !clusters.IsRefused(err) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	file := "apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts: [{name: c, context: {cluster: c, user: u}}]\n" +
		"clusters: [{name: c, cluster: {server: 'https://example.org', certificate-authority: /etc/passwd}}]\nusers: [{name: u, user: {token: x}}]\n"
	if _, err := clusters.Parse([]byte(file), clusters.Limits{}); !clusters.IsRefused(err) {
		t.Errorf("certificate-authority: %v", err)
	}
}

func durationFields(t *testing.T) {
	t.Helper()
	for _, text := range []string{"1", "abc", "-5s", strings.Repeat("9", 30) + "h"} {
		if _, err := gates.RulesOf(deploymentv1alpha1.Check{Name: "x", Type: "Prometheus", Timeout: deploymentv1alpha1.Duration(text)}); err == nil {
			t.Errorf("timeout %q is taken", text)
		}
	}
}

const password = "hunter2"

func passwordInURL(t *testing.T) {
	t.Helper()
	for _, raw := range []string{"https://user:" + password + "@example.org/a.git", "https://example.org/a.git?token=" + password, "user:" + password + "@example.org:a.git", "https://user:" + password + "@exa mple/a"} {
		if _, err := policy.ParseRepositoryURL(raw); err == nil || strings.Contains(err.Error(), password) {
			t.Errorf("%q: %v", raw, err)
		}
	}
}

func verification(t *testing.T) {
	t.Helper()
	for _, dir := range []string{"apis", "function", "provider", "cmd"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			b, err := os.ReadFile(path)
			if strings.Contains(string(b), "InsecureSkipVerify:") {
				t.Errorf("%s skips the verification of certificates", path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// secretField matches names of fields that hold a credential. References to Secrets end otherwise.
var secretField = regexp.MustCompile(`(?i)(password|passphrase|token|privateKey|credential)$`)

func credentialsInObjects(t *testing.T) {
	t.Helper()
	for _, o := range []any{
		configv1alpha1.ProviderConfigSpec{},
		catalogv1alpha1.SiteSpec{},
		deploymentv1alpha1.IntentDeploymentSpec{},
		deploymentv1alpha1.IntentDeploymentStatus{},
		deliveryv1alpha1.GitDelivery{},
		deliveryv1alpha1.SiteSync{},
		rolloutv1alpha1.Gate{},
		rolloutv1alpha1.RolloutRequest{},
	} {
		walkTypeFields(t, reflect.TypeOf(o), "", map[reflect.Type]bool{})
	}
}

func walkTypeFields(t *testing.T, fieldType reflect.Type, path string, visited map[reflect.Type]bool) {
	t.Helper()
	for slices.Contains([]reflect.Kind{reflect.Pointer, reflect.Slice, reflect.Map}, fieldType.Kind()) {
		fieldType = fieldType.Elem()
	}
	if fieldType.Kind() != reflect.Struct || visited[fieldType] {
		return
	}
	visited[fieldType] = true
	for f := range fieldType.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Type.Kind() == reflect.String && secretField.MatchString(name) {
			t.Errorf("%s.%s of %s may hold a credential", path, name, fieldType)
		}
		walkTypeFields(t, f.Type, path+"."+name, visited)
	}
}

// treeWithObject is the directory of a claim with one object.
func treeWithObject(object string) policy.Input {
	s := &catalogv1alpha1.Site{}
	s.SetName("edge1")
	s.Spec.Repository.Path = "clusters/edge1"
	s.Spec.Default()
	s.Spec.AllowedNamespaces = []string{"team-a"}
	return policy.Input{
		Claim: rolloutv1alpha1.ClaimReference{Namespace: "team-a", Name: "shop"}, Site: s, ConfigKind: policy.KindClusterProviderConfig,
		Config: &configv1alpha1.ProviderConfigSpec{Git: configv1alpha1.GitRemote{Branch: "main"}}, Branch: "main", Path: "clusters/edge1/team-a/shop",
		Layout: catalogv1alpha1.LayoutKustomization, Files: tree.Files{"a.yaml": []byte(object), "kustomization.yaml": []byte("resources: [a.yaml]\n")},
	}
}

const secretObject = "apiVersion: v1\nkind: Secret\nmetadata: {name: a, namespace: team-a}\nstringData: {password: " + password + "}\n"

func secretInError(t *testing.T) {
	t.Helper()
	if err := policy.CheckTree(treeWithObject(secretObject)); err == nil || strings.Contains(err.Error(), password) {
		t.Errorf("CheckTree(...): %v", err)
	}
}

func lastApplied(t *testing.T) {
	t.Helper()
	encrypted := "ENC[AES256_GCM,data:YQ==,iv:YQ==,tag:YQ==,type:str]"
	o := fmt.Sprintf("apiVersion: v1\nkind: Secret\nmetadata:\n  name: a\n  namespace: team-a\n  annotations:\n    kubectl.kubernetes.io/last-applied-configuration: '{\"stringData\":{\"p\":%q}}'\n"+
		"stringData: {p: %q}\nsops: {mac: %q}\n", password, encrypted, encrypted)
	err := policy.CheckTree(treeWithObject(o))
	if err == nil || !strings.Contains(err.Error(), "last-applied-configuration") || strings.Contains(err.Error(), password) {
		t.Errorf("CheckTree(...): %v", err)
	}
}

func secretInView(t *testing.T) {
	t.Helper()
	files, _ := policy.WithoutSecrets(treeWithObject(secretObject).Files)
	for name, content := range files {
		if strings.Contains(string(content), password) {
			t.Errorf("%s shows the value of a Secret: %s", name, content)
		}
	}
}

func leastPrivilege(t *testing.T) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, "examples", "rbac", "provider.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for doc := range strings.SplitSeq(string(b), "\n---\n") {
		role := rbacv1.ClusterRole{}
		if err := yaml.Unmarshal([]byte(doc), &role); err != nil {
			t.Fatal(err)
		}
		for _, rule := range role.Rules {
			secrets := slices.Contains(rule.APIGroups, corev1.GroupName) && (slices.Contains(rule.Resources, "secrets") || slices.Contains(rule.Resources, "*"))
			if secrets || slices.Contains(rule.Verbs, "*") || slices.Contains(rule.APIGroups, "*") {
				t.Errorf("%s: %v", role.GetName(), rule)
			}
		}
	}
}

// secretsInDeliveries checks the additions to the role view of Kubernetes.
func secretsInDeliveries(t *testing.T) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, "examples", "rbac", "people.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	read := map[bool]bool{}
	for doc := range strings.SplitSeq(string(b), "\n---\n") {
		role := rbacv1.ClusterRole{}
		if err := yaml.Unmarshal([]byte(doc), &role); err != nil {
			t.Fatal(err)
		}
		for _, rule := range role.Rules {
			if slices.Contains(rule.Resources, "gitdeliveries") || slices.Contains(rule.Resources, "*") {
				read[role.GetLabels()["rbac.authorization.k8s.io/aggregate-to-view"] == "true"] = true
			}
		}
	}
	if !read[false] || read[true] {
		t.Errorf("GitDeliveries are read by the role view: %t, by others: %t", read[true], read[false])
	}
}

func regexInjection(t *testing.T) {
	t.Helper()
	template, err := promql.Parse(`up{service=~"{{service}}-.*"}`)
	if err != nil {
		t.Fatal(err)
	}
	got, err := template.Fill(promql.Values{Service: ".*|bank", Namespace: "team-a", Site: "edge1"})
	if want := `up{service=~"(?:\\.\\*\\|bank)-.*"}`; err != nil || got != want {
		t.Errorf("Fill(...): %s, %v, want %s", got, err, want)
	}
}

func wantIntentRefused(t *testing.T) {
	t.Helper()
	for name, tc := range map[string]struct{ text, want string }{
		"Depth":  {text: strings.Repeat(`{"a":`, 2_000) + "1" + strings.Repeat("}", 2_000), want: "nest"},
		"Length": {text: `{"service": "` + strings.Repeat("x", 10<<20) + `"}`, want: "has 10485775 bytes, more than"},
		"Index":  {text: `{"a[99999999]": 1}`, want: "a[99999999]"},
	} {
		if _, err := intent.FromText(tc.text); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: want error %q, got %v", name, tc.want, err)
		}
	}
}

// wantRefused builds a Blueprint with a kustomization that is not allowed, and wants that as the reason.
func wantRefused(kustomization, want string) func(t *testing.T) {
	return func(t *testing.T) {
		t.Helper()
		b := &catalogv1alpha1.Blueprint{}
		b.SetName("web")
		b.Spec.ServiceTypes = []string{"web"}
		b.Spec.Files = map[string]catalogv1alpha1.File{"kustomization.yaml": catalogv1alpha1.File(kustomization)}
		if err := render.Check(b); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("a Blueprint with %q: want error %q, got %v", kustomization, want, err)
		}
	}
}

func wantFileURLRefused(t *testing.T) {
	t.Helper()
	requireVersion("github.com/go-git/go-git/v5", "5.13.0")(t)
	for _, raw := range []string{"file:///etc", "/etc", "ext::sh -c x", "--upload-pack=x", "ssh://-oProxyCommand=x/a", "ftp://example.org/a", "ext://example.org/a"} {
		if _, err := policy.ParseRepositoryURL(raw); err == nil {
			t.Errorf("%q is taken for a repository", raw)
		}
	}
}

// requireVersion reads the version of a module in go.mod.
func requireVersion(module, version string) func(t *testing.T) {
	return func(t *testing.T) {
		t.Helper()
		b, err := os.ReadFile(filepath.Join(root, "go.mod"))
		if err != nil {
			t.Fatal(err)
		}
		found := regexp.MustCompile(`(?m)^\s*` + regexp.QuoteMeta(module) + ` v(\S+)`).FindSubmatch(b)
		if found == nil {
			t.Fatalf("go.mod does not name %s", module)
		}
		if got := semver.MustParse(string(found[1])); got.LessThan(semver.MustParse(version)) {
			t.Errorf("%s %s is older than %s", module, got, version)
		}
	}
}
