// Package install makes the manifests that a cluster needs beside the packages of a release.
package install

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

const (
	// Repository is where the packages of a release are pulled from.
	Repository = "ghcr.io/intentplane"

	// mirror is the placeholder of a user's own registry in the examples.
	mirror = "registry.example.org"

	header = "# What Intentplane needs beside its packages: rights, how its programs run, and requests that the API server refuses. Apply it before the packages.\n"
)

// Manifests returns one YAML text with the objects of the examples of an installation, without those of a user's own registry.
func Manifests(examples fs.FS) ([]byte, error) {
	files, err := copyFiles(examples)
	if err != nil {
		return nil, fmt.Errorf("cannot read the examples: %w", err)
	}
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(files, "/install")
	if err != nil {
		return nil, fmt.Errorf("cannot build examples/install: %w", err)
	}
	out := bytes.NewBufferString(header)
	for _, r := range built.Resources() {
		object, err := r.Map()
		if err != nil {
			return nil, fmt.Errorf("cannot read %s %s of examples/install: %w", r.GetKind(), r.GetName(), err)
		}
		if err := writeObject(out, object); err != nil {
			return nil, fmt.Errorf("cannot encode %s %s of examples/install: %w", r.GetKind(), r.GetName(), err)
		}
	}
	if bytes.Contains(out.Bytes(), []byte(mirror)) {
		return nil, fmt.Errorf("cannot release examples/install: an object still names %s", mirror)
	}
	return out.Bytes(), nil
}

func writeObject(out *bytes.Buffer, object map[string]any) error {
	if object["kind"] == "ImageConfig" && !dropMirror(object) {
		return nil
	}
	text, err := yaml.Marshal(object)
	if err != nil {
		return err
	}
	out.WriteString("---\n")
	out.Write(text)
	return nil
}

// copyFiles returns the YAML files of the examples in a file system of kustomize.
func copyFiles(examples fs.FS) (filesys.FileSystem, error) {
	out := filesys.MakeFsInMemory()
	return out, fs.WalkDir(examples, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(name) != ".yaml" {
			return err
		}
		text, err := fs.ReadFile(examples, name)
		if err != nil {
			return err
		}
		return out.WriteFile("/"+name, text)
	})
}

// dropMirror removes the names of packages in another registry from an ImageConfig. It returns false for an ImageConfig that is of no use without that registry.
func dropMirror(object map[string]any) bool {
	spec, _ := object["spec"].(map[string]any)
	if spec["rewriteImage"] != nil {
		return false
	}
	matches, _ := spec["matchImages"].([]any)
	matches = slices.DeleteFunc(matches, func(m any) bool {
		match, _ := m.(map[string]any)
		prefix, _ := match["prefix"].(string)
		return strings.HasPrefix(prefix, mirror)
	})
	spec["matchImages"] = matches
	return len(matches) > 0
}
