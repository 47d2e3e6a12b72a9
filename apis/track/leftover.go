package track

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// A Leftover is a text that still has the name of an object which has another name in each track. It may be a reference that only the author of the
// Blueprint knows, or no reference.
type Leftover struct {
	// In is the object that has the text, and Field is where.
	In    Object `json:"in"`
	Field string `json:"field"`

	// Names is the object whose name the text has.
	Names Object `json:"names"`
}

// String says what is where.
func (l Leftover) String() string {
	return fmt.Sprintf("%s: %s: has the name of %s, which has another name in each track", l.In, l.Field, l.Names)
}

// findLeftovers returns the texts that still have the name of an object which has another name in each track, sorted by file and field. Labels, images and
// the names of containers and the like are not searched.
func findLeftovers(d *Description, all []placed) []Leftover {
	renamed := renamedObjects(d)
	out := []Leftover{}
	for _, o := range all {
		for _, field := range textsOf(o.content) {
			for _, r := range renamed {
				if r.word.MatchString(field.text) {
					out = append(out, Leftover{In: o.object, Field: field.path, Names: r.object})
				}
			}
		}
	}
	return out
}

// A renamedObject is an object that no cluster has under its own name any more.
type renamedObject struct {
	object Object
	word   *regexp.Regexp
}

// renamedObjects returns the objects of the tracks whose name nothing shared has.
func renamedObjects(d *Description) []renamedObject {
	out := []renamedObject{}
	for _, o := range d.PerTrack {
		isName := func(s Object) bool { return s.Name == o.Name }
		if slices.ContainsFunc(d.Shared, isName) || slices.ContainsFunc(d.Routed, isName) {
			continue
		}
		word := regexp.MustCompile(`(^|[^a-z0-9-])` + regexp.QuoteMeta(o.Name) + `($|[^a-z0-9-])`)
		out = append(out, renamedObject{object: o, word: word})
	}
	return out
}

type textField struct{ path, text string }

// textsOf an object in which a name may be a reference.
func textsOf(u *unstructured.Unstructured) []textField {
	out := []textField{}
	for _, field := range slices.Sorted(maps.Keys(u.Object)) {
		if !slices.Contains([]string{"apiVersion", "kind", "metadata"}, field) {
			out = append(out, textsBelow(field, u.Object[field])...)
		}
	}
	return out
}

func textsBelow(path string, value any) []textField {
	out := []textField{}
	switch v := value.(type) {
	case string:
		out = append(out, textField{path: path, text: v})
	case []any:
		for i, item := range v {
			out = append(out, textsBelow(fmt.Sprintf("%s[%d]", path, i), item)...)
		}
	case map[string]any:
		for _, field := range slices.Sorted(maps.Keys(v)) {
			if !isNoReference(path, field) {
				out = append(out, textsBelow(path+"."+field, v[field])...)
			}
		}
	}
	return out
}

// isNoReference reports whether the texts of a field refer to nothing. The name of an element is its own: of a container, a port or a volume. A key is
// that of an entry in a ConfigMap or a Secret.
func isNoReference(path, field string) bool {
	return isLabelField(field) || field == "image" || field == "key" || field == "name" && strings.HasSuffix(path, "]")
}
