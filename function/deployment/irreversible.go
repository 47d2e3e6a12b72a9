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
	"github.com/intentplane/intentplane/apis/directories"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/function/compose"
)

// markReader returns a function that digests the irreversible content of the next revision, and reports whether the revision changes any of
// it. It is nil for a Blueprint without irreversible kinds. The function parses all files, so it is called only for a revision that begins.
func markReader(kinds []catalogv1alpha1.IrreversibleKind, o Observed, rendered []compose.Rendered) func() (string, bool) {
	if len(kinds) == 0 {
		return nil
	}
	return func() (string, bool) {
		content := map[string]string{}
		for _, r := range rendered {
			content[r.Place.Site.GetName()] = markedContent(kinds, r.Files)
		}
		return markedDigest(kinds, content), isIrreversible(kinds, o, content)
	}
}

// isIrreversible is true if a rollback to the previous revision could not undo all changes. It is evaluated when the next revision begins, because
// only then do the deliveries hold the files of a verified revision. Without these files, any irreversible content may change. A Site that was not
// served before keeps its new content after a rollback, so that is not undone.
func isIrreversible(kinds []catalogv1alpha1.IrreversibleKind, o Observed, content map[string]string) bool {
	if o.state.Current == nil {
		return false
	}
	verifiedBySite, verified := verifiedFiles(o), o.state.IsVerified()
	for site, marked := range content {
		previous, isKnown := verifiedBySite[site]
		if isKnown && marked != markedContent(kinds, previous) || !isKnown && marked != "" && (!verified || wasServed(o, site)) {
			return true
		}
	}
	return false
}

// wasServed is true for a Site that some delivery has a directory for.
func wasServed(o Observed, site string) bool { return compose.Sites(o.deliveries)[site] }

// digestLength is the number of characters of a digest that are compared between revisions: every revision and each entry of a history has them.
const digestLength = 16

// markedDigest hashes the irreversible kinds and the content of each Site that they match: equal content can be matched by different kinds. If
// all Sites have equal content, the digest does not name them, so it stays when a Site is added, left or moved. It is empty if it cannot be
// computed, and an empty digest never counts as equal.
func markedDigest(kinds []catalogv1alpha1.IrreversibleKind, bySite map[string]string) string {
	var value any = bySite
	if distinct := slices.Compact(slices.Sorted(maps.Values(bySite))); len(distinct) == 1 {
		value = distinct[0]
	}
	d, err := digest.Of(map[string]any{"kinds": kinds, "content": value}, nil)
	if err != nil {
		return ""
	}
	_, d, _ = strings.Cut(d, ":")
	return d[:min(len(d), digestLength)]
}

// verifiedFiles returns the files of the present revision, by Site. It is empty while that is not verified, or was not delivered as a whole.
func verifiedFiles(o Observed) map[string]tree.Files {
	out := map[string]tree.Files{}
	if !o.state.IsVerified() {
		return out
	}
	for _, d := range o.deliveries {
		p, revision := d.Spec.ForProvider, o.state.Current.Number
		if !compose.AsksForRevision(d, revision) && !directories.CarriesLater(p, revision) {
			continue
		}
		for _, t := range directories.At(p, o.state.Position()).Trees {
			files, err := tree.Decode(t.Files)
			if t.Action == deliveryv1alpha1.ActionDesired && err == nil {
				out[t.Site] = files
			}
		}
	}
	return out
}

// markedContent returns the irreversible content of files, in one text. A document that cannot be decoded counts as a whole.
func markedContent(marks []catalogv1alpha1.IrreversibleKind, files tree.Files) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(files)) {
		for doc := range bytes.SplitSeq(files[name], []byte("\n---")) {
			o := &unstructured.Unstructured{}
			if err := yaml.Unmarshal(doc, &o.Object); err != nil {
				out = append(out, string(doc))
				continue
			}
			for _, m := range marks {
				out = append(out, markedFields(m, o)...)
			}
		}
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

// markedFields returns the fields of an object that an irreversible kind marks: none, for an object of another kind.
func markedFields(m catalogv1alpha1.IrreversibleKind, o *unstructured.Unstructured) []string {
	if o.Object == nil || o.GetKind() != m.Kind || o.GroupVersionKind().Group != m.Group {
		return nil
	}
	name := m.Kind + "." + m.Group + " " + o.GetNamespace() + "/" + o.GetName()
	if len(m.FieldPaths) == 0 {
		return []string{name + " " + canonicalText(o.Object)}
	}
	var out []string
	for _, path := range m.FieldPaths {
		// A path that leads nowhere says nothing.
		value, found, err := unstructured.NestedFieldNoCopy(o.Object, strings.Split(strings.TrimPrefix(path, "."), ".")...)
		if err == nil && found {
			out = append(out, name+" "+path+" "+canonicalText(value))
		}
	}
	return out
}

// canonicalText says a value the same way each time.
func canonicalText(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}
