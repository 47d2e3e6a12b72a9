package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/xpkg/parser"
	"go.yaml.in/yaml/v3"
)

// exampleID is the annotation by which registries of packages find the example of a kind.
const exampleID = "meta.upbound.io/example-id"

// exampleIndent is the indentation of the examples.
const exampleIndent = 2

// An annotatedExamples is the examples of a package, each with its ID.
type annotatedExamples struct{ parser.Backend }

// Init returns the examples as one stream of YAML. It returns an error for a file that is no YAML.
func (b annotatedExamples) Init(ctx context.Context, opts ...parser.BackendOption) (io.ReadCloser, error) {
	files, err := b.Backend.Init(ctx, opts...)
	if err != nil {
		return files, err // The library closes the files in any case, and recognizes the error of a folder that does not exist.
	}
	defer func() { _ = files.Close() }() // It is only read.
	out := &bytes.Buffer{}
	return io.NopCloser(out), annotateExamples(files, out)
}

// annotateExamples copies a stream of objects, and keeps their comments.
func annotateExamples(in io.Reader, out io.Writer) error {
	decoder, encoder := yaml.NewDecoder(in), yaml.NewEncoder(out)
	encoder.SetIndent(exampleIndent)
	for {
		document := &yaml.Node{}
		err := decoder.Decode(document)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("cannot read an example: %w", err)
		}
		if isEmpty(document) {
			continue
		}
		annotateExample(document.Content[0])
		if err := encoder.Encode(document); err != nil {
			return fmt.Errorf("cannot write an example: %w", err)
		}
	}
}

// annotateExample adds the ID to an object: its group, version and kind. An object of Kubernetes' core group gets none.
func annotateExample(object *yaml.Node) {
	apiVersion, kind, metadata := valueOf(object, "apiVersion"), valueOf(object, "kind"), valueOf(object, "metadata")
	if apiVersion == nil || kind == nil || metadata == nil || !strings.Contains(apiVersion.Value, "/") {
		return
	}
	annotations := valueOf(metadata, "annotations")
	if annotations == nil {
		annotations = &yaml.Node{Kind: yaml.MappingNode}
		metadata.Content = append(metadata.Content, textNode("annotations"), annotations)
	}
	if valueOf(annotations, exampleID) == nil {
		annotations.Content = append(annotations.Content, textNode(exampleID), textNode(apiVersion.Value+"/"+strings.ToLower(kind.Value)))
	}
}

// isEmpty is true for a document without a value, such as one behind the last separator.
func isEmpty(document *yaml.Node) bool {
	return len(document.Content) == 0 || document.Content[0].Tag == "!!null"
}

// valueOf returns the value of a key of a mapping, or nil.
func valueOf(mapping *yaml.Node, key string) *yaml.Node {
	for i := 0; mapping.Kind == yaml.MappingNode && i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			return mapping.Content[i+1]
		}
	}
	return nil
}

func textNode(text string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}
}
