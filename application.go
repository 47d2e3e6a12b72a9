package main

import (
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	applicationv1alpha1 "github.com/intentplane/intentplane/apis/application/v1alpha1"
	"github.com/intentplane/intentplane/function/application"
	"github.com/intentplane/intentplane/function/projection"
)

// observedApplication holds the fields that are read from an Application of either shape.
type observedApplication struct {
	metav1.TypeMeta `json:",inline"`

	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     struct {
		applicationv1alpha1.ApplicationSpec `json:",inline"`

		ClaimRef *claimRef `json:"claimRef"`
	} `json:"spec"`
	Status struct {
		applicationv1alpha1.ApplicationStatus `json:",inline"`

		Conditions []projection.Condition `json:"conditions"`
	} `json:"status"`
}

// isApplicationRequest reports whether a request is about an Application of either shape.
func isApplicationRequest(req *fnv1.RunFunctionRequest) bool {
	kind := req.GetObserved().GetComposite().GetResource().GetFields()["kind"].GetStringValue()
	return kind == applicationv1alpha1.Kind || kind == applicationv1alpha1.KindComposite
}

// applicationReply returns the reply to a request about an Application.
func applicationReply(req *fnv1.RunFunctionRequest, now metav1.Time) (*reply, error) {
	a, err := decodeComposite[observedApplication](req)
	if err != nil {
		return nil, err
	}
	in, err := decodeCallInput(req, a.TypeMeta, a.Metadata, a.Spec.ClaimRef)
	if err != nil {
		return nil, err
	}
	recorded := a.Status.ApplicationStatus
	out, err := application.Run(application.Input{
		APIGroup: groupOfClaim(a.Metadata), Namespace: in.who.Namespace, Name: in.who.Name, UID: string(a.Metadata.UID), Answers: in.answers, Spec: a.Spec.ApplicationSpec,
		Status: recorded, Observed: in.observed, Now: now,
	})
	if err != nil {
		return nil, errors.Wrap(err, "cannot run")
	}
	r := &reply{
		needs: out.Needs, resources: out.Resources, status: out.Status, conditions: out.Conditions, ready: out.Ready, wait: out.Wait,
		recording: out.Passing || out.Status.BuiltImage != recorded.BuiltImage && requestsImage(in.observed, out.Status.BuiltImage.Image),
	}
	if r.recording { // The call that requests an image records it, while the rest of the status waits for a follow-up call.
		recorded.BuiltImage = out.Status.BuiltImage
	}
	if err := deferStatus(a.Status.Conditions, recorded, r); err != nil {
		return nil, err
	}
	r.lasting = !r.recording && (r.deferred || slices.Equal(recorded.Transitions, out.Status.Transitions))
	return r, nil
}

// requestsImage reports whether the observed deployment does not have an image yet. Once it does, no status waits for a record, which a definition of an earlier
// version drops.
func requestsImage(observed map[string]*unstructured.Unstructured, image string) bool {
	deployment, ok := observed[application.DeploymentName]
	if !ok {
		return true
	}
	current, _, err := unstructured.NestedString(deployment.Object, "spec", "expectation", "image")
	return err != nil || current != image
}

// groupOfClaim returns the API group of a namespaced composite, or of the claim behind a composite without a namespace.
func groupOfClaim(m metav1.ObjectMeta) string {
	if m.Namespace == "" {
		return applicationv1alpha1.GroupClaims
	}
	return applicationv1alpha1.GroupNamespaced
}
