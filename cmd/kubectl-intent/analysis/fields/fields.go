// Package fields has a table for each schema of Argo Rollouts and Flagger: the treatment of each field by the conversion into checks. Pure.
package fields

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A Treatment is the treatment of a field by a conversion.
type Treatment string

const (
	// Converted fields become a part of a check. A rule of their own may refuse some of their values, or add a note about them.
	Converted Treatment = "Converted"

	// Refused fields end the conversion: a check has no counterpart for them.
	Refused Treatment = "Refused"

	// Noted fields are left out, and a note has the difference of the check.
	Noted Treatment = "Noted"

	// Meaningless fields are left out: they change no verdict.
	Meaningless Treatment = "Meaningless"
)

// A Field is a field in the schemas of Argo Rollouts and Flagger. The treatment of a field that is not converted holds for all fields below it, which have no
// entries.
type Field struct {
	// Path of the field without the positions in lists, such as spec.metrics[].name.
	Path string

	// Treatment of the field.
	Treatment Treatment

	// Text of the refusal or of the note.
	Text string
}

// noCounterpart is the refusal of fields that no field of a check matches.
const noCounterpart = "has no counterpart in a check"

// fieldsBelow returns entries for fields of one treatment.
func fieldsBelow(path string, t Treatment, text string, names ...string) []Field {
	out := make([]Field, 0, len(names))
	for _, name := range names {
		out = append(out, Field{Path: path + name, Treatment: t, Text: text})
	}
	return out
}

// A Difference is a field of an object that its conversion refuses or notes.
type Difference struct {
	// Path of the field with the positions in lists, such as spec.metrics[0].name.
	Path string

	// Treatment is Refused or Noted.
	Treatment Treatment

	// Text of the refusal or of the note.
	Text string
}

// Compare returns the differences of an object's fields below a path, by the table of its schema. A field that is not in the table is refused.
func Compare(object map[string]any, root string, table []Field) []Difference {
	byPath := make(map[string]Field, len(table))
	for _, f := range table {
		byPath[f.Path] = f
	}
	value := any(object)
	for name := range strings.SplitSeq(root, ".") {
		fields, _ := value.(map[string]any)
		field, ok := fields[name]
		if !ok {
			return nil
		}
		value = field
	}
	w := &walk{table: byPath}
	w.compareFields(root, root, value)
	return w.differences
}

// A walk visits the fields of one object.
type walk struct {
	table       map[string]Field
	differences []Difference
}

// compareFields compares the fields below a value. The pattern is its path as the table has it.
func (w *walk) compareFields(path, pattern string, value any) {
	switch value := value.(type) {
	case []any:
		for i, item := range value {
			w.compareFields(fmt.Sprintf("%s[%d]", path, i), pattern+"[]", item)
		}
	case map[string]any:
		if !w.hasFieldsBelow(pattern) {
			return
		}
		for _, name := range slices.Sorted(maps.Keys(value)) {
			w.compareField(path+"."+name, pattern+"."+name, value[name])
		}
	}
}

// hasFieldsBelow reports whether the table has fields of an object. An object without fields in the table is a map with free keys.
func (w *walk) hasFieldsBelow(pattern string) bool {
	for path := range w.table {
		if strings.HasPrefix(path, pattern+".") {
			return true
		}
	}
	return false
}

// compareField compares one field. Null is the absence of a field.
func (w *walk) compareField(path, pattern string, value any) {
	if value == nil {
		return
	}
	f, ok := w.table[pattern]
	switch {
	case !ok:
		w.addDifference(path, Refused, noCounterpart)
	case f.Treatment == Converted:
		w.compareFields(path, pattern, value)
	case f.Treatment == Refused:
		w.addDifference(path, Refused, cmp.Or(f.Text, noCounterpart))
	case f.Treatment == Noted:
		w.addDifference(path, Noted, f.Text)
	}
}

func (w *walk) addDifference(path string, t Treatment, text string) {
	w.differences = append(w.differences, Difference{Path: path, Treatment: t, Text: text})
}
