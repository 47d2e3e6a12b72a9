package digest

import (
	clusterv1alpha1 "github.com/intentplane/intentplane/apis/cluster/v1alpha1"
	workloadclusterv1alpha1 "github.com/intentplane/intentplane/apis/workloadcluster/v1alpha1"
)

// Cluster returns the digest of the whole spec of a WorkloadCluster as the user wrote it. It is the value of status.specDigest. A
// field that equals its schema default counts as absent. It returns an error when the spec cannot be encoded.
func Cluster(s *workloadclusterv1alpha1.WorkloadClusterSpec) (string, error) {
	return Of(withDefaults(s.DeepCopy(), &workloadclusterv1alpha1.WorkloadClusterSpec{}))
}

// Described returns the digest of the desired state of a ManagedCluster. A field that equals its schema default counts as absent. It
// returns an error when the parameters cannot be encoded.
func Described(p *clusterv1alpha1.ManagedClusterParameters) (string, error) {
	return Of(withDefaults(p.DeepCopy(), &clusterv1alpha1.ManagedClusterParameters{}))
}
