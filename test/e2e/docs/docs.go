package docs

import (
	"fmt"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/function/render"
	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/controlplane/kubernetes"
	"github.com/intentplane/intentplane/test/controlplane/toolbox"
	"github.com/intentplane/intentplane/test/gitserver"
	"github.com/intentplane/intentplane/test/typed"
)

const (
	installPage = "docs/install.md"

	user     = "robot"
	password = "a password: with $igns"

	repository = "fleet"
	candidate  = "v9.9.9-rc.1"
)

// afterwards are the sections of the install page that follow each way to install.
var afterwards = []string{"A repository", "A catalog and a first deployment", "Configurations of repositories"}

// startEmptyPlane starts a control plane that has Crossplane and a repository, and nothing of ours.
func startEmptyPlane(t *testing.T, change func(*controlplane.Options)) (*controlplane.ControlPlane, string) {
	t.Helper()
	product, err := controlplane.Product()
	if err != nil {
		t.Fatal(err)
	}
	o := controlplane.Options{
		PackageRuntime: controlplane.RuntimeDeployment, Version: product.Version, KeepDirOnFailure: true,
		Git: []gitserver.Option{gitserver.WithBasicAuth(user, password)},
	}
	change(&o)
	cp, err := controlplane.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cp.Err(); err != nil {
			t.Error(err)
		}
		if err := cp.Stop(); err != nil {
			t.Error(err)
		}
	})
	if err := cp.Git.CreateRepo(t.Context(), repository, map[string]string{"README.md": "What runs on our fleet.\n"}); err != nil {
		t.Fatal(err)
	}
	return cp, product.Version
}

// valuesOfReader returns the values of a reader, in place of the values of the install page.
func valuesOfReader(cp *controlplane.ControlPlane, registry, version string) map[string]string {
	quote := func(s string) string { return "'" + s + "'" }
	return map[string]string{
		"REGISTRY": registry, "VERSION": version, "REGISTRY_USER": user, "REGISTRY_PASSWORD": quote(password),
		"CONTROL_PLANE": "prod-eu", "REPOSITORY": cp.Git.URL(repository), "GIT_USER": user, "GIT_PASSWORD": quote(password),
		"FLEET": quote(withCredentials(cp.Git.URL(repository))),
	}
}

// withCredentials returns a URL with the credentials that git would ask for.
func withCredentials(address string) string {
	return strings.Replace(address, "://", "://"+url.UserPassword(user, password).String()+"@", 1)
}

// publishCandidates offers a release candidate of a later version beside the installed version.
func publishCandidates(t *testing.T, cp *controlplane.ControlPlane) {
	t.Helper()
	product, err := controlplane.Product()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range product.Dependencies {
		if err := cp.Publish(t.Context(), p, candidate); err != nil {
			t.Fatal(err)
		}
	}
}

