// Package blueprint makes Blueprints from kustomize directories, and renders their own examples.
package blueprint

import (
	"encoding/json"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/intentplane/intentplane/apis/boundedyaml"
	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/oneline"
	"github.com/intentplane/intentplane/apis/promql"
	"github.com/intentplane/intentplane/function/gates"
	"github.com/intentplane/intentplane/function/intent"
	"github.com/intentplane/intentplane/function/render"
)

// Files of a directory that describe the Blueprint, and are not among its files.
const (
	// MoreFile holds the fields metrics, irreversible, unproven, canary and examples of the Blueprint's spec.
	MoreFile = "blueprint.yaml"

	// SchemaFile holds the schema of its parameters. It may end with .yml or .json too.
	SchemaFile = "parameters.schema.yaml"
)

// maxBytes is the greatest size of one file.
const maxBytes = 64 << 10

var (
	namePattern    = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?$`)
	versionPattern = regexp.MustCompile(`^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)(-[0-9a-z.-]+)?$`)
)

// Options are the fields of a Blueprint that a directory does not have.
type Options struct {
	// Name that all versions share, and the Version.
	Name, Version string

	// Types of service that the Blueprint serves.
	Types []string

	// Channel that the version is in. Empty means none.
	Channel string
}

// moreFields are the fields that a MoreFile may hold.
type moreFields struct {
	Metrics      []catalogv1alpha1.BlueprintMetric  `json:"metrics,omitempty"`
	Irreversible []catalogv1alpha1.IrreversibleKind `json:"irreversible,omitempty"`
	Unproven     []catalogv1alpha1.RenderedObject   `json:"unproven,omitempty"`
	Canary       *catalogv1alpha1.BlueprintCanary   `json:"canary,omitempty"`
	Examples     []catalogv1alpha1.BlueprintExample `json:"examples,omitempty"`
}

// Create makes a Blueprint from a kustomize directory. Hidden files and READMEs stay behind. Parameters are described by the
// directory's SchemaFile; without one they are the values of intent.yaml that begin with param-. It returns an error for options and
// files that are not valid, for symbolic links, and for a directory that reaches outside of itself.
func Create(dir fs.FS, o Options) (*catalogv1alpha1.Blueprint, error) {
	if !namePattern.MatchString(o.Name) || !versionPattern.MatchString(o.Version) {
		return nil, errors.Errorf("%q and %q must be a name of lower-case letters, digits and dashes, and a version such as 1.2.0", o.Name, o.Version)
	}
	b := &catalogv1alpha1.Blueprint{}
	b.SetGroupVersionKind(catalogv1alpha1.GroupVersion.WithKind("Blueprint"))
	b.SetName(o.Name + "-" + o.Version)
	b.SetLabels(map[string]string{catalogv1alpha1.LabelBlueprint: o.Name})
	if o.Channel != "" {
		b.Labels[catalogv1alpha1.LabelChannel] = o.Channel
	}
	b.Spec.BlueprintName, b.Spec.Version, b.Spec.ServiceTypes = o.Name, o.Version, o.Types
	files, err := readDirectoryFiles(dir)
	if err != nil {
		return nil, err
	}
	if err := fillBlueprintSpec(&b.Spec, files); err != nil {
		return nil, err
	}
	return b, Check(b)
}

// Check returns an error when a Blueprint cannot be used: no input makes it render, or a query or a rule of its metrics is not valid. It
// names the field or the file.
func Check(b *catalogv1alpha1.Blueprint) error {
	if err := render.Check(b); err != nil {
		return err
	}
	if err := promql.Check(b.Spec.Metrics); err != nil {
		return err
	}
	return gates.CheckMetrics(b.Spec.Metrics)
}

// typesOfExamples returns the types of service for a Blueprint that is only tested: the types of its examples.
func typesOfExamples(examples []catalogv1alpha1.BlueprintExample) []string {
	out := []string{}
	for _, e := range examples {
		if i, err := intent.FromText(e.Intent); err == nil {
			out = append(out, i.Type)
		}
	}
	return out
}

// CreateForTest makes a Blueprint for tests from a kustomize directory: it serves the service types of its examples.
func CreateForTest(dir fs.FS) (*catalogv1alpha1.Blueprint, error) {
	b, err := Create(dir, Options{Name: "test", Version: "0.0.0"})
	if err != nil {
		return nil, err
	}
	b.Spec.ServiceTypes = typesOfExamples(b.Spec.Examples)
	return b, nil
}

// readDirectoryFiles returns the files of a directory, by their path.
func readDirectoryFiles(dir fs.FS) (map[string]catalogv1alpha1.File, error) {
	out := map[string]catalogv1alpha1.File{}
	err := fs.WalkDir(dir, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if isIgnoredFile(name) {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if d.IsDir() {
			return nil
		}
		text, err := readRegularFile(dir, name, d)
		out[name] = text
		return err
	})
	return out, err
}

func isIgnoredFile(name string) bool {
	base := path.Base(name)
	return base != "." && strings.HasPrefix(base, ".") || strings.EqualFold(base, "README.md")
}

// readRegularFile reads regular files only: a link could lead anywhere, and a pipe has no end.
func readRegularFile(dir fs.FS, name string, d fs.DirEntry) (catalogv1alpha1.File, error) {
	info, err := d.Info()
	if err != nil {
		return "", errors.Wrapf(err, "cannot look at %s", name)
	}
	if !info.Mode().IsRegular() {
		return "", errors.Errorf("%s: is not a regular file", name)
	}
	if info.Size() > maxBytes {
		return "", errors.Errorf("%s: has %d bytes, more than %d", name, info.Size(), maxBytes)
	}
	b, err := fs.ReadFile(dir, name)
	if err != nil {
		return "", errors.Wrapf(err, "cannot read %s", name)
	}
	return catalogv1alpha1.File(b), errors.Wrap(oneline.CheckUTF8(string(b)), name)
}

// fillBlueprintSpec sorts files into the fields of a spec.
func fillBlueprintSpec(s *catalogv1alpha1.BlueprintSpec, files map[string]catalogv1alpha1.File) error {
	m := moreFields{}
	if err := boundedyaml.UnmarshalStrict([]byte(files[MoreFile]), &m); err != nil {
		return errors.Wrapf(err, "cannot decode %s", MoreFile)
	}
	delete(files, MoreFile)
	schema, err := takeOrMakeSchema(files)
	if err != nil {
		return err
	}
	s.Metrics, s.Irreversible, s.Unproven, s.Canary, s.Examples, s.Files = m.Metrics, m.Irreversible, m.Unproven, m.Canary, m.Examples, files
	s.ParametersSchema = &runtime.RawExtension{Raw: schema}
	return nil
}

// takeOrMakeSchema takes the schema of the parameters out of the files, or makes one from intent.yaml.
func takeOrMakeSchema(files map[string]catalogv1alpha1.File) ([]byte, error) {
	stem := strings.TrimSuffix(SchemaFile, ".yaml")
	for _, name := range []string{SchemaFile, stem + ".yml", stem + ".json"} {
		text, ok := files[name]
		if !ok {
			continue
		}
		delete(files, name)
		b, err := boundedyaml.ToJSONStrict([]byte(text))
		return b, errors.Wrapf(err, "cannot decode %s", name)
	}
	defaults, err := render.Defaults(string(files["intent.yaml"]))
	if err != nil {
		return nil, err
	}
	return schemaOfDefaults(defaults)
}

// schemaOfDefaults describes the parameters that have a default: each is a text.
func schemaOfDefaults(defaults map[string]string) ([]byte, error) {
	properties := map[string]any{}
	for key, value := range defaults {
		if name, ok := strings.CutPrefix(key, "param-"); ok {
			properties[name] = map[string]any{"type": "string", "default": value}
		}
	}
	return json.Marshal(map[string]any{"type": "object", "additionalProperties": false, "properties": properties})
}

// Serves reports whether a Blueprint serves a type of service.
func Serves(b *catalogv1alpha1.Blueprint, serviceType string) bool {
	return slices.Contains(b.Spec.ServiceTypes, serviceType)
}
