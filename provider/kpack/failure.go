package kpack

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	buildv1alpha1 "github.com/intentplane/intentplane/apis/build/v1alpha1"
	"github.com/intentplane/intentplane/apis/oneline"
	"github.com/intentplane/intentplane/provider/workload"
)

// maxMessage bounds a message, in characters.
const maxMessage = 512

// reasonRebase is why kpack made a Build that puts the same layers on another stack.
const reasonRebase = "STACK"

// stepsOf returns the steps of a Build in their order.
func stepsOf(b *unstructured.Unstructured, states int) []string {
	if ReasonOf(b) == reasonRebase && states <= 2 {
		return []string{"rebase", "completion"}
	}
	return []string{"prepare", "analyze", "detect", "restore", "build", "export", "completion"}
}

// CurrentStep returns the current or failed step of a Build: the first step that is not completed. It is "" while its pod has not begun.
func CurrentStep(b *unstructured.Unstructured) string {
	s := decodeObject[build](b).Status
	if !HasBegun(b) {
		return ""
	}
	if steps := stepsOf(b, len(s.StepStates)); len(s.StepsCompleted) < len(steps) {
		return steps[len(s.StepsCompleted)]
	}
	return ""
}

// HasBegun reports whether a step of a Build runs, or ended.
func HasBegun(b *unstructured.Unstructured) bool {
	return decodeObject[build](b).hasBegun()
}

func (b build) hasBegun() bool {
	return slices.ContainsFunc(b.Status.StepStates, func(s stepState) bool { return s.Running != nil || s.Terminated != nil })
}

// A Failure is why a Build failed.
type Failure struct {
	// Reason is a reason of a failed build.
	Reason string

	// Step that failed, or "".
	Step string

	// Message that explains the reason.
	Message string

	// Logs is the command that shows the output of the step, or "".
	Logs string

	// IsOfSource is true if the source has to be changed. Otherwise the same Build may succeed when it is tried again.
	IsOfSource bool
}

// ExplainFailure says why a Build failed. The pod is nil if it is gone: kpack does not say why a pod ended.
func ExplainFailure(b *unstructured.Unstructured, pod *corev1.Pod) Failure {
	content := decodeObject[build](b)
	f := Failure{Step: CurrentStep(b)}
	f.Reason = content.failureReason(f.Step, pod)
	f.IsOfSource = slices.Contains([]string{"detect", "build"}, f.Step) && slices.Contains([]string{buildv1alpha1.ReasonFailureStep, buildv1alpha1.ReasonFailureDeadline}, f.Reason)
	f.Message = content.failureMessage(f.Step, pod)
	if f.Step != "" && pod != nil {
		f.Logs = fmt.Sprintf("kubectl logs -n %s %s -c %s", b.GetNamespace(), content.Status.PodName, f.Step)
	}
	return f
}

// failureReason returns why a Build failed at a step, or before the first one. A step fails by itself only if its end was reported, and nothing ended its pod.
func (b build) failureReason(step string, pod *corev1.Pod) string {
	end := b.ended()
	reason := podFailure(pod, end)
	switch {
	case reason == buildv1alpha1.ReasonFailureDeadline && b.isWaiting():
		return buildv1alpha1.ReasonFailureNotStarted
	case reason != "":
		return reason
	case !b.hasBegun():
		return buildv1alpha1.ReasonFailureNotStarted
	case step == "": // kpack says why, after the last step.
		return buildv1alpha1.ReasonFailureStep
	case end == nil:
		return buildv1alpha1.ReasonFailureNodeLost
	case isDeleted(pod) && end.isKilled():
		return buildv1alpha1.ReasonFailurePodDeleted
	case pod != nil && pod.Status.Reason != "": // A step that fails gives its pod no reason: a kubelet ended it, such as for its NodeAffinity.
		return buildv1alpha1.ReasonFailureEvicted
	}
	return end.failureReason()
}

// failureReason returns why the container of a step ended, whose pod nothing ended. Reasons come from container runtimes and the kubelet. No process of a step can
// kill the first process of its container: the node did, such as for want of memory.
func (e *stepEnd) failureReason() string {
	switch e.Reason {
	case "", "Error", "Completed":
		if e.ExitCode == exitKilled {
			return buildv1alpha1.ReasonFailureEvicted
		}
		return buildv1alpha1.ReasonFailureStep
	case reasonOutOfMemory:
		return buildv1alpha1.ReasonFailureStep
	case "StartError", "ContainerCannotRun": // No process of the step began.
		return buildv1alpha1.ReasonFailureNotStarted
	}
	return buildv1alpha1.ReasonFailureNodeLost // Such as Unknown and ContainerStatusUnknown: the node lost the container.
}

// isWaiting reports whether the container of the step that failed never began, such as for its image.
func (b build) isWaiting() bool {
	current := len(b.Status.StepsCompleted)
	return current < len(b.Status.StepStates) && b.Status.StepStates[current].Running == nil && b.Status.StepStates[current].Terminated == nil
}

