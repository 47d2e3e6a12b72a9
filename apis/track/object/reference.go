package object

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// A ReferenceVisitor is called with the kind that a reference names, and with the mapping and the field that hold the name.
type ReferenceVisitor func(kind string, in map[string]any, field string)

// VisitReferences visits the references to other objects in the fields of an object, its metadata apart: references that name the kind, and references of pods,
// autoscalers, Ingresses and Gateways to ConfigMaps, Secrets and Deployments, whose field stands for the kind.
func VisitReferences(u *unstructured.Unstructured, visit ReferenceVisitor) {
	for field, value := range u.Object {
		if field != "metadata" && field != "kind" {
			visitFieldValue(field, value, visit)
		}
	}
}

func visitFieldValue(field string, value any, visit ReferenceVisitor) {
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			visitFieldValue(field, item, visit)
		}
	case map[string]any:
		visitMapping(field, v, visit)
	}
}

// visitMapping visits a mapping that is the value of a field, or one of its elements.
func visitMapping(field string, m map[string]any, visit ReferenceVisitor) {
	kind := TextAt(m, "kind")
	if kind == "" {
		kind = kindOfField(field)
	}
	if kind != "" && TextAt(m, "name") != "" {
		visit(kind, m, "name")
	}
	if TextAt(m, "secretName") != "" {
		visit("Secret", m, "secretName")
	}
	for name, value := range m {
		visitFieldValue(name, value, visit)
	}
}

// kindOfField returns the kind that a field refers to whose value has a name and no kind, or "".
func kindOfField(field string) string {
	switch field {
	case "configMap", "configMapRef", "configMapKeyRef":
		return "ConfigMap"
	case "secret", "secretRef", "secretKeyRef", "nodePublishSecretRef", "imagePullSecrets", "secrets", "certificateRefs":
		return "Secret"
	case "scaleTargetRef":
		return "Deployment"
	}
	return ""
}

// RefersTo reports whether an object names a ConfigMap or a Secret. In unknown kinds each text that equals the name counts: an additional object does no harm,
// but a missing object would.
func RefersTo(u *unstructured.Unstructured, kind, name string) bool {
	if !hasKnownReferences(u.GroupVersionKind().Group) {
		return containsText(u.Object, name)
	}
	found := false
	VisitReferences(u, func(k string, in map[string]any, field string) { found = found || k == kind && in[field] == name })
	return found
}

// hasKnownReferences reports whether VisitReferences finds every reference in the kinds of an API group. Roles name objects in lists of texts.
func hasKnownReferences(group string) bool {
	return slices.Contains([]string{"", "apps", "autoscaling", "batch", "networking.k8s.io", "policy", GatewayGroup}, group)
}

// containsText reports whether a text is among the values, apart from metadata and labels.
func containsText(value any, text string) bool {
	switch v := value.(type) {
	case string:
		return v == text
	case []any:
		return slices.ContainsFunc(v, func(item any) bool { return containsText(item, text) })
	case map[string]any:
		for field, item := range v {
			if !IsLabelField(field) && containsText(item, text) {
				return true
			}
		}
	}
	return false
}
