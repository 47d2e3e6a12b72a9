package render

import (
	"bytes"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/function/intent"
	"github.com/intentplane/intentplane/test/controlplane/toolbox"
)

// kustomizeBuild returns the output of the command for a directory, by object.
func kustomizeBuild(t *testing.T, program, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for text := range strings.SplitSeq(runProgram(t, program, "build", dir), "\n---\n") {
		out[nameOfObject(t, text)] = strings.TrimSuffix(text, "\n")
	}
	return out
}

// documentsOf a tree are the texts of its objects. Each file holds one.
func documentsOf(t *testing.T, files tree.Files) map[string]string {
	t.Helper()
	out := map[string]string{}
	for name, content := range files {
		if path.Base(name) != "kustomization.yaml" {
			out[nameOfObject(t, string(content))] = strings.TrimSuffix(string(content), "\n")
		}
	}
	return out
}

func nameOfObject(t *testing.T, text string) string {
	t.Helper()
	o := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return o.GetAPIVersion() + " " + o.GetKind() + " " + o.GetNamespace() + "/" + o.GetName()
}

func textsOfFiles(files tree.Files) map[string]string {
	out := map[string]string{}
	for name, content := range files {
		out[name] = string(content)
	}
	return out
}

// readFilesBelow returns the files below a directory.
func readFilesBelow(t *testing.T, dir string) map[string]string {
	t.Helper()
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
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// deliversInTracks is true for an example whose Blueprint delivers in tracks: its first call composes no directory, since the ledger is not recorded yet.
func (e example) deliversInTracks(t *testing.T) bool {
	t.Helper()
	return slices.ContainsFunc(e.objectsOfKind("Blueprint"), func(b *unstructured.Unstructured) bool {
		_, isSet, err := unstructured.NestedMap(b.Object, "spec", "canary")
		if err != nil {
			t.Fatal(err)
		}
		return isSet
	})
}

// hasPodSettings is true for an example with settings of containers and pods.
func (e example) hasPodSettings(t *testing.T) bool {
	t.Helper()
	text, isText, err := unstructured.NestedString(e.claim.Object, "spec", "intent")
	if err != nil {
		t.Fatal(err)
	}
	if !isText {
		return false
	}
	i, err := intent.FromText(text)
	if err != nil {
		t.Fatal(err)
	}
	return i.Runtime != nil
}

// readRendered returns the files of each Site below a folder.
func readRendered(t *testing.T, dir string) map[string]tree.Files {
	t.Helper()
	out := map[string]tree.Files{}
	for name, text := range readFilesBelow(t, dir) {
		site, file, _ := strings.Cut(name, "/")
		if out[site] == nil {
			out[site] = tree.Files{}
		}
		out[site][file] = []byte(text)
	}
	return out
}

// renderOffline writes the output of kubectl-intent render for an example, and returns the folder, with one for each Site.
func (e example) renderOffline(t *testing.T, flags ...string) string {
	t.Helper()
	root, err := toolbox.Root()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	args := []string{
		"render", writeObjects(t, dir, "claim.yaml", e.claim), "--site", writeObjects(t, dir, "sites.yaml", e.objectsOfKind("Site")...),
		"--blueprint", writeObjects(t, dir, "blueprint.yaml", e.objectsOfKind("Blueprint")...), "--to", filepath.Join(dir, "out"),
	}
	runProgram(t, filepath.Join(root, "_output", "bin", "kubectl-intent"), append(args, flags...)...)
	return filepath.Join(dir, "out")
}

// writeObjects writes a file with objects.
func writeObjects(t *testing.T, dir, name string, objects ...*unstructured.Unstructured) string {
	t.Helper()
	stream := &bytes.Buffer{}
	for _, o := range objects {
		b, err := yaml.Marshal(o.Object)
		if err != nil {
			t.Fatal(err)
		}
		stream.WriteString("---\n")
		stream.Write(b)
	}
	file := filepath.Join(dir, name)
	if err := os.WriteFile(file, stream.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func runProgram(t *testing.T, program string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	complaint := &bytes.Buffer{}
	cmd.Stderr = complaint
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v: %s", program, strings.Join(args, " "), err, complaint)
	}
	return string(out)
}
