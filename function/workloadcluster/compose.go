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

// composeManagedCluster returns the desired ManagedCluster. It has the name of the WorkloadCluster, so that the name of the Site that it
// publishes can be predicted.
func composeManagedCluster(in Input) *clusterv1alpha1.ManagedCluster {
	s := in.Spec
	return &clusterv1alpha1.ManagedCluster{
		TypeMeta:   metav1.TypeMeta{APIVersion: clusterv1alpha1.GroupVersion.String(), Kind: "ManagedCluster"},
		ObjectMeta: metav1.ObjectMeta{Namespace: in.Namespace, Name: in.Name, Labels: map[string]string{LabelWorkloadCluster: in.Name}},
		Spec: clusterv1alpha1.ManagedClusterSpec{
			ManagedResourceSpec: xpv2.ManagedResourceSpec{
				ProviderConfigReference: &xpv2.ProviderConfigReference{Kind: s.ProviderConfigRef.Kind, Name: s.ProviderConfigRef.Name},
				ManagementPolicies:      managementPolicies(s.DeletionPolicy),
			},
			ForProvider: clusterv1alpha1.ManagedClusterParameters{
				Cluster:            clusterv1alpha1.ClusterReference{Name: clusterName(in)},
				ClusterDescription: s.ClusterDescription,
			},
		},
	}
}

// managementPolicies returns the policies that follow from spec.deletionPolicy: with Orphan the provider may not delete.
func managementPolicies(deletion string) xpv2.ManagementPolicies {
	if deletion == v1alpha1.DeletionOrphan {
		return xpv2.ManagementPolicies{xpv2.ManagementActionObserve, xpv2.ManagementActionCreate, xpv2.ManagementActionUpdate}
	}
	return xpv2.ManagementPolicies{xpv2.ManagementActionAll}
}

// clusterName returns the name of the Cluster: spec.clusterName, or the name of the WorkloadCluster.
func clusterName(in Input) string {
	if in.Spec.ClusterName != "" {
		return in.Spec.ClusterName
	}
	return in.Name
}

// requestsSameCluster reports whether the specs of the observed and of the desired ManagedCluster are equal.
func requestsSameCluster(observed, desired *clusterv1alpha1.ManagedCluster) (bool, error) {
	if observed == nil || !slices.Equal(observed.Spec.ManagementPolicies, desired.Spec.ManagementPolicies) || !hasSameConfig(observed, desired) {
		return false, nil
	}
	observedDigest, err := digest.Described(&observed.Spec.ForProvider)
	if err != nil {
		return false, err
	}
	desiredDigest, err := digest.Described(&desired.Spec.ForProvider)
	return observedDigest == desiredDigest, err
}

// hasSameConfig reports whether both ManagedClusters name the same ProviderConfig.
func hasSameConfig(a, b *clusterv1alpha1.ManagedCluster) bool {
	return a.Spec.ProviderConfigReference != nil && *a.Spec.ProviderConfigReference == *b.Spec.ProviderConfigReference
}

// findSpecProblem returns the part of a spec that prevents a ManagedCluster, or "". The schema refuses most problems. It does not check the
// name of a claim, nor objects that were stored before the schema had a rule. Changes of immutable fields are checked here too: the API server
// would refuse the whole ManagedCluster, and no status would say why.
func findSpecProblem(in Input, observed *clusterv1alpha1.ManagedCluster) string {
	s := in.Spec
	if name := clusterName(in); len(validation.IsDNS1035Label(name)) > 0 {
		return fmt.Sprintf("spec.clusterName: %q cannot be the name of a Cluster: use at most 63 characters of a-z, 0-9 and -, with a-z as the first one", name)
	}
	if (s.CAPT != nil) != (s.Type == clusterv1alpha1.TypeCAPT) {
		return "spec.capt: it must be set with type CAPT, and with no other type"
	}
	if (s.Topology != nil) != (s.Type == clusterv1alpha1.TypeTopology) {
		return "spec.topology: it must be set with type Topology, and with no other type"
	}
	if !slices.Contains([]clusterv1alpha1.ClusterType{clusterv1alpha1.TypeCAPT, clusterv1alpha1.TypeTopology, clusterv1alpha1.TypeExisting}, s.Type) {
		return "spec.type: it must be CAPT, Topology or Existing"
	}
	if s.Type != clusterv1alpha1.TypeExisting && s.Version == "" {
		return "spec.version: it is required unless type is Existing"
	}
	if path := s.Reserved(); path != "" {
		return "spec." + path + ": the prefixes cluster.x-k8s.io and intentplane.dev are reserved: remove it"
	}
	return findImmutableChange(in, observed)
}

// findImmutableChange returns which immutable field was changed, or "".
func findImmutableChange(in Input, observed *clusterv1alpha1.ManagedCluster) string {
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
