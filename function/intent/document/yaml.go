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

// jsonNumber is how a number is written. YAML knows more ways, and what 010 is depends on whom one asks.
var jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)([.][0-9]+)?$`)

// FromYAML reads YAML text. It returns an error that says where the trouble is for what is not one YAML document, for anchors,
// aliases, tags and merge keys, for a field that comes twice, and for values that are not text, decimal numbers, true, false or
// null.
func FromYAML(text string) (*Document, error) {
	if err := CheckText(text); err != nil {
		return nil, err
	}
	d := &Document{text: text, where: map[string]position{}}
	root, err := decode(text)
	if err != nil {
		return nil, err
	}
	n, prob := d.convert(root, "", 0)
	if prob != nil {
		return nil, d.Refuse(prob)
	}
	d.Root = n
	return d, nil
}

// decode returns the only document in a text. The library has panicked on hostile texts before.
func decode(text string) (root *yaml.Node, err error) { //nolint:nonamedreturns // A recovered panic is returned.
	defer func() {
		if p := recover(); p != nil {
			root, err = nil, errors.New("spec.intent: is not YAML that can be read")
		}
	}()
	decoder := yaml.NewDecoder(strings.NewReader(text))
	document := &yaml.Node{}
	if err := decoder.Decode(document); err != nil {
		return nil, syntax(err)
	}
	if document.Kind != yaml.DocumentNode || len(document.Content) != 1 {
		return nil, errors.New("spec.intent: is not YAML that can be read")
	}
	if err := decoder.Decode(&yaml.Node{}); !errors.Is(err, io.EOF) {
		return nil, errors.New("spec.intent: must be one YAML document, not several")
	}
	return document.Content[0], nil
}

var yamlError = regexp.MustCompile(`^yaml: (?:line ([0-9]+): )?(.*)`)

// syntax returns the library's complaint with the line that it names.
func syntax(err error) error {
	found := yamlError.FindStringSubmatch(err.Error())
	if found == nil || found[1] == "" {
		return errors.New("spec.intent: is not YAML that can be read")
	}
	line, _ := strconv.Atoi(found[1])
	return errors.Errorf("spec.intent: line %d: is not YAML: %.200s", line, found[2])
}

// convert makes a node of the library's.
func (d *Document) convert(y *yaml.Node, path string, depth int) (Node, *Problem) {
	n := Node{Path: path}
	d.where[path] = position{line: y.Line, column: y.Column}
	if prob := plain(y, path); prob != nil {
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
		n.Value, prob = scalar(y, path)
	default:
		prob = Problemf(path, "must be a value")
	}
	return n, prob
}

// plain refuses what makes a value something else than what is written there.
func plain(y *yaml.Node, path string) *Problem {
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
	seen := map[string]bool{}
	for i := 0; i+1 < len(y.Content); i += 2 {
		key := y.Content[i]
		full := Child(path, key.Value)
		at := position{line: key.Line, column: key.Column}
		if prob := d.checkKey(key, full, seen); prob != nil {
			d.where[full] = at
			return nil, prob
		}
		seen[key.Value] = true
		n, prob := d.convert(y.Content[i+1], full, depth+1)
		if prob != nil {
			return nil, prob
		}
		if n.Value == nil {
			d.where[full] = at
		}
		out = append(out, Member{Name: key.Value, Node: n})
	}
	return out, nil
}

func (d *Document) checkKey(key *yaml.Node, path string, seen map[string]bool) *Problem {
	if prob := plain(key, path); prob != nil {
		return prob
	}
	if key.ShortTag() == "!!merge" {
		return Problemf(path, "must not merge: write the fields")
	}
	if key.Kind != yaml.ScalarNode || key.ShortTag() != "!!str" {
		return Problemf(path, "must be named by text")
	}
	if seen[key.Value] {
		return Problemf(path, "comes twice")
	}
	return nil
}

func (d *Document) convertItems(y *yaml.Node, path string, depth int) ([]Node, *Problem) {
	out := []Node{}
	for i, content := range y.Content {
		n, prob := d.convert(content, Item(path, i), depth+1)
		if prob != nil {
			return nil, prob
		}
		out = append(out, n)
	}
	return out, nil
}

func scalar(y *yaml.Node, path string) (any, *Problem) {
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
