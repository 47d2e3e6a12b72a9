package digest

import (
	clusterv1alpha1 "github.com/intentplane/intentplane/apis/cluster/v1alpha1"
	workloadclusterv1alpha1 "github.com/intentplane/intentplane/apis/workloadcluster/v1alpha1"
)

// Cluster returns the digest of the whole of what a user wrote in the spec of a WorkloadCluster. It is the value of status.specDigest.
// Fields that the schema would have filled in count as if it had. It returns an error when the spec cannot be encoded.
func Cluster(s *workloadclusterv1alpha1.WorkloadClusterSpec) (string, error) {
	return Of(withDefaults(s.DeepCopy(), &workloadclusterv1alpha1.WorkloadClusterSpec{}))
}

// Described returns the digest of what a ManagedCluster is asked for. Fields that the schema would have filled in count as if it had. It
// returns an error when that cannot be encoded.
func Described(p *clusterv1alpha1.ManagedClusterParameters) (string, error) {
	return Of(withDefaults(p.DeepCopy(), &clusterv1alpha1.ManagedClusterParameters{}))
}
