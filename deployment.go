package main

import (
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/function/catalog"
	"github.com/intentplane/intentplane/function/deployment"
	"github.com/intentplane/intentplane/function/phase"
)

// intentDeployment holds the fields that are read from an IntentDeployment of either shape.
type intentDeployment struct {
	metav1.TypeMeta `json:",inline"`

	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     struct {
		deploymentv1alpha1.IntentDeploymentSpec `json:",inline"`

		ClaimRef *claimRef `json:"claimRef"`
	} `json:"spec"`
	Status struct {
		deploymentv1alpha1.IntentDeploymentStatus `json:",inline"`

		Conditions []phase.Condition `json:"conditions"`
	} `json:"status"`
}

// claimReference returns the claim, or the namespaced composite itself.
func (c *intentDeployment) claimReference() (rolloutv1alpha1.ClaimReference, error) {
	who, err := claimFor(c.TypeMeta, c.Metadata, c.Spec.ClaimRef)
	if err != nil {
		return rolloutv1alpha1.ClaimReference{}, err
	}
	group := deploymentv1alpha1.GroupNamespaced
	if c.Metadata.Namespace == "" {
		group = deploymentv1alpha1.GroupClaims
	}
	return rolloutv1alpha1.ClaimReference{APIGroup: group, Kind: deploymentv1alpha1.Kind, Namespace: who.Namespace, Name: who.Name}, nil
}

func decodeDeployment(req *fnv1.RunFunctionRequest) (deployment.Input, error) {
	c := &intentDeployment{}
	if err := decodeInto(req.GetObserved().GetComposite().GetResource(), c); err != nil {
		return deployment.Input{}, errors.Wrap(err, "cannot read the observed composite")
	}
	claim, err := c.claimReference()
	if err != nil {
		return deployment.Input{}, err
	}
	observed, err := decodeObserved(req)
	if err != nil {
		return deployment.Input{}, err
	}
	in := deployment.Input{
		Claim:      claim,
		UID:        string(c.Metadata.UID),
		Spec:       c.Spec.IntentDeploymentSpec,
		Status:     c.Status.IntentDeploymentStatus,
		Conditions: c.Status.Conditions,
		Observed:   observed,
		Answers:    catalog.Answers{},
	}
	return in, decodeAnswers(req, in.Answers)
}
