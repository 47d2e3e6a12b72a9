package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"
)

// exampleID is the annotation by which registries of packages find the example of a kind.
const exampleID = "meta.upbound.io/example-id"

// exampleIndent is the indentation of the examples.
const exampleIndent = 2

// annotateFiles gives the examples in a folder their ids. A package may have no such folder.
func annotateFiles(dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return fmt.Errorf("cannot list -examples: %w", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("cannot read an example: %w", err)
		}
		out := &bytes.Buffer{}
		if err := annotateExamples(bytes.NewReader(text), out); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if err := os.WriteFile(file, out.Bytes(), 0o600); err != nil {
			return fmt.Errorf("cannot write an example: %w", err)
		}
	}
	return nil
}

// annotateExamples copies a stream of objects, and keeps their comments.
func annotateExamples(in io.Reader, out io.Writer) error {
	decoder, encoder := yaml.NewDecoder(in), yaml.NewEncoder(out)
	encoder.SetIndent(exampleIndent)
	for {
		document := &yaml.Node{}
		err := decoder.Decode(document)
		if errors.Is(err, io.EOF) {
			return encoder.Close()
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
