package workloadcluster

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1alpha1 "github.com/intentplane/intentplane/apis/cluster/v1alpha1"
	v1alpha1 "github.com/intentplane/intentplane/apis/workloadcluster/v1alpha1"
	"github.com/intentplane/intentplane/function/projection"
)

const maxMessage = 2048

// projectStatus returns the status that follows from facts. The log of transitions of the last status is continued.
func projectStatus(f *facts, last *v1alpha1.WorkloadClusterStatus, now metav1.Time) *v1alpha1.WorkloadClusterStatus {
	s := &v1alpha1.WorkloadClusterStatus{SpecDigest: f.Digest, Phase: f.currentPhase(), Message: projection.Fit(f.phaseMessage(), maxMessage)}
	if f.Observed != nil {
		copyObserved(s, f.Observed)
	}
	through, index := phaseTable().Shortest(last.Phase, s.Phase, isAnotherCluster(last, s)), func(t v1alpha1.Transition) int64 { return t.Index }
	s.Transitions = projection.Log(last.Transitions, index, last.Phase, through, func(i int64, source, target v1alpha1.Phase) v1alpha1.Transition {
		return v1alpha1.Transition{Index: i, From: source, To: target, At: now}
	})
	return s
}

// isAnotherCluster reports whether the Cluster was replaced by another Cluster since the last status.
func isAnotherCluster(last, next *v1alpha1.WorkloadClusterStatus) bool {
	return last.Cluster != nil && next.Cluster != nil && last.Cluster.UID != "" && next.Cluster.UID != "" && last.Cluster.UID != next.Cluster.UID
}

// copyObserved copies the report of the ManagedCluster into a status.
func copyObserved(s *v1alpha1.WorkloadClusterStatus, mc *clusterv1alpha1.ManagedCluster) {
	observation := mc.Status.AtProvider
	s.ManagedCluster = mc.GetName()
	s.Cluster = &v1alpha1.ObservedCluster{Name: mc.Spec.ForProvider.Cluster.Name, UID: observation.UID, Phase: observation.Phase, APIVersion: observation.ClusterAPIVersion}
	s.Version, s.Endpoint, s.Initialized, s.Provisioned = observation.Version, observation.Endpoint, observation.Initialized, observation.Provisioned
	s.FailureDomains, s.Blocker, s.SiteName = observation.FailureDomains, observation.Blocker, observation.SiteName
	if observation.Replicas != (clusterv1alpha1.Replicas{}) {
		s.Replicas = &observation.Replicas
	}
	if k := observation.Kubeconfig; k != nil {
		s.Kubeconfig = &v1alpha1.Kubeconfig{SecretRef: v1alpha1.SecretReference(k.SecretRef), Digest: k.Digest, Expires: k.Expires}
	}
}
