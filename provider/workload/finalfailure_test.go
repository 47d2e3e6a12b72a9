package workload

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/intentplane/intentplane/provider/gatewayapi"
)

// decodeObject decodes an object of a Site's cluster.
func decodeObject(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
		t.Fatal(err)
	}
	return u
}

// objectWith is an object of generation 2 with a status.
func objectWith(apiVersion, kind, status string) string {
	return "apiVersion: " + apiVersion + "\nkind: " + kind + "\nmetadata: {name: web, namespace: shop, generation: 2}\nstatus: {" + status + "}\n"
}

// routeWith is an HTTPRoute of generation 2 in one Gateway, with a condition of its controller.
func routeWith(condition string) string {
	return `apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: web, namespace: shop, generation: 2}
spec: {parentRefs: [{name: outside}]}
status:
  parents:
  - {controllerName: example.org/a, parentRef: {name: outside}, conditions: [` + condition + `]}
`
}

func TestFindFinalFailure(t *testing.T) {
	declared := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	const (
		transitionTime = `lastTransitionTime: "2026-11-01T12:00:00Z"`
		exceeded       = `{type: Progressing, status: "False", reason: ProgressDeadlineExceeded, message: "ReplicaSet web-1 has\ntimed out", ` + transitionTime + `}`
		stalled        = `{type: Stalled, status: "True", reason: InvalidSpec, message: "no", observedGeneration: 2, ` + transitionTime + `}`
		refused        = `{type: Accepted, status: "False", reason: NotAllowedByListeners, message: "no", observedGeneration: 2, ` + transitionTime + `}`
	)
	rollout := func(status string) string { return objectWith("argoproj.io/v1alpha1", "Rollout", status) }
	conditionOf := func(conditionType, status, reason string) string {
		return "{type: " + conditionType + ", status: '" + status + "', reason: " + reason + ", message: 'no', " + transitionTime + "}"
	}
	failed := func(message string) *FinalFailure {
		return &FinalFailure{Reason: gatewayapi.ReasonObjectFailed, Message: message, DeclaredAt: declared}
	}
	cases := map[string]struct {
		reason string
		object string
		want   *FinalFailure
	}{
		"Deployment": {
			reason: "A Deployment whose rollout exceeded its progress deadline does not come to its end by itself.",
			object: objectWith("apps/v1", "Deployment", "observedGeneration: 2, conditions: ["+exceeded+"]"),
			want:   failed("Deployment shop/web: ProgressDeadlineExceeded: ReplicaSet web-1 has timed out"),
		},
		"StatefulSet": {
			reason: "A StatefulSet with that condition exceeded its progress deadline.",
			object: objectWith("apps/v1", "StatefulSet", "observedGeneration: 2, conditions: ["+exceeded+"]"),
			want:   failed("StatefulSet shop/web: ProgressDeadlineExceeded: ReplicaSet web-1 has timed out"),
		},
		"Job": {
			reason: "A Job that failed does not run again.",
			object: objectWith("batch/v1", "Job", `conditions: [{type: Failed, status: "True", reason: BackoffLimitExceeded, message: "no", `+transitionTime+`}]`),
			want:   failed("Job shop/web: BackoffLimitExceeded: no"),
		},
		"JobEvicted": {
			reason: "A Job whose pods were evicted does not run again either, unless its own podFailurePolicy ignores disruptions.",
			object: objectWith("batch/v1", "Job", `failed: 1, conditions: [{type: FailureTarget, status: "True", reason: BackoffLimitExceeded, message: "no", `+transitionTime+
				`}, {type: Failed, status: "True", reason: BackoffLimitExceeded, message: "no", `+transitionTime+`}]`),
			want: failed("Job shop/web: BackoffLimitExceeded: no"),
		},
		"JobDisrupted": {
			reason: "A Job that ignored the disruptions of its pods goes on.",
			object: objectWith("batch/v1", "Job", "active: 1, failed: 1, conditions: []"),
		},
		"Stalled": {
			reason: "A controller that is stalled does not try again until its object changes, whatever the kind.",
			object: objectWith("example.org/v1", "Cache", "conditions: ["+stalled+"]"), want: failed("Cache shop/web: InvalidSpec: no"),
		},
		"Route": {
			reason: "A route that a Gateway refuses counts once that has lasted for a moment, and has the time of its refusal.", object: routeWith(refused),
			want: &FinalFailure{
				Reason: gatewayapi.ReasonRouteNotAccepted, DeclaredAt: declared, SettlesAt: declared.Add(settleTime),
				Message: "HTTPRoute shop/web: Gateway outside, by example.org/a: Accepted is False: NotAllowedByListeners: no",
			},
		},
		"GRPCRoute": {
			reason: "A Gateway refuses a GRPCRoute as it refuses an HTTPRoute.", object: strings.Replace(routeWith(refused), "HTTPRoute", "GRPCRoute", 1),
			want: &FinalFailure{
				Reason: gatewayapi.ReasonRouteNotAccepted, DeclaredAt: declared, SettlesAt: declared.Add(settleTime),
				Message: "GRPCRoute shop/web: Gateway outside, by example.org/a: Accepted is False: NotAllowedByListeners: no",
			},
		},
		"Routes": {
			reason: "An earlier refusal by another Gateway does not hide the latest refusal.",
			object: `{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: web, namespace: shop, generation: 2}, spec: {parentRefs: [{name: outside}, {name: inside}]},
				status: {parents: [{parentRef: {name: outside}, controllerName: example.org/a, conditions: [` + strings.ReplaceAll(refused, "12:00", "11:00") + `]},
					{parentRef: {name: inside}, controllerName: example.org/a, conditions: [` + refused + `]}]}}`,
			want: &FinalFailure{
				Reason: gatewayapi.ReasonRouteNotAccepted, DeclaredAt: declared, SettlesAt: declared.Add(settleTime),
				Message: "HTTPRoute shop/web: Gateway outside, by example.org/a: Accepted is False: NotAllowedByListeners: no",
			},
		},
		"EarlierGeneration": {
			reason: "A Deployment whose controller has not seen its last change may still make progress.",
			object: objectWith("apps/v1", "Deployment", "observedGeneration: 1, conditions: ["+exceeded+"]"),
		},
		"EarlierStall": {
			reason: "A condition of an earlier generation speaks of an earlier spec.",
			object: objectWith("example.org/v1", "Cache", `observedGeneration: 2, conditions: [{type: Stalled, status: "True", observedGeneration: 1}]`),
		},
		"EarlierRefusal": {
			reason: "The refusal of an earlier generation of a route speaks of an earlier route.",
			object: routeWith(`{type: Accepted, status: "False", reason: NotAllowedByListeners, observedGeneration: 1}`),
		},
		"Pending": {
			reason: "A Gateway that has not decided refuses nothing.",
			object: routeWith(`{type: Accepted, status: "False", reason: Pending, observedGeneration: 2}`),
		},
		"Unresolved": {
			reason: "A Service that a route refers to may come yet.",
			object: routeWith(`{type: ResolvedRefs, status: "False", reason: BackendNotFound, observedGeneration: 2}`),
		},
		"OtherParent": {
			reason: "A Gateway that a route no longer names refuses nothing.",
			object: `{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: web, generation: 2}, spec: {parentRefs: [{name: inside}]},
				status: {parents: [{parentRef: {name: outside}, conditions: [` + refused + `]}]}}`,
		},
		"Progressing": {
			reason: "A Deployment whose pods crash is not given up before its progress deadline.",
			object: objectWith(
				"apps/v1", "Deployment",
				`observedGeneration: 2, conditions: [{type: Progressing, status: "True", reason: ReplicaSetUpdated}, {type: Available, status: "False"}]`,
			),
		},
		"Refused": {
			reason: "A Deployment whose pods a quota refuses may get them later.",
			object: objectWith("apps/v1", "Deployment", `observedGeneration: 2, conditions: [{type: ReplicaFailure, status: "True", reason: FailedCreate}]`),
		},
		"OtherKind": {
			reason: "Condition Failed of another kind than a Job may mean anything.",
			object: objectWith("example.org/v1", "Cache", `conditions: [{type: Failed, status: "True"}]`),
		},
		"Deleted": {
			reason: "No controller awaits an object that is being deleted.",
			object: "{apiVersion: batch/v1, kind: Job, metadata: {name: web, deletionTimestamp: '2026-11-01T12:00:00Z'}, status: {conditions: " +
				"[{type: Failed, status: 'True'}]}}",
		},
		"Owned": {
			reason: "A Job that another object controls, such as a CronJob, is replaced by that.",
			object: "{apiVersion: batch/v1, kind: Job, metadata: {name: web, ownerReferences: [{apiVersion: batch/v1, kind: CronJob, name: web, " +
				"uid: u, controller: true}]}, status: {conditions: [{type: Failed, status: 'True'}]}}",
		},
		"Pod": {
			reason: "A pod that failed is not started again, whatever the policy of its containers.",
			object: objectWith("v1", "Pod", `phase: Failed, conditions: [{type: Ready, status: "False", lastTransitionTime: "2026-11-01T11:59:00Z"}],
				initContainerStatuses: [{name: wait, state: {terminated: {exitCode: 0, finishedAt: "2026-11-01T11:58:00Z"}}}],
				containerStatuses: [{name: app, state: {terminated: {exitCode: 3, reason: Error, finishedAt: "2026-11-01T12:00:00Z"}}}]`),
			want: failed("Pod shop/web: Failed: container app ended: exit code 3, Error"),
		},
		"PodEvicted": {
			reason: "A pod that its node evicted has the words of the node, and the time of its last condition.",
			object: objectWith("v1", "Pod", `phase: Failed, reason: Evicted, message: no memory, conditions: [{type: Ready, status: "False"},
				`+conditionOf("DisruptionTarget", "True", "a")+"]"),
			want: failed("Pod shop/web: Evicted: no memory"),
		},
		"PodCrashes": {
			reason: "A pod whose container crashes again and again may recover.",
			object: objectWith("v1", "Pod", "phase: Running, containerStatuses: [{name: app, state: {waiting: {reason: CrashLoopBackOff}}}]"),
		},
		"PodOwned": {
			reason: "A failed pod that another object controls, such as a ReplicaSet, is replaced by that.",
			object: `{apiVersion: v1, kind: Pod, status: {phase: Failed}, metadata: {name: web,
				ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web, uid: u, controller: true}]}}`,
		},
		"Rollout": {
			reason: "A Rollout writes its generation as a text, and exceeds its progress deadline as a Deployment does.",
			object: rollout(`phase: Degraded, observedGeneration: "2", conditions: [` + exceeded + "]"),
			want:   failed("Rollout shop/web: ProgressDeadlineExceeded: ReplicaSet web-1 has timed out"),
		},
		"RolloutAborted": {
			reason: "A Rollout that was aborted does not go on until a user retries it.",
			object: rollout(`observedGeneration: "2", conditions: [` + conditionOf("Progressing", "False", "RolloutAborted") + "]"),
			want:   failed("Rollout shop/web: RolloutAborted: no"),
		},
		"RolloutInvalid": {
			reason: "A Rollout with an invalid spec is not carried out.",
			object: rollout(`observedGeneration: "2", conditions: [` + conditionOf("InvalidSpec", "True", "InvalidSpec") + "]"),
			want:   failed("Rollout shop/web: InvalidSpec: no"),
		},
		"RolloutPhase": {
			reason: "A Rollout whose phase is Degraded for another condition failed, at the time of its last condition.",
			object: rollout(`phase: Degraded, message: "no", observedGeneration: "2", conditions: [` + conditionOf("Healthy", "False", "a") + "]"),
			want:   failed("Rollout shop/web: Degraded: no"),
		},
		"RolloutEarlier": {
			reason: "A Rollout whose controller has not seen its last change may still make progress.",
			object: rollout(`phase: Degraded, observedGeneration: "1", conditions: [` + exceeded + "]"),
		},
		"RolloutHash": {
			reason: "A generation that is no number, as an early version of the controller writes it, cannot be compared.",
			object: rollout("phase: Degraded, observedGeneration: 5d4c8b, conditions: [" + exceeded + "]"),
		},
		"RolloutPaused": {
			reason: "A Rollout that is paused goes on.",
			object: rollout(`phase: Paused, observedGeneration: "2", conditions: [` + conditionOf("Progressing", "Unknown", "RolloutPaused") + "]"),
		},
		"Workflow": {
			reason: "A Workflow that failed does not run again by itself.",
			object: objectWith("argoproj.io/v1alpha1", "Workflow", `phase: Error, message: "no", finishedAt: "2026-11-01T12:00:00Z"`),
			want:   failed("Workflow shop/web: Error: no"),
		},
		"PipelineRun": {
			reason: "A run of Tekton that did not succeed is over.",
			object: objectWith("tekton.dev/v1", "PipelineRun", "conditions: ["+conditionOf("Succeeded", "False", "Failed")+"]"),
			want:   failed("PipelineRun shop/web: Failed: no"),
		},
		"TaskRunRetried": {
			reason: "A run of Tekton that is tried again is not over.",
			object: objectWith("tekton.dev/v1", "TaskRun", "conditions: ["+conditionOf("Succeeded", "Unknown", "ToBeRetried")+"]"),
		},
		"JobSet": {
			reason: "A set of Jobs that failed does not run again.",
			object: objectWith("jobset.x-k8s.io/v1alpha2", "JobSet", "conditions: ["+conditionOf("Failed", "True", "FailedJobs")+"]"),
			want:   failed("JobSet shop/web: FailedJobs: no"),
		},
		"CustomRun": {
			reason: "A run of Tekton by a task of another controller is over, too.",
			object: objectWith("tekton.dev/v1beta1", "CustomRun", "conditions: ["+conditionOf("Succeeded", "False", "Failed")+"]"),
			want:   failed("CustomRun shop/web: Failed: no"),
		},
		"AnalysisRun": {
			reason: "An AnalysisRun that no Rollout controls and that failed does not run again.",
			object: objectWith("argoproj.io/v1alpha1", "AnalysisRun", `phase: Failed, message: "no", conditions: [`+conditionOf("a", "True", "a")+"]"),
			want:   failed("AnalysisRun shop/web: Failed: no"),
		},
		"AnalysisInconclusive": {
			reason: "An AnalysisRun without a conclusion did not fail.",
			object: objectWith("argoproj.io/v1alpha1", "AnalysisRun", `phase: Inconclusive, message: "no"`),
		},
		"FlaggerCanary": {
			reason: "A Canary of Flagger whose analysis failed does not run again.",
			object: objectWith("flagger.app/v1beta1", "Canary", "phase: Failed, conditions: ["+conditionOf("Promoted", "False", "Failed")+"]"),
			want:   failed("Canary shop/web: Failed: no"),
		},
		"FlaggerCanaryGoesOn": {
			reason: "A Canary of Flagger whose analysis goes on has not failed.",
			object: objectWith("flagger.app/v1beta1", "Canary", "phase: Progressing, conditions: ["+conditionOf("Promoted", "Unknown", "Progressing")+"]"),
		},
		"FlaggerCanaryWaits": {
			reason: "A Canary of Flagger that waits for a user has not failed.",
			object: objectWith("flagger.app/v1beta1", "Canary", "phase: WaitingPromotion, conditions: ["+conditionOf("Promoted", "Unknown", "WaitingPromotion")+"]"),
		},
		"TrainingJob": {
			reason: "A job of Kubeflow that failed does not run again.",
			object: objectWith("kubeflow.org/v1", "PyTorchJob", "conditions: ["+conditionOf("Failed", "True", "PyTorchJobFailed")+"]"),
			want:   failed("PyTorchJob shop/web: PyTorchJobFailed: no"),
		},
		"TrainingJobRestarts": {
			reason: "A job of Kubeflow that restarts goes on.",
			object: objectWith("kubeflow.org/v1", "PyTorchJob", "conditions: ["+conditionOf("Restarting", "True", "PyTorchJobRestarting")+"]"),
		},
		"TrainJob": {
			reason: "A job of Kubeflow's trainer that failed does not run again.",
			object: objectWith("trainer.kubeflow.org/v1alpha1", "TrainJob", "conditions: ["+conditionOf("Failed", "True", "JobsFailed")+"]"),
			want:   failed("TrainJob shop/web: JobsFailed: no"),
		},
		"HelmRelease": {
			reason: "A HelmRelease that has no retry left is stalled.",
			object: objectWith("helm.toolkit.fluxcd.io/v2", "HelmRelease", "observedGeneration: 2, conditions: ["+conditionOf("Ready", "False", "InstallFailed")+
				", "+conditionOf("Stalled", "True", "RetriesExceeded")+"]"),
			want: failed("HelmRelease shop/web: RetriesExceeded: no"),
		},
		"HelmReleaseRetries": {
			reason: "A HelmRelease whose installation failed tries again while it is not stalled.",
			object: objectWith("helm.toolkit.fluxcd.io/v2", "HelmRelease", "observedGeneration: 2, conditions: ["+conditionOf("Ready", "False", "InstallFailed")+"]"),
		},
		"Knative": {
			reason: "A Service of Knative whose revision failed becomes ready once its image can be pulled.",
			object: objectWith("serving.knative.dev/v1", "Service", "observedGeneration: 2, conditions: ["+conditionOf("Ready", "False", "RevisionFailed")+"]"),
		},
		"DaemonSet": {
			reason: "The status of a DaemonSet declares nothing final.",
			object: objectWith("apps/v1", "DaemonSet", "observedGeneration: 2, numberUnavailable: 3, conditions: ["+exceeded+"]"),
		},
		"Volume": {
			reason: "A claim of a volume that waits may get one later.",
			object: objectWith("v1", "PersistentVolumeClaim", "phase: Pending"),
		},
		"OtherPhase": {
			reason: "Phase Failed of a kind that nothing is known about may mean anything.",
			object: objectWith("example.org/v1", "Cache", "phase: Failed"),
		},
		"OtherStatus": {
			reason: "A controller that is stalled is so whatever else its status has.",
			object: objectWith("example.org/v1", "Cache", "phase: {a: b}, reason: 3, conditions: ["+stalled+"]"),
			want:   failed("Cache shop/web: InvalidSpec: no"),
		},
		"BadType": {reason: "A status that cannot be decoded declares nothing.", object: objectWith("apps/v1", "Deployment", "conditions: many")},
		"Healthy": {reason: "An object without such a condition has not failed.", object: objectWith("apps/v1", "StatefulSet", "observedGeneration: 2")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, FindFinalFailure(decodeObject(t, tc.object))); diff != "" {
				t.Errorf("\n%s\nFindFinalFailure(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestFirstFinalFailure(t *testing.T) {
	noon := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	declared := func(seconds int) string {
		return `lastTransitionTime: "` + noon.Add(time.Duration(seconds)*time.Second).Format(time.RFC3339) + `"`
	}
	refused := func(seconds int) *unstructured.Unstructured {
		return decodeObject(t, routeWith(`{type: Accepted, status: "False", reason: NotAllowedByListeners, observedGeneration: 2, `+declared(seconds)+`}`))
	}
	failed := func(kind string, seconds int) *unstructured.Unstructured {
		exceeded := `{type: Progressing, status: "False", reason: ProgressDeadlineExceeded, ` + declared(seconds) + `}`
		return decodeObject(t, objectWith("apps/v1", kind, "observedGeneration: 2, conditions: ["+exceeded+"]"))
	}
	undated := decodeObject(t, objectWith("batch/v1", "Job", `conditions: [{type: Failed, status: "True", reason: DeadlineExceeded}]`))
	cases := map[string]struct {
		reason  string
		objects []*unstructured.Unstructured
		want    string
	}{
		"Settled": {
			reason:  "A failure that counts at once comes before a failure that has to settle.",
			objects: []*unstructured.Unstructured{nil, refused(30), failed("Deployment", 40)}, want: "Deployment",
		},
		"Stale": {
			reason:  "A failure from before the position does not hide a later failure.",
			objects: []*unstructured.Unstructured{failed("Deployment", -30), failed("StatefulSet", 30)}, want: "StatefulSet",
		},
		"StaleRoute": {
			reason:  "A refusal from before the position does not hide a later refusal.",
			objects: []*unstructured.Unstructured{refused(-60), refused(30)}, want: "HTTPRoute",
		},
		"Boundary": {
			reason:  "A failure of the second in which the position began counts.",
			objects: []*unstructured.Unstructured{failed("Deployment", 0)}, want: "Deployment",
		},
		"Undated": {reason: "A failure without a time is about the present.", objects: []*unstructured.Unstructured{undated}, want: "Job"},
		"Earlier": {
			reason:  "Failures from before the position are about an earlier content.",
			objects: []*unstructured.Unstructured{failed("Deployment", -1), refused(-30)},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			kind := ""
			if found := FirstFinalFailure(tc.objects, noon); found != nil {
				kind, _, _ = strings.Cut(found.Message, " ")
			}
			if diff := cmp.Diff(tc.want, kind); diff != "" {
				t.Errorf("\n%s\nFirstFinalFailure(...): kind of the object: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
