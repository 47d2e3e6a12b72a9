package blueprint

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/intentplane/intentplane/function/render"
)

// TestExamplesOfApplicationsAreConfined renders the Blueprints of Applications: their pods run as no root, get no further rights, and have no token of the cluster.
func TestExamplesOfApplicationsAreConfined(t *testing.T) {
	wantPod := &corev1.PodSecurityContext{RunAsNonRoot: new(true), SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}}
	wantContainer := &corev1.SecurityContext{AllowPrivilegeEscalation: new(false), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}}
	for _, dir := range []string{"app", "app-internal"} {
		t.Run(dir, func(t *testing.T) {
			for _, pod := range renderedPods(t, dir) {
				if diff := cmp.Diff([]any{wantPod, new(false)}, []any{pod.SecurityContext, pod.AutomountServiceAccountToken}); diff != "" {
					t.Errorf("The pod runs as no root, and has no token: -want, +got:\n%s", diff)
				}
				for _, c := range pod.Containers {
					if diff := cmp.Diff(wantContainer, c.SecurityContext); diff != "" {
						t.Errorf("Container %s gets no further rights: -want, +got:\n%s", c.Name, diff)
					}
				}
			}
		})
	}
}

// renderedPods returns the pods of all Deployments that the examples of a Blueprint render to.
func renderedPods(t *testing.T, dir string) []corev1.PodSpec {
	t.Helper()
	b, err := Create(os.DirFS(filepath.Join(examples, dir)), shipped()[dir])
	if err != nil {
		t.Fatal(err)
	}
	results, err := Test(t.Context(), b, render.NewRenderer())
	if err != nil {
		t.Fatal(err)
	}
	out := []corev1.PodSpec{}
	for _, r := range results {
		for _, name := range r.Files.Names() {
			if strings.HasPrefix(name, "deployment-") {
				d := &appsv1.Deployment{}
				if err := yaml.Unmarshal(r.Files[name], d); err != nil {
					t.Fatal(err)
				}
				out = append(out, d.Spec.Template.Spec)
			}
		}
	}
	if len(out) == 0 {
		t.Fatalf("Blueprint %s renders no Deployment", dir)
	}
	return out
}
