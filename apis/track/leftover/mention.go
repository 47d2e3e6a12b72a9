package leftover

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/apis/track/object"
)

// A mention is a field that names an object together with its kind, whichever kind has the field.
type mention struct {
	path, name string

	// kinds are the words for the kind, as singularKind returns them: of the fields beside the name, or else of the field itself.
	kinds []string

	// isExplicit is true where a field beside the name has the kind.
	isExplicit bool

	// groups and namespace come from the fields beside the name. Empty means that these fields are absent.
	groups    []string
	namespace string
}

// mentionsInObject returns the mentions in an object. In its metadata these are annotations whose keys say a kind, such as
// nginx.ingress.kubernetes.io/default-backend.
func mentionsInObject(u *unstructured.Unstructured) []mention {
	v := mentionVisitor{}
	annotations := u.GetAnnotations()
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		v.addTextMentions(mention{}, "metadata.annotations["+key+"]", "annotations", key[strings.LastIndex(key, "/")+1:], annotations[key])
	}
	for _, field := range slices.Sorted(maps.Keys(u.Object)) {
		if field != "metadata" {
			v.visitFieldValue(field, field, u.Object[field], false)
		}
	}
	return v.found
}

type mentionVisitor struct{ found []mention }

// visitFieldValue visits the value of a field. Below labels and selectors a text is the value of a label, unless a field beside it has a kind.
func (v *mentionVisitor) visitFieldValue(path, field string, value any, inLabels bool) {
	inLabels = inLabels || hasLabelTexts(field, value)
	switch value := value.(type) {
	case []any:
		for i, item := range value {
			v.visitFieldValue(fmt.Sprintf("%s[%d]", path, i), field, item, inLabels)
		}
	case map[string]any:
		v.visitMapping(path, field, value, inLabels)
	}
}

func (v *mentionVisitor) visitMapping(path, parent string, m map[string]any, inLabels bool) {
	base := mention{kinds: kindsInMapping(m), groups: groupsInMapping(m), namespace: object.TextAt(m, "namespace")}
	base.isExplicit = len(base.kinds) > 0
	for _, field := range slices.Sorted(maps.Keys(m)) {
		if base.isExplicit || !inLabels {
			v.addTextMentions(base, path+"."+field, parent, field, m[field])
		}
		v.visitFieldValue(path+"."+field, field, m[field], inLabels)
	}
}

// addTextMentions adds a mention for each text of a field that may hold a name.
func (v *mentionVisitor) addTextMentions(base mention, path, parent, field string, value any) {
	isName := strings.HasSuffix(strings.TrimSuffix(strings.ToLower(field), "s"), "name")
	if !base.isExplicit || !isName {
		base.isExplicit, base.kinds = false, kindsOfName(parent, field)
	}
	if len(base.kinds) == 0 {
		return
	}
	for dir, text := range textsByPath(path, value) {
		base.path, base.name = dir, text
		v.found = append(v.found, base)
	}
}

// textsByPath returns a text, or the texts of a list, by their paths.
func textsByPath(path string, value any) map[string]string {
	switch value := value.(type) {
	case string:
		return map[string]string{path: value}
	case []any:
		out := map[string]string{}
		for i, item := range value {
			if text, ok := item.(string); ok {
				out[fmt.Sprintf("%s[%d]", path, i)] = text
			}
		}
		return out
	}
	return nil
}

// anyWord stands for every kind, and every API group.
const anyWord = "*"

// kindsInMapping returns the words of the fields of a mapping that name kinds, such as kind, targetKind, or the resources of a Role.
func kindsInMapping(m map[string]any) []string {
	out := []string{}
	for field, value := range m {
		name := strings.TrimSuffix(strings.ToLower(field), "s")
		if !strings.HasSuffix(name, "kind") && name != "resource" {
			continue
		}
		for _, text := range textsByPath(field, value) {
			if isEveryKind(text) {
				out = append(out, anyWord)
			}
			for _, word := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) }) {
				out = append(out, singularKind(word))
			}
		}
	}
	return out
}

