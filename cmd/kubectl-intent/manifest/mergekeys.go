package manifest

import (
	"bytes"
	"slices"

	"go.yaml.in/yaml/v3"
)

// mergeTag is the tag of the key << of YAML 1.1, whose value is a mapping, or a list of mappings, that the mapping around the key takes fields from.
const mergeTag = "!!merge"

// maxMergedNodes bounds the nodes of a document without merge keys: mappings that are merged into each other may double at each level.
const maxMergedNodes = 1 << 18

// withoutMergeKeys returns the document with the fields that its merge keys stand for. A strict reader takes a field beside a merge key for a second field of
// the same name, although it overrides the merged field. A document without such keys, or with keys that cannot be replaced, stays as it is.
func (d Document) withoutMergeKeys() Document {
	root := yaml.Node{}
	if !bytes.Contains(d.Text, []byte("<<")) || yaml.Unmarshal(d.Text, &root) != nil {
		return d
	}
	m := merger{}
	replaced := m.copyResolvedNode(&root)
	if !m.hasMerged || m.isRefused {
		return d
	}
	text, err := yaml.Marshal(replaced)
	if err != nil {
		return d
	}
	return Document{Text: text, Number: d.Number, file: d.file, before: d.before, list: &list{text: d.Text, before: d.before}}
}

// A merger copies nodes without merge keys and aliases.
type merger struct {
	nodes int

	// hasMerged is true if a merge key was replaced, and isRefused if a merge key has no mapping, or the document has too many nodes.
	hasMerged, isRefused bool
}

func (m *merger) copyResolvedNode(n *yaml.Node) *yaml.Node {
	if m.nodes++; m.nodes > maxMergedNodes {
		m.isRefused = true
	}
	if m.isRefused {
		return n
	}
	if n.Kind == yaml.AliasNode {
		return m.copyResolvedNode(n.Alias)
	}
	out := *n
	out.Anchor, out.Content = "", nil
	if n.Kind == yaml.MappingNode {
		m.copyMergedFields(n, &out)
		return &out
	}
	for _, item := range n.Content {
		out.Content = append(out.Content, m.copyResolvedNode(item))
	}
	return &out
}

// copyMergedFields copies the fields of a mapping, and behind them the merged fields that it does not have itself.
func (m *merger) copyMergedFields(source, target *yaml.Node) {
	var merged []*yaml.Node
	for i := 0; i+1 < len(source.Content); i += 2 {
		key, value := source.Content[i], source.Content[i+1]
		if key.ShortTag() == mergeTag {
			merged = append(merged, m.mergedFields(m.copyResolvedNode(value))...)
			continue
		}
		target.Content = append(target.Content, m.copyResolvedNode(key), m.copyResolvedNode(value))
	}
	for i := 0; i+1 < len(merged); i += 2 {
		if !hasMappingKey(target, merged[i].Value) {
			target.Content = append(target.Content, merged[i], merged[i+1])
		}
	}
}

// mergedFields returns the fields of the value of a merge key. Of a list, the first mapping with a field counts.
func (m *merger) mergedFields(value *yaml.Node) []*yaml.Node {
	m.hasMerged = true
	switch value.Kind {
	case yaml.MappingNode:
		return value.Content
	case yaml.SequenceNode:
		var out []*yaml.Node
		for _, item := range value.Content {
			m.isRefused = m.isRefused || item.Kind != yaml.MappingNode
			out = append(out, item.Content...)
		}
		return out
	}
	m.isRefused = true
	return nil
}

func hasMappingKey(mapping *yaml.Node, name string) bool {
	for i := range slices.Chunk(mapping.Content, 2) { //nolint:mnd // A key and its value.
		if i[0].Value == name {
			return true
		}
	}
	return false
}
