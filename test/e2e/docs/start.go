package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/intentplane/intentplane/test/checkout"
	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/controlplane/kubernetes"
)

const (
	readmePage = "README.md"
	startPage  = "docs/start/first-service.md"

	// releaseVersion is the version that both pages install.
	releaseVersion = "v0.1.0"

	// goodImage is the image of examples/start/shop.yaml.
	goodImage = "nginxinc/nginx-unprivileged:1.27"
)

// morePages are typed beside the pages of package typed.
var morePages = []string{"docs/how-it-works.md"}

// makeRelease makes the release that the pages name, without a key and for the platform of this machine.
func makeRelease(t *testing.T) *checkout.Checkout {
	t.Helper()
	c := checkout.Copy(t, "release")
	if out, err := c.MakeRelease(t.Context(), "VERSION="+releaseVersion); err != nil {
		t.Fatalf("make release: %v\n%s", err, out)
	}
	return c
}

// publishRelease pushes the packages of a release to the registry of the control plane, from which Crossplane pulls ghcr.io/intentplane.
func publishRelease(t *testing.T, cp *controlplane.ControlPlane, release *checkout.Checkout) {
	t.Helper()
	if out, err := release.Make(t.Context(), "publish", "REGISTRY="+cp.Registry()+"/intentplane"); err != nil {
		t.Fatalf("make publish: %v\n%s", err, out)
	}
	mirror := fmt.Sprintf(`{apiVersion: pkg.crossplane.io/v1beta1, kind: ImageConfig, metadata: {name: mirror},
		spec: {matchImages: [{prefix: ghcr.io/intentplane}], rewriteImage: {prefix: "%s/intentplane"}}}`, cp.Registry())
	if err := cp.ApplyYAML(t.Context(), []byte(mirror)); err != nil {
		t.Fatal(err)
	}
}

// installPlugin gives the reader the plugin of a release.
func (r *reader) installPlugin(t *testing.T, release *checkout.Checkout) {
	t.Helper()
	link := filepath.Join(r.home, "bin", "kubectl-intent")
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(release.UnpackPlugin(t, releaseVersion), link); err != nil {
		t.Fatal(err)
	}
}

// useMirrorNames lets the runtime settings of the reader's copy of the examples be about the packages in the mirror: an image is looked up by its name after it
// was rewritten.
func (r *reader) useMirrorNames(t *testing.T) {
	t.Helper()
	file := filepath.Join(r.dir, "examples", "install", "runtime.yaml")
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(b), "registry.example.org/intentplane", r.cp.Registry()+"/intentplane")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// bootstrapFlux has the effect of "flux bootstrap --token-auth": Flux runs, and reads a repository with a Secret that may push.
func bootstrapFlux(t *testing.T, cp *controlplane.ControlPlane) {
	t.Helper()
	if err := cp.StartFlux(t.Context()); err != nil {
		t.Fatal(err)
	}
	s := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: kubernetes.FluxNamespace, Name: "flux-system"},
		StringData: map[string]string{"username": user, "password": password},
	}
	if err := cp.Client.Create(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	source := fmt.Sprintf(`{apiVersion: source.toolkit.fluxcd.io/v1, kind: GitRepository, metadata: {namespace: flux-system, name: flux-system},
		spec: {interval: 1h, url: "%s", ref: {branch: main}, secretRef: {name: flux-system}}}`, cp.Git.URL(repository))
	if err := cp.ApplyYAML(t.Context(), []byte(source)); err != nil {
		t.Fatal(err)
	}
}

// wantPrinted compares the output of kubectl.
func (r *reader) wantPrinted(t *testing.T, reason, want string, args ...string) {
	t.Helper()
	got, err := r.cp.Kubectl(t.Context(), args...)
	if diff := cmp.Diff(want, strings.TrimSpace(got)); diff != "" || err != nil {
		t.Errorf("\n%s\nkubectl %s: %v: -want, +got:\n%s", reason, strings.Join(args, " "), err, diff)
	}
}

// wantRolledBack holds the repository and the cluster to the promises of the tutorial.
func (r *reader) wantRolledBack(t *testing.T) {
	t.Helper()
	deployment := []string{"get", "-n", "team-a", "intentdeployments.intentplane.dev/shop", "-o"}
	r.wantPrinted(t, "The Sites run revision 1 again.", "2 1", append(deployment, "jsonpath={.status.revision} {.status.liveRevision}")...)
	message, err := r.cp.Kubectl(t.Context(), append(deployment, "jsonpath={.status.message}")...)
	if err != nil || !strings.Contains(message, "ImagePullBackOff") {
		t.Errorf("The message has the reason of the pods: %v: %s", err, message)
	}
	r.wantPrinted(t, "Flux applied the files of revision 1.", goodImage,
		"get", "deployments.apps", "shop", "-n", "team-a", "-o", "jsonpath={.spec.template.spec.containers[0].image}")
	log, err := r.cp.Git.Log(t.Context(), repository, "main")
	if err != nil {
		t.Fatal(err)
	}
	var subjects []string
	for _, c := range log {
		subject, _, _ := strings.Cut(c.Message, "\n")
		subjects = append(subjects, subject)
	}
	want := []string{"Roll back team-a/shop from revision 2 to 1 at 1 site", "Deliver team-a/shop revision 2 to 1 site", "Deliver team-a/shop revision 1 to 1 site"}
	if diff := cmp.Diff(want, subjects[:min(len(subjects), len(want))]); diff != "" {
		t.Errorf("commits, the newest first: -want, +got:\n%s", diff)
	}
}
