package main

import (
	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/function/compile"
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

// claimReference returns the reference to the claim, or to the namespaced composite itself.
func (c *intentDeployment) claimReference(claim claimRef) rolloutv1alpha1.ClaimReference {
	group := deploymentv1alpha1.GroupNamespaced
	if c.Metadata.Namespace == "" {
		group = deploymentv1alpha1.GroupClaims
	}
	return rolloutv1alpha1.ClaimReference{APIGroup: group, Kind: deploymentv1alpha1.Kind, Namespace: claim.Namespace, Name: claim.Name}
}

func decodeDeployment(req *fnv1.RunFunctionRequest) (deployment.Input, error) {
	c, err := decodeComposite[intentDeployment](req)
	if err != nil {
		return deployment.Input{}, err
	}
	in, err := decodeCallInput(req, c.TypeMeta, c.Metadata, c.Spec.ClaimRef)
	if err != nil {
		return deployment.Input{}, err
	}
	return deployment.Input{
		Deployment: compile.Deployment{Claim: c.claimReference(in.who), Spec: c.Spec.IntentDeploymentSpec, Status: c.Status.IntentDeploymentStatus},
		UID:        string(c.Metadata.UID),
		Conditions: c.Status.Conditions,
		Observed:   in.observed,
		Answers:    in.answers,
	}, nil
}
