// Package workload reads the reports of Deployments, ReplicaSets and pods of a Site's cluster: whether pods of one image are available, or
// why none is.
//
// It is pure. The pods that count are the pods of the ReplicaSet of the Deployment's present revision: the available pods of a Deployment
// include pods of the previous image.
package workload

import (
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/provider/engines"
	"github.com/intentplane/intentplane/provider/statusmessage"
)

const (
	// revisionAnnotation holds the revision of a Deployment, and of each ReplicaSet (k8s.io/kubectl/pkg/util/deployment).
	revisionAnnotation = "deployment.kubernetes.io/revision"

	// mostPods bounds a number of pods that a cluster reports, so that sums of them never overflow.
	mostPods = 1_000_000
)

// deployment has the fields that are read from a Deployment or a ReplicaSet.
type deployment struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     struct {
		Replicas *int64 `json:"replicas"`
		Template struct {
			Spec struct {
				Containers []struct {
					Image string `json:"image"`
				} `json:"containers"`
			} `json:"spec"`
		} `json:"template"`
	} `json:"spec"`
	Status struct {
		ObservedGeneration int64       `json:"observedGeneration"`
		Replicas           int64       `json:"replicas"`
		UpdatedReplicas    int64       `json:"updatedReplicas"`
		AvailableReplicas  int64       `json:"availableReplicas"`
		Conditions         []condition `json:"conditions"`
	} `json:"status"`
}

// condition has the fields that are read from a condition of a Deployment or a pod.
type condition struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// A Health is where the Deployments of one claim stand at a Site.
type Health struct {
	// State, Reason and Message. The gravest of all Deployments counts.
	State           v1alpha1.HealthState
	Reason, Message string

	// Available and Updated are pods of the image, AvailableOther pods of other images, and Desired the desired pods.
	Available, AvailableOther, Updated, Desired int32

	// PodSelector selects the pods whose trouble is the reason why none is available. Empty if that is known already.
	PodSelector string
}

// IsAbsent reports whether the Site has no Deployment of the claim at all.
func (h Health) IsAbsent() bool { return h.State == v1alpha1.HealthMissing && h.Desired == 0 }

// SelectTracks returns the Deployments of a claim that count for an image. While two tracks are beside each other, the Deployments with the
// image count, if there are any: the other track runs the previous revision.
func SelectTracks(image string, deployments []*unstructured.Unstructured) []*unstructured.Unstructured {
	hasTrack := func(u *unstructured.Unstructured) bool { return u.GetLabels()[track.LabelTrack] != "" }
	if !slices.ContainsFunc(deployments, hasTrack) {
		return deployments
	}
	all, err := decodeDeployments(deployments)
	if err != nil {
		return deployments // Assess says so.
	}
	var out []*unstructured.Unstructured
	for i, d := range all {
		if d.hasContainerImage(image) {
			out = append(out, deployments[i])
		}
	}
	if len(out) == 0 {
		return deployments
	}
	return out
}

// Assess returns where the Deployments of a claim stand, of which all have to run an image. An empty image stands for any. The ReplicaSets
// belong to the Deployments.
func Assess(image string, deployments, replicaSets []*unstructured.Unstructured) Health {
	if len(deployments) == 0 {
		return Health{State: v1alpha1.HealthMissing, Reason: v1alpha1.HealthReasonWorkloadMissing, Message: "no Deployment has the labels intentplane.dev/claim and intentplane.dev/workload"}
	}
	sets, err := decodeDeployments(replicaSets)
	if err != nil {
		return unreadableHealth(err)
	}
	all, err := decodeDeployments(deployments)
	if err != nil {
		return unreadableHealth(err)
	}
	indexed := indexReplicaSets(sets)
	out := assessDeployment(image, all[0], indexed)
	for _, d := range all[1:] {
		out = out.mergeHealth(assessDeployment(image, d, indexed))
	}
	return out
}

