package workload

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/provider/engines"
	"github.com/intentplane/intentplane/provider/gatewayapi"
)

// podCounts has the fields that are read from a Deployment of a track.
type podCounts struct {
	Metadata struct {
		Generation int64 `json:"generation"`
	} `json:"metadata"`
	Spec struct {
		Replicas *int64 `json:"replicas"`
	} `json:"spec"`
	Status struct {
		ObservedGeneration int64 `json:"observedGeneration"`
		Replicas           int64 `json:"replicas"`
		UpdatedReplicas    int64 `json:"updatedReplicas"`
		AvailableReplicas  int64 `json:"availableReplicas"`
	} `json:"status"`
}

// A TrackDeployment names a Deployment of a track.
type TrackDeployment struct {
	Namespace, Name string

	// MinReplicas is how many pods its autoscaler keeps at least. 0 means that it has none.
	MinReplicas int64
}

// TrackReason returns why a Deployment of the new track is not available, and a message on one line. Both are empty when its controller has seen
// its current generation, and as many pods of that are available as it, and its autoscaler, ask for at least.
func TrackReason(w TrackDeployment, found *unstructured.Unstructured) (reason, message string) {
	subject := fmt.Sprintf("Deployment %s/%s", w.Namespace, w.Name)
	if found == nil || found.GetDeletionTimestamp() != nil {
		return gatewayapi.ReasonCanaryNotAvailable, subject + " does not exist or is being deleted"
	}
	d := podCounts{}
	if err := engines.DecodeObject(found, &d); err != nil {
		return gatewayapi.ReasonCanaryNotAvailable, err.Error()
	}
	if d.Metadata.Generation == 0 || d.Status.ObservedGeneration < d.Metadata.Generation {
		return gatewayapi.ReasonCanaryNotAvailable, subject + ": its controller has not seen its current generation"
	}
	want := int64(1)
	if d.Spec.Replicas != nil {
		want = *d.Spec.Replicas
	}
	if want > 0 {
		want = max(want, w.MinReplicas)
	}
	// Pods of an earlier template answer requests too as long as they are there, so that not only the present one would be judged.
	if old := d.Status.Replicas - d.Status.UpdatedReplicas; old > 0 {
		return gatewayapi.ReasonCanaryNotAvailable, fmt.Sprintf("%s: %d pods are of an earlier template", subject, old)
	}
	if got := d.Status.AvailableReplicas; got < want {
		return gatewayapi.ReasonCanaryNotAvailable, fmt.Sprintf("%s: %d of %d pods are of the present template and available", subject, got, want)
	}
	return "", ""
}
