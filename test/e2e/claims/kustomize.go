package claims

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/intentplane/intentplane/test/controlplane/kubernetes"
	"github.com/intentplane/intentplane/test/scene"
)

// writtenByHand has the files that a user of kustomize would write for the intent of TestEqualsKustomize, over the Blueprint's own files.
func writtenByHand(s *scene.Scene, replicas int) map[string]string {
	files, _, err := unstructured.NestedStringMap(s.Blueprint("1.0.0", "stable").Object, "spec", "files")
	s.Must(err)
	out := map[string]string{}
	for name, content := range files {
		out["base/"+name] = content
	}
	out["base/intent.yaml"] = fmt.Sprintf(`apiVersion: v1
kind: ConfigMap
metadata:
  name: intent
  annotations:
    config.kubernetes.io/local-config: "true"
data:
  service: shop
  replicas: "%d"
  image: registry.example.org/team/shop:1.4.0
  cpu: 250m
  memory: 256Mi
  param-greeting: "Welcome: to {all} # of you"
`, replicas)
	out["kustomization.yaml"] = fmt.Sprintf(`apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
namespace: %s
resources:
- base
labels:
- pairs:
    app.kubernetes.io/managed-by: intentplane
    app.kubernetes.io/name: shop
    intentplane.dev/claim: shop
`, s.Namespace)
	return out
}

// kustomizeBuild writes files to a folder, and returns the output of the kustomize command, by kind and name.
func kustomizeBuild(s *scene.Scene, kustomize string, files map[string]string) map[string]any {
	s.T.Helper()
	dir := s.T.TempDir()
	for name, content := range files {
		file := filepath.Join(dir, name)
		s.Must(os.MkdirAll(filepath.Dir(file), 0o755))
		s.Must(os.WriteFile(file, []byte(content), 0o600))
	}
	return objectsByName(s, s.Program("", kustomize, "build", dir))
}

func objectsByName(s *scene.Scene, stream string) map[string]any {
	s.T.Helper()
	objects, err := kubernetes.ParseYAML([]byte(stream))
	s.Must(err)
	out := map[string]any{}
	for _, o := range objects {
		out[o.GetKind()+" "+o.GetNamespace()+"/"+o.GetName()] = o.Object
	}
	return out
}

// objectsOfFiles returns the objects in the files themselves, without the kustomization.
func objectsOfFiles(s *scene.Scene, files map[string]string) map[string]any {
	s.T.Helper()
	stream := &strings.Builder{}
	for _, name := range scene.Names(files) {
		if name != "kustomization.yaml" && filepath.Ext(name) == ".yaml" {
			stream.WriteString("---\n" + files[name])
		}
	}
	return objectsByName(s, stream.String())
}

// renderOffline is the output of kubectl-intent render for a claim, without a cluster.
func renderOffline(s *scene.Scene, claim *unstructured.Unstructured, flags ...string) map[string]string {
	s.T.Helper()
	dir := s.T.TempDir()
	write := func(name string, objects ...*unstructured.Unstructured) string {
		stream := []byte{}
		for _, o := range objects {
			b, err := yaml.Marshal(o.Object)
			s.Must(err)
			stream = append(append(stream, "---\n"...), b...)
		}
		file := filepath.Join(dir, name)
		s.Must(os.WriteFile(file, stream, 0o600))
		return file
	}
	out := filepath.Join(dir, "out")
	s.Program("", s.Built("kubectl-intent"), append([]string{
		"render", write("claim.yaml", claim), "--site", write("sites.yaml", s.NewSite("edge1"), s.NewSite("edge2")),
		"--blueprint", write("blueprint.yaml", s.Blueprint("1.0.0", "stable")), "--to", out,
	}, flags...)...)
	return filesOfExamples(s, out)
}

func filesOfExamples(s *scene.Scene, dir string) map[string]string {
	s.T.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(p)
		name, _ := filepath.Rel(dir, p)
		out[filepath.ToSlash(name)] = string(b)
		return err
	})
	s.Must(err)
	return out
}

func filesBelowDir(files map[string]string, dir string) map[string]string {
	out := map[string]string{}
	for name, content := range files {
		if rest, err := filepath.Rel(dir, name); err == nil && filepath.IsLocal(rest) {
			out[rest] = content
		}
	}
	return out
}