// failureMessage explains a failure by the message of kpack, else by the message of the pod, else by the end of the step.
func (b build) failureMessage(step string, pod *corev1.Pod) string {
	message := CleanMessage(findCondition(b.Status.Conditions, conditionSucceeded).Message)
	if message == "" && pod != nil {
		message = CleanMessage(pod.Status.Message)
	}
	end := b.ended()
	switch {
	case message != "", step == "":
		return message
	case end == nil:
		return fmt.Sprintf("no node reported how step %s ended", step)
	}
	return fmt.Sprintf("step %s ended with exit code %d", step, end.ExitCode)
}

// reasonOutOfMemory is the reason of a container that the kernel killed, since it used more memory than its limit.
const reasonOutOfMemory = "OOMKilled"

// Exit codes of a step that a signal ended.
const (
	// exitTerminated is the exit code after SIGTERM, and exitKilled the exit code after SIGKILL once the grace period was over.
	exitTerminated = 143
	exitKilled     = 137

	// exitFirstProcess is the exit code after SIGTERM in a program in Go that is the first process of its container, which no signal ends: so
	// are the steps.
	exitFirstProcess = 2
)

// ended returns how the step that failed ended. It is nil if that was not reported.
func (b build) ended() *stepEnd {
	if current := len(b.Status.StepsCompleted); current < len(b.Status.StepStates) {
		return b.Status.StepStates[current].Terminated
	}
	return nil
}

// isKilled reports whether a signal ended a step, as for a pod that is deleted. A step that used too much memory is killed for its own fault.
func (e *stepEnd) isKilled() bool {
	return slices.Contains([]int64{exitTerminated, exitKilled, exitFirstProcess}, e.ExitCode) && e.Reason != reasonOutOfMemory
}

// isBefore reports whether a step ended before a disruption, where both times are known.
func (e *stepEnd) isBefore(disruption metav1.Time) bool {
	return e != nil && !e.FinishedAt.IsZero() && !disruption.IsZero() && e.FinishedAt.Before(&disruption)
}

// isDeleted is true for a pod that is gone, or going.
func isDeleted(pod *corev1.Pod) bool { return pod == nil || pod.GetDeletionTimestamp() != nil }

// podFailure returns why a pod ended that did not end by itself, or "". A disruption of the pod after the end of its step is not why the step
// failed.
func podFailure(pod *corev1.Pod, end *stepEnd) string {
	if pod == nil {
		return ""
	}
	reason := reportedFailure(pod.Status)
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue && !end.isBefore(c.LastTransitionTime) {
			return cmp.Or(disruptionFailure(c.Reason), reason, buildv1alpha1.ReasonFailureEvicted)
		}
	}
	return reason
}

// reportedFailure returns the failure for a reason in the status of a pod, which kubelets write, or "".
func reportedFailure(s corev1.PodStatus) string {
	switch s.Reason {
	case "Evicted":
		if workload.ExceedsOwnLimit(s.Message) {
			return buildv1alpha1.ReasonFailureStep
		}
		return buildv1alpha1.ReasonFailureEvicted
	case "DeadlineExceeded":
		return buildv1alpha1.ReasonFailureDeadline
	case "Preempting":
		return buildv1alpha1.ReasonFailurePreempted
	case "NodeLost", "NodeShutdown", "Terminated", "Shutdown":
		return buildv1alpha1.ReasonFailureNodeLost
	}
	if strings.HasPrefix(s.Reason, "OutOf") { // OutOfcpu, OutOfmemory, OutOfpods and others: the node has no room.
		return buildv1alpha1.ReasonFailureEvicted
	}
	return ""
}

// disruptionFailure returns why a pod ended that Kubernetes says it disrupted, or "" where the pod itself may say more: a kubelet ends pods for several reasons. A
// reason of a newer Kubernetes is one of the infrastructure, too.
func disruptionFailure(reason string) string {
	switch reason {
	case corev1.PodReasonPreemptionByScheduler:
		return buildv1alpha1.ReasonFailurePreempted
	case "DeletionByTaintManager", "DeletionByPodGC":
		return buildv1alpha1.ReasonFailureNodeLost
	case "EvictionByEvictionAPI": // "kubectl drain" evicts by the API.
		return buildv1alpha1.ReasonFailureEvicted
	}
	return ""
}

// escape is a sequence that changes how a terminal shows text.
var escape = regexp.MustCompile("\x1b\\[[0-9;?]*[ -/]*[@-~]|\x1b[@-_]")

// CleanMessage returns a message of kpack on one line, without sequences for terminals, and bounded.
func CleanMessage(text string) string {
	return oneline.Clean(escape.ReplaceAllString(text, ""), maxMessage)
}

// PendingMessage says why no step of a Build has begun. The pod is nil if it does not exist.
func PendingMessage(b *unstructured.Unstructured, pod *corev1.Pod) string {
	if pod == nil {
		return "the pod of the Build does not exist: look at the quotas and the pod security of the namespace"
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return CleanMessage(c.Reason + ": " + c.Message)
		}
	}
	for _, c := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if w := c.State.Waiting; w != nil && w.Reason != "PodInitializing" {
			return CleanMessage(w.Reason + ": " + w.Message)
		}
	}
	return CleanMessage("pod " + pod.GetName() + " of Build " + b.GetName() + " has not begun")
}
