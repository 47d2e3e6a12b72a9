package render

import (
	"io"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"sigs.k8s.io/kustomize/kyaml/yaml"
)

const (
	// maxNesting is how deep YAML may nest.
	maxNesting = 100

	// mergedField says that a field may come from a merge, which is not followed.
	mergedField = "<<"
)

// measure reads YAML and returns its documents. It counts what they have once their aliases are replaced by what they stand for,
// without doing so: a few lines can stand for gigabytes.
func (g *guard) measure(name, text string) ([]*yaml.Node, error) {
	d := yaml.NewDecoder(strings.NewReader(text))
	out := []*yaml.Node{}
	for {
		document := &yaml.Node{}
		err := d.Decode(document)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, errors.Errorf("%s: %s", name, brief(err.Error()))
		}
		s := &scale{known: map[*yaml.Node]int{}}
		if g.nodes += s.weigh(document, 0); g.nodes > maxNodes {
			return nil, errors.Errorf("%s: has too many values, or aliases that stand for too many, or nests too deep", name)
		}
		if name != intentFile {
			g.uses.look(document)
		}
		if len(document.Content) > 0 && document.Content[0].Tag != yaml.NodeTagNull {
			out = append(out, document.Content[0])
		}
	}
}

// A scale weighs nodes. It remembers what an anchor weighs.
type scale struct {
	known map[*yaml.Node]int
}

// weigh returns how many nodes there are, or more than maxNodes for too many, too deep, or a node that holds itself.
func (s *scale) weigh(n *yaml.Node, depth int) int {
	if depth > maxNesting {
		return maxNodes + 1
	}
	if n.Kind == yaml.AliasNode {
		// While an anchor is weighed, it weighs too much: it would hold itself.
		return s.known[n.Alias]
	}
	if n.Anchor != "" {
		s.known[n] = maxNodes + 1
	}
	total := 1
	for _, c := range n.Content {
		total = min(total+s.weigh(c, depth+1), maxNodes+1)
	}
	if n.Anchor != "" {
		s.known[n] = total
	}
	return total
}

// field returns the scalar at a name of a mapping. The last one wins, and a merge is named as such.
func field(n *yaml.Node, name string) string {
	value := ""
	if n.Kind != yaml.MappingNode {
		return value
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := resolve(n.Content[i])
		if key.Value == mergedField {
			return mergedField
		}
		if key.Value == name {
			value = resolve(n.Content[i+1]).Value
		}
	}
	return value
}

// elements of a list, or nil.
func elements(n *yaml.Node) []*yaml.Node {
	if n.Kind != yaml.SequenceNode {
		return nil
	}
	out := make([]*yaml.Node, 0, len(n.Content))
	for _, c := range n.Content {
		out = append(out, resolve(c))
	}
	return out
}

func resolve(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}
