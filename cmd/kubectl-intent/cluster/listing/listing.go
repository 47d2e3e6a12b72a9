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

// Read reads a page of a list, and calls visit with its objects, some at a time and in their order. It decodes no object, and leaves out their managedFields,
// which may be half of their bytes. It returns the token that continues the list, which is empty on the last page. If it returns an error, visit has had the
// objects before.
func Read(r io.Reader, visit func([]json.RawMessage)) (token string, err error) {
	p := page{values: values{Reader: bufio.NewReaderSize(r, bufferSize)}, visit: visit}
	if err := p.readPageFields(); err != nil {
		return "", errors.Wrap(err, "cannot decode a list")
	}
	return p.metadata.Continue, nil
}

// A page is a page of a list under way.
type page struct {
	values

	visit    func([]json.RawMessage)
	hasItems bool
	metadata struct {
		Continue string `json:"continue"`
	}
}

// readPageFields reads the page field by field. An API server writes the objects before the token, or after it.
func (p *page) readPageFields() error {
	if err := p.expectDelimiter('{'); err != nil {
		return err
	}
	if err := p.readElements('}', p.readPageField); err != nil {
		return err
	}
	if !p.hasItems {
		return errors.New("the answer is not a list: it has no items")
	}
	return nil
}

// readPageField reads the name and the value of a field.
func (p *page) readPageField() error {
	name, err := p.readJSONValue()
	if err != nil {
		return err
	}
	if err := p.expectDelimiter(':'); err != nil {
		return err
	}
	if string(name) == `"items"` {
		return p.readPageItems()
	}
	value, err := p.readJSONValue()
	if err != nil || string(name) != `"metadata"` {
		return err
	}
	return json.Unmarshal(value, &p.metadata)
}

// readPageItems reads the objects. An empty list may have null in their place.
func (p *page) readPageItems() error {
	p.hasItems = true
	begin, err := p.peekNonBlank()
	if err != nil {
		return err
	}
	if begin == 'n' {
		_, err := p.readJSONValue()
		return err
	}
	if err := p.expectDelimiter('['); err != nil {
		return err
	}
	return p.visitPageItems()
}

// visitPageItems hands over each object that was read, also if the next one is cut off.
func (p *page) visitPageItems() error {
	var chunk []json.RawMessage
	defer func() {
		if len(chunk) > 0 {
			p.visit(chunk)
		}
	}()
	return p.readElements(']', func() error {
		item, err := p.readJSONValue()
		if err != nil {
			return err
		}
		if chunk = append(chunk, withoutManagedFields(item)); len(chunk) == chunkSize {
			p.visit(chunk)
			chunk = nil
		}
		return nil
	})
}