// wantVersions holds the package manager to the version that was asked for, of all packages.
func wantVersions(t *testing.T, cp *controlplane.ControlPlane, version string) {
	t.Helper()
	want, got := map[string]string{}, map[string]string{}
	for kind, names := range map[string][]string{
		"Configuration": {"configuration-intentplane", "configuration-intentplane-namespaced"},
		"Function":      {"function-intentplane"},
		"Provider":      {"provider-intentplane"},
	} {
		for _, name := range names {
			want["intentplane-"+name] = controlplane.Repository + "/" + name + ":" + version
		}
		l := &unstructured.UnstructuredList{}
		l.SetAPIVersion("pkg.crossplane.io/v1")
		l.SetKind(kind + "List")
		if err := cp.Client.List(t.Context(), l); err != nil {
			t.Fatal(err)
		}
		for _, u := range l.Items {
			got[u.GetName()], _, _ = unstructured.NestedString(u.Object, "spec", "package")
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("packages: -want, +got:\n%s", diff)
	}
}

// A deployment has the checked fields of a Deployment that Crossplane makes.
type deployment struct {
	Image       string
	Account     string
	Args        []string
	Ports       map[string]int32
	PullSecrets []string
}

// wantDeployments compares the Deployments that Crossplane made with the page: the provider runs as the account that has the rights.
func wantDeployments(t *testing.T, cp *controlplane.ControlPlane, registry, version string, pullSecrets []string) {
	t.Helper()
	want := map[string]deployment{
		"intentplane-function-intentplane": {
			Image: registry + "/function-intentplane:" + version, Account: "intentplane-function-intentplane-…",
			Ports: map[string]int32{"metrics": 8080, "grpc": 9443}, PullSecrets: pullSecrets,
		},
		"intentplane-provider-intentplane": {
			Image: registry + "/provider-intentplane:" + version, Account: controlplane.ProviderServiceAccount, Args: []string{"--leader-election"},
			Ports: map[string]int32{"health": 8081, "metrics": 8080, "webhook": 9443}, PullSecrets: pullSecrets,
		},
	}
	l := &appsv1.DeploymentList{}
	if err := cp.Client.List(t.Context(), l, client.InNamespace(controlplane.Namespace)); err != nil {
		t.Fatal(err)
	}
	got := map[string]deployment{}
	for _, d := range l.Items {
		got[packageNameOf(d.Spec.Template.Labels)] = summarizeBlock(d)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Deployments: -want, +got:\n%s", diff)
	}
}

func packageNameOf(labels map[string]string) string {
	return labels["pkg.crossplane.io/function"] + labels["pkg.crossplane.io/provider"]
}

func summarizeBlock(d appsv1.Deployment) deployment {
	pod := d.Spec.Template.Spec
	container := pod.Containers[0]
	// Without a name of its own an account is called after the revision.
	account := strings.Replace(pod.ServiceAccountName, strings.TrimPrefix(d.GetName(), packageNameOf(d.Spec.Template.Labels)+"-"), "…", 1)
	out := deployment{Image: container.Image, Account: account, Args: container.Args, Ports: map[string]int32{}}
	for _, p := range container.Ports {
		out.Ports[p.Name] = p.ContainerPort
	}
	for _, s := range pod.ImagePullSecrets {
		out.PullSecrets = append(out.PullSecrets, s.Name)
	}
	return out
}

// wantDelivered holds the repository to the two deployments of the page, on both Sites.
func wantDelivered(t *testing.T, cp *controlplane.ControlPlane) {
	t.Helper()
	files, err := cp.Git.Files(t.Context(), repository, "main")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"edge1/team-a/bank", "edge1/team-a/shop", "edge2/team-a/bank", "edge2/team-a/shop"} {
		if marker := "clusters/" + dir + "/.intentplane"; !strings.Contains(files[marker], "prod-eu") {
			t.Errorf("%s is %q, and does not name the installation; the repository has %v", marker, files[marker], slices.Sorted(maps.Keys(files)))
		}
	}
}

// refusesUneditedRepository shows that a configuration whose name of the installation was not chosen cannot be applied.
func refusesUneditedRepository(t *testing.T, r *reader) {
	t.Helper()
	_, err := r.runScript(t.Context(), typed.Script{Text: "kubectl apply --dry-run=server -f examples/install/repository.yaml"})
	if err == nil || !strings.Contains(err.Error(), "spec.controlPlane") {
		t.Errorf("examples/install/repository.yaml was applied without an edit: %v", err)
	}
}

