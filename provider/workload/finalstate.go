package workload

import (
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	// reasonDeadlineExceeded is the reason of condition Progressing once a rollout took longer than spec.progressDeadlineSeconds (the deployment controller's
	// TimedOutReason).
	reasonDeadlineExceeded = "ProgressDeadlineExceeded"

	// conditionStalled is the condition of kstatus by which any controller says that it does not try again until the object changes.
	conditionStalled = "Stalled"

	argoGroup = "argoproj.io"
)

// A finalState is a condition or a phase by which the controller of some kinds declares a failure final.
type finalState struct {
	group string
	// kinds of the group. None stands for each kind of each group.
	kinds []string

	conditionType string
	status        metav1.ConditionStatus
	// reasons of the condition. None stands for any.
	reasons []string

	// phases of the object, and the fields with them. The zero value of fields stands for the usual fields.
	phases []string
	fields phaseFields
	// needsEnd is true for a kind whose phase stays after a change of its spec until its controller reads the change, and whose status has no generation.
	needsEnd bool
}

// phaseFields are the fields below the status of a kind with its phase, the message about that, and the time of its end.
type phaseFields struct {
	phase, message, endedAt string
}

// phaseFieldsOf returns the fields with the phase of the kinds of a state.
func (f finalState) phaseFieldsOf() phaseFields {
	if f.fields == (phaseFields{}) {
		return phaseFields{phase: "phase", message: "message", endedAt: "finishedAt"}
	}
	return f.fields
}

// hasFinalPhase reports whether the phase of an object is the state.
func (f finalState) hasFinalPhase(u *unstructured.Unstructured) bool {
	return slices.Contains(f.phases, readStatusText(u, f.phaseFieldsOf().phase))
}

// readStatusText returns the text at a path below the status of an object, or "".
func readStatusText(u *unstructured.Unstructured, path string) string {
	text, _, _ := unstructured.NestedString(u.Object, append([]string{"status"}, strings.Split(path, ".")...)...)
	return text
}

// finalStates lists the states that are final. An Argo Rollout is Degraded for no other cause than its conditions here.
func finalStates() []finalState {
	progressing, failed := string(appsv1.DeploymentProgressing), string(batchv1.JobFailed)
	return []finalState{
		{
			group: appsv1.GroupName, kinds: []string{"Deployment", "StatefulSet"},
			conditionType: progressing, status: metav1.ConditionFalse, reasons: []string{reasonDeadlineExceeded},
		},
		{group: batchv1.GroupName, kinds: []string{"Job"}, conditionType: failed, status: metav1.ConditionTrue},
		{ // The Job controller adds it first, and Failed once all pods of the Job ended.
			group: batchv1.GroupName, kinds: []string{"Job"}, conditionType: string(batchv1.JobFailureTarget), status: metav1.ConditionTrue,
		},
		{group: corev1.GroupName, kinds: []string{"Pod"}, phases: []string{string(corev1.PodFailed)}},
		{
			group: argoGroup, kinds: []string{"Rollout"}, phases: []string{"Degraded"},
			conditionType: progressing, status: metav1.ConditionFalse, reasons: []string{reasonDeadlineExceeded, "RolloutAborted"},
		},
		{group: argoGroup, kinds: []string{"Rollout"}, conditionType: "InvalidSpec", status: metav1.ConditionTrue},
		{group: argoGroup, kinds: []string{"Workflow", "AnalysisRun", "Experiment"}, phases: []string{"Failed", "Error"}},
		{ // Flagger measures the same content no second time.
			group: "flagger.app", kinds: []string{"Canary"}, conditionType: "Promoted", status: metav1.ConditionFalse, reasons: []string{"Failed"},
		},
		{group: "jobset.x-k8s.io", kinds: []string{"JobSet"}, conditionType: failed, status: metav1.ConditionTrue},
		{
			group: "kubeflow.org", kinds: []string{"JAXJob", "MPIJob", "PaddleJob", "PyTorchJob", "TFJob", "XGBoostJob"},
			conditionType: failed, status: metav1.ConditionTrue,
		},
		{group: "trainer.kubeflow.org", kinds: []string{"TrainJob"}, conditionType: failed, status: metav1.ConditionTrue},
		{group: "tekton.dev", kinds: []string{"PipelineRun", "TaskRun", "CustomRun"}, conditionType: "Succeeded", status: metav1.ConditionFalse},
		{
			group: "batch.volcano.sh", kinds: []string{"Job"}, phases: []string{"Failed"},
			fields: phaseFields{phase: "state.phase", message: "state.message", endedAt: "state.lastTransitionTime"},
		},
		{ // A RayJob with retries left is Retrying.
			group: "ray.io", kinds: []string{"RayJob"}, phases: []string{"Failed"},
			fields: phaseFields{phase: "jobDeploymentStatus", message: "message", endedAt: "endTime"},
		},
		{ // A SparkApplication with restarts left is FAILING or PENDING_RERUN.
			group: "sparkoperator.k8s.io", kinds: []string{"SparkApplication"}, phases: []string{"FAILED"}, needsEnd: true,
			fields: phaseFields{phase: "applicationState.state", message: "applicationState.errorMessage", endedAt: "terminationTime"},
		},
		{conditionType: conditionStalled, status: metav1.ConditionTrue},
	}
}

// finalStatesOf returns the final states of an object of a kind.
func finalStatesOf(gk schema.GroupKind) []finalState {
	return slices.DeleteFunc(finalStates(), func(f finalState) bool { return len(f.kinds) > 0 && !f.includesKind(gk) })
}

// includesKind reports whether the state is one of just this kind.
func (f finalState) includesKind(gk schema.GroupKind) bool {
	return f.group == gk.Group && slices.Contains(f.kinds, gk.Kind)
}

// matchesCondition reports whether a condition is the state.
func (f finalState) matchesCondition(c metav1.Condition) bool {
	return f.conditionType == c.Type && f.status == c.Status && (len(f.reasons) == 0 || slices.Contains(f.reasons, c.Reason))
}

// endedObject has the fields that are read from an object of a final phase.
type endedObject struct {
	Status struct {
		Reason                string      `json:"reason"`
		InitContainerStatuses []container `json:"initContainerStatuses"`
		ContainerStatuses     []container `json:"containerStatuses"`
	} `json:"status"`
}

// allContainers are the containers of a pod, in the order in which they run.
func (o endedObject) allContainers() []container {
	return slices.Concat(o.Status.InitContainerStatuses, o.Status.ContainerStatuses)
}

// describeContainer returns how the first container of a pod that failed ended, or "".
func (o endedObject) describeContainer() string {
	for _, c := range o.allContainers() {
		if c.hasContainerFailed(c.State) {
			return fmt.Sprintf("container %s ended: exit code %d, %s", c.Name, c.State.Terminated.ExitCode, c.State.Terminated.Reason)
		}
	}
	return ""
}

// lastContainerEnd returns when the last container of a pod ended, or the zero value.
func (o endedObject) lastContainerEnd() metav1.Time {
	out := metav1.Time{}
	for _, c := range o.allContainers() {
		if c.State.Terminated != nil {
			out = laterOfTimes(out, c.State.Terminated.FinishedAt)
		}
	}
	return out
}

// laterOfTimes returns the later one of two times.
func laterOfTimes(a, b metav1.Time) metav1.Time {
	if a.Before(&b) {
		return b
	}
	return a
}
