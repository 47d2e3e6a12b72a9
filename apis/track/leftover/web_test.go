package leftover

import (
	"fmt"
	"io/fs"
	"os"
	"testing"

	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/apis/tree"
)

// The files of the smallest workload that can have two tracks.
var webDeployment, webService, webRoute = readWeb("deployment"), readWeb("service"), readWeb("httproute")

func readWeb(kind string) string {
	b, err := os.ReadFile("../testdata/web/" + kind + "-web.yaml")
	if err != nil {
		panic(err) // The file is in the repository.
	}
	return string(b)
}

func manifest(apiVersion, kind, name, rest string) string {
	return fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata:\n  name: %s\n  namespace: shop\n%s", apiVersion, kind, name, rest)
}

// leftoversOf returns the leftovers of web with further files.
func leftoversOf(t *testing.T, extra map[string]string, listed []track.Selector) []string {
	t.Helper()
	files := tree.Files{"deployment-web.yaml": []byte(webDeployment), "service-web.yaml": []byte(webService), "httproute-web.yaml": []byte(webRoute)}
	for name, text := range extra {
		files[name] = []byte(text)
	}
	p, err := track.Split(files, listed)
	if err != nil {
		t.Fatalf("Split(...): %v", err)
	}
	if files, err = p.Files(track.Blue, track.Layout{Kustomizations: true}); err != nil {
		t.Fatalf("Files(...): %v", err)
	}
	d, err := Describe(files, track.Blue)
	if err != nil {
		t.Fatalf("Describe(...): %v", err)
	}
	out := []string{}
	for _, l := range d.Leftovers {
		out = append(out, l.String())
	}
	return out
}

func readTree(t *testing.T, dir string) tree.Files {
	t.Helper()
	out := tree.Files{}
	root := os.DirFS(dir)
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(root, name)
		out[name] = b
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
