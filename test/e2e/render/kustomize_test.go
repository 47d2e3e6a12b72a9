package render

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestEqualsKustomize shows for all examples that the function delivers the files that the kustomize command builds: of the files that
// are given to kustomize, and of the directory in Git itself. Bytes are compared, not objects.
func TestEqualsKustomize(t *testing.T) {
	program := os.Getenv("KUSTOMIZE")
	if program == "" {
		t.Fatal("KUSTOMIZE names no program: run make test-e2e, or see tools/tools.sh env")
	}
	for name, e := range allExamples(t) {
		t.Run(name, func(t *testing.T) {
			trees, outputs := e.deliveredTrees(t), e.renderOffline(t)
			dirs := map[string]string{"its inputs": e.renderOffline(t, "--inputs"), "its directory": outputs}
			if e.deliversInTracks(t) {
				trees = readRendered(t, outputs)
				delete(dirs, "its inputs") // The input has no tracks: each is a copy of rendered objects.
			}
			if e.hasPodSettings(t) {
				delete(dirs, "its inputs") // The runtime settings of containers are written into the output of kustomize.
			}
			if len(trees) == 0 {
				t.Fatal("nothing is delivered")
			}
			for site, files := range trees {
				want := documentsOf(t, files)
				if len(want) == 0 {
					t.Fatalf("%s: the tree has no objects", site)
				}
				if diff := cmp.Diff(textsOfFiles(files), readFilesBelow(t, filepath.Join(outputs, site))); diff != "" {
					t.Errorf("%s: files of kubectl-intent render: -delivered, +rendered:\n%s", site, diff)
				}
				for source, dir := range dirs {
					if diff := cmp.Diff(want, kustomizeBuild(t, program, filepath.Join(dir, site))); diff != "" {
						t.Errorf("%s: kustomize build of %s: -delivered, +built:\n%s", site, source, diff)
					}
				}
			}
		})
	}
}
