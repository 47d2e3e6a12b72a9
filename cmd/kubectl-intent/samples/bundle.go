package samples

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	bundlev1alpha1 "github.com/intentplane/intentplane/apis/bundle/v1alpha1"
	"github.com/intentplane/intentplane/apis/digest"
	statev1alpha1 "github.com/intentplane/intentplane/apis/state/v1alpha1"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
	"github.com/intentplane/intentplane/function/bundle"
)

// platform is the name of the Bundles.
const platform = "platform"

// A BundleSample is a Bundle with two packages: an existing database, and a shop that waits for it.
type BundleSample struct {
	// Shop is the deployment that the second package is.
	Shop *Sample

	// Database and Web are the observations of the packages.
	Database, Web statev1alpha1.PackageObservation

	// Problem of the spec, or of the record. Empty if there is none.
	Problem, RecordProblem string

	IsSuspended bool
}

// NewBundle returns a Bundle whose packages run their desired specs.
func NewBundle(shop *Sample) *BundleSample {
	return &BundleSample{
		Shop:     shop,
		Database: statev1alpha1.PackageObservation{Name: "database", Version: "15.2", Status: statev1alpha1.StatusSuccess, Ready: true, Revision: 3, Commit: oldCommit},
		Web:      statev1alpha1.PackageObservation{Name: name, Version: "2.0", Status: statev1alpha1.StatusSuccess, Ready: true, Revision: 7, Commit: newCommit},
	}
}

// InProgress is a Bundle whose shop is deployed, which its deployment explains.
func InProgress(shop *Sample) *BundleSample {
	s := NewBundle(shop)
	s.Web.Status, s.Web.Ready, s.Web.Reason, s.Web.Message = statev1alpha1.StatusDeploying, false, statev1alpha1.PackageReasonInProgress, "IntentDeployment shop is Delivering."
	return s
}

// makeBundleSpec makes the spec of the Bundle.
func (s *BundleSample) makeBundleSpec() bundlev1alpha1.BundleSpec {
	out := bundlev1alpha1.BundleSpec{Version: "1.4.0", Suspend: &s.IsSuspended, Packages: []bundlev1alpha1.Package{
		{Name: "database", Existing: &bundlev1alpha1.ExistingPackage{}},
		{Name: name, DependsOn: []bundlev1alpha1.PackageName{"database"}, Deployment: &runtime.RawExtension{Raw: []byte(`{"expectation":{"service":"shop"}}`)}},
	}}
	out.Default()
	return out
}

// Facts returns the objects as a reader of the cluster sees them. The function's own projection makes the status.
func (s *BundleSample) Facts() *cause.BundleFacts {
	f := &cause.BundleFacts{Bundle: cause.Bundle{Spec: cause.BundleSpec{BundleSpec: s.makeBundleSpec()}}}
	f.Bundle.APIVersion, f.Bundle.Kind = bundlev1alpha1.GroupNamespaced+"/v1alpha1", bundlev1alpha1.Kind
	f.Bundle.Metadata = metav1.ObjectMeta{Namespace: namespace, Name: platform, Generation: generation}
	// A spec of these types can be encoded.
	f.SpecDigest, _ = digest.Bundle(&f.Bundle.Spec.BundleSpec)
	f.State = s.makeBundleState(f.SpecDigest)
	s.projectBundle(f)
	if cause.IsFollowed(f.BlockingPackage()) {
		f.Deployment = s.Shop.Facts()
	}
	return f
}

// makeBundleState is the BundleState, as the provider reports it.
func (s *BundleSample) makeBundleState(specDigest string) *statev1alpha1.BundleState {
	out := &statev1alpha1.BundleState{}
	out.APIVersion, out.Kind = statev1alpha1.GroupVersion.String(), "BundleState"
	out.ObjectMeta = metav1.ObjectMeta{Namespace: namespace, Name: bundle.StateNameOf(bundlev1alpha1.GroupNamespaced, platform), Generation: generation}
	parameters := &out.Spec.ForProvider
	parameters.BundleRef, parameters.Version, parameters.SpecDigest = statev1alpha1.BundleReference{Group: bundlev1alpha1.GroupNamespaced, Name: platform}, "1.4.0", specDigest
	parameters.Packages = []statev1alpha1.BundlePackage{}
	out.Status.AtProvider = statev1alpha1.BundleStateObservation{
		SpecDigest: specDigest, Status: statev1alpha1.StatusDeploying, Packages: []statev1alpha1.PackageObservation{s.Database, s.Web},
		Record: statev1alpha1.BundleRecord{Secret: "intentplane-bundle-platform.ns", Problem: s.RecordProblem},
	}
	out.SetConditions(readyCondition(string(statev1alpha1.ReasonDeployed)), syncedCondition())
	if s.Web.Reason != "" {
		out.SetConditions(NotReady(s.Web.Reason, s.Web.Message))
	}
	return out
}

// projectBundle makes the status and the conditions, as the function would.
func (s *BundleSample) projectBundle(f *cause.BundleFacts) {
	from := &bundle.Facts{
		Digest: f.SpecDigest, Version: "1.4.0", Problem: s.Problem, IsSuspended: s.IsSuspended, Enabled: 2,
		Layers: map[string]int32{"database": 1, name: 2}, Observed: f.State.Status.AtProvider,
	}
	p := bundle.Project(from, &bundlev1alpha1.BundleStatus{}, timeBeforeNow(41*time.Second))
	f.Bundle.Status.BundleStatus = *p.Status
	transitionTime := timeBeforeNow(41 * time.Second)
	for _, c := range p.Conditions {
		f.Bundle.Status.Conditions = append(f.Bundle.Status.Conditions, cause.Condition{
			Type: c.Type, Status: metav1.ConditionStatus(c.Status), Reason: c.Reason, Message: c.Message, LastTransitionTime: &transitionTime,
		})
	}
	ready := metav1.ConditionFalse
	if p.Ready {
		ready = metav1.ConditionTrue
	}
	f.Bundle.Status.Conditions = append(f.Bundle.Status.Conditions, cause.Condition{Type: "Ready", Status: ready, Reason: "Available", LastTransitionTime: &transitionTime})
}

// Objects returns the objects of a sample, as an API server has them. It returns an error for an object that cannot be encoded.
func (s *BundleSample) Objects() ([]*unstructured.Unstructured, error) {
	f := s.Facts()
	return encodeAbove([]any{&f.Bundle, f.State}, s.Shop)
}
