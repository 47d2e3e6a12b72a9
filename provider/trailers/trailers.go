// Package trailers names the trailers of the commits that the provider makes, each of which means one thing. They are all that is left of its memory if
// the state in a repository is lost.
package trailers

import (
	"fmt"

	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// Trailers of all commits.
const (
	ControlPlane = "Intentplane-Control-Plane"
	Cluster      = "Intentplane-Cluster"
)

// Trailers of commits that deliver.
const (
	Claim    = "Intentplane-Claim"
	Revision = "Intentplane-Revision"
	Step     = "Intentplane-Step"
	Attempt  = "Intentplane-Attempt"
	Digest   = "Intentplane-Request-Digest"
	Intent   = "Intentplane-Intent"
	Versions = "Intentplane-Versions"
	Verdict  = "Intentplane-Verdict"
	Target   = "Intentplane-Target"

	// Request is the name and the uid of the RolloutRequest that asked for the revision. In commits of earlier versions, it holds the digest of the request.
	Request     = "Intentplane-Request"
	RequestedBy = "Intentplane-Requested-By"
	Reason      = "Intentplane-Reason"
)

// Trailers of commits that change directories with tracks.
const (
	// Tracks lists the tracks of the directories, such as "blue=6:80 green=7:20 edge1,edge2; green=7:100 edge3": the revision and the weight of each track,
	// and the Sites.
	Tracks = "Intentplane-Tracks"

	// Position is the position that the commit belongs to: epoch, revision, attempt, step and stage.
	Position = "Intentplane-Position"
)

// Trailers of commits that remove directories which no object owns any more.
const (
	// Prune is the uid of the PruneRequest, by which a provider that was killed finds its commit.
	Prune = "Intentplane-Prune"

	// PruneRequest is the namespace and the name of the PruneRequest. In commits of earlier versions, Request holds them.
	PruneRequest = "Intentplane-Prune-Request"
	ApprovedBy   = "Intentplane-Approved-By"
)

// ClaimValue returns the value of the trailer Claim for a claim.
func ClaimValue(c rolloutv1alpha1.ClaimReference) string {
	return fmt.Sprintf("%s/%s %s/%s", c.APIGroup, c.Kind, c.Namespace, c.Name)
}

// Line returns a trailer as a line of a message.
func Line(name, value string) string { return fmt.Sprintf("%s: %s\n", name, value) }
