package analysis

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

	// Refused fields end the conversion: a check cannot do the same.
	Refused Treatment = "Refused"

	// Noted fields are left out, and a note says how the check differs.
	Noted Treatment = "Noted"

	// Meaningless fields are left out: they change no verdict.
	Meaningless Treatment = "Meaningless"
)

// A Field is a field in the schemas of Argo Rollouts and Flagger. The treatment of a field that is not converted holds for all fields below it, which have no
// entries.
type Field struct {
	// Path without the positions in lists, such as spec.metrics[].name.
	Path string

	// Treatment of the field.
	Treatment Treatment

	// Text of the refusal or of the note.
	Text string
}

// noCounterpart is the refusal of fields that no field of a check matches.
const noCounterpart = "has no counterpart in a check"

// fieldsBelow returns entries for fields that are treated alike.
func fieldsBelow(path string, t Treatment, text string, names ...string) []Field {
	out := make([]Field, 0, len(names))
	for _, name := range names {
		out = append(out, Field{Path: path + name, Treatment: t, Text: text})
	}
	return out
}

// applyFields refuses and notes the fields of an object below a path, by the table of its schema. A field that is not in the table is refused.
func (c *converter) applyFields(object map[string]any, root string, table []Field) {
	byPath := make(map[string]Field, len(table))
	for _, f := range table {
		byPath[f.Path] = f
	}
	value := any(object)
	for name := range strings.SplitSeq(root, ".") {
		fields, _ := value.(map[string]any)
		field, ok := fields[name]
		if !ok {
			return
		}
		value = field
	}
	fieldWalk{converter: c, table: byPath}.visit(root, root, value)
}

// A fieldWalk visits the fields of one object.
type fieldWalk struct {
	*converter

	table map[string]Field
}

// visit treats the fields below a value. The pattern is its path as the table has it.
func (w fieldWalk) visit(path, pattern string, value any) {
	switch value := value.(type) {
	case []any:
		for i, item := range value {
			w.visit(fmt.Sprintf("%s[%d]", path, i), pattern+"[]", item)
		}
	case map[string]any:
		if !w.hasFieldsBelow(pattern) {
			return
		}
		for _, name := range slices.Sorted(maps.Keys(value)) {
			w.visitField(path+"."+name, pattern+"."+name, value[name])
		}
	}
}

// hasFieldsBelow reports whether the table has fields of an object. Others are maps, whose keys are free.
func (w fieldWalk) hasFieldsBelow(pattern string) bool {
	for path := range w.table {
		if strings.HasPrefix(path, pattern+".") {
			return true
		}
	}
	return false
}

// visitField treats one field. Null is the absence of a field.
func (w fieldWalk) visitField(path, pattern string, value any) {
	if value == nil {
		return
	}
	f, ok := w.table[pattern]
	switch {
	case !ok:
		w.refusef(path, noCounterpart)
	case f.Treatment == Converted:
		w.visit(path, pattern, value)
	case f.Treatment == Refused:
		w.refusef(path, "%s", cmp.Or(f.Text, noCounterpart))
	case f.Treatment == Noted:
		w.addNotef(path, "%s", f.Text)
	}
}
