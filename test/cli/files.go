package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/manifest"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/rendering"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/samples"
	"github.com/intentplane/intentplane/provider/marker"
)

// CarryFiles gives each Site of a sample the files that the quickstart renders to for Sites without an engine, and its path there.
func CarryFiles(t *testing.T, examples string, s *samples.Sample) *samples.Sample {
	t.Helper()
	d, err := rendering.Compile(&manifest.DeploymentFlags{File: examples + "40-claim.yaml", CatalogFlags: manifest.CatalogFlags{
		Site: []string{filepath.Join(examples, "..", "trial", "10-sites.yaml")}, Blueprint: []string{examples + "20-blueprint.yaml"}, Config: []string{examples + "30-config.yaml"},
	}}, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	all, err := d.RenderFiles()
	if err != nil {
		t.Fatal(err)
	}
	s.Group = "claims.intentplane.dev"
	s.Facts()
	trees := s.Delivery.Spec.ForProvider.Trees
	for i := range trees {
		files, err := tree.Encode(all[i].Files)
		if err != nil || all[i].Name != trees[i].Site {
			t.Fatalf("tree of Site %q: %v", trees[i].Site, err)
		}
		trees[i].Path, trees[i].Files, trees[i].Tree = all[i].Path, files, tree.ID(all[i].Files)
	}
	return s
}

// CanaryCatalog are flags for the Sites of the quickstart with a Prometheus, and the Blueprint with a canary.
func CanaryCatalog(t *testing.T, examples, blueprints string) []string {
	t.Helper()
	b, err := os.ReadFile(examples + "10-sites.yaml")
	if err != nil {
		t.Fatal(err)
	}
	sites := filepath.Join(t.TempDir(), "sites.yaml")
	text := strings.ReplaceAll(string(b), "\n  repository:\n", "\n  metrics: {prometheus: {address: \"http://prometheus.monitoring.svc:9090\"}}\n  repository:\n")
	if err := os.WriteFile(sites, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{"--site", sites, "--blueprint", blueprints + "web-canary-1.0.0.yaml"}
}

// LeaveDirectory makes a directory of a deployment in a checkout.
func LeaveDirectory(t *testing.T, checkout, dir, controlPlane, name string) {
	t.Helper()
	b, err := marker.Marker{
		Claim:        rolloutv1alpha1.ClaimReference{APIGroup: "claims.intentplane.dev", Kind: "IntentDeployment", Namespace: "team-a", Name: name},
		ControlPlane: controlPlane, ClusterUID: "uid-1",
	}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(checkout, dir)
	if err := os.MkdirAll(dir, 0o750); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{tree.Marker: b, "a.yaml": []byte("kind: ConfigMap\n")} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// WriteFile returns the name of a file with a text in it.
func WriteFile(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "file.yaml")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}
