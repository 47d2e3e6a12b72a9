package kpack

import (
	"fmt"
	"regexp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	buildv1alpha1 "github.com/intentplane/intentplane/apis/build/v1alpha1"
	"github.com/intentplane/intentplane/apis/oneline"
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

// CurrentStep returns the step that a Build is at, or that failed: the one after those that it completed. It is "" while its pod has not begun.
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
	return slices.ContainsFunc(decodeObject[build](b).Status.StepStates, func(s stepState) bool { return s.Running != nil || s.Terminated != nil })
}

// A Failure is why a Build failed.
type Failure struct {
	// Reason is one of those of a failed build.
	Reason string

	// Step that failed, or "".
	Step string

	// Message that explains the reason.
	Message string

	// Logs is the command that shows what the step said, or "".
	Logs string

	// IsOfSource is true if the source has to be changed. Otherwise the same Build may succeed when it is tried again.
	IsOfSource bool
}

// ExplainFailure says why a Build failed. The pod is nil if it is gone: kpack does not say why a pod ended.
func ExplainFailure(b *unstructured.Unstructured, pod *corev1.Pod) Failure {
	content := decodeObject[build](b)
	f := Failure{Step: CurrentStep(b), Reason: podFailure(pod)}
	if f.Reason == "" && isDeleted(pod) && content.wasKilled() {
		f.Reason = buildv1alpha1.ReasonFailurePodDeleted
	}
	said := CleanMessage(findCondition(content.Status.Conditions, conditionSucceeded).Message)
	if f.Reason == "" && content.Status.PodName == "" {
		return Failure{Reason: buildv1alpha1.ReasonFailureNotStarted, Message: said}
	}
	if f.Reason == "" {
		f.Reason = buildv1alpha1.ReasonFailureStep
	}
	f.IsOfSource = slices.Contains([]string{"detect", "build"}, f.Step) && slices.Contains([]string{buildv1alpha1.ReasonFailureStep, buildv1alpha1.ReasonFailureDeadline}, f.Reason)
	f.Message = said
	if said == "" && f.Step != "" {
		f.Message = fmt.Sprintf("step %s ended with exit code %d", f.Step, content.exitCode())
	}
	if f.Step != "" && pod != nil {
		f.Logs = fmt.Sprintf("kubectl logs -n %s %s -c %s", b.GetNamespace(), content.Status.PodName, f.Step)
	}
	return f
}

// Exit codes of a step that a signal ended: SIGTERM, and SIGKILL once its grace period was over.
const (
	exitTerminated = 143
	exitKilled     = 137
)

// exitCode returns that of the step that failed, or 0.
func (b build) exitCode() int64 {
	code, _ := b.ended()
	return code
}

// ended returns the exit code of the step that failed, and why it ended.
func (b build) ended() (code int64, reason string) {
	if at := len(b.Status.StepsCompleted); at < len(b.Status.StepStates) && b.Status.StepStates[at].Terminated != nil {
		return b.Status.StepStates[at].Terminated.ExitCode, b.Status.StepStates[at].Terminated.Reason
	}
	return 0, ""
}

// wasKilled is true if a signal ended the step that failed, as for a pod that is deleted. A step that used too much memory is killed for its own fault.
func (b build) wasKilled() bool {
	code, reason := b.ended()
	return (code == exitTerminated || code == exitKilled) && reason != "OOMKilled"
}

// isDeleted is true for a pod that is gone, or going.
func isDeleted(pod *corev1.Pod) bool { return pod == nil || pod.GetDeletionTimestamp() != nil }

// podFailure returns why a pod ended that did not end by itself, or "".
func podFailure(pod *corev1.Pod) string {
	if pod == nil {
		return ""
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue {
			return disruptionFailure(c.Reason)
		}
	}
	return map[string]string{
		"Evicted": buildv1alpha1.ReasonFailureEvicted, "DeadlineExceeded": buildv1alpha1.ReasonFailureDeadline, "Preempting": buildv1alpha1.ReasonFailurePreempted,
		"NodeLost": buildv1alpha1.ReasonFailureNodeLost, "NodeShutdown": buildv1alpha1.ReasonFailureNodeLost, "Terminated": buildv1alpha1.ReasonFailureNodeLost, "Shutdown": buildv1alpha1.ReasonFailureNodeLost,
	}[pod.Status.Reason]
}

// disruptionFailure returns why a pod ended that Kubernetes says it disrupted. "kubectl drain" evicts by the API. A reason of a newer Kubernetes is one of the
// infrastructure, too.
func disruptionFailure(reason string) string {
	switch reason {
	case corev1.PodReasonPreemptionByScheduler:
		return buildv1alpha1.ReasonFailurePreempted
	case "DeletionByTaintManager", "DeletionByPodGC":
		return buildv1alpha1.ReasonFailureNodeLost
	}
	return buildv1alpha1.ReasonFailureEvicted
}

// escape is a sequence that changes how a terminal shows text.
var escape = regexp.MustCompile("\x1b\\[[0-9;?]*[ -/]*[@-~]|\x1b[@-_]")

// CleanMessage returns what kpack says on one line, without sequences for terminals, and bounded.
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
