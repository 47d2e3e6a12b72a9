package v1alpha1

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
)

// MaxOpen is the greatest number of open requests for one deployment: each call of the function gets them. Further requests are evaluated when these
// are closed.
const MaxOpen = 20

// MaxBytes is the greatest size of an open request, as JSON, with the metadata of other clients, in bytes.
const MaxBytes = 16 << 10

// Labels by which an open RolloutRequest is found. The provider sets them, and removes them when a request is closed.
const (
	// LabelDeploymentGroup holds the API group of the deployment.
	LabelDeploymentGroup = "rollout.intentplane.dev/deployment-group"

	// LabelDeployment holds the name of the deployment, or a digest of a name that is too long for a label.
	LabelDeployment = "rollout.intentplane.dev/deployment"
)

// maxLabel is the greatest length of the value of a label.
const maxLabel = 63

// OpenLabels returns the labels of the open requests for a deployment.
func OpenLabels(apiGroup, name string) map[string]string {
	if len(name) > maxLabel {
		sum := sha256.Sum256([]byte(name))
		name = hex.EncodeToString(sum[:])[:maxLabel]
	}
	return map[string]string{LabelDeploymentGroup: apiGroup, LabelDeployment: name}
}

// Actions returns the actions in their order: of several requests about one revision, the first takes effect.
func Actions() []Action {
	return []Action{ActionAbort, ActionRollbackTo, ActionMoveLedger, ActionPromote, ActionApproveUpdate, ActionRetry}
}

// CompareTurn orders requests by their evaluation: by action, so that many waiting requests never hide an Abort, and then by age. An action that is not known
// comes last.
func CompareTurn(a, b RolloutRequest) int {
	return cmp.Or(cmp.Compare(indexOfAction(a.Spec.Action), indexOfAction(b.Spec.Action)), CompareAge(a, b))
}

func indexOfAction(a Action) int {
	all := Actions()
	if n := slices.Index(all, a); n >= 0 {
		return n
	}
	return len(all)
}

// CompareAge puts requests in the order of their age, and of their names where that is equal.
func CompareAge(a, b RolloutRequest) int {
	return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.GetName(), b.GetName()))
}
