package render

import (
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/apis/tree"
)

// checkInputTrack returns an error unless an input has a track if its Blueprint has spec.canary, and none otherwise. Files without tracks are never made
// from such a Blueprint: the workload would have another name there, and moving it would stop its pods.
func checkInputTrack(in Input) error {
	canary := in.Blueprint != nil && in.Blueprint.Spec.Canary != nil
	if canary && (in.Track == "" || in.Track == track.Plain) {
		return errors.New("spec.canary: is set, so the Blueprint is rendered in a track only")
	}
	if !canary && in.Track != "" && in.Track != track.Plain {
		return errors.New("spec.canary: is not set, so the Blueprint is not rendered in tracks")
	}
	return nil
}

// placeInTrack returns the directory in which the rendered objects are in a track and alone there.
func placeInTrack(in Input, objects tree.Files) (tree.Files, error) {
	parts, err := track.Split(objects, selectorsOf(in.Blueprint.Spec.Canary))
	if err != nil {
		return nil, err
	}
	return parts.Files(in.Track, track.Layout{Kustomizations: in.Site.Layout != catalogv1alpha1.LayoutManifests})
}

func selectorsOf(c *catalogv1alpha1.BlueprintCanary) []track.Selector {
	out := make([]track.Selector, 0, len(c.PerTrack))
	for _, o := range c.PerTrack {
		out = append(out, track.Selector{Group: o.Group, Kind: o.Kind, Name: o.Name})
	}
	return out
}
