package compile

import (
	"strings"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
)

// Pinned is the Blueprint that a deployment stays with: that of its revision, where a user approves updates, and where
// the spec still asks for a Blueprint of that name in that channel, or for that version of it. It is nil when there is none: a
// change of the spec is its author's own act, and followed at once.
func Pinned(b *ledger.BlueprintReference, choice deploymentv1alpha1.BlueprintChoice, blueprintName string) *ledger.BlueprintReference {
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

// PinnedName returns the name by which a pinned Blueprint is requested, or "": a Blueprint that was selected by its version is requested by the version.
func PinnedName(b *ledger.BlueprintReference) string {
	if b == nil || b.Channel == "" {
		return ""
	}
	return b.Name
}

// CheckPinned returns an error, whose reason ReasonOf returns, when the Blueprint under the pinned name has another digest than the pinned one.
func CheckPinned(pinned *ledger.BlueprintReference, digest string) error {
	if pinned == nil || pinned.Digest == "" || pinned.Digest == digest {
		return nil
	}
	return PendingProblem(deploymentv1alpha1.ReasonBlueprintMissing,
		"Blueprint "+pinned.Name+", which the deployment stays with until a user approves another one, has other content than the recorded Blueprint: it was deleted and created again")
}
