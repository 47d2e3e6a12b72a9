package intent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

const (
	// maxText is how many bytes of text an intent may have. The schema says so too.
	maxText = 16 << 10

	// maxDepth is how deep a JSON intent may nest. What it may say needs two.
	maxDepth = 8
)

// A problem is something wrong at a path of an intent, such as sites[1].
type problem struct {
	path    string
	message string
}

func problemf(path, format string, args ...any) *problem {
	return &problem{path: path, message: fmt.Sprintf(format, args...)}
}

// A node is a JSON value that knows where it stands. Its value is a string, a json.Number, a bool, nil, []node or []member.
type node struct {
	offset int
	value  any
}

type member struct {
	name string
	node node
}

// A document is a parsed JSON text, and where in it each path stands.
type document struct {
	text  string
	root  node
	where map[string]int
}

// parse reads JSON text. It keeps what encoding/json throws away: positions, and fields that come twice.
func parse(text string) (*document, error) {
	d := &document{text: text, where: map[string]int{}}
	if err := d.checkText(); err != nil {
		return nil, err
	}
	var syntax *json.SyntaxError
	if err := json.Unmarshal([]byte(text), &json.RawMessage{}); errors.As(err, &syntax) {
		return nil, d.errorAt(int(syntax.Offset)-1, "", "is not JSON: "+syntax.Error())
	}
	p := &parser{document: d, decoder: json.NewDecoder(strings.NewReader(text))}
	p.decoder.UseNumber()
	root, prob := p.next("", 0)
	if prob != nil {
		return nil, d.refuse(prob)
	}
	d.root = root
	return d, nil
}

// checkText looks at the text before anything reads it.
func (d *document) checkText() error {
	if len(d.text) > maxText {
		return errors.Errorf("spec.intent: has %d bytes, more than %d", len(d.text), maxText)
	}
	if !utf8.ValidString(d.text) {
		return errors.New("spec.intent: must be valid UTF-8")
	}
	if i := strings.IndexFunc(d.text, forbidden); i >= 0 {
		return d.errorAt(i, "", "must not have control characters")
	}
	trimmed := strings.TrimSpace(d.text)
	if strings.HasPrefix(trimmed, "{") {
		return nil
	}
	if json.Valid([]byte(trimmed)) {
		return errors.New(`spec.intent: must be a JSON object, such as {"service": "edge-analytics", "site": "edge1"}`)
	}
	return errors.New(`spec.intent: plain language is not yet supported: write JSON, such as {"service": "edge-analytics", "site": "edge1"}`)
}

// forbidden says whether a character is one that no text of an intent may have.
func forbidden(r rune) bool {
	return unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\r'
}

// refuse turns a problem into an error that says where in the text it is.
func (d *document) refuse(p *problem) error {
	return d.errorAt(d.offset(p.path), p.path, p.message)
}

// offset of the value at the path, or of the closest one around it.
func (d *document) offset(path string) int {
	for {
		if o, ok := d.where[path]; ok || path == "" {
			return o
		}
		path = path[:max(0, strings.LastIndexAny(path, ".["))]
	}
}

func (d *document) errorAt(offset int, path, message string) error {
	before := d.text[:min(max(offset, 0), len(d.text))]
	line := strings.Count(before, "\n") + 1
	column := utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1
	if path != "" {
		message = path + ": " + message
	}
	return errors.Errorf("spec.intent: line %d, column %d: %s", line, column, message)
}

// A parser makes nodes from tokens. The text is known to be JSON.
type parser struct {
	*document

	decoder *json.Decoder
}

// next reads the value that stands at the path.
func (p *parser) next(path string, depth int) (node, *problem) {
	n := node{offset: p.skip(int(p.decoder.InputOffset()))}
	p.where[path] = n.offset
	if depth > maxDepth {
		return n, problemf(path, "must not nest deeper than %d", maxDepth)
	}
	token, err := p.decoder.Token()
	if err != nil {
		return n, problemf(path, "is not JSON: %v", err)
	}
	var prob *problem
	switch token {
	case json.Delim('{'):
		n.value, prob = p.members(path, depth)
	case json.Delim('['):
		n.value, prob = p.items(path, depth)
	default:
		n.value = token
	}
	return n, prob
}

func (p *parser) members(path string, depth int) ([]member, *problem) {
	out := []member{}
	seen := map[string]bool{}
	for p.decoder.More() {
		at := p.skip(int(p.decoder.InputOffset()))
		token, err := p.decoder.Token()
		name, ok := token.(string)
		if err != nil || !ok {
			return nil, problemf(path, "is not JSON")
		}
		full := child(path, name)
		if seen[name] {
			p.where[full] = at
			return nil, problemf(full, "comes twice")
		}
		seen[name] = true
		n, prob := p.next(full, depth+1)
		if prob != nil {
			return nil, prob
		}
		out = append(out, member{name: name, node: n})
	}
	_, _ = p.decoder.Token() // The closing brace, which a valid text has.
	return out, nil
}

func (p *parser) items(path string, depth int) ([]node, *problem) {
	out := []node{}
	for p.decoder.More() {
		n, prob := p.next(item(path, len(out)), depth+1)
		if prob != nil {
			return nil, prob
		}
		out = append(out, n)
	}
	_, _ = p.decoder.Token() // The closing bracket, which a valid text has.
	return out, nil
}

// skip returns where the next token begins.
func (p *parser) skip(offset int) int {
	rest := []byte(p.text[offset:])
	return offset + len(rest) - len(bytes.TrimLeft(rest, " \t\r\n,:"))
}

func child(path, name string) string {
	if len(name) > 64 || strings.IndexFunc(name, func(r rune) bool { return r <= ' ' || !unicode.IsPrint(r) || r == '[' }) >= 0 {
		name = fmt.Sprintf("%.64q", name)
	}
	if path == "" {
		return name
	}
	return path + "." + name
}

func item(path string, i int) string {
	return fmt.Sprintf("%s[%d]", path, i)
}
