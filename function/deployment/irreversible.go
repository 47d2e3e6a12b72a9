package deployment

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
	"github.com/intentplane/intentplane/apis/digest"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/function/compose"
)

// marks tell of the next revision what it has of what is marked as irreversible, as a digest, and whether it changes any of that. They are nil
// where nothing is marked. All of it is parsed, so only a revision that is made asks for it.
func marks(kinds []catalogv1alpha1.IrreversibleKind, o Observed, rendered []compose.Rendered) func() (string, bool) {
	if len(kinds) == 0 {
		return nil
	}
	return func() (string, bool) {
		has := map[string]string{}
		for _, r := range rendered {
			has[r.Place.Site.GetName()] = marked(kinds, r.Files)
		}
		return markedDigest(kinds, has), irreversible(kinds, o, has)
	}
}

// irreversible is true where a way back to the revision before could not undo all that changes. If that was verified, the deliveries hold its files
// now and never again: so it is told when the next one is made. Where they do not, whatever is marked may change. A Site that was not served
// before keeps what it gets, so nothing of it is undone.
func irreversible(kinds []catalogv1alpha1.IrreversibleKind, o Observed, has map[string]string) bool {
	if o.order == nil {
		return false
	}
	before, verified := held(o), o.order.Verified()
	for site, is := range has {
		was, known := before[site]
		if known && is != marked(kinds, was) || !known && is != "" && (!verified || servedBefore(o, site)) {
			return true
		}
	}
	return false
}

// servedBefore is true for a Site that some delivery has a directory for.
func servedBefore(o Observed, site string) bool { return compose.Sites(o.deliveries)[site] }

// digestLength is how many characters of a digest tell what revisions have apart: every order and each entry of a history has them.
const digestLength = 16

// markedDigest is of what Sites have of what is marked, and of what is marked: the same content may have other marks. Where all Sites have the
// same it does not name them, so it stays when a Site is added, left or moved. It is empty, which nobody takes for the same, where there is none.
func markedDigest(kinds []catalogv1alpha1.IrreversibleKind, has map[string]string) string {
	var content any = has
	if distinct := slices.Compact(slices.Sorted(maps.Values(has))); len(distinct) == 1 {
		content = distinct[0]
	}
	d, err := digest.Of(map[string]any{"kinds": kinds, "content": content}, nil)
	if err != nil {
		return ""
	}
	_, d, _ = strings.Cut(d, ":")
	return d[:min(len(d), digestLength)]
}

// held are the files of the present revision, by Site. There are none while it is not verified, or was not delivered as a whole.
func held(o Observed) map[string]tree.Files {
	out := map[string]tree.Files{}
	if !o.order.Verified() {
		return out
	}
	for _, d := range o.deliveries {
		p := d.Spec.ForProvider
		if p.Order.Revision != o.order.Revision || p.Order.Request != o.order.Request {
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
