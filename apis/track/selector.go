package track

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// selectTrack has the selectors of an object that is in a track choose pods of this track alone.
func selectTrack(u *unstructured.Unstructured, track string) {
	spec := mapAt(u.Object, "spec")
	switch {
	case objectOf(u).Group == "" && u.GetKind() == "Service":
		makeMap(spec, "selector")[LabelTrack] = track
	case objectOf(u).Group == "apps" && u.GetKind() == "Deployment":
		makeMap(spec, "selector", "matchLabels")[LabelTrack] = track
		selectOwnPods(u, track)
		makeMap(spec, "template", "metadata", "labels")[LabelTrack] = track
	default:
		for _, field := range []string{"selector", "podSelector"} {
			if s := mapAt(spec, field); isLabelSelector(s) {
				makeMap(s, "matchLabels")[LabelTrack] = track
			}
		}
	}
}

// isLabelSelector reports whether a mapping has the form of Kubernetes' label selectors, and selects something.
func isLabelSelector(m map[string]any) bool {
	return mapAt(m, "matchLabels") != nil || listAt(m, "matchExpressions") != nil
}

// selectOwnPods restricts the selectors for a Deployment's own pods, which spread them over nodes, to the pods of their track: otherwise the pods of the other
// track would take their places.
func selectOwnPods(u *unstructured.Unstructured, track string) {
	pods, _ := podLabels(u)
	visitLabelSelectors(mapAt(u.Object, "spec", "template", "spec"), func(s map[string]any) {
		if selector, err := selectorAt(map[string]any{"at": s}, "at"); err == nil && selector.Matches(pods) && isLabelSelector(s) {
			makeMap(s, "matchLabels")[LabelTrack] = track
		}
	})
}

// visitLabelSelectors visits the fields labelSelector.
func visitLabelSelectors(value any, visit func(map[string]any)) {
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			visitLabelSelectors(item, visit)
		}
	case map[string]any:
		for field, item := range v {
			if s, ok := item.(map[string]any); ok && field == "labelSelector" {
				visit(s)
			}
			visitLabelSelectors(item, visit)
		}
	}
}
