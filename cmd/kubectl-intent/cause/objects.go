// Package cause has the findings of kubectl intent why: the reason why a deployment or a cluster makes no progress. It follows the reports from the object that
// the user made to the blocking object. It is pure, and states only facts of the objects.
package cause

import (
	"fmt"
	"strings"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1alpha1 "github.com/intentplane/intentplane/apis/cluster/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	workloadclusterv1alpha1 "github.com/intentplane/intentplane/apis/workloadcluster/v1alpha1"
)

// A Condition is one of any object. It has no rule about reasons: Crossplane writes conditions without one.
type Condition struct {
	Type               string                 `json:"type"`
	Status             metav1.ConditionStatus `json:"status"`
	Reason             string                 `json:"reason,omitempty"`
	Message            string                 `json:"message,omitempty"`
	ObservedGeneration int64                  `json:"observedGeneration,omitempty"`
	LastTransitionTime *metav1.Time           `json:"lastTransitionTime,omitempty"`
}

// lastTransition is the time of the condition's last change, or nil.
func (c Condition) lastTransition() *metav1.Time {
	if c.LastTransitionTime == nil || c.LastTransitionTime.IsZero() {
		return nil
	}
	return c.LastTransitionTime
}

// Words return the condition as a sentence.
func (c Condition) Words() string {
	return strings.TrimSuffix(fmt.Sprintf("%s is %s (%s): %s", c.Type, c.Status, c.Reason, c.Message), ": ")
}

// Conditions of an object.
type Conditions []Condition

// Get returns the condition of a type. Its status is Unknown if the object does not have it.
func (c Conditions) Get(typ string) Condition {
	for _, condition := range c {
		if condition.Type == typ {
			return condition
		}
	}
	return Condition{Type: typ, Status: metav1.ConditionUnknown}
}

// IsTrue is true if the object has the condition, and it is.
func (c Conditions) IsTrue(typ string) bool { return c.Get(typ).Status == metav1.ConditionTrue }

// IsFalse is true if the object has the condition, and it is false.
func (c Conditions) IsFalse(typ string) bool { return c.Get(typ).Status == metav1.ConditionFalse }

// An Object has the fields that are read of any object of the cluster.
type Object struct {
	metav1.TypeMeta `json:",inline"`

	Metadata metav1.ObjectMeta `json:"metadata"`
	Status   struct {
		Conditions Conditions `json:"conditions,omitempty"`
	} `json:"status"`
}

// A Deployment is an IntentDeployment, in either shape. Additional fields of a newer version are not read.
type Deployment struct {
	metav1.TypeMeta `json:",inline"`

	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     DeploymentSpec    `json:"spec"`
	Status   DeploymentStatus  `json:"status"`
}

// A DeploymentSpec has the reference that Crossplane adds.
type DeploymentSpec struct {
	deploymentv1alpha1.IntentDeploymentSpec `json:",inline"`
	ClaimSpec                               `json:",inline"`
}

// A DeploymentStatus has the conditions that Crossplane adds.
type DeploymentStatus struct {
	deploymentv1alpha1.IntentDeploymentStatus `json:",inline"`

	Conditions Conditions `json:"conditions,omitempty"`
}

// A Cluster is a WorkloadCluster, in either shape.
type Cluster struct {
	metav1.TypeMeta `json:",inline"`

	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     ClusterSpec       `json:"spec"`
	Status   ClusterStatus     `json:"status"`
}

// A ClusterSpec has the reference that Crossplane adds.
type ClusterSpec struct {
	workloadclusterv1alpha1.WorkloadClusterSpec `json:",inline"`
	ClaimSpec                                   `json:",inline"`
}

// A ClusterStatus has the conditions that Crossplane adds.
type ClusterStatus struct {
	workloadclusterv1alpha1.WorkloadClusterStatus `json:",inline"`

	Conditions Conditions `json:"conditions,omitempty"`
}

// Unread is an object or a kind that could not be read, with the error. Commands list it under "Not read:" and continue without it.
type Unread struct {
	// Object is the resource in the plural with its group, such as "gates.rollout.intentplane.dev", and the name if one object is unreadable.
	Object string `json:"object"`
	// Reason is the error in few words.
	Reason string `json:"reason"`
}

// A ClaimSpec is the part of a claim's spec that Crossplane writes.
type ClaimSpec struct {
	// ResourceRef names the composite of a claim. It is empty for other objects, and for a claim that has none yet.
	ResourceRef Reference `json:"resourceRef,omitzero"`
}

// A Reference names the composite of a claim, which is in no namespace.
type Reference struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Name       string `json:"name"`
}

// Installed are the objects of the installation, as far as they could be read.
type Installed struct {
	// Composite of a claim. Nil if there is none, or it could not be read.
	Composite *Object

	// Definitions, providers and functions of Intentplane.
	Definitions, Providers, Functions []Object

	// Missing are the resources that the cluster does not serve.
	Missing []string

	// Renewed is when the lease of the provider was renewed. Nil if no lease exists, or it could not be read.
	Renewed *metav1.MicroTime
}

// Facts are a deployment and its composed objects, as far as they could be read.
type Facts struct {
	Deployment Deployment

	// SpecDigest of the current spec. Empty means that it could not be computed.
	SpecDigest string

	Deliveries []deliveryv1alpha1.GitDelivery
	Syncs      []deliveryv1alpha1.SiteSync
	Gates      []rolloutv1alpha1.Gate
	Requests   []rolloutv1alpha1.RolloutRequest

	Installed Installed
	Unread    []Unread
}

// Ledger returns the newest state of the ledger that a GitDelivery shows. It is empty if none does.
func (f *Facts) Ledger() ledger.State {
	var all []*deliveryv1alpha1.GitDelivery
	for i := range f.Deliveries {
		all = append(all, &f.Deliveries[i])
	}
	return NewestLedger(all)
}

// NewestLedger returns the newest state of the ledger that one of the GitDeliveries of a deployment shows. It is empty if none does.
func NewestLedger(all []*deliveryv1alpha1.GitDelivery) ledger.State {
	newest := ledger.State{}
	for _, d := range all {
		if l := d.Status.AtProvider.Ledger; l != nil && l.Compare(newest.Head) > 0 {
			newest = *l
		}
	}
	return newest
}

// ClusterFacts are a WorkloadCluster and its ManagedCluster, as far as they could be read.
type ClusterFacts struct {
	Cluster    Cluster
	SpecDigest string

	// Managed is nil if there is none, or it could not be read.
	Managed *clusterv1alpha1.ManagedCluster

	Installed Installed
	Unread    []Unread
}

// readyCondition returns the condition Ready of a managed resource.
func readyCondition(c xpv2.Condition) Condition {
	return Condition{
		Type: string(c.Type), Status: metav1.ConditionStatus(c.Status), Reason: string(c.Reason), Message: c.Message,
		ObservedGeneration: c.ObservedGeneration, LastTransitionTime: &c.LastTransitionTime,
	}
}

// isRenewalLate is true for an event that was to happen every few seconds.
func isRenewalLate(last, now time.Time) bool { return now.Sub(last) > time.Minute }
