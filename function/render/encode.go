package render

import (
	"slices"

	yamlv2 "go.yaml.in/yaml/v2"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// encode writes an object as kustomize's own AsYAML does, byte by byte. That encodes and parses the object two times, on the way over
// YAML and JSON, so that whatever it holds comes out as JSON would have it. An object of nothing but plain values is what it is
// already: it goes to the same encoder at once.
func encode(o *resource.Resource) ([]byte, error) {
	if !plain(o.YNode()) {
		return o.AsYAML()
	}
	m, err := o.Map()
	if err != nil {
		return nil, err
	}
	return yamlv2.Marshal(m)
}

// plain is true for mappings and lists of short texts, whole numbers, booleans and nulls, of which there is one way to write each.
func plain(n *yaml.Node) bool {
	if n == nil || n.Anchor != "" || n.Alias != nil {
		return false
	}
	switch n.Kind {
	case yaml.MappingNode:
		return n.ShortTag() == yaml.NodeTagMap && plainKeys(n) && !slices.ContainsFunc(n.Content, isNotPlain)
	case yaml.SequenceNode:
		return n.ShortTag() == yaml.NodeTagSeq && !slices.ContainsFunc(n.Content, isNotPlain)
	case yaml.ScalarNode:
		return plainScalar(n)
	default:
		return false
	}
}

func isNotPlain(n *yaml.Node) bool { return !plain(n) }

func plainKeys(n *yaml.Node) bool {
	for i := 0; i < len(n.Content); i += 2 {
		if n.Content[i].ShortTag() != yaml.NodeTagString {
			return false
		}
	}
	return true
}

// plainScalar leaves out texts of several lines, which have a style that may be lost on the way, and characters that need an escape.
func plainScalar(n *yaml.Node) bool {
	if n.Style&(yaml.LiteralStyle|yaml.FoldedStyle|yaml.TaggedStyle) != 0 {
		return false
	}
	for i := range len(n.Value) {
		if n.Value[i] < ' ' || n.Value[i] > '~' {
			return false
		}
	}
	// A null of no characters comes out as a text somewhere.
	if n.Value == "" && n.ShortTag() != yaml.NodeTagString {
		return false
	}
	return slices.Contains([]string{yaml.NodeTagString, yaml.NodeTagInt, yaml.NodeTagBool, yaml.NodeTagNull}, n.ShortTag())
}
