package workload

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A Disruption is a cause by which the infrastructure ended a pod: neither its own processes, nor its own limits. Such an end says nothing about the content
// of the pod.
type Disruption string

const (
	// DisruptionEvicted means that the node had no room for the pod, or was drained.
	DisruptionEvicted Disruption = "Evicted"

	// DisruptionPreempted means that the pod had to make room for a more important pod.
	DisruptionPreempted Disruption = "Preempted"

	// DisruptionNodeLost means that the node of the pod went, was shut down, or lost the container.
	DisruptionNodeLost Disruption = "NodeLost"

	// DisruptionDeleted means that the pod was deleted while its container ran.
	DisruptionDeleted Disruption = "PodDeleted"

	// DisruptionRefused means that a kubelet refused the pod for another reason, such as the labels of its node.
	DisruptionRefused Disruption = "Refused"
)

// reasonOutOfMemory is the reason of a container that the kernel killed, since it used more memory than its limit.
const reasonOutOfMemory = "OOMKilled"

// Exit codes of a container that a signal ended.
const (
	// exitTerminated is the exit code after SIGTERM, and exitKilled the exit code after SIGKILL once the grace period was over.
	exitTerminated = 143
	exitKilled     = 137

	// exitFirstProcess is the exit code after SIGTERM of a program in Go that is the first process of its container, which no signal ends: so are the steps of
	// builds.
	exitFirstProcess = 2
)

// FindDisruption returns why the infrastructure ended a pod, or "", for each pod whose end is judged: of a build, and of a check. The pod is nil if it
// is gone, and the end of its container is nil if no node reported it.
func FindDisruption(pod *corev1.Pod, end *corev1.ContainerStateTerminated) Disruption {
	status := corev1.PodStatus{}
	if pod != nil {
		status = pod.Status
	}
	reported := reportedDisruption(status)
	known, isDisrupted := conditionDisruption(status, end)
	isDeleted := pod == nil || pod.GetDeletionTimestamp() != nil
	switch {
	case known != "":
		return known
	case isOwnLimitEnd(status):
		return ""
	case isDisrupted:
		return cmp.Or(reported, DisruptionEvicted)
	case reported != "":
		return reported
	case isNodeSilent(pod):
		return DisruptionNodeLost
	case isDeleted && isContainerKilled(end):
		return DisruptionDeleted
	case end != nil && isContainerLost(end.Reason):
		return DisruptionNodeLost
	}
	return ""
}

// conditionDisruption reports whether Kubernetes says that it disrupted a pod, and why, if the condition says more than the status of the pod: a kubelet ends
// pods for several reasons. A reason of a newer Kubernetes is a disruption, too. A disruption after the end of the container is not why it ended.
func conditionDisruption(s corev1.PodStatus, end *corev1.ContainerStateTerminated) (known Disruption, isDisrupted bool) {
	for _, c := range s.Conditions {
		if c.Type != corev1.DisruptionTarget || c.Status != corev1.ConditionTrue || hasEndedBefore(end, c.LastTransitionTime) {
			continue
		}
		switch c.Reason {
		case corev1.PodReasonPreemptionByScheduler:
			return DisruptionPreempted, true
		case "DeletionByTaintManager", "DeletionByPodGC":
			return DisruptionNodeLost, true
		case "EvictionByEvictionAPI": // "kubectl drain" evicts by the API.
			return DisruptionEvicted, true
		}
		return "", true
	}
	return "", false
}

// reportedDisruption returns the disruption for a reason in the status of a pod, which kubelets write, or "". A container that fails gives its pod no reason.
func reportedDisruption(s corev1.PodStatus) Disruption {
	switch {
	case s.Reason == "", isOwnLimitEnd(s):
		return ""
	case s.Reason == "Preempting":
		return DisruptionPreempted
	case slices.Contains([]string{"NodeLost", "NodeShutdown", "Terminated", "Shutdown"}, s.Reason):
		return DisruptionNodeLost
	case s.Reason == "Evicted", strings.HasPrefix(s.Reason, "OutOf"): // OutOfcpu, OutOfmemory, OutOfpods and others: the node has no room.
		return DisruptionEvicted
	}
	return DisruptionRefused
}

// isNodeSilent reports whether the control plane marked a running pod as not ready because its node sends no status. A kubelet itself reports a pod of ready
// containers as ready, unless the pod has readiness gates.
func isNodeSilent(pod *corev1.Pod) bool {
	if pod == nil || pod.Status.Phase != corev1.PodRunning || len(pod.Spec.ReadinessGates) > 0 {
		return false
	}
	has := func(conditionType corev1.PodConditionType, status corev1.ConditionStatus) bool {
		return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == conditionType && c.Status == status })
	}
	return has(corev1.PodReady, corev1.ConditionFalse) && has(corev1.ContainersReady, corev1.ConditionTrue)
}

// isOwnLimitEnd reports whether a kubelet ended a pod for its own limits, or for its own deadline.
func isOwnLimitEnd(s corev1.PodStatus) bool {
	return s.Reason == "DeadlineExceeded" || s.Reason == "Evicted" && ExceedsOwnLimit(s.Message)
}

// isContainerKilled reports whether a signal ended a container, as for a pod that is deleted. A container that used too much memory is killed for its own fault.
func isContainerKilled(end *corev1.ContainerStateTerminated) bool {
	return end != nil && slices.Contains([]int32{exitTerminated, exitKilled, exitFirstProcess}, end.ExitCode) && end.Reason != reasonOutOfMemory
}

// isContainerLost reports whether a container ended because its node lost it, as the container runtime and the kubelet report after a restart of the node.
func isContainerLost(reason string) bool {
	return reason == "Unknown" || reason == "ContainerStatusUnknown"
}

// hasEndedBefore reports whether a container ended before a disruption, where both times are known.
func hasEndedBefore(end *corev1.ContainerStateTerminated, disruption metav1.Time) bool {
	return end != nil && !end.FinishedAt.IsZero() && !disruption.IsZero() && end.FinishedAt.Before(&disruption)
}
