package guard

import (
	"io"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/intentplane/intentplane/apis/boundedyaml"
)

const (
	// maxNesting is the greatest nesting depth of YAML.
	maxNesting = 100

	// mergedField says that a field may come from a merge, which is not followed.
	mergedField = "<<"

	// maxMessage is the greatest length of a message of kustomize, in bytes.
	maxMessage = 768
)

// DefinitionKind is the kind of the definitions of custom resources.
const DefinitionKind = "CustomResourceDefinition"

// ReadKind returns the documents of a kind in a YAML file of a Blueprint. It returns an error that names the file for other text, and for more than a
// bound.
func ReadKind(name, text, kind string) ([]*yaml.Node, error) {
	documents, err := (&walker{}).readYAMLDocuments(name, text)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(documents, func(d *yaml.Node) bool { return scalarField(d, "kind") != kind }), nil
}

// ShortenMessage returns a message of kustomize as one line of at most 768 bytes.
func ShortenMessage(message string) string {
	line := strings.Join(strings.Fields(message), " ")
	if len(line) <= maxMessage {
		return line
	}
	return strings.ToValidUTF8(line[:maxMessage], "") + " …"
}

// readYAMLDocuments reads YAML and returns its documents. It counts their nodes, and the size of the values of their aliases, with each alias replaced by its anchor,
// without replacing it: a few lines can stand for gigabytes.
func (g *walker) readYAMLDocuments(name, text string) ([]*yaml.Node, error) {
	d := yaml.NewDecoder(strings.NewReader(text))
	out := []*yaml.Node{}
	for {
		document := &yaml.Node{}
		err := d.Decode(document)
		if errors.Is(err, io.EOF) {
			return out, errors.Wrap(boundedyaml.Check([]byte(text)), name)
		}
		if err != nil {
			return nil, errors.Errorf("%s: %s", name, ShortenMessage(err.Error()))
		}
		s := &nodeCounter{counts: map[*yaml.Node]int{}}
		if g.nodes += s.countAliasedNodes(document, 0); g.nodes > maxNodes {
			return nil, errors.Errorf("%s: has too many values, or aliases that stand for too many, or nests too deep", name)
		}
		if name != IntentFile {
			g.uses.scanNodeForMarks(document)
		}
		if len(document.Content) > 0 && document.Content[0].Tag != yaml.NodeTagNull {
			out = append(out, document.Content[0])
		}
	}
}

// A nodeCounter counts nodes. It remembers the count of each anchor.
type nodeCounter struct {
	counts map[*yaml.Node]int
}

// countAliasedNodes returns how many nodes there are once aliases are resolved, or more than maxNodes for too many, too deep ones, or a node that
// contains itself.
func (s *nodeCounter) countAliasedNodes(n *yaml.Node, depth int) int {
	if depth > maxNesting {
		return maxNodes + 1
	}
	if n.Kind == yaml.AliasNode {
		// While an anchor is counted, its count is above the bound: an alias in it would contain itself.
		return s.counts[n.Alias]
	}
	if n.Anchor != "" {
		s.counts[n] = maxNodes + 1
	}
	total := 1
	for _, c := range n.Content {
		total = min(total+s.countAliasedNodes(c, depth+1), maxNodes+1)
	}
	if n.Anchor != "" {
		s.counts[n] = total
	}
	return total
}

// scalarField returns the scalar at a name of a mapping. The last scalar wins, and a merge is named as such.
func scalarField(n *yaml.Node, name string) string {
	value := ""
	if n.Kind != yaml.MappingNode {
		return value
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := resolveAlias(n.Content[i])
		if key.Value == mergedField {
			return mergedField
		}
		if key.Value == name {
			value = resolveAlias(n.Content[i+1]).Value
		}
	}
	return value
}

// listElements returns the elements of a list, or nil.
func listElements(n *yaml.Node) []*yaml.Node {
	if n.Kind != yaml.SequenceNode {
		return nil
	}
	out := make([]*yaml.Node, 0, len(n.Content))
	for _, c := range n.Content {
		out = append(out, resolveAlias(c))
	}
	return out
}

func resolveAlias(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}