// installKinds installs the kinds of the GitOps engines and of Gateway API, which the pages and the examples use, and makes the namespaces of the engines.
func installKinds(t *testing.T, cp *controlplane.ControlPlane) {
	t.Helper()
	for _, name := range []string{"ARGOCD_CRDS", "FLUX_SOURCE_CRDS", "FLUX_KUSTOMIZE_CRDS", "GATEWAY_API_CRDS"} {
		path, err := toolbox.Path(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if err := cp.Apply(t.Context(), path); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"argocd", "flux-system"} {
		ns := &corev1.Namespace{}
		ns.SetName(name)
		if err := cp.Client.Create(t.Context(), ns); client.IgnoreAlreadyExists(err) != nil {
			t.Fatal(err)
		}
	}
	if err := cp.Client.Get(t.Context(), types.NamespacedName{Name: "team-a"}, &corev1.Namespace{}); err != nil {
		t.Fatal(err)
	}
}

// unapplied are patterns of examples that an API server cannot take as they are.
var unapplied = []string{
	"examples/bundles/*",            // test/e2e/bundles applies them, and has the function compile them.
	"examples/blueprints/*/*",       // Sources of Blueprints.
	"examples/render/*/*",           // Composites that Crossplane alone makes, and their composed objects.
	"examples/render/*",             // A Function for "crossplane render".
	"examples/install/crossplane/*", // Values of Crossplane's chart.
	"examples/import/*",             // Objects of Argo Rollouts and Flagger, for "kubectl intent import".
}

// exampleBlocks returns all examples as blocks of YAML.
func exampleBlocks(t *testing.T, r *reader) []typed.Block {
	t.Helper()
	files, err := kubernetes.YAMLFiles(filepath.Join(r.root, "examples"))
	if err != nil {
		t.Fatal(err)
	}
	var out []typed.Block
	for _, f := range files {
		path, err := filepath.Rel(r.root, f)
		if err != nil {
			t.Fatal(err)
		}
		if isUnapplied(path) {
			continue
		}
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		// The name of an installation is to be chosen, and never changes. A request names the user who makes it.
		text := strings.NewReplacer(
			"CHANGE-ME", "prod-eu", "controlPlane: demo", "controlPlane: prod-eu", "requestedBy: ann@example.org", "requestedBy: admin",
		).Replace(string(b))
		out = append(out, typed.Block{Page: path, Line: 1, Language: typed.YAML, Text: text})
	}
	return out
}

func isUnapplied(path string) bool {
	return slices.ContainsFunc(unapplied, func(pattern string) bool {
		ok, err := filepath.Match(pattern, path)
		return ok && err == nil
	})
}

// failsWhereALineIsBroken breaks lines of copies of pages, one at a time: a command, a flag, a field, a value, and the language of a block.
func failsWhereALineIsBroken(t *testing.T, r *reader) {
	t.Helper()
	good := strings.Join([]string{
		"## A", "```sh", "kubectl get namespace team-a", "```", "```console", "$ kubectl get namespace", "NAME", "```", "```yaml",
		"apiVersion: intentplane.dev/v1alpha1", "kind: IntentDeployment", "metadata: {namespace: team-a, name: broken}",
		"spec:", "  intent: '{\"service\": \"broken\", \"site\": \"edge1\"}'", "  rollbackConfig:", "    autoRollback: true", "```",
	}, "\n")
	if err := r.typePageText(t, good); err != nil {
		t.Fatalf("the page that is broken below cannot be typed: %v", err)
	}
	cases := map[string]struct{ reason, from, to string }{
		"Command":  {reason: "An object that is not there fails its command.", from: "namespace team-a\n", to: "namespace team-x\n"},
		"Console":  {reason: "A command in a console is typed too.", from: "$ kubectl get namespace", to: "$ kubectl git namespace"},
		"Field":    {reason: "A field that the schema does not know is refused.", from: "autoRollback", to: "autoRolback"},
		"Value":    {reason: "A value of another type is refused.", from: "autoRollback: true", to: "autoRollback: often"},
		"Kind":     {reason: "A kind that is not served is refused.", from: "kind: IntentDeployment", to: "kind: IntendDeployment"},
		"Language": {reason: "A block that cannot be typed is refused.", from: "```yaml", to: "```toml"},
	}
	for name, tc := range cases {
		if err := r.typePageText(t, strings.Replace(good, tc.from, tc.to, 1)); err == nil {
			t.Errorf("%s: %s", name, tc.reason)
		}
	}
	// A page of ours, with one field misspelled.
	b, err := os.ReadFile(filepath.Join(r.root, "docs", "gates.md"))
	if err != nil {
		t.Fatal(err)
	}
	const field = "\n    sloThresholds:\n"
	if !strings.Contains(string(b), field) {
		t.Fatalf("docs/gates.md has no %q to break", field)
	}
	if err := r.typePageText(t, strings.Replace(string(b), field, "\n    sloTresholds:\n", 1)); err == nil || !strings.Contains(err.Error(), "sloTresholds") {
		t.Errorf("A misspelled field of docs/gates.md is refused by name: %v", err)
	}
}

// typePageText types a page that is not a file.
func (r *reader) typePageText(t *testing.T, text string) error {
	t.Helper()
	blocks, err := typed.Blocks("copy.md", text)
	if err != nil {
		return err
	}
	_, err = r.runScript(t.Context(), typed.NewScript(blocks, r.values))
	return err
}

// wantRenderer holds "kubectl intent version" to the renderer of the function that Crossplane installed.
func wantRenderer(t *testing.T, cp *controlplane.ControlPlane) {
	t.Helper()
	root, err := toolbox.Root()
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), filepath.Join(root, "_output", "bin", "kubectl-intent"), "version", "--kubeconfig", cp.Kubeconfig).CombinedOutput()
	want := fmt.Sprintf("renderer %d of intentplane-function-intentplane ", render.Version)
	if err != nil || !strings.Contains(strings.Join(strings.Fields(string(out)), " ")+" ", want) {
		t.Errorf("version: want %q, got %v:\n%s", want, err, out)
	}
}
