package compile

import (
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/function/catalog"
)

// A Channel is the state of the channel of Blueprints, beside the Blueprint that a deployment stays with.
type Channel struct {
	// IsPinnedGone is true if the pinned Blueprint does not exist any more.
	IsPinnedGone bool

	pinned *ledger.BlueprintReference
	// newest is the name of the object in the channel. It is empty when there is none, and when nothing is pinned.
	newest string
}

// Pin has the deployment stay with the Blueprint of its revision, where it does. It returns the name by which that is requested, or "": a Blueprint that was
// selected by its version is requested by the version.
func (c *Channel) Pin(b *ledger.BlueprintReference, choice deploymentv1alpha1.BlueprintChoice, blueprintName string) string {
	if c.pinned = pinnedBlueprint(b, choice, blueprintName); c.pinned == nil || b.Channel == "" {
		return ""
	}
	return b.Name
}

// RecordSelection records the result of the catalog.
func (c *Channel) RecordSelection(s *catalog.Selection, err error) {
	if c.pinned == nil {
		return
	}
	if s != nil {
		c.newest = s.InChannel
	}
	if e := (&catalog.MissingError{}); errors.As(err, &e) && e.InChannel != "" {
		c.newest, c.IsPinnedGone = e.InChannel, true
	}
}

// CheckDigest returns an error, whose reason ReasonOf returns, when the Blueprint under the pinned name has another digest than the pinned one.
func (c *Channel) CheckDigest(digest string) error {
	if c.pinned == nil || c.pinned.Digest == "" || c.pinned.Digest == digest {
		return nil
	}
	if c.IsPinnedGone = true; c.pinned.Channel == "" {
		c.newest = c.pinned.Name
	}
	return PendingProblem(deploymentv1alpha1.ReasonBlueprintMissing,
		"Blueprint "+c.pinned.Name+", which the deployment stays with until a user approves another one, has other content than the recorded Blueprint: it was deleted and created again")
}

// WaitingBlueprint returns the name of the Blueprint that waits to be approved, or "".
func (c *Channel) WaitingBlueprint() string {
	if c.pinned == nil || c.newest == c.pinned.Name && !c.IsPinnedGone {
		return ""
	}
	return c.newest
}

// pinnedBlueprint is the Blueprint that a deployment stays with: that of its revision, where a user approves updates, and where
// the spec still asks for a Blueprint of that name in that channel, or for that version of it. It is nil when there is none: a
// change of the spec is its author's own act, and followed at once.
func pinnedBlueprint(b *ledger.BlueprintReference, choice deploymentv1alpha1.BlueprintChoice, blueprintName string) *ledger.BlueprintReference {
	if b == nil || choice.UpdatePolicy != deploymentv1alpha1.UpdateManual {
		return nil
	}
	isVersion := choice.Version != "" && b.Channel == "" && b.Name == blueprintName+"-"+choice.Version
	isInChannel := choice.Version == "" && b.Channel == choice.Channel && isVersionOf(b.Name, blueprintName)
	if !isVersion && !isInChannel {
		return nil
	}
	return b
}

// isVersionOf is true for the name of an object that is a version of a Blueprint. Names have no dots, and versions begin with a number
// that a dot follows, so that "web" has no version "web-1-2.0.0".
func isVersionOf(object, blueprint string) bool {
	head, _, ok := strings.Cut(object, ".")
	i := strings.LastIndex(head, "-")
	return ok && i > 0 && head[:i] == blueprint
}
