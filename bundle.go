package main

import (
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	bundlev1alpha1 "github.com/intentplane/intentplane/apis/bundle/v1alpha1"
	"github.com/intentplane/intentplane/function/bundle"
	"github.com/intentplane/intentplane/function/projection"
)

// observedBundle holds the fields that are read from a Bundle of either shape.
type observedBundle struct {
	metav1.TypeMeta `json:",inline"`

	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     struct {
		bundlev1alpha1.BundleSpec `json:",inline"`

		ClaimRef *claimRef `json:"claimRef"`
	} `json:"spec"`
	Status struct {
		bundlev1alpha1.BundleStatus `json:",inline"`

		Conditions []projection.Condition `json:"conditions"`
	} `json:"status"`
}

// isBundleRequest reports whether a request is about a Bundle of either shape.
func isBundleRequest(req *fnv1.RunFunctionRequest) bool {
	kind := req.GetObserved().GetComposite().GetResource().GetFields()["kind"].GetStringValue()
	return kind == bundlev1alpha1.Kind || kind == bundlev1alpha1.KindComposite
}

// bundleReply returns the reply to a request about a Bundle.
func bundleReply(req *fnv1.RunFunctionRequest, now metav1.Time) (*reply, error) {
	b, err := decodeComposite[observedBundle](req)
	if err != nil {
		return nil, err
	}
	in, err := decodeCallInput(req, b.TypeMeta, b.Metadata, b.Spec.ClaimRef)
	if err != nil {
		return nil, err
	}
	recorded := b.Status.BundleStatus
	out, err := bundle.Run(bundle.Input{
		Group: b.GroupVersionKind().Group, Namespace: in.who.Namespace, Name: in.who.Name, Spec: b.Spec.BundleSpec, Status: recorded,
		Observed: in.observed, Now: now,
	})
	if err != nil {
		return nil, errors.Wrap(err, "cannot run")
	}
	r := &reply{resources: out.Resources, status: out.Status, conditions: out.Conditions, ready: out.Ready}
	if err := deferStatus(b.Status.Conditions, recorded, r); err != nil {
		return nil, err
	}
	r.lasting = r.deferred || slices.Equal(recorded.Transitions, out.Status.Transitions)
	return r, nil
}
