package document

import (
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"go.yaml.in/yaml/v3"
)

// jsonNumber matches a number of JSON. YAML has more spellings, and decoders disagree about the value of 010.
var jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)([.][0-9]+)?$`)

// FromYAML reads YAML text. It returns an error with the position for text that is not one YAML document, for anchors,
// aliases, tags and merge keys, for a field that comes twice, and for values that are not text, decimal numbers, true, false or
// null.
func FromYAML(text string) (*Document, error) {
	if err := CheckText(text); err != nil {
		return nil, err
	}
	d := &Document{text: text, where: map[string]position{}}
	root, err := decodeYAMLText(text)
	if err != nil {
		return nil, err
	}
	n, prob := d.convertNode(root, "", 0)
	if prob != nil {
		return nil, d.Refuse(prob)
	}
	d.Root = n
	return d, nil
}

// decodeYAMLText returns the only document in a text. The library has panicked on hostile texts before.
func decodeYAMLText(text string) (root *yaml.Node, err error) { //nolint:nonamedreturns // A recovered panic is returned.
	defer func() {
		if p := recover(); p != nil {
			root, err = nil, errors.New("spec.intent: is not valid YAML")
		}
	}()
	decoder := yaml.NewDecoder(strings.NewReader(text))
	document := &yaml.Node{}
	if err := decoder.Decode(document); err != nil {
		return nil, syntaxError(err)
	}
	if document.Kind != yaml.DocumentNode || len(document.Content) != 1 {
		return nil, errors.New("spec.intent: is not valid YAML")
	}
	if err := decoder.Decode(&yaml.Node{}); !errors.Is(err, io.EOF) {
		return nil, errors.New("spec.intent: must be one YAML document, not several")
	}
	return document.Content[0], nil
}

var yamlError = regexp.MustCompile(`^yaml: (?:line ([0-9]+): )?(.*)`)

// syntaxError returns the library's error with the line that it names.
func syntaxError(err error) error {
	found := yamlError.FindStringSubmatch(err.Error())
	if found == nil || found[1] == "" {
		return errors.New("spec.intent: is not valid YAML")
	}
	line, _ := strconv.Atoi(found[1])
	return errors.Errorf("spec.intent: line %d: is not YAML: %.200s", line, found[2])
}

// convertNode converts a node of the library.
func (d *Document) convertNode(y *yaml.Node, path string, depth int) (Node, *Problem) {
	n := Node{Path: path}
	d.where[path] = position{line: y.Line, column: y.Column}
	if prob := checkPlainNode(y, path); prob != nil {
		return n, prob
	}
	if depth > maxDepth {
		return n, Problemf(path, "must not nest deeper than %d", maxDepth)
	}
	var prob *Problem
	switch y.Kind {
	case yaml.MappingNode:
		n.Value, prob = d.convertMembers(y, path, depth)
	case yaml.SequenceNode:
		n.Value, prob = d.convertItems(y, path, depth)
	case yaml.ScalarNode:
		n.Value, prob = convertScalar(y, path)
	default:
		prob = Problemf(path, "must be a value")
	}
	return n, prob
}

// checkPlainNode returns a problem for aliases, anchors and tags, by which a value would differ from its text.
func checkPlainNode(y *yaml.Node, path string) *Problem {
	switch {
	case y.Kind == yaml.AliasNode:
		return Problemf(path, "must not be an alias: write the value")
	case y.Anchor != "":
		return Problemf(path, "must not have an anchor")
	case y.Style&yaml.TaggedStyle != 0:
		return Problemf(path, "must not have a tag")
	}
	return nil
}

func (d *Document) convertMembers(y *yaml.Node, path string, depth int) ([]Member, *Problem) {
	out := []Member{}
	names := map[string]bool{}
	for i := 0; i+1 < len(y.Content); i += 2 {
		key := y.Content[i]
		full := Child(path, key.Value)
		location := position{line: key.Line, column: key.Column}
		if prob := d.checkYAMLKey(key, full, names); prob != nil {
			d.where[full] = location
			return nil, prob
		}
		names[key.Value] = true
		n, prob := d.convertNode(y.Content[i+1], full, depth+1)
		if prob != nil {
			return nil, prob
		}
		if n.Value == nil {
			d.where[full] = location
		}
		out = append(out, Member{Name: key.Value, Node: n})
	}
	return out, nil
}

func (d *Document) checkYAMLKey(key *yaml.Node, path string, names map[string]bool) *Problem {
	if prob := checkPlainNode(key, path); prob != nil {
		return prob
	}
	if key.ShortTag() == "!!merge" {
		return Problemf(path, "must not merge: write the fields")
	}
	if key.Kind != yaml.ScalarNode || key.ShortTag() != "!!str" {
		return Problemf(path, "must be named by text")
	}
	if names[key.Value] {
		return Problemf(path, "comes twice")
	}
	return nil
}

func (d *Document) convertItems(y *yaml.Node, path string, depth int) ([]Node, *Problem) {
	out := []Node{}
	for i, content := range y.Content {
		n, prob := d.convertNode(content, Item(path, i), depth+1)
		if prob != nil {
			return nil, prob
		}
		out = append(out, n)
	}
	return out, nil
}

func convertScalar(y *yaml.Node, path string) (any, *Problem) {
	switch y.ShortTag() {
	case "!!str":
		return y.Value, nil
	case "!!null":
		return nil, nil
	case "!!bool":
		return strings.EqualFold(y.Value, "true"), nil
	case "!!int", "!!float":
		if jsonNumber.MatchString(y.Value) {
			return json.Number(y.Value), nil
		}
	}
	return nil, Problemf(path, "must be text in quotes or a decimal number, not %s", fmt.Sprintf("%.40q", y.Value))
}
