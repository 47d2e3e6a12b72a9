package claims

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/intentplane/intentplane/apis/catalogview"
	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

// TestCatalogOfAnEditor shows a user with the role edit in one namespace the catalog of that namespace, before the first deployment, and after a Site
// is removed from it. The Sites of another namespace are not shown.
func TestCatalogOfAnEditor(t *testing.T) {
	t.Parallel()
	s := scene.New(t, cp, "edge1")
	site := s.NewSite("edge2")
	s.Apply(s.Set(s.Set(site, map[string]any{"region": "north"}, "metadata", "labels"), map[string]any{"plmn": "00101"}, "spec", "parameters"))
	s.Apply(s.Set(s.NewSite("theirs"), []any{"another-team"}, "spec", "allowedNamespaces"))
	ann := newEditor(s, "ann")
	if refused, err := exec.CommandContext(t.Context(), s.Tool("KUBECTL"), "get", "sites", "--as", ann.name, "--kubeconfig", cp.Kubeconfig).CombinedOutput(); err == nil {
		t.Errorf("A user with the role edit in one namespace may not list Sites:\n%s", refused)
	}
	ann.Until("both Sites are shown", patience.Limit, func() bool { return slices.Equal(ann.sites(), []string{"edge1", "edge2"}) })
	out := s.Program("", s.Built("kubectl-intent"), ann.plugin("sites", "-o", "wide")...)
	for _, want := range []string{"plmn=00101", "region=north", "ConfigMap " + s.Namespace + "/" + catalogview.ConfigMapName} {
		if !strings.Contains(out, want) {
			t.Errorf("sites -o wide: want %q, got:\n%s", want, out)
		}
	}
	read := catalogview.List[catalogview.Blueprint]{}
	s.Must(json.Unmarshal([]byte(ann.list("blueprints", s.BlueprintName())), &read))
	if len(read.Items) == 0 || !slices.ContainsFunc(read.Items[0].Parameters, func(p catalogview.Parameter) bool { return p.Name == "greeting" && p.Default != "" }) {
		t.Errorf("blueprints: want parameter greeting with its default, got %+v", read.Items)
	}
	if text := s.Inside("get", "configmap", catalogview.ConfigMapName, "-o", "json"); strings.Contains(text, "theirs") || strings.Contains(text, "another-team") {
		t.Errorf("A namespace reads of the Site of another namespace:\n%s", text)
	}
	s.Apply(s.Set(site, []any{"another-team"}, "spec", "allowedNamespaces"))
	ann.Until("a Site that the namespace may not use any more is not shown", patience.Limit, func() bool { return slices.Equal(ann.sites(), []string{"edge1"}) })
}

// TestCatalogOnRequest requests the published catalog as a user with the role edit, in a namespace that no Site names and that has no deployment.
func TestCatalogOnRequest(t *testing.T) {
	t.Parallel()
	s := scene.New(t, cp)
	ann := newEditor(s, "ann")
	hint := "kubectl create configmap " + catalogview.ConfigMapName + " -n " + s.Namespace
	if out := s.Program("", s.Built("kubectl-intent"), ann.plugin("blueprints")...); !strings.Contains(out, hint) {
		t.Errorf("blueprints: want the command for more rights to read, got:\n%s", out)
	}
	s.Run("create", "configmap", catalogview.ConfigMapName, "-n", s.Namespace, "--as", ann.name)
	if out := ann.list("blueprints", s.BlueprintName()); !strings.Contains(out, `"greeting"`) {
		t.Errorf("blueprints: want the parameters of a Blueprint, got:\n%s", out)
	}
	if got := ann.sites(); len(got) != 0 {
		t.Errorf("sites: the namespace may use none, got %v", got)
	}
}
