package claims

import (
	"strings"

	"github.com/intentplane/intentplane/test/scene"
)

// wantKustomizeBuilds fails the test unless kustomize builds all directories of the Site together.
func wantKustomizeBuilds(s *scene.Scene, kustomize string) {
	s.T.Helper()
	root := s.FilesBelow("clusters/edge1")
	names, files := []string{}, map[string]string{}
	for name, content := range root {
		files[name] = content
		if dir, ok := strings.CutSuffix(name, "/kustomization.yaml"); ok {
			names = append(names, dir)
		}
	}
	files["kustomization.yaml"] = "resources: [" + strings.Join(names, ", ") + "]\n"
	if objects := kustomizeBuild(s, kustomize, files); len(objects) != 3 {
		s.T.Errorf("kustomize builds %d objects for the Site, want 3", len(objects))
	}
}
