package apiserver

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	clienttesting "k8s.io/client-go/testing"
)

// NewTracker returns the store of a double of controller-runtime, for WithObjectTracker of its builder. It records no owners of fields, and so takes no
// apply patch: the builder's own store goes through all kinds of the scheme at each write, which takes many times as long as the tested code.
func NewTracker(scheme *runtime.Scheme) clienttesting.ObjectTracker {
	return clienttesting.NewObjectTracker(scheme, serializer.NewCodecFactory(scheme).UniversalDecoder())
}
