package v1alpha1

import (
	"crypto/sha256"
	"encoding/hex"
)

// Labels by which an open RolloutRequest is found. The provider sets them, and takes them away when a request is closed.
const (
	// LabelDeploymentGroup holds the API group of the deployment.
	LabelDeploymentGroup = "rollout.intentplane.dev/deployment-group"

	// LabelDeployment holds the name of the deployment, or a digest of a name that is too long for a label.
	LabelDeployment = "rollout.intentplane.dev/deployment"
)

// maxLabel is how many characters the value of a label has at most.
const maxLabel = 63

// OpenLabels are those of the open requests for a deployment.
func OpenLabels(apiGroup, name string) map[string]string {
	if len(name) > maxLabel {
		sum := sha256.Sum256([]byte(name))
		name = hex.EncodeToString(sum[:])[:maxLabel]
	}
	return map[string]string{LabelDeploymentGroup: apiGroup, LabelDeployment: name}
}
