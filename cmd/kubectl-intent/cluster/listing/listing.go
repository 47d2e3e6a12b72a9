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

// A page is one that is being read.
type page struct {
	*json.Decoder

	visit    func([]json.RawMessage)
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
	return p.expect(json.Delim('}'))
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
	if begin, err := p.Token(); err != nil || begin == nil {
		return err
	}
	var chunk []json.RawMessage
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
	if len(chunk) > 0 {
		p.visit(chunk)
	}
	return p.expect(json.Delim(']'))
}

// expect reads a delimiter.
func (p *page) expect(want json.Delim) error {
	got, err := p.Token()
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if err == nil && got != want {
		err = errors.Errorf("%v stands for %v", got, want)
	}
	return err
}
