package pages

import (
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// TestStartInstall builds the kustomization that the second tutorial applies: all of examples/install but the objects for a
// registry of one's own, and the right to observe pods.
func TestStartInstall(t *testing.T) {
	built := map[string][]string{}
	for _, dir := range []string{"install", "start/install"} {
		objects, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), "../../examples/"+dir)
		if err != nil {
			t.Fatalf("kubectl apply -k examples/%s would fail: %v", dir, err)
		}
		for _, r := range objects.Resources() {
			built[dir] = append(built[dir], r.GetKind()+" "+r.GetName())
		}
	}
	names := strings.Join(built["start/install"], "\n") + "\n"
	for _, name := range built["install"] {
		isOfRegistry := name == "ImageConfig intentplane-registry" || name == "ImageConfig intentplane-credentials"
		if strings.Contains(names, name+"\n") == isOfRegistry {
			t.Errorf("examples/start/install has %s: %v, want the opposite", name, isOfRegistry)
		}
	}
	if !strings.Contains(names, "ClusterRoleBinding intentplane:health\n") {
		t.Errorf("examples/start/install does not bind the right to observe pods:\n%s", names)
	}
}
