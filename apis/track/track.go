// Package track splits a rendered workload into two tracks, blue and green, between which the rules of its routes divide the requests, and shared objects. A
// canary takes the track that the stable revision has not, and keeps it, so that the pods that were judged are the pods that serve.
//
// It is pure: the function, the provider and the command-line tool all compute the same bytes from the same files.
package track

import (
	"strings"

	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/track/object"
)

// The tracks.
const (
	Blue  = ledger.TrackBlue
	Green = ledger.TrackGreen

	// Plain is the folder of a workload without tracks beside a track, while a deployment moves from one to the other. Its objects have their own names.
	Plain = ledger.TrackPlain
)

// Names returns the names of all tracks.
func Names() []string { return []string{Blue, Green, Plain} }

// FolderShared is the folder of the objects that both tracks share. A track's folder has the name of the track.
const FolderShared = "shared"

const (
	// LabelWorkload marks the workload of a Blueprint.
	LabelWorkload = "intentplane.dev/workload"

	// WorkloadMain is the value of LabelWorkload.
	WorkloadMain = "main"

	// LabelTrack holds the track of an object and of its pods, and is in the selectors that choose these pods.
	LabelTrack = "intentplane.dev/track"

	// AnnotationReplicas holds the replicas of a Deployment at full size.
	AnnotationReplicas = "intentplane.dev/replicas"

	// AnnotationMinReplicas holds the minReplicas of a HorizontalPodAutoscaler at full size.
	AnnotationMinReplicas = "intentplane.dev/min-replicas"

	// AnnotationLeaves marks a shared object that the new revision has no longer. It stays until the old track goes.
	AnnotationLeaves = "intentplane.dev/leaves"

	// AnnotationFront marks the Service that keeps its name, where one of the tracks beside each other is Plain: it may select the pods of both then.
	AnnotationFront = "intentplane.dev/front"
)

const (
	// GatewayGroup is the API group of the routes.
	GatewayGroup = object.GatewayGroup

	// MaxBackendRefs is the limit of backendRefs in a rule that sends requests to the workload. Gateway API allows twice as many.
	MaxBackendRefs = 8

	// MaxWeight is how large a weight of such a rule may be. Gateway API allows a hundred times as much.
	MaxWeight = 10_000
)

const kustomizationFile = "kustomization.yaml"

// Other returns the track beside one.
func Other(track string) string { return ledger.OtherTrack(track) }

// IsTrack reports whether a text is the name of a track.
func IsTrack(text string) bool { return text == Blue || text == Green || text == Plain }

// nameInTrack returns the name that an object has in a track.
func nameInTrack(track, name string) string { return name + Suffix(track) }

// OfService returns the track that a Service of a route belongs to: its copy in a track, or else the Service itself, which belongs to Plain.
func OfService(name string) string {
	for _, t := range []string{Blue, Green} {
		if strings.HasSuffix(name, Suffix(t)) {
			return t
		}
	}
	return Plain
}

// Suffix returns the suffix of the names of a track's objects. It is empty for Plain.
func Suffix(track string) string {
	if track == Plain {
		return ""
	}
	return "-" + track
}
