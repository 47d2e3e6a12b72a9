package workloadcluster

import (
	"fmt"
	"slices"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	clusterv1alpha1 "github.com/intentplane/intentplane/apis/cluster/v1alpha1"
	"github.com/intentplane/intentplane/apis/digest"
	v1alpha1 "github.com/intentplane/intentplane/apis/workloadcluster/v1alpha1"
)

// Name of the composed resource.
const Name = "cluster"

// LabelWorkloadCluster holds the name of the WorkloadCluster that a ManagedCluster was composed for.
const LabelWorkloadCluster = "intentplane.dev/workload-cluster"

// managed is the ManagedCluster that is asked for. It has the name of the WorkloadCluster, so that everybody knows how the Site is called
// that it publishes.
func managed(in Input) *clusterv1alpha1.ManagedCluster {
	s := in.Spec
	return &clusterv1alpha1.ManagedCluster{
		TypeMeta:   metav1.TypeMeta{APIVersion: clusterv1alpha1.GroupVersion.String(), Kind: "ManagedCluster"},
		ObjectMeta: metav1.ObjectMeta{Namespace: in.Namespace, Name: in.Name, Labels: map[string]string{LabelWorkloadCluster: in.Name}},
		Spec: clusterv1alpha1.ManagedClusterSpec{
			ManagedResourceSpec: xpv2.ManagedResourceSpec{
				ProviderConfigReference: &xpv2.ProviderConfigReference{Kind: s.ProviderConfigRef.Kind, Name: s.ProviderConfigRef.Name},
				ManagementPolicies:      policies(s.DeletionPolicy),
			},
			ForProvider: clusterv1alpha1.ManagedClusterParameters{
				Cluster:            clusterv1alpha1.ClusterReference{Name: clusterName(in)},
				ClusterDescription: s.ClusterDescription,
			},
		},
	}
}

func policies(deletion string) xpv2.ManagementPolicies {
	if deletion == v1alpha1.DeletionOrphan {
		return xpv2.ManagementPolicies{xpv2.ManagementActionObserve, xpv2.ManagementActionCreate, xpv2.ManagementActionUpdate}
	}
	return xpv2.ManagementPolicies{xpv2.ManagementActionAll}
}

func clusterName(in Input) string {
	if in.Spec.ClusterName != "" {
		return in.Spec.ClusterName
	}
	return in.Name
}

// asksFor is true for a ManagedCluster that asks for what another does.
func asksFor(observed, desired *clusterv1alpha1.ManagedCluster) (bool, error) {
	if observed == nil || !slices.Equal(observed.Spec.ManagementPolicies, desired.Spec.ManagementPolicies) || !sameConfig(observed, desired) {
		return false, nil
	}
	was, err := digest.Described(&observed.Spec.ForProvider)
	if err != nil {
		return false, err
	}
	is, err := digest.Described(&desired.Spec.ForProvider)
	return was == is, err
}

func sameConfig(a, b *clusterv1alpha1.ManagedCluster) bool {
	return a.Spec.ProviderConfigReference != nil && *a.Spec.ProviderConfigReference == *b.Spec.ProviderConfigReference
}

// problemOf says what of a spec no ManagedCluster could be made of. The schema refuses most of it; what it lets through is the name of a
// claim, and what came another way. What cannot be changed is looked at here too, or nothing at all would be applied, and nobody told.
func problemOf(in Input, observed *clusterv1alpha1.ManagedCluster) string {
	s := in.Spec
	if name := clusterName(in); len(validation.IsDNS1035Label(name)) > 0 {
		return fmt.Sprintf("spec.clusterName: %q cannot be the name of a Cluster: it must begin with a letter and hold at most 63 lower case letters, digits and dashes", name)
	}
	if (s.CAPT != nil) != (s.Type == clusterv1alpha1.TypeCAPT) {
		return "spec.capt: it must be set with type CAPT, and with no other"
	}
	if (s.Topology != nil) != (s.Type == clusterv1alpha1.TypeTopology) {
		return "spec.topology: it must be set with type Topology, and with no other"
	}
	if !slices.Contains([]clusterv1alpha1.ClusterType{clusterv1alpha1.TypeCAPT, clusterv1alpha1.TypeTopology, clusterv1alpha1.TypeExisting}, s.Type) {
		return "spec.type: it must be CAPT, Topology or Existing"
	}
	if s.Type != clusterv1alpha1.TypeExisting && s.Version == "" {
		return "spec.version: it is required unless type is Existing"
	}
	if path := s.Reserved(); path != "" {
		return "spec." + path + ": what is of cluster.x-k8s.io or intentplane.dev is not for users to set"
	}
	return immutable(in, observed)
}

func immutable(in Input, observed *clusterv1alpha1.ManagedCluster) string {
	if observed == nil {
		return ""
	}
	p := observed.Spec.ForProvider
	if p.Cluster.Name != clusterName(in) {
		return fmt.Sprintf("spec.clusterName: it is immutable, and was %q", p.Cluster.Name)
	}
	if p.Type != in.Spec.Type {
		return fmt.Sprintf("spec.type: it is immutable, and was %s", p.Type)
	}
	return ""
}
