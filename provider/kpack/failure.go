package kpack

import (
	"fmt"
	"regexp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	buildv1alpha1 "github.com/intentplane/intentplane/apis/build/v1alpha1"
	"github.com/intentplane/intentplane/apis/oneline"
	"github.com/intentplane/intentplane/provider/workload"
)

// maxMessage bounds a message, in characters.
const maxMessage = 512

// reasonRebase is why kpack made a Build that puts the same layers on another stack.
const reasonRebase = "STACK"

// stepsOfBuild returns the steps of a Build in their order.
func stepsOfBuild(b *unstructured.Unstructured, states int) []string {
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
	if steps := stepsOfBuild(b, len(s.StepStates)); len(s.StepsCompleted) < len(steps) {
		return steps[len(s.StepsCompleted)]
	}
	return ""
}

// HasBegun reports whether a step of a Build runs, or ended.
func HasBegun(b *unstructured.Unstructured) bool {
	return decodeObject[build](b).hasStepBegun()
}

func (b build) hasStepBegun() bool {
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
	end := b.failedStepEnd()
	disruption, own := workload.FindDisruption(pod, end), ownPodFailure(pod)
	switch {
	case disruption == workload.DisruptionRefused && !b.hasStepBegun(), own == buildv1alpha1.ReasonFailureDeadline && b.isStepWaiting():
		return buildv1alpha1.ReasonFailureNotStarted
	case disruption != "":
		return disruptionFailure(disruption)
	case own != "":
		return own
	case !b.hasStepBegun():
		return buildv1alpha1.ReasonFailureNotStarted
	case step == "": // kpack says why, after the last step.
		return buildv1alpha1.ReasonFailureStep
	case end == nil:
		return buildv1alpha1.ReasonFailureNodeLost
	}
	return containerFailure(end)
}

// containerFailure returns why the container of a step ended, whose pod nothing ended. Reasons come from container runtimes and the kubelet. No process of a step can
// kill the first process of its container: the node did, such as for want of memory.
func containerFailure(end *corev1.ContainerStateTerminated) string {
	switch end.Reason {
	case "", "Error", "Completed":
		if end.ExitCode == exitKilled {
			return buildv1alpha1.ReasonFailureEvicted
		}
		return buildv1alpha1.ReasonFailureStep
	case "OOMKilled":
		return buildv1alpha1.ReasonFailureStep
	case "StartError", "ContainerCannotRun": // No process of the step began.
		return buildv1alpha1.ReasonFailureNotStarted
	}
	return buildv1alpha1.ReasonFailureNodeLost
}

// isStepWaiting reports whether the container of the step that failed never began, such as for its image.
func (b build) isStepWaiting() bool {
	current := len(b.Status.StepsCompleted)
	return current < len(b.Status.StepStates) && b.Status.StepStates[current].Running == nil && b.Status.StepStates[current].Terminated == nil
}

// failureMessage explains a failure by the message of kpack, else by the message of the pod, else by the end of the step.
func (b build) failureMessage(step string, pod *corev1.Pod) string {
	message := CleanMessage(findCondition(b.Status.Conditions, conditionSucceeded).Message)
	if message == "" && pod != nil {
		message = CleanMessage(pod.Status.Message)
	}
	end := b.failedStepEnd()
	switch {
	case message != "", step == "":
		return message
	case end == nil:
		return fmt.Sprintf("no node reported how step %s ended", step)
	}
	return fmt.Sprintf("step %s ended with exit code %d", step, end.ExitCode)
}

// exitKilled is the exit code of a step after SIGKILL.
const exitKilled = 137

// failedStepEnd returns how the step that failed ended. It is nil if that was not reported.
func (b build) failedStepEnd() *corev1.ContainerStateTerminated {
	if current := len(b.Status.StepsCompleted); current < len(b.Status.StepStates) {
		return b.Status.StepStates[current].Terminated
	}
	return nil
}

// ownPodFailure returns the failure of a pod that its kubelet ended for its own limits or its own deadline, or "".
func ownPodFailure(pod *corev1.Pod) string {
	switch {
	case pod == nil:
		return ""
	case pod.Status.Reason == "DeadlineExceeded":
		return buildv1alpha1.ReasonFailureDeadline
	case pod.Status.Reason == "Evicted" && workload.ExceedsOwnLimit(pod.Status.Message):
		return buildv1alpha1.ReasonFailureStep
	}
	return ""
}

// disruptionFailure returns the reason of a failed build for the disruption of its pod.
func disruptionFailure(d workload.Disruption) string {
	return map[workload.Disruption]string{
		workload.DisruptionEvicted: buildv1alpha1.ReasonFailureEvicted, workload.DisruptionPreempted: buildv1alpha1.ReasonFailurePreempted,
		workload.DisruptionNodeLost: buildv1alpha1.ReasonFailureNodeLost, workload.DisruptionDeleted: buildv1alpha1.ReasonFailurePodDeleted,
		workload.DisruptionRefused: buildv1alpha1.ReasonFailureEvicted,
	}[d]
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
