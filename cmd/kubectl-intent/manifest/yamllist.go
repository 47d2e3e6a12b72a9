package manifest

import (
	"strconv"
	"strings"

	yamlnode "go.yaml.in/yaml/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// A list of objects, as "kubectl get -o yaml" prints it, is one document.
type list struct {
	text   []byte
	before int

	// parsed is the parsed text, from the first request for a line.
	parsed *yamlnode.Node
}

// lineOfField returns the number of the line in its file that holds a field.
func (l *list) lineOfField(path string) int {
	if l.parsed == nil {
		l.parsed = &yamlnode.Node{}
		// Its items were read from it: it can be parsed.
		_ = yamlnode.Unmarshal(l.text, l.parsed)
	}
	return lineInDocument(l.parsed, l.before, path)
}

// flattenLists returns the objects in a document: the objects of a list at any depth, or the object itself. A list that cannot be read is one.
func (d Document) flattenLists() []Document {
	object, err := ParseObject(d.Text)
	if err != nil || !strings.HasSuffix(stringOrEmpty(object["kind"]), "List") {
		return []Document{d}
	}
	all, ok := object["items"].([]any)
	if !ok {
		return []Document{d}
	}
	parent := d.list
	if parent == nil {
		parent = &list{text: d.Text, before: d.before}
	}
	out := []Document{}
	for i, element := range all {
		// Decoded YAML becomes YAML again.
		b, _ := yaml.Marshal(withTypeMeta(element, object))
		path := strings.TrimPrefix(d.item+".items["+strconv.Itoa(i)+"]", ".")
		item := Document{file: d.file, Text: b, Number: d.Number, before: d.before, list: parent, item: path}
		out = append(out, item.flattenLists()...)
	}
	return out
}

// withTypeMeta gives an item without a type the type of its list.
func withTypeMeta(item any, parent map[string]any) any {
	o, ok := item.(map[string]any)
	if kind := strings.TrimSuffix(stringOrEmpty(parent["kind"]), "List"); ok && o["kind"] == nil && o["apiVersion"] == nil && kind != "" {
		o["kind"], o["apiVersion"] = kind, parent["apiVersion"]
	}
	return item
}

// readTypeMeta reads the type of a document. It returns an error for an unreadable list, since its content is unknown.
func (d Document) readTypeMeta(target *metav1.TypeMeta) error {
	if err := yaml.Unmarshal(d.Text, target); err != nil {
		return err
	}
	if !strings.HasSuffix(target.Kind, "List") {
		return nil
	}
	_, err := ParseObject(d.Text)
	return err
}
