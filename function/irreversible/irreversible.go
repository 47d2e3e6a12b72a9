// Package irreversible compares the content of revisions that their Blueprints mark as irreversible. It is pure.
package irreversible

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/apis/boundedyaml"
	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/digest"
	"github.com/intentplane/intentplane/apis/tree"
)

// digestLength is the number of characters of a digest that are compared between revisions: every revision and each entry of a history has them.
const digestLength = 16

// digestOfContent hashes the irreversible kinds and the content of each Site that they match: equal content can be matched by different kinds. If
// all Sites have equal content, the digest does not name them, so it stays when a Site is added, left or moved. It is empty if it cannot be
// computed, and an empty digest never counts as equal.
func digestOfContent(kinds []catalogv1alpha1.IrreversibleKind, bySite map[string]string) string {
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

// markedContent returns the irreversible content of files, in one text. A document that cannot be decoded counts as a whole.
func markedContent(marks []catalogv1alpha1.IrreversibleKind, files tree.Files) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(files)) {
		for doc := range bytes.SplitSeq(files[name], []byte("\n---")) {
			o := &unstructured.Unstructured{}
			if err := boundedyaml.Unmarshal(doc, &o.Object); err != nil {
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
