package render

import (
	"slices"

	yamlv2 "go.yaml.in/yaml/v2"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// encodeObject returns the same bytes as kustomize's AsYAML. AsYAML encodes and parses the object two times, as YAML and as JSON, so that all
// values get the form that JSON has. An object of nothing but plain values has that form already, and goes to the same encoder at once.
func encodeObject(o *resource.Resource) ([]byte, error) {
	if !isPlainNode(o.YNode()) {
		return o.AsYAML()
	}
	m, err := o.Map()
	if err != nil {
		return nil, err
	}
	return yamlv2.Marshal(m)
}

// isPlainNode reports whether a node consists of mappings and lists of short texts, whole numbers, booleans and nulls, each of which has one form.
func isPlainNode(n *yaml.Node) bool {
	if n == nil || n.Anchor != "" || n.Alias != nil {
		return false
	}
	switch n.Kind {
	case yaml.MappingNode:
		return n.ShortTag() == yaml.NodeTagMap && hasPlainKeys(n) && !slices.ContainsFunc(n.Content, isNotPlainNode)
	case yaml.SequenceNode:
		return n.ShortTag() == yaml.NodeTagSeq && !slices.ContainsFunc(n.Content, isNotPlainNode)
	case yaml.ScalarNode:
		return isPlainScalar(n)
	default:
		return false
	}
}

func isNotPlainNode(n *yaml.Node) bool { return !isPlainNode(n) }

func hasPlainKeys(n *yaml.Node) bool {
	for i := 0; i < len(n.Content); i += 2 {
		if n.Content[i].ShortTag() != yaml.NodeTagString {
			return false
		}
	}
	return true
}

// isPlainScalar leaves out texts of several lines, which have a style that may be lost on the way, and characters that need an escape.
func isPlainScalar(n *yaml.Node) bool {
	if n.Style&(yaml.LiteralStyle|yaml.FoldedStyle|yaml.TaggedStyle) != 0 {
		return false
	}
	for i := range len(n.Value) {
		if n.Value[i] < ' ' || n.Value[i] > '~' {
			return false
		}
	}
	// AsYAML turns an empty null into a text in some places.
	if n.Value == "" && n.ShortTag() != yaml.NodeTagString {
		return false
	}
	return slices.Contains([]string{yaml.NodeTagString, yaml.NodeTagInt, yaml.NodeTagBool, yaml.NodeTagNull}, n.ShortTag())
}
