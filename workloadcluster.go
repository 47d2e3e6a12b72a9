package main

import (
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	workloadclusterv1alpha1 "github.com/intentplane/intentplane/apis/workloadcluster/v1alpha1"
	"github.com/intentplane/intentplane/function/projection"
	"github.com/intentplane/intentplane/function/workloadcluster"
)

// cluster holds the fields that are read from a WorkloadCluster of either shape.
type cluster struct {
	metav1.TypeMeta `json:",inline"`

	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     struct {
		workloadclusterv1alpha1.WorkloadClusterSpec `json:",inline"`

		ClaimRef *claimRef `json:"claimRef"`
	} `json:"spec"`
	Status struct {
		workloadclusterv1alpha1.WorkloadClusterStatus `json:",inline"`

		Conditions []projection.Condition `json:"conditions"`
	} `json:"status"`
}

// isClusterRequest reports whether a request is about a WorkloadCluster of either shape.
func isClusterRequest(req *fnv1.RunFunctionRequest) bool {
	kind := req.GetObserved().GetComposite().GetResource().GetFields()["kind"].GetStringValue()
	return kind == workloadclusterv1alpha1.Kind || kind == workloadclusterv1alpha1.KindComposite
}

// clusterReply returns the reply to a request about a WorkloadCluster.
func clusterReply(req *fnv1.RunFunctionRequest, now metav1.Time) (*reply, error) {
	c, err := decodeComposite[cluster](req)
	if err != nil {
		return nil, err
	}
	in, err := decodeCallInput(req, c.TypeMeta, c.Metadata, c.Spec.ClaimRef)
	if err != nil {
		return nil, err
	}
	recorded := c.Status.WorkloadClusterStatus
	out, err := workloadcluster.Run(workloadcluster.Input{
		Namespace: in.who.Namespace, Name: in.who.Name, UID: string(c.Metadata.UID), Answers: in.answers, Spec: c.Spec.WorkloadClusterSpec,
		Status: recorded, Observed: in.observed, Now: now,
	})
	if err != nil {
		return nil, errors.Wrap(err, "cannot run")
	}
	r := &reply{needs: out.Needs, resources: out.Resources, status: out.Status, conditions: out.Conditions, ready: out.Ready}
	if err := deferStatus(c.Status.Conditions, recorded, r); err != nil {
		return nil, err
	}
	r.lasting = r.deferred || slices.Equal(recorded.Transitions, out.Status.Transitions)
	return r, nil
}
