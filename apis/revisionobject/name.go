// Package revisionobject names the reports that the provider keeps about rejected revisions of a deployment. The package is pure.
package revisionobject

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

// maxName is the greatest length of a name.
const maxName = 63

// Name returns the name of the object of a revision, with a verb for its event in the middle, as in shop-failed-r2. A digest distinguishes a composite
// from a claim of the same name, and replaces the end of a name that is too long.
func Name(group, deployment, event string, revision int64) string {
	suffix, whole := fmt.Sprintf("-%s-r%d", event, revision), deployment
	claimed := group == deploymentv1alpha1.GroupClaims
	if !claimed {
		whole = group + "/" + deployment
	}
	if !claimed || len(deployment)+len(suffix) > maxName {
		sum := sha256.Sum256([]byte(whole))
		suffix = "-" + hex.EncodeToString(sum[:4]) + suffix
		deployment = strings.TrimRight(deployment[:min(len(deployment), maxName-len(suffix))], "-.")
	}
	return deployment + suffix
}

// DeploymentDigest returns the value of the label that names a deployment.
func DeploymentDigest(group, deployment string) string {
	sum := sha256.Sum256([]byte(group + "/" + deployment))
	return hex.EncodeToString(sum[:8])
}
