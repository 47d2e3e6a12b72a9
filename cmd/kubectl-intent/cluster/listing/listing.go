// Package listing reads lists of API servers as they arrive, so that their objects are decoded while the server still writes the rest.
package listing

import (
	"bufio"
	"encoding/json"
	"io"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

const (
	// chunkSize is how many objects are handed over together.
	chunkSize = 50

	// bufferSize is how many bytes are read at a time. An object has some 10,000.
	bufferSize = 64 << 10
)

// Read reads a page of a list, and calls visit with its objects, some at a time and in their order. It returns the token that continues the list, which is empty
// on the last page. If it returns an error, visit has had the objects before.
func Read(r io.Reader, visit func([]json.RawMessage)) (token string, err error) {
	p := page{Decoder: json.NewDecoder(bufio.NewReaderSize(r, bufferSize)), visit: visit}
	if err := p.readFields(); err != nil {
		return "", errors.Wrap(err, "cannot decode a list")
	}
	return p.metadata.Continue, nil
}

// A page is a page of a list under way.
type page struct {
	*json.Decoder

	visit    func([]json.RawMessage)
	hasItems bool
	metadata struct {
		Continue string `json:"continue"`
	}
}

// readFields reads the page field by field. An API server writes the objects before the token, or after it.
func (p *page) readFields() error {
	if err := p.expect(json.Delim('{')); err != nil {
		return err
	}
	for p.More() {
		name, err := p.Token()
		if err != nil {
			return err
		}
		if err := p.readField(name); err != nil {
			return err
		}
	}
	if err := p.expect(json.Delim('}')); err != nil {
		return err
	}
	if !p.hasItems {
		return errors.New("the answer is not a list: it has no items")
	}
	return nil
}

func (p *page) readField(name json.Token) error {
	switch name {
	case "items":
		return p.readItems()
	case "metadata":
		return p.Decode(&p.metadata)
	}
	return p.Decode(&json.RawMessage{})
}

// readItems reads the objects. An empty list may have null in their place.
func (p *page) readItems() error {
	p.hasItems = true
	begin, err := p.Token()
	if err != nil || begin == nil {
		return err
	}
	if err := compareTokens(begin, json.Delim('[')); err != nil {
		return err
	}
	if err := p.visitItems(); err != nil {
		return err
	}
	return p.expect(json.Delim(']'))
}

// visitItems hands over each object that was read, also if the next one is cut off.
func (p *page) visitItems() error {
	var chunk []json.RawMessage
	defer func() {
		if len(chunk) > 0 {
			p.visit(chunk)
		}
	}()
	for p.More() {
		var item json.RawMessage
		if err := p.Decode(&item); err != nil {
			return err
		}
		if chunk = append(chunk, item); len(chunk) == chunkSize {
			p.visit(chunk)
			chunk = nil
		}
	}
	return nil
}

// expect reads a delimiter.
func (p *page) expect(want json.Delim) error {
	got, err := p.Token()
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	if err != nil {
		return err
	}
	return compareTokens(got, want)
}

func compareTokens(got json.Token, want json.Delim) error {
	if got != want {
		return errors.Errorf("the answer is not a list: expected %v, got %v", want, got)
	}
	return nil
}
