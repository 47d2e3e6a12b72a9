package kpack

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// stepBuild is where a pod is held, and stepCompletion reports the image.
	stepBuild      = "build"
	stepCompletion = "completion"

	// killed is the exit code of a program that was killed.
	killed = 137

	// terminated is the exit code of a program that was asked to end.
	terminated = 143
)

// stepsOfPod returns the names of a pod's steps in their order: its init containers, then its container.
func stepsOfPod(pod *corev1.Pod) []string {
	out := []string{}
	for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		out = append(out, c.Name)
	}
	return out
}

// podStatusAtStep returns the status of a pod whose step is in a state. The steps before have ended well, and the steps behind wait, as kubelets
// report it.
func podStatusAtStep(pod *corev1.Pod, phase corev1.PodPhase, step string, state corev1.ContainerState) corev1.PodStatus {
	all := []corev1.ContainerStatus{}
	current := terminatedState(0, "")
	for _, name := range stepsOfPod(pod) {
		s := current
		if name == step {
			s, current = state, corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "PodInitializing"}}
		}
		all = append(all, corev1.ContainerStatus{Name: name, State: s})
	}
	first := len(pod.Spec.InitContainers)
	return corev1.PodStatus{
		Phase: phase, InitContainerStatuses: all[:first], ContainerStatuses: all[first:],
		Conditions: []corev1.PodCondition{isScheduled(corev1.ConditionTrue, "", "")},
	}
}

func isScheduled(status corev1.ConditionStatus, reason, message string) corev1.PodCondition {
	return corev1.PodCondition{Type: corev1.PodScheduled, Status: status, Reason: reason, Message: message, LastTransitionTime: metav1.NewTime(time.Now())}
}

// terminatedState is the state of a container that ended with a code.
func terminatedState(code int32, message string) corev1.ContainerState {
	reason := "Completed"
	if code != 0 {
		reason = "Error"
	}
	now := metav1.NewTime(time.Now())
	return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason, Message: message, StartedAt: now, FinishedAt: now}}
}

// longestStep is the step in which a pod is for most of the time. A pod that changes the run image of an image has one step beside the completion.
func longestStep(pod *corev1.Pod) string {
	if steps := stepsOfPod(pod); !slices.Contains(steps, stepBuild) {
		return steps[0]
	}
	return stepBuild
}

// runningStatus is Pending: init containers run before a pod does.
func runningStatus(pod *corev1.Pod) corev1.PodStatus {
	return podStatusAtStep(pod, corev1.PodPending, longestStep(pod), corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(time.Now())}})
}

func failedStatus(pod *corev1.Pod, play Play) corev1.PodStatus {
	return podStatusAtStep(pod, corev1.PodFailed, play.Fails, terminatedState(1, play.Message))
}

func evictedStatus(pod *corev1.Pod) corev1.PodStatus {
	s := podStatusAtStep(pod, corev1.PodFailed, longestStep(pod), terminatedState(killed, ""))
	s.Reason = "Evicted"
	s.Message = "The node was low on resource: memory. Threshold quantity: 100Mi, available: 40Mi. "
	return s
}

// drainedStatus is the status of a pod which was evicted by the API: the kubelet ends the step by a signal, and gives no reason of its own.
func drainedStatus(pod *corev1.Pod) corev1.PodStatus {
	s := podStatusAtStep(pod, corev1.PodFailed, longestStep(pod), terminatedState(terminated, ""))
	s.Conditions = append(s.Conditions, corev1.PodCondition{
		Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "EvictionByEvictionAPI", Message: "Eviction API: evicting",
	})
	return s
}

func succeededStatus(pod *corev1.Pod, message string) corev1.PodStatus {
	return podStatusAtStep(pod, corev1.PodSucceeded, stepCompletion, terminatedState(0, message))
}

func unschedulableStatus() corev1.PodStatus {
	return corev1.PodStatus{
		Phase:      corev1.PodPending,
		Conditions: []corev1.PodCondition{isScheduled(corev1.ConditionFalse, corev1.PodReasonUnschedulable, "0/1 nodes are available: 1 Insufficient memory.")},
	}
}
