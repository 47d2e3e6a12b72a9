package main

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

// claimVersions are the API versions of an IntentDeployment.
func claimVersions() []string {
	return []string{"claims.intentplane.dev/v1alpha1", "intentplane.dev/v1alpha1"}
}

// crossplaneFields of the spec of a claim or of a composite belong to Crossplane.
func crossplaneFields() []string {
	return []string{
		"crossplane", "compositionRef", "compositionSelector", "compositionRevisionRef", "compositionRevisionSelector",
		"compositionUpdatePolicy", "compositeDeletePolicy", "resourceRef", "writeConnectionSecretToRef",
	}
}

// readClaims reads the IntentDeployments of a file, and the IntentDeployments that its Applications compose.
func readClaims(in io.Reader, file string) ([]deploymentv1alpha1.IntentDeployment, error) {
	documents, err := readDocuments(in, file)
	if err != nil {
		return nil, err
	}
	out := []deploymentv1alpha1.IntentDeployment{}
	for _, d := range documents {
		direct, err := decodeAllObjects[deploymentv1alpha1.IntentDeployment]([]document{d}, "IntentDeployment", claimVersions()...)
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
		return nil, errors.Errorf("%s has no IntentDeployment and no Application of %s", file, strings.Join(claimVersions(), " or "))
	}
	return out, nil
}

// composedDeployments returns the IntentDeployment that an Application composes, if a document has one.
func composedDeployments(d document) ([]deploymentv1alpha1.IntentDeployment, error) {
	applications, err := decodeAllObjects[applicationv1alpha1.Application]([]document{d}, applicationv1alpha1.Kind, claimVersions()...)
	if err != nil || len(applications) == 0 {
		return nil, err
	}
	a := &applications[0]
	composed, err := application.Compile(a.GetNamespace(), a.GetName(), a.Spec)
	if err != nil {
		return nil, errors.Wrapf(err, "document %d of %s: Application %s", d.number, d.file, a.GetName())
	}
	return []deploymentv1alpha1.IntentDeployment{*composed}, nil
}

// readAllObjects reads the objects of one kind from a file, strictly. It passes over other kinds.
func readAllObjects[T any](in io.Reader, file, kind string, versions ...string) ([]T, error) {
	documents, err := readDocuments(in, file)
	if err != nil {
		return nil, err
	}
	out, err := decodeAllObjects[T](documents, kind, versions...)
	if err == nil && len(out) == 0 {
		return nil, errors.Errorf("%s has no %s of %s", file, kind, strings.Join(versions, " or "))
	}
	return out, err
}

// decodeAllObjects decodes the documents that are of one kind.
func decodeAllObjects[T any](documents []document, kind string, versions ...string) ([]T, error) {
	out := []T{}
	for _, d := range documents {
		meta := metav1.TypeMeta{}
		if err := d.readTypeMeta(&meta); err != nil {
			return nil, errors.Wrapf(err, "cannot decode document %d of %s", d.number, d.file)
		}
		if meta.Kind != kind || !slices.Contains(versions, meta.APIVersion) {
			continue
		}
		var o T
		if err := decodeStrictly(d.text, &o); err != nil {
			return nil, errors.Wrapf(err, "cannot decode document %d of %s", d.number, d.file)
		}
		out = append(out, o)
	}
	return out, nil
}

// A document of a file, its number, and the number of the line before it.
type document struct {
	file   string
	text   []byte
	number int
	before int

	// list that it is an item of, if it is one, and its path in there.
	list *list
	item string
}

// hasContent says whether there is anything but comments in a document.
func (d document) hasContent() bool {
	object, err := parseObject(d.text)
	return err != nil || len(object) > 0
}

// readDocuments reads the objects of a file, or of the manifests in a directory, and the objects of each List in them.
func readDocuments(in io.Reader, path string) ([]document, error) {
	files, err := manifestsIn(path)
	if err != nil {
		return nil, terminal.UsageError{Err: err}
	}
	out := []document{}
	for _, file := range files {
		documents, err := readInputFile(in, file)
		if err != nil {
			return nil, err
		}
		out = append(out, documents...)
	}
	return out, nil
}

// readInputFile reads the objects of one file.
func readInputFile(in io.Reader, file string) ([]document, error) {
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
	all, err := splitDocuments(b)
	if err != nil {
		return nil, errors.Wrapf(err, "cannot read %s", file)
	}
	out := make([]document, 0, len(all))
	for _, d := range all {
		d.file = file
		out = append(out, d.listItems()...)
	}
	return out, nil
}

func splitDocuments(file []byte) ([]document, error) {
	r := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(file)))
	out := []document{}
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
		out = append(out, document{text: text, number: len(out) + 1, before: bytes.Count(file[:offset], []byte("\n"))})
		offset += len(text)
	}
}

// decodeStrictly refuses fields that do not exist, by their path, and fields that come twice. Fields that Crossplane and the API server add
// to a user's object are left out.
func decodeStrictly(document []byte, target any) error {
	m := map[string]any{}
	if err := yaml.UnmarshalStrict(document, &m); err != nil {
		return err
	}
	delete(m, "status")
	if spec, ok := m["spec"].(map[string]any); ok && slices.Contains(claimVersions(), stringOf(m["apiVersion"])) {
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

func stringOf(v any) string {
	s, _ := v.(string)
	return s
}
