// Package gaterecord has the form in which the provider keeps what the Gates of a revision measured: a ConfigMap beside the deployment, with a document for
// each Gate. The provider writes it, and the command line reads it. The package is pure.
package gaterecord

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// Labels of the ConfigMap.
const (
	// LabelDeployment holds the digest of the deployment's name and group, which may be too long for a label.
	LabelDeployment = "intentplane.dev/measured-deployment"

	// LabelRevision holds the number of the revision.
	LabelRevision = "intentplane.dev/measured-revision"
)

// A Gate is what one Gate measured. The key of its document is KeyOf its name.
type Gate struct {
	// Gate is the name of the Gate.
	Gate string `json:"gate"`

	// Position that the Gate judges.
	Position ledger.Position `json:"position"`

	// Verdict of the Gate. Empty while it measures.
	Verdict rolloutv1alpha1.GateVerdict `json:"verdict,omitempty"`

	// Checks of the Gate, in the order of its spec.
	Checks []Check `json:"checks"`
}

// A Check is what one check of a Gate measured at one Site.
type Check struct {
	// Name of the check, and Site that was measured.
	Name string `json:"name"`
	Site string `json:"site"`

	// Type of the check, such as Prometheus.
	Type string `json:"type"`

	// Threshold that values are judged by, and Unit that they are in. Empty for a Job, and for values without a unit.
	Threshold string `json:"threshold,omitempty"`
	Unit      string `json:"unit,omitempty"`

	// Phase, Value and Message of the result, as in the status of the Gate.
	Phase   rolloutv1alpha1.CheckPhase `json:"phase"`
	Value   string                     `json:"value,omitempty"`
	Message string                     `json:"message,omitempty"`

	// Omitted is how many measurements are not listed, since more were taken than are kept. They are the oldest ones.
	Omitted int `json:"omitted,omitempty"`

	// Measurements that were taken, the oldest first.
	Measurements []Measurement `json:"measurements,omitempty"`
}

// A Measurement is one answer that was judged.
type Measurement struct {
	// At is when the answer came.
	At metav1.Time `json:"at"`

	// Outcome says how it counts, such as Pass or Fail.
	Outcome string `json:"outcome"`

	// Value in the unit of the check. Empty if there was none.
	Value string `json:"value,omitempty"`

	// Message explains an outcome that is not Pass.
	Message string `json:"message,omitempty"`
}

// KeyOf returns the key of the document of a Gate.
func KeyOf(gate string) string { return gate + ".json" }
