package document

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"unicode"
)

// A Problem is something wrong at a path of a document, such as sites[1].
type Problem struct {
	// Path of the value. Empty means the whole document.
	Path string

	// Message describes the problem.
	Message string
}

// Problemf returns a problem with the value at a path.
func Problemf(path, format string, args ...any) *Problem {
	return &Problem{Path: path, Message: fmt.Sprintf(format, args...)}
}

// A Node is a value of a document: a string, a json.Number, a bool, nil, []Node or []Member.
type Node struct {
	// Path of the value.
	Path string

	// Value at the path.
	Value any
}

// A Member is a field of an object.
type Member struct {
	// Name of the field.
	Name string

	// Node is the field's value.
	Node Node
}

// A Reader takes the value of a field.
type Reader func(Node) *Problem

// Members returns the fields of an object, or a problem for another value.
func (n Node) Members() ([]Member, *Problem) {
	members, ok := n.Value.([]Member)
	if !ok {
		return nil, Problemf(n.Path, "must be an object")
	}
	return members, nil
}

// Text returns a string, or a problem for another value.
func (n Node) Text() (string, *Problem) {
	s, ok := n.Value.(string)
	if !ok {
		return "", Problemf(n.Path, "must be a string, in quotes")
	}
	return s, nil
}

// Number returns a number as it is written, or a problem for another value.
func (n Node) Number() (string, *Problem) {
	number, ok := n.Value.(json.Number)
	if !ok {
		return "", Problemf(n.Path, "must be a number")
	}
	return number.String(), nil
}

// Whole returns a whole number, or a problem for another value. A number beyond 32 bits is replaced by the closest one within.
func (n Node) Whole() (int32, *Problem) {
	number, _ := n.Value.(json.Number)
	i, ok := ParseWhole(number.String())
	if !ok {
		return 0, Problemf(n.Path, "must be a whole number")
	}
	return i, nil
}

// ParseWhole reads a whole number. A number that does not fit becomes the nearest that does, for the bounds of its field to refuse.
func ParseWhole(text string) (int32, bool) {
	i, err := strconv.ParseInt(text, 10, 64)
	return int32(min(max(i, math.MinInt32), math.MaxInt32)), err == nil
}

// Texts returns a list of strings, or a problem for another value.
func (n Node) Texts() ([]string, *Problem) {
	items, ok := n.Value.([]Node)
	if !ok {
		return nil, Problemf(n.Path, "must be a list")
	}
	out := make([]string, 0, len(items))
	for _, item := range items {
		s, prob := item.Text()
		if prob != nil {
			return nil, prob
		}
		out = append(out, s)
	}
	return out, nil
}

// TextMap returns an object of strings, or a problem for another value.
func (n Node) TextMap() (map[string]string, *Problem) {
	members, prob := n.Members()
	if prob != nil {
		return nil, prob
	}
	out := make(map[string]string, len(members))
	for _, m := range members {
		if out[m.Name], prob = m.Node.Text(); prob != nil {
			return nil, prob
		}
	}
	return out, nil
}

// Each gives each field of an object to its reader. It returns a problem for a field without a reader: form is the kind of
// object that the message names.
func (n Node) Each(form string, readers map[string]Reader) *Problem {
	members, prob := n.Members()
	if prob != nil {
		return prob
	}
	for _, m := range members {
		read, ok := readers[m.Name]
		if !ok {
			return Problemf(m.Node.Path, "is not a field of a %s", form)
		}
		if prob := read(m.Node); prob != nil {
			return prob
		}
	}
	return nil
}

// Into returns a reader of a string.
func Into(target *string) Reader {
	return func(n Node) *Problem {
		s, prob := n.Text()
		*target = s
		return prob
	}
}

// Child returns the path of a field.
func Child(path, name string) string {
	if len(name) > 64 || needsQuotes(name) {
		name = fmt.Sprintf("%.64q", name)
	}
	if path == "" {
		return name
	}
	return path + "." + name
}

// Item returns the path of a list's item.
func Item(path string, i int) string {
	return fmt.Sprintf("%s[%d]", path, i)
}

func needsQuotes(name string) bool {
	for _, r := range name {
		if r <= ' ' || r == '[' || !unicode.IsPrint(r) {
			return true
		}
	}
	return name == ""
}

// JSON returns the value as JSON, with the fields of objects in their order.
func (n Node) JSON() []byte {
	b := &bytes.Buffer{}
	n.writeJSON(b)
	return b.Bytes()
}

func (n Node) writeJSON(b *bytes.Buffer) {
	switch v := n.Value.(type) {
	case []Node:
		b.WriteByte('[')
		for i, item := range v {
			writeComma(b, i)
			item.writeJSON(b)
		}
		b.WriteByte(']')
	case []Member:
		b.WriteByte('{')
		for i, m := range v {
			writeComma(b, i)
			Node{Value: m.Name}.writeJSON(b)
			b.WriteByte(':')
			m.Node.writeJSON(b)
		}
		b.WriteByte('}')
	default:
		text, _ := json.Marshal(v) //nolint:errchkjson // A text, a number, a boolean and nil always encode.
		b.Write(text)
	}
}

func writeComma(b *bytes.Buffer, i int) {
	if i > 0 {
		b.WriteByte(',')
	}
}