// unreadableHealth returns the health of a Deployment that cannot be decoded. It proves nothing.
func unreadableHealth(err error) Health {
	return Health{State: v1alpha1.HealthProgressing, Reason: v1alpha1.HealthReasonProgressing, Message: err.Error()}
}

func decodeDeployments(objects []*unstructured.Unstructured) ([]deployment, error) {
	out := make([]deployment, len(objects))
	for i, u := range objects {
		if err := engines.DecodeObject(u, &out[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// mergeHealth returns the health of two Deployments together.
func (h Health) mergeHealth(otherHealth Health) Health {
	out := h
	if gravityOfState(otherHealth.State) > gravityOfState(h.State) {
		out = otherHealth
	}
	out.Available, out.AvailableOther = boundPodCount(int64(h.Available)+int64(otherHealth.Available)), boundPodCount(int64(h.AvailableOther)+int64(otherHealth.AvailableOther))
	out.Updated, out.Desired = boundPodCount(int64(h.Updated)+int64(otherHealth.Updated)), boundPodCount(int64(h.Desired)+int64(otherHealth.Desired))
	return out
}

// gravityOfState orders states: the highest of several counts.
func gravityOfState(s v1alpha1.HealthState) int {
	return slices.Index([]v1alpha1.HealthState{
		v1alpha1.HealthScaledToZero, v1alpha1.HealthAvailable, v1alpha1.HealthProgressing, v1alpha1.HealthUnavailable, v1alpha1.HealthOtherImage, v1alpha1.HealthMissing,
	}, s)
}

func boundPodCount(n int64) int32 { return int32(max(0, min(n, mostPods))) } //nolint:gosec // It is bounded.

// assessDeployment returns the health of one Deployment.
func assessDeployment(image string, d deployment, sets map[setKey]*deployment) Health {
	out := Health{AvailableOther: boundPodCount(d.Status.AvailableReplicas), Desired: d.desiredPods()}
	set := d.currentReplicaSet(sets)
	switch {
	case d.Metadata.DeletionTimestamp != nil:
		out.State, out.Reason, out.Message = v1alpha1.HealthMissing, v1alpha1.HealthReasonWorkloadMissing, "Deployment "+d.Metadata.Name+" is being deleted"
		return out
	case !d.hasContainerImage(image):
		out.State, out.Reason, out.Message = v1alpha1.HealthOtherImage, v1alpha1.HealthReasonOtherImage, d.imageMessage()
		return out
	case d.Status.ObservedGeneration < d.Metadata.Generation || set == nil || !set.hasContainerImage(image) || d.isOfEarlierTemplate(set):
		out.State, out.Reason, out.Message = v1alpha1.HealthProgressing, v1alpha1.HealthReasonProgressing, "the cluster has not acted on the last change of Deployment "+d.Metadata.Name
		return d.withRefusal(out)
	}
	out.Available, out.Updated = boundPodCount(set.Status.AvailableReplicas), boundPodCount(set.Status.Replicas)
	out.AvailableOther = boundPodCount(d.Status.AvailableReplicas - set.Status.AvailableReplicas)
	switch {
	case out.Desired == 0:
		out.State, out.Reason = v1alpha1.HealthScaledToZero, v1alpha1.HealthReasonScaledToZero
	case out.Available > 0:
		out.State = v1alpha1.HealthAvailable
	default:
		out.State, out.Reason, out.PodSelector = v1alpha1.HealthProgressing, v1alpha1.HealthReasonProgressing, set.podSelector()
		return d.withRefusal(out)
	}
	return out
}

// isOfEarlierTemplate reports whether a ReplicaSet has the pods of an earlier template, although the Deployment still has its revision: a controller that scales
// or pauses a Deployment observes its generation before it creates the ReplicaSet of a new template, and counts no pod of that template until then.
func (d deployment) isOfEarlierTemplate(set *deployment) bool {
	return d.Status.UpdatedReplicas <= 0 && set.Status.AvailableReplicas > 0
}

// desiredPods returns the desired replicas of a Deployment, which is 1 if it does not say.
func (d deployment) desiredPods() int32 {
	if d.Spec.Replicas == nil {
		return 1
	}
	return boundPodCount(*d.Spec.Replicas)
}

// hasContainerImage reports whether a container of the pods has the image. Each has the empty one.
func (d deployment) hasContainerImage(image string) bool {
	if image == "" {
		return true
	}
	for _, c := range d.Spec.Template.Spec.Containers {
		if IsSameImage(image, c.Image) {
			return true
		}
	}
	return false
}

// imageMessage names the images that the Deployment has instead.
func (d deployment) imageMessage() string {
	images := []string{}
	for _, c := range d.Spec.Template.Spec.Containers {
		images = append(images, c.Image)
	}
	return statusmessage.Sanitize(fmt.Sprintf("Deployment %s has %s", d.Metadata.Name, strings.Join(images, ", ")))
}

// A setKey identifies the ReplicaSet of one revision of a Deployment.
type setKey struct {
	owner    types.UID
	revision string
}

// indexReplicaSets returns ReplicaSets by their Deployments and revisions. A tenant may have thousands of both at a Site.
func indexReplicaSets(sets []deployment) map[setKey]*deployment {
	out := make(map[setKey]*deployment, len(sets))
	for i := range sets {
		owner := metav1.GetControllerOfNoCopy(&sets[i].Metadata)
		if owner == nil {
			continue
		}
		key := setKey{owner: owner.UID, revision: sets[i].Metadata.Annotations[revisionAnnotation]}
		if out[key] == nil {
			out[key] = &sets[i]
		}
	}
	return out
}

// currentReplicaSet returns the ReplicaSet of the Deployment's present revision, or nil.
func (d deployment) currentReplicaSet(sets map[setKey]*deployment) *deployment {
	key := setKey{owner: d.Metadata.UID, revision: d.Metadata.Annotations[revisionAnnotation]}
	if key.owner == "" || key.revision == "" {
		return nil
	}
	return sets[key]
}

// podSelector selects the pods of a ReplicaSet.
func (d deployment) podSelector() string {
	hash := d.Metadata.Labels[appsv1.DefaultDeploymentUniqueLabelKey]
	if hash == "" {
		return ""
	}
	return appsv1.DefaultDeploymentUniqueLabelKey + "=" + hash
}

// withRefusal adds that the cluster refuses to make pods, if it does.
func (d deployment) withRefusal(h Health) Health {
	for _, c := range d.Status.Conditions {
		if c.Type != string(appsv1.DeploymentReplicaFailure) || c.Status != string(corev1.ConditionTrue) {
			continue
		}
		h.State, h.Reason, h.Message, h.PodSelector = v1alpha1.HealthUnavailable, v1alpha1.HealthReasonPodsRefused, statusmessage.Sanitize(c.Message), ""
		if strings.Contains(c.Message, "exceeded quota") {
			h.Reason = v1alpha1.HealthReasonQuotaExceeded
		}
	}
	return h
}

// IsOwner reports whether an object is controlled by one of several, by their UIDs. It copies no owners: each change in a cluster is compared with all that is
// read of its kind.
func IsOwner(uids map[types.UID]bool, u *unstructured.Unstructured) bool {
	field, _, _ := unstructured.NestedFieldNoCopy(u.Object, "metadata", "ownerReferences")
	owners, _ := field.([]any)
	for _, o := range owners {
		owner, _ := o.(map[string]any)
		if isController, _ := owner["controller"].(bool); isController {
			uid, _ := owner["uid"].(string)
			return uids[types.UID(uid)]
		}
	}
	return false
}

// LabelOf returns the value of a label, or "". It does not copy the other labels, for the same reason as IsOwner.
func LabelOf(u *unstructured.Unstructured, key string) string {
	field, _, _ := unstructured.NestedFieldNoCopy(u.Object, "metadata", "labels")
	labels, _ := field.(map[string]any)
	value, _ := labels[key].(string)
	return value
}
