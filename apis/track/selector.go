package track

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/apis/track/object"
)

// selectTrack has the selectors of an object that is in a track choose pods of this track alone.
func selectTrack(u *unstructured.Unstructured, track string) {
	spec := object.MapAt(u.Object, "spec")
	switch {
	case object.Of(u).Group == "" && u.GetKind() == "Service":
		object.MakeMap(spec, "selector")[LabelTrack] = track
	case object.Of(u).Group == "apps" && u.GetKind() == "Deployment":
		object.MakeMap(spec, "selector", "matchLabels")[LabelTrack] = track
		selectOwnPods(u, track)
		object.MakeMap(spec, "template", "metadata", "labels")[LabelTrack] = track
	default:
		for _, field := range []string{"selector", "podSelector"} {
			if s := object.MapAt(spec, field); object.IsLabelSelector(s) {
				object.MakeMap(s, "matchLabels")[LabelTrack] = track
			}
		}
	}
}

// selectOwnPods restricts the selectors for a Deployment's own pods, which spread them over nodes, to the pods of their track: otherwise the pods of the other
// track would take their places.
func selectOwnPods(u *unstructured.Unstructured, track string) {
	pods, _ := object.PodLabels(u)
	visitLabelSelectors(object.MapAt(u.Object, "spec", "template", "spec"), func(s map[string]any) {
		if selector, err := object.SelectorAt(map[string]any{"at": s}, "at"); err == nil && selector.Matches(pods) && object.IsLabelSelector(s) {
			object.MakeMap(s, "matchLabels")[LabelTrack] = track
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
