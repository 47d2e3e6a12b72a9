// Package manifest reads the files that commands are given: objects, and the deployments and the catalog among them.
package manifest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	applicationv1alpha1 "github.com/intentplane/intentplane/apis/application/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/oneline"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
	"github.com/intentplane/intentplane/function/application"
)

// maxFileBytes is how large a file may be.
const maxFileBytes = 16 << 20

// ClaimVersions are the API versions of an IntentDeployment.
func ClaimVersions() []string {
	return []string{"claims.intentplane.dev/v1alpha1", "intentplane.dev/v1alpha1"}
}

// crossplaneFields of the spec of a claim or of a composite belong to Crossplane.
func crossplaneFields() []string {
	return []string{
		"crossplane", "compositionRef", "compositionSelector", "compositionRevisionRef", "compositionRevisionSelector",
		"compositionUpdatePolicy", "compositeDeletePolicy", "resourceRef", "writeConnectionSecretToRef",
	}
}

// ReadDeployments reads the IntentDeployments of a file, and the IntentDeployments that its Applications compose.
func ReadDeployments(in io.Reader, file string) ([]deploymentv1alpha1.IntentDeployment, error) {
	documents, err := ReadDocuments(in, file)
	if err != nil {
		return nil, err
	}
	out := []deploymentv1alpha1.IntentDeployment{}
	for _, d := range documents {
		direct, err := decodeObjects[deploymentv1alpha1.IntentDeployment]([]Document{d}, "IntentDeployment", ClaimVersions()...)
		if err != nil {
			return nil, err
		}
		composed, err := composedDeployments(d)
		if err != nil {
			return nil, err
		}
		out = slices.Concat(out, direct, composed)
	}
	if len(out) == 0 {
		return nil, errors.Errorf("%s has no IntentDeployment and no Application of %s", file, strings.Join(ClaimVersions(), " or "))
	}
	return out, nil
}

// composedDeployments returns the IntentDeployment that an Application composes, if a document has one.
func composedDeployments(d Document) ([]deploymentv1alpha1.IntentDeployment, error) {
	applications, err := decodeObjects[applicationv1alpha1.Application]([]Document{d}, applicationv1alpha1.Kind, ClaimVersions()...)
	if err != nil || len(applications) == 0 {
		return nil, err
	}
	a := &applications[0]
	composed, err := application.Compile(a.GetNamespace(), a.GetName(), a.Spec)
	if err != nil {
		return nil, errors.Wrapf(err, "document %d of %s: Application %s", d.Number, d.file, a.GetName())
	}
	return []deploymentv1alpha1.IntentDeployment{*composed}, nil
}

// ReadObjects reads the objects of one kind from a file, strictly. It passes over other kinds.
func ReadObjects[T any](in io.Reader, file, kind string, versions ...string) ([]T, error) {
	documents, err := ReadDocuments(in, file)
	if err != nil {
		return nil, err
	}
	out, err := decodeObjects[T](documents, kind, versions...)
	if err == nil && len(out) == 0 {
		return nil, errors.Errorf("%s has no %s of %s", file, kind, strings.Join(versions, " or "))
	}
	return out, err
}

// decodeObjects decodes the documents that are of one kind.
func decodeObjects[T any](documents []Document, kind string, versions ...string) ([]T, error) {
	out := []T{}
	for _, d := range documents {
		meta := metav1.TypeMeta{}
		if err := d.readTypeMeta(&meta); err != nil {
			return nil, errors.Wrapf(err, "cannot decode document %d of %s", d.Number, d.file)
		}
		if meta.Kind != kind || !slices.Contains(versions, meta.APIVersion) {
			continue
		}
		var o T
		if err := DecodeStrictly(d.Text, &o); err != nil {
			return nil, errors.Wrapf(err, "cannot decode document %d of %s", d.Number, d.file)
		}
		out = append(out, o)
	}
	return out, nil
}

// A Document of a file.
type Document struct {
	// Text is the document, and Number its number in the file, counted from 1.
	Text   []byte
	Number int

	// file that has it, and the number of the line before it.
	file   string
	before int

	// list that it is an item of, if it is one, and its path in there.
	list *list
	item string
}

// HasContent reports whether there is anything but comments in a document.
func (d Document) HasContent() bool {
	object, err := ParseObject(d.Text)
	return err != nil || len(object) > 0
}

// ReadDocuments reads the objects of a file, or of the manifests in a directory, and the objects of each List in them.
func ReadDocuments(in io.Reader, path string) ([]Document, error) {
	files, err := FilesIn(path)
	if err != nil {
		return nil, terminal.UsageError{Err: err}
	}
	out := []Document{}
	for _, file := range files {
		documents, err := ReadFile(in, file)
		if err != nil {
			return nil, err
		}
		out = append(out, documents...)
	}
	return out, nil
}

// ReadFile reads the objects of one file.
func ReadFile(in io.Reader, file string) ([]Document, error) {
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, terminal.UsageError{Err: errors.Wrap(err, "cannot read file")}
		}
		defer f.Close() //nolint:errcheck // Nothing was written.
		in = f
	}
	b, err := io.ReadAll(io.LimitReader(in, maxFileBytes+1))
	if err != nil {
		return nil, errors.Wrapf(err, "cannot read %s", file)
	}
	if len(b) > maxFileBytes {
		return nil, errors.Errorf("%s has more than %d bytes", file, maxFileBytes)
	}
	if err := oneline.CheckUTF8(string(b)); err != nil {
		return nil, errors.Wrap(err, file)
	}
	all, err := SplitDocuments(b)
	if err != nil {
		return nil, errors.Wrapf(err, "cannot read %s", file)
	}
	out := make([]Document, 0, len(all))
	for _, d := range all {
		d.file = file
		out = append(out, d.withoutMergeKeys().flattenLists()...)
	}
	return out, nil
}

// SplitDocuments returns the documents of a stream of YAML.
func SplitDocuments(file []byte) ([]Document, error) {
	r := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(file)))
	out := []Document{}
	for offset := 0; ; {
		text, err := r.Read()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		// A document is a part of the file as it is.
		offset += max(0, bytes.Index(file[offset:], text))
		out = append(out, Document{Text: text, Number: len(out) + 1, before: bytes.Count(file[:offset], []byte("\n"))})
		offset += len(text)
	}
}

// DecodeStrictly refuses fields that do not exist, by their path, and fields that come twice. Fields that Crossplane and the API server add
// to a user's object are left out.
func DecodeStrictly(document []byte, target any) error {
	m := map[string]any{}
	if err := yaml.UnmarshalStrict(document, &m); err != nil {
		return err
	}
	delete(m, "status")
	if spec, ok := m["spec"].(map[string]any); ok && slices.Contains(ClaimVersions(), stringOrEmpty(m["apiVersion"])) {
		for _, f := range crossplaneFields() {
			delete(spec, f)
		}
	}
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	strict, err := kjson.UnmarshalStrict(b, target)
	return errors.Join(append(strict, err)...)
}

func stringOrEmpty(v any) string {
	s, _ := v.(string)
	return s
}

// ParseObject reads an object as an API server does. A field that comes twice is an error.
func ParseObject(text []byte) (map[string]any, error) {
	b, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		return nil, err
	}
	out := map[string]any{}
	return out, utiljson.Unmarshal(b, &out)
}
