package leftover

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/apis/track/object"
)

// A Leftover is a reference by name or selector that does not follow its workload into the tracks. It may be a reference that only the author of the
// Blueprint knows, or no reference.
type Leftover struct {
	// In is the object that has the reference, and Field is where.
	In    object.Object `json:"in"`
	Field string        `json:"field"`

	// Names is the object that the reference names or selects.
	Names object.Object `json:"names"`

	// Fault of the reference.
	Fault Fault `json:"fault"`
}

// A Fault is the way in which a reference misses a workload in tracks.
type Fault string

// The faults of references.
const (
	// FaultRenamed is a name that the object has no longer: each track has the object under another name.
	FaultRenamed Fault = "Renamed"

	// FaultOneTrack is a reference to a Service that keeps its name, and leads to the pods of one track at a time.
	FaultOneTrack Fault = "OneTrack"

	// FaultBothTracks is a selector of an object in a track that selects the pods of the other track too.
	FaultBothTracks Fault = "BothTracks"

	// FaultNoCopy is a selector of an object in a track that selects a Service of which the tracks have no copy.
	FaultNoCopy Fault = "NoCopy"
)

// String returns the place of the reference, its object, its fault, and the action where there is one.
func (l Leftover) String() string {
	texts := map[Fault]string{
		FaultRenamed:    "has the name of %s, which has another name in each track",
		FaultOneTrack:   "leads to %s, which has the pods of one track at a time",
		FaultBothTracks: "selects the pods of %s in both tracks, although each track has a copy of the selector",
		FaultNoCopy:     "selects nothing, since no track has a copy of %s",
	}
	return fmt.Sprintf("%s: %s: "+texts[l.Fault], l.In, l.Field, l.Names)
}

// findLeftovers returns the references that do not follow the objects of the tracks, sorted by file and field: texts with the name of an object that each
// track has under another name, and names and selectors of Services that lead to one track.
func findLeftovers(d *Description, all []placed) []Leftover {
	renamed, targets := renamedObjects(d), readTargets(all)
	out := []Leftover{}
	for _, o := range all {
		found := append(findRenamedNames(o, renamed), findMentions(o, renamed)...)
		found = append(found, targets.findFrontNames(o)...)
		found = append(found, targets.findSelections(o)...)
		slices.SortFunc(found, func(a, b Leftover) int { return cmp.Compare(a.Field+a.String(), b.Field+b.String()) })
		out = append(out, slices.Compact(found)...)
	}
	return out
}

// A renamedObject is an object that no cluster has under its own name any more.
type renamedObject struct {
	object.Object

	// word matches the name in a text. Where a shared object of another kind has the name too, it matches the name after a word for the kind alone.
	word *regexp.Regexp
}

// renamedObjects returns the objects of the tracks, without objects that the tracks share too.
func renamedObjects(d *Description) []renamedObject {
	shared := slices.Concat(d.Shared, d.Routed)
	out := []renamedObject{}
	for _, o := range d.PerTrack {
		if slices.Contains(shared, o) {
			continue
		}
		prefix := `(^|[^a-z0-9-])`
		if slices.ContainsFunc(shared, func(s object.Object) bool { return s.Name == o.Name }) {
			prefix = `(?i:` + kindWordPattern(o.Kind) + `)(\.[a-z0-9.]+)?[^A-Za-z0-9]{1,4}` + namespaceWords(o.Namespace)
		}
		out = append(out, renamedObject{Object: o, word: regexp.MustCompile(prefix + regexp.QuoteMeta(o.Name) + `($|[^a-z0-9-])`)})
	}
	return out
}

// kindWordPattern returns a pattern for the words that people write for a kind, such as the arguments of kubectl.
func kindWordPattern(kind string) string {
	short := map[string]string{"Deployment": "(?:deploy|workload)", "HorizontalPodAutoscaler": "hpa", "ConfigMap": "cm", "PodDisruptionBudget": "pdb"}
	out := `\b` + regexp.QuoteMeta(kind) + `s?`
	if word, ok := short[kind]; ok {
		out += `|\b` + word
	}
	return out
}

// options is a pattern for options of kubectl between a kind and a name.
const options = `(?:--?[a-z][a-z-]*(?:[= ][a-z0-9-]+)? +){0,3}`

// namespaceWords returns a pattern for the namespace that may stand between the kind and the name, as a path or an option of kubectl.
func namespaceWords(namespace string) string {
	if namespace == "" {
		return options
	}
	word := regexp.QuoteMeta(namespace)
	return `(?:` + word + `/|(?:-n|--namespace)[ =]?` + word + ` +)?` + options
}

// findRenamedNames returns the texts of an object that have the name of a renamed one. Labels, images and the names of containers and the like are not searched.
func findRenamedNames(o placed, renamed []renamedObject) []Leftover {
	out := []Leftover{}
	for _, field := range textsOfObject(o.content) {
		for _, r := range renamed {
			isFound := func(l Leftover) bool { return l.Names == r.Object && strings.HasPrefix(l.Field, field.path+"[") }
			if r.word.MatchString(field.text) && !slices.ContainsFunc(out, isFound) {
				out = append(out, Leftover{In: o.object, Field: field.path, Names: r.Object, Fault: FaultRenamed})
			}
		}
	}
	return out
}

type textField struct{ path, text string }

// textsOfObject returns the texts of an object in which a name may be a reference.
func textsOfObject(u *unstructured.Unstructured) []textField {
	out := []textField{}
	for _, field := range slices.Sorted(maps.Keys(u.Object)) {
		if !slices.Contains([]string{"apiVersion", "kind", "metadata"}, field) {
			out = append(out, textsBelowPath(field, u.Object[field])...)
		}
	}
	return out
}

func textsBelowPath(path string, value any) []textField {
	out := []textField{}
	switch v := value.(type) {
	case string:
		out = append(out, textField{path: path, text: v})
	case []any:
		for i, item := range v {
			out = append(out, textsBelowPath(fmt.Sprintf("%s[%d]", path, i), item)...)
		}
		out = append(out, textField{path: path, text: joinListTexts(v)})
	case map[string]any:
		for _, field := range slices.Sorted(maps.Keys(v)) {
			if !isNoReference(path, field, v[field]) {
				out = append(out, textsBelowPath(path+"."+field, v[field])...)
			}
		}
	}
	return out
}

// joinListTexts returns a list of texts as one, since the arguments of a program name a kind and an object in two of them.
func joinListTexts(list []any) string {
	texts := make([]string, len(list))
	for i := range list {
		texts[i], _ = list[i].(string)
	}
	return strings.Join(texts, " ")
}

// isNoReference reports whether the texts of a field refer to nothing. The name of an element is its own: of a container, a port or a volume. A key names an
// entry in a ConfigMap or a Secret.
func isNoReference(path, field string, value any) bool {
	return hasLabelTexts(field, value) || field == "image" || field == "key" || field == "name" && strings.HasSuffix(path, "]")
}

// hasLabelTexts reports whether the texts of a field are labels or describe an object. The metadata of a trigger or a component, which has other fields than the
// metadata of an object, are its settings.
func hasLabelTexts(field string, value any) bool {
	if field != "metadata" {
		return object.IsLabelField(field)
	}
	settings, ok := value.(map[string]any)
	for name := range settings {
		ok = ok && slices.Contains([]string{"name", "generateName", "namespace", "labels", "annotations", "creationTimestamp", "finalizers"}, name)
	}
	return ok
}
