package claims

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/test/scene"
)

func TestEqualsKustomize(t *testing.T) {
	t.Parallel()
	s := scene.New(t, cp, "edge1", "edge2")
	kustomize := s.Tool("KUSTOMIZE")
	claim := s.Claim("shop", fmt.Sprintf(`{"service": "shop", "replicas": {%q: 3, %q: 0}, "image": "registry.example.org/team/shop:1.4.0",
		"resources": {"cpu": "0.25", "memory": "256Mi"}, "parameters": {"greeting": "Welcome: to {all} # of you"}, "sites": [%q, %q]}`,
		s.Site("edge1"), s.Site("edge2"), s.Site("edge1"), s.Site("edge2")))
	s.Succeed(claim)
	inputs := renderOffline(s, claim, "--inputs")
	outputs := renderOffline(s, claim)
	for site, replicas := range map[string]int{"edge1": 3, "edge2": 0} {
		delivered := s.FilesBelow(s.Directory(site, "shop"))
		want := kustomizeBuild(s, kustomize, writtenByHand(s, replicas))
		if len(want) != 3 {
			t.Fatalf("kustomize build of the files by hand gives %d objects, want 3", len(want))
		}
		for source, got := range map[string]map[string]any{
			"objects in Git":                        objectsOfFiles(s, delivered),
			"kustomize build of the directory":      kustomizeBuild(s, kustomize, delivered),
			"kustomize build of the inputs":         kustomizeBuild(s, kustomize, filesBelowDir(inputs, s.Site(site))),
			"kustomize build of the offline render": kustomizeBuild(s, kustomize, filesBelowDir(outputs, s.Site(site))),
		} {
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: %s: -want, +got:\n%s", site, source, diff)
			}
		}
		delete(delivered, ".intentplane")
		if diff := cmp.Diff(filesBelowDir(outputs, s.Site(site)), delivered); diff != "" {
			t.Errorf("%s: files of the offline render and files in Git: -want, +got:\n%s", site, diff)
		}
	}
}
