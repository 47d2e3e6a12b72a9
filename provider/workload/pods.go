package workload

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/provider/statusmessage"
)

// pod has the fields that are read from a pod.
type pod struct {
	Status struct {
		Phase                 string      `json:"phase"`
		Reason                string      `json:"reason"`
		Message               string      `json:"message"`
		Conditions            []condition `json:"conditions"`
		InitContainerStatuses []container `json:"initContainerStatuses"`
		ContainerStatuses     []container `json:"containerStatuses"`
	} `json:"status"`
}

// container has the fields that are read from the status of a container.
type container struct {
	Name         string         `json:"name"`
	Image        string         `json:"image"`
	Ready        bool           `json:"ready"`
	RestartCount int64          `json:"restartCount"`
	State        containerState `json:"state"`
	LastState    containerState `json:"lastState"`
}

// containerState is the present or the last state of a container.
type containerState struct {
	Waiting *struct {
		Reason  string `json:"reason"`
		Message string `json:"message"`
	} `json:"waiting"`
	Running    *struct{} `json:"running"`
	Terminated *struct {
		Reason     string      `json:"reason"`
		ExitCode   int64       `json:"exitCode"`
		FinishedAt metav1.Time `json:"finishedAt"`
	} `json:"terminated"`
}

// A Trouble is why pods are not available. Its message has no names of pods, counters or times, so that it is the same while the trouble is.
type Trouble struct {
	Reason, Message string
}

// PodTrouble returns the gravest trouble of some pods. It is empty if none is known.
func PodTrouble(pods []unstructured.Unstructured) Trouble {
	worst := Trouble{}
	for _, u := range pods {
		p := pod{}
		if u.GetDeletionTimestamp() != nil || runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &p) != nil {
			continue
		}
		if t := p.troubleReason(); troubleGravity(t.Reason) > troubleGravity(worst.Reason) {
			worst = t
		}
	}
	worst.Message = statusmessage.Sanitize(worst.Message)
	return worst
}

// troubleGravity orders reasons: problems that a user has to repair come before problems that may end by themselves.
func troubleGravity(reason string) int {
	return slices.Index([]string{
		"", v1alpha1.HealthReasonProgressing, v1alpha1.HealthReasonNotReady, v1alpha1.HealthReasonUnschedulable, v1alpha1.HealthReasonCrashLoop,
		v1alpha1.HealthReasonImagePull, v1alpha1.HealthReasonConfigMissing,
	}, reason)
}

func (p pod) troubleReason() Trouble {
	if p.Status.Phase == string(corev1.PodFailed) || p.Status.Phase == string(corev1.PodSucceeded) {
		return p.explainPodEnd()
	}
	worst := Trouble{}
	for _, c := range p.Status.Conditions {
		if c.Type == string(corev1.PodScheduled) && c.Status == string(corev1.ConditionFalse) && c.Reason == corev1.PodReasonUnschedulable {
			worst = Trouble{Reason: v1alpha1.HealthReasonUnschedulable, Message: c.Message}
		}
	}
	for _, c := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
		if t := c.troubleReason(); troubleGravity(t.Reason) > troubleGravity(worst.Reason) {
			worst = t
		}
	}
	return worst
}

// explainPodEnd returns why a pod of a Deployment ended. Its containers are restarted, so they never end it: its node did, for the pod's own limits or for another
// pod, or the node is lost. The cluster keeps the pod, and creates another pod.
func (p pod) explainPodEnd() Trouble {
	if p.Status.Reason == "Evicted" && ExceedsOwnLimit(p.Status.Message) {
		return Trouble{Reason: v1alpha1.HealthReasonCrashLoop, Message: "pods are evicted again and again: " + p.Status.Message}
	}
	reason := cmp.Or(p.Status.Reason, p.disruptionReason(), p.Status.Phase)
	return Trouble{Reason: v1alpha1.HealthReasonProgressing, Message: "a node ended a pod (" + reason + "), and the cluster creates another pod"}
}

// disruptionReason returns the reason by which Kubernetes disrupted a pod, or "".
func (p pod) disruptionReason() string {
	for _, c := range p.Status.Conditions {
		if c.Type == string(corev1.DisruptionTarget) && c.Status == string(corev1.ConditionTrue) {
			return c.Reason
		}
	}
	return ""
}

// ownLimit is in the message of a kubelet that evicts a pod which used more of the node's disk than its own limits allow (k8s.io/kubernetes/pkg/kubelet/eviction).
var ownLimit = regexp.MustCompile(`exceed(s|ed) (the|its) (total |local ephemeral storage )?limit`)

// ExceedsOwnLimit reports whether the message of an evicted pod says that the pod used more than its own limits allow.
func ExceedsOwnLimit(message string) bool { return ownLimit.MatchString(message) }

// troubleReason returns why a container is not ready. A container that ended, or ended before and is not ready, crashes again and again.
func (c container) troubleReason() Trouble {
	waiting := ""
	if c.State.Waiting != nil {
		waiting = c.State.Waiting.Reason
	}
	switch {
	case c.Ready:
		return Trouble{}
	case waiting == "CreateContainerConfigError":
		return Trouble{Reason: v1alpha1.HealthReasonConfigMissing, Message: fmt.Sprintf("container %s: %s", c.Name, c.State.Waiting.Message)}
	case slices.Contains([]string{"ImagePullBackOff", "ErrImagePull", "InvalidImageName", "ErrImageNeverPull"}, waiting):
		return Trouble{Reason: v1alpha1.HealthReasonImagePull, Message: fmt.Sprintf("container %s: image %s cannot be pulled", c.Name, c.Image)}
	case c.hasContainerFailed(c.State):
		return c.crashLoopTrouble(c.State)
	case c.hasContainerFailed(c.LastState), waiting == "CrashLoopBackOff":
		return c.crashLoopTrouble(c.LastState)
	case c.State.Running != nil:
		return Trouble{Reason: v1alpha1.HealthReasonNotReady, Message: fmt.Sprintf("container %s runs, and its readiness probe does not succeed", c.Name)}
	}
	return Trouble{}
}

// hasContainerFailed reports whether a state is an end with a failure. An init container that has done its work is none, and neither is a container whose node lost it.
func (c container) hasContainerFailed(s containerState) bool {
	return s.Terminated != nil && s.Terminated.ExitCode != 0 && !isContainerLost(s.Terminated.Reason)
}

func (c container) crashLoopTrouble(s containerState) Trouble {
	t := Trouble{Reason: v1alpha1.HealthReasonCrashLoop, Message: fmt.Sprintf("container %s ends again and again", c.Name)}
	if s.Terminated != nil {
		t.Message += fmt.Sprintf(": exit code %d, %s", s.Terminated.ExitCode, s.Terminated.Reason)
	}
	return t
}
