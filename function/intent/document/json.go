package document

import (
	"encoding/json"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// FromJSON reads JSON text. It returns an error with the position for text that is not JSON, nests too deep or has a field twice.
func FromJSON(text string) (*Document, error) {
	if err := CheckText(text); err != nil {
		return nil, err
	}
	d := &Document{text: text, where: map[string]position{}}
	var syntax *json.SyntaxError
	if err := json.Unmarshal([]byte(text), &json.RawMessage{}); errors.As(err, &syntax) {
		return nil, refusalAtPosition(d.positionAtOffset(int(syntax.Offset)-1), "", "is not JSON: "+syntax.Error())
	}
	p := &parser{Document: d, decoder: json.NewDecoder(strings.NewReader(text))}
	p.decoder.UseNumber()
	root, prob := p.readJSONValue("", 0)
	if prob != nil {
		return nil, d.Refuse(prob)
	}
	d.Root = root
	return d, nil
}

// A parser makes nodes from tokens. It keeps the parts that encoding/json discards: positions, and duplicate fields. The text is known to be JSON.
type parser struct {
	*Document

	decoder *json.Decoder
}

// readJSONValue reads the value that stands at the path.
func (p *parser) readJSONValue(path string, depth int) (Node, *Problem) {
	n := Node{Path: path}
	p.where[path] = position{offset: p.nextTokenOffset()}
	if depth > maxDepth {
		return n, Problemf(path, "must not nest deeper than %d", maxDepth)
	}
	token, err := p.decoder.Token()
	if err != nil {
		return n, Problemf(path, "is not JSON: %v", err)
	}
	var prob *Problem
	switch token {
	case json.Delim('{'):
		n.Value, prob = p.readJSONMembers(path, depth)
	case json.Delim('['):
		n.Value, prob = p.readJSONItems(path, depth)
	default:
		n.Value = token
	}
	return n, prob
}

func (p *parser) readJSONMembers(path string, depth int) ([]Member, *Problem) {
	out := []Member{}
	names := map[string]bool{}
	for p.decoder.More() {
		offset := p.nextTokenOffset()
		token, err := p.decoder.Token()
		name, ok := token.(string)
		if err != nil || !ok {
			return nil, Problemf(path, "is not JSON")
		}
		full := Child(path, name)
		if names[name] {
			p.where[full] = position{offset: offset}
			return nil, Problemf(full, "comes twice")
		}
		names[name] = true
		n, prob := p.readJSONValue(full, depth+1)
		if prob != nil {
			return nil, prob
		}
		out = append(out, Member{Name: name, Node: n})
	}
	_, _ = p.decoder.Token() // The closing brace, which a valid text has.
	return out, nil
}

func (p *parser) readJSONItems(path string, depth int) ([]Node, *Problem) {
	out := []Node{}
	for p.decoder.More() {
		n, prob := p.readJSONValue(Item(path, len(out)), depth+1)
		if prob != nil {
			return nil, prob
		}
		out = append(out, n)
	}
	_, _ = p.decoder.Token() // The closing bracket, which a valid text has.
	return out, nil
}

// nextTokenOffset returns where the next token begins.
func (p *parser) nextTokenOffset() int {
	offset := int(p.decoder.InputOffset())
	rest := p.text[offset:]
	return offset + len(rest) - len(strings.TrimLeft(rest, " \t\r\n,:"))
}
