package state

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
)

const (
	// maxPackages and maxFields bound the decoded record: small JSON can need much memory.
	maxPackages = 20_000
	maxFields   = 64
)

// MarshalJSON returns the fields of the record in their order, followed by its unknown fields.
func (s BundleState) MarshalJSON() ([]byte, error) {
	type fields BundleState
	if s.PkgStatuses == nil {
		s.PkgStatuses = []PkgStatus{}
	}
	return encodeFields(fields(s), s.unknown)
}

// UnmarshalJSON keeps the fields that this package does not know.
func (s *BundleState) UnmarshalJSON(b []byte) error {
	type fields BundleState
	unknownFields, err := decodeFields(b, (*fields)(s))
	s.unknown = unknownFields
	return err
}

// MarshalJSON returns the fields of the package in their order, followed by its unknown fields.
func (p PkgStatus) MarshalJSON() ([]byte, error) {
	type fields PkgStatus
	return encodeFields(fields(p), p.unknown)
}

// UnmarshalJSON keeps the fields that this package does not know.
func (p *PkgStatus) UnmarshalJSON(b []byte) error {
	type fields PkgStatus
	unknownFields, err := decodeFields(b, (*fields)(p))
	p.unknown = unknownFields
	return err
}

func encodeFields(v any, unknownFields map[string]json.RawMessage) ([]byte, error) {
	b, err := json.Marshal(v)
	if err != nil || len(unknownFields) == 0 {
		return b, err
	}
	b = bytes.TrimSuffix(b, []byte("}"))
	for _, key := range slices.Sorted(maps.Keys(unknownFields)) {
		name, err := json.Marshal(key)
		if err != nil {
			return nil, err
		}
		b = append(append(append(append(b, ','), name...), ':'), unknownFields[key]...)
	}
	return append(b, '}'), nil
}

// decodeFields decodes an object, and returns the fields that the type does not have.
func decodeFields(b []byte, target any) (map[string]json.RawMessage, error) {
	all := map[string]json.RawMessage{}
	if err := json.Unmarshal(b, target); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(b, &all); err != nil {
		return nil, err
	}
	fieldNames := namesOfFields(reflect.TypeOf(target).Elem())
	maps.DeleteFunc(all, func(key string, _ json.RawMessage) bool {
		return slices.ContainsFunc(fieldNames, func(name string) bool { return strings.EqualFold(name, key) })
	})
	if len(all) == 0 {
		return nil, nil //nolint:nilnil // No field is unknown.
	}
	return all, nil
}

// namesOfFields returns the JSON names of a struct's fields.
func namesOfFields(t reflect.Type) []string {
	out := []string{}
	for f := range t.Fields() {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
			out = append(out, name)
		}
	}
	return out
}

// checkFieldLimits returns an error for JSON that would need much more memory than it has bytes: too many packages or fields.
func checkFieldLimits(b []byte) error {
	return visitJSONFields(b, func(key string, value json.RawMessage) error {
		if !strings.EqualFold(key, "packages") {
			return nil
		}
		return visitJSONItems(value, func(item json.RawMessage) error {
			return visitJSONFields(item, func(string, json.RawMessage) error { return nil })
		})
	})
}

// visitJSONFields reads an object field by field.
func visitJSONFields(b []byte, read func(key string, value json.RawMessage) error) error {
	d := json.NewDecoder(bytes.NewReader(b))
	if first, err := d.Token(); err != nil || first != json.Delim('{') {
		return errors.Join(errors.New("want an object"), err)
	}
	for n := 1; d.More(); n++ {
		if n > maxFields {
			return fmt.Errorf("an object has more than %d fields", maxFields)
		}
		key, err := d.Token()
		if err != nil {
			return err
		}
		value := json.RawMessage{}
		if err := d.Decode(&value); err != nil {
			return err
		}
		if err := read(fmt.Sprint(key), value); err != nil {
			return err
		}
	}
	return expectJSONEnd(d)
}

// visitJSONItems reads a list item by item. A null is an empty list.
func visitJSONItems(b []byte, read func(json.RawMessage) error) error {
	d := json.NewDecoder(bytes.NewReader(b))
	first, err := d.Token()
	if first == nil && err == nil {
		return nil
	}
	if err != nil || first != json.Delim('[') {
		return errors.Join(errors.New("want a list of packages"), err)
	}
	for n := 1; d.More(); n++ {
		if n > maxPackages {
			return fmt.Errorf("it has more than %d packages", maxPackages)
		}
		item := json.RawMessage{}
		if err := d.Decode(&item); err != nil {
			return err
		}
		if err := read(item); err != nil {
			return err
		}
	}
	return expectJSONEnd(d)
}

// expectJSONEnd reads the end of an object or list, and returns an error if anything follows.
func expectJSONEnd(d *json.Decoder) error {
	if _, err := d.Token(); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the end")
	}
	return nil
}
