package bundle

import (
	"fmt"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1alpha1 "github.com/intentplane/intentplane/apis/bundle/v1alpha1"
	statev1alpha1 "github.com/intentplane/intentplane/apis/state/v1alpha1"
	"github.com/intentplane/intentplane/function/desired"
)

// StateName is the name of the BundleState in the composition.
const StateName = "state"

// newBundleState returns the BundleState that should exist.
func newBundleState(in Input, digest string, packages []statev1alpha1.BundlePackage, pruneAfter *metav1.Duration) *statev1alpha1.BundleState {
	return &statev1alpha1.BundleState{
		TypeMeta:   metav1.TypeMeta{APIVersion: statev1alpha1.GroupVersion.String(), Kind: "BundleState"},
		ObjectMeta: metav1.ObjectMeta{Namespace: in.Namespace, Name: StateNameOf(in.Group, in.Name)},
		Spec: statev1alpha1.BundleStateSpec{
			ManagedResourceSpec: xpv2.ManagedResourceSpec{ManagementPolicies: xpv2.ManagementPolicies{xpv2.ManagementActionAll}},
			ForProvider: statev1alpha1.BundleStateParameters{
				BundleRef: statev1alpha1.BundleReference{Group: in.Group, Name: in.Name}, Version: in.Spec.Version, SpecDigest: digest,
				Packages: packages, Orphan: in.Spec.DeletionPolicy == v1alpha1.DeletionOrphan, Suspend: *in.Spec.Suspend, PruneAfter: pruneAfter,
			},
		},
	}
}

// StateNameOf returns the name of the BundleState of a Bundle, and of its record. A claim and a namespaced composite may have one name.
func StateNameOf(group, name string) string {
	if group == v1alpha1.GroupNamespaced {
		return name + ".ns"
	}
	return name
}

func addBundleState(out *Output, s *statev1alpha1.BundleState) error {
	o, err := desired.Encode(s)
	if err != nil {
		return errors.Wrapf(err, "cannot encode composed resource %q", StateName)
	}
	out.Resources[StateName] = desired.Resource{Object: o}
	return nil
}

// readPruneAge returns the time between a package's leaving and its removal, or nil if it is never removed. It returns a sentence for a value
// that is not a duration.
func readPruneAge(s *v1alpha1.BundleSpec) (*metav1.Duration, string) {
	age, err := time.ParseDuration(s.PruneMinAge)
	switch {
	case err != nil || age < 0:
		return nil, fmt.Sprintf("spec.pruneMinAge: %q is not a length of time, such as 1h", s.PruneMinAge)
	case s.Prune != v1alpha1.PruneAfterSuccess:
		return nil, ""
	}
	return &metav1.Duration{Duration: age}, ""
}

// composeState requests a BundleState. While the spec is invalid, the existing object stays unchanged, except for suspension and the deletion policy of
// the packages: a user who sets these must not have to wait for another field. Nothing is pruned meanwhile.
func (out *Output) composeState(s *statev1alpha1.BundleState, isValid bool) error {
	if isValid {
		return addBundleState(out, s)
	}
	if retained, ok := out.Resources[StateName]; ok {
		unstructured.RemoveNestedField(retained.Object.Object, "spec", "forProvider", "pruneAfter")
		return errors.Join(setStateFlag(retained, "orphan", s.Spec.ForProvider.Orphan), setStateFlag(retained, "suspend", s.Spec.ForProvider.Suspend))
	}
	return nil
}

// setStateFlag sets a parameter of a BundleState as it is encoded: false is left out.
func setStateFlag(r desired.Resource, name string, isSet bool) error {
	path := []string{"spec", "forProvider", name}
	if !isSet {
		unstructured.RemoveNestedField(r.Object.Object, path...)
		return nil
	}
	return errors.Wrapf(unstructured.SetNestedField(r.Object.Object, true, path...), "cannot set %s of composed resource %q", name, StateName)
}
