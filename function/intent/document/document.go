// Package document reads JSON and YAML strictly, and knows where each value stands.
package document

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// Bounds of a text.
const (
	// MaxBytes is the greatest size of the text of an intent, in bytes, as in the schema.
	MaxBytes = 16 << 10

	// maxDepth is the greatest nesting depth of an intent. The fields of an intent need four levels.
	maxDepth = 8
)

// A Document is a text that was read, and where in it each path stands.
type Document struct {
	// Root of the document.
	Root Node

	text  string
	where map[string]position
}

// A position is a line and a column, from one. Without a line it is an offset, since few positions are ever asked for.
type position struct{ line, column, offset int }

// CheckText returns an error for a text that is too long, is not text or hides something from people.
func CheckText(text string) error {
	if len(text) > MaxBytes {
		return errors.Errorf("spec.intent: has %d bytes, more than %d", len(text), MaxBytes)
	}
	if !utf8.ValidString(text) {
		return errors.New("spec.intent: must be valid UTF-8")
	}
	d := &Document{text: text}
	if i := strings.IndexFunc(text, IsControl); i >= 0 {
		return refusalAtPosition(d.positionAtOffset(i), "", "must not have control characters")
	}
	return nil
}

// IsControl reports whether a character is a control character, which no text of an intent may have.
func IsControl(r rune) bool {
	return unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\r'
}

// Refuse returns an error for a problem, with its line and column in the text.
func (d *Document) Refuse(p *Problem) error {
	location := d.findPosition(p.Path)
	if location.line == 0 {
		location = d.positionAtOffset(location.offset)
	}
	return refusalAtPosition(location, p.Path, p.Message)
}

// findPosition returns where the value at the path stands, or the closest one around it.
func (d *Document) findPosition(path string) position {
	for {
		if location, ok := d.where[path]; ok || path == "" {
			return location
		}
		path = path[:max(0, strings.LastIndexAny(path, ".["))]
	}
}

func (d *Document) positionAtOffset(offset int) position {
	prefix := d.text[:min(max(offset, 0), len(d.text))]
	return position{
		line:   strings.Count(prefix, "\n") + 1,
		column: utf8.RuneCountInString(prefix[strings.LastIndexByte(prefix, '\n')+1:]) + 1,
	}
}

func refusalAtPosition(location position, path, message string) error {
	if path != "" {
		message = path + ": " + message
	}
	return errors.Errorf("spec.intent: line %d, column %d: %s", location.line, location.column, message)
}
