package function

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/function/compose"
	"github.com/intentplane/intentplane/function/phase"
)

// irreversible is true where a way back from what was rendered could not undo all that it changes. The revision that there is to go back to is
// the one that runs, if that was verified, and the deliveries hold its files now and never again: so it is told when the next one is made. Where
// they do not, whatever a Blueprint marks may change.
func irreversible(marks []catalogv1alpha1.IrreversibleKind, f *phase.Facts, rendered []compose.Rendered) bool {
	if len(marks) == 0 || f.Order == nil {
		return false
	}
	before := held(f)
	for _, r := range rendered {
		was, known := before[r.Place.Site.GetName()]
		if is := marked(marks, r.Files); !known && is != "" || known && is != marked(marks, was) {
			return true
		}
	}
	return false
}

// held are the files of the present revision, by Site. There are none while it is not verified, or was not delivered as a whole.
func held(f *phase.Facts) map[string]tree.Files {
	out := map[string]tree.Files{}
	for _, d := range f.Observed {
		p := d.Spec.ForProvider
		if !f.Order.Verified() || p.Order.Revision != f.Order.Revision || p.Order.Request != f.Order.Request {
			continue
		}
		for _, t := range p.Trees {
			files, err := tree.Decode(t.Files)
			if t.Action == deliveryv1alpha1.ActionDesired && err == nil {
				out[t.Site] = files
			}
		}
	}
	return out
}

// marked is all that files say of what is irreversible, in one text. What cannot be read counts as it is.
func marked(marks []catalogv1alpha1.IrreversibleKind, files tree.Files) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(files)) {
		for doc := range bytes.SplitSeq(files[name], []byte("\n---")) {
			o := &unstructured.Unstructured{}
			if err := yaml.Unmarshal(doc, &o.Object); err != nil {
				out = append(out, string(doc))
				continue
			}
			for _, m := range marks {
				out = append(out, said(m, o)...)
			}
		}
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

// said is what an object says of what is marked: nothing, if that is another kind.
func said(m catalogv1alpha1.IrreversibleKind, o *unstructured.Unstructured) []string {
	if o.Object == nil || o.GetKind() != m.Kind || o.GroupVersionKind().Group != m.Group {
		return nil
	}
	name := m.Kind + "." + m.Group + " " + o.GetNamespace() + "/" + o.GetName()
	if len(m.FieldPaths) == 0 {
		return []string{name + " " + plainly(o.Object)}
	}
	var out []string
	for _, path := range m.FieldPaths {
		// A path that leads nowhere says nothing.
		value, found, err := unstructured.NestedFieldNoCopy(o.Object, strings.Split(strings.TrimPrefix(path, "."), ".")...)
		if err == nil && found {
			out = append(out, name+" "+path+" "+plainly(value))
		}
	}
	return out
}

// plainly says a value the same way each time.
func plainly(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}