// isEveryKind reports whether a text stands for every kind: alone, before a subresource as in a Role, or after a group and a version as in a policy.
func isEveryKind(text string) bool {
	parts := strings.Split(text, "/")
	return parts[0] == anyWord && len(parts) <= 2 || len(parts) == 3 && parts[2] == anyWord
}

// groupsInMapping returns the API groups that fields of a mapping name.
func groupsInMapping(m map[string]any) []string {
	out := []string{}
	for _, field := range []string{"group", "apiGroup", "apiGroups"} {
		out = slices.AppendSeq(out, maps.Values(textsByPath(field, m[field])))
	}
	if version := object.TextAt(m, "apiVersion"); version != "" {
		group, _, hasGroup := strings.Cut(version, "/")
		if !hasGroup && group != anyWord {
			group = ""
		}
		out = append(out, group)
	}
	return out
}

// singularKind returns a kind in small letters and in the singular, as far as an "s" makes the plural.
func singularKind(kind string) string { return strings.TrimSuffix(strings.ToLower(kind), "s") }

// kindsOfName returns the word for the kind in a field that has a name and no kind beside it: deploymentName, or the name in deploymentRef. The target of a
// scale and a workload are Deployments, as the targets of autoscalers are. A field target alone may have a name of any kind, such as a Secret.
func kindsOfName(parent, field string) []string {
	carrier := field
	if field == "name" || field == "names" {
		carrier = parent
	}
	word := referenceWord(carrier)
	isTarget := word == "scaletarget" || word == "target" && singularKind(carrier) != "target"
	switch {
	case word == "":
		return nil
	case isTarget || strings.HasSuffix(word, "workload"):
		return []string{"deployment"}
	case strings.HasSuffix(word, "backend"), word == "mirror", word == "mirroring", singularKind(field) == "host":
		return []string{"service"}
	}
	return []string{word}
}

// referenceWord returns the name of a field in small letters without the endings of references.
func referenceWord(field string) string {
	word := singularKind(field)
	for _, ending := range []string{"name", "ref", "reference"} {
		word = singularKind(strings.TrimSuffix(word, ending))
	}
	return word
}

// mentionsObject reports whether the mention, in an object of a namespace, names an object.
func (m *mention) mentionsObject(o object.Object, namespace string) bool {
	if m.namespace != "" {
		namespace = m.namespace
	}
	isGroup := len(m.groups) == 0 || slices.Contains(m.groups, o.Group) || slices.Contains(m.groups, anyWord)
	return m.name == o.Name && isGroup && (namespace == "" || namespace == o.Namespace) && m.mentionsKind(o.Kind)
}

// mentionsKind reports whether a word is the kind, or ends with it where a field has both, such as targetDeployment.
func (m *mention) mentionsKind(kind string) bool {
	return slices.ContainsFunc(m.kinds, func(word string) bool {
		return word == singularKind(kind) || word == anyWord || !m.isExplicit && strings.HasSuffix(word, singularKind(kind))
	})
}

// addressParts matches the scheme before a host, and a port or a path behind it.
var addressParts = regexp.MustCompile(`^[a-z]+://|[:/].*$`)

// isHostOfService reports whether the mention, in an object of a namespace, has a DNS name of a Service, perhaps in an address.
func (m *mention) isHostOfService(service object.Object, namespace string) bool {
	name, rest, isQualified := strings.Cut(addressParts.ReplaceAllString(m.name, ""), ".")
	if m.isExplicit || name != service.Name || !m.mentionsKind("Service") {
		return false
	}
	if !isQualified {
		return cmp.Or(m.namespace, namespace) == service.Namespace
	}
	domain, isLong := strings.CutPrefix(rest, service.Namespace)
	return isLong && (domain == "" || domain == ".svc" || strings.HasPrefix(domain, ".svc."))
}

// findMentions returns the mentions of renamed objects.
func findMentions(o placed, renamed []renamedObject) []Leftover {
	out := []Leftover{}
	for _, m := range mentionsInObject(o.content) {
		for _, r := range renamed {
			if m.mentionsObject(r.Object, o.object.Namespace) {
				out = append(out, Leftover{In: o.object, Field: m.path, Names: r.Object, Fault: FaultRenamed})
			}
		}
	}
	return out
}
