package kpack

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	buildv1alpha1 "github.com/intentplane/intentplane/apis/build/v1alpha1"
)

// failedAt returns a Build whose step after some others ended with a failure.
func failedAt(t *testing.T, completed []string, reason, message string) *unstructured.Unstructured {
	t.Helper()
	states := strings.Repeat("{terminated: {exitCode: 0}}, ", len(completed)) + "{terminated: {exitCode: 51}}, {waiting: {reason: PodInitializing}}"
	return object(t, `{metadata: {name: shop-build-1, namespace: team-a, annotations: {image.kpack.io/reason: "`+reason+`"}}, status: {podName: shop-build-1-build-pod,
stepsCompleted: [`+strings.Join(completed, ", ")+`], stepStates: [`+states+`],
conditions: [{type: Succeeded, status: "False", reason: Failed, message: "`+message+`", lastTransitionTime: "2026-11-01T12:00:00Z"}]}}`)
}

// endedWith returns a Build whose step after some others ended with an exit code, and why.
func endedWith(t *testing.T, completed []string, code int64, reason string) *unstructured.Unstructured {
	t.Helper()
	return withState(t, completed, map[string]any{"terminated": map[string]any{"exitCode": code, "reason": reason}})
}

// withState returns a Build that failed, in which the step after some others has a state.
func withState(t *testing.T, completed []string, state map[string]any) *unstructured.Unstructured {
	t.Helper()
	b := failedAt(t, completed, "COMMIT", "")
	states, _, err := unstructured.NestedSlice(b.Object, "status", "stepStates")
	if err != nil {
		t.Fatal(err)
	}
	states[len(completed)] = state
	if err := unstructured.SetNestedSlice(b.Object, states, "status", "stepStates"); err != nil {
		t.Fatal(err)
	}
	return b
}

// disruptedBy returns a pod with the condition that Kubernetes disrupted it.
func disruptedBy(reason string) *corev1.Pod {
	pod := podThat("")
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: reason, LastTransitionTime: disruptedAt()}}
	return pod
}

// endedByKubelet returns a pod that its kubelet ended, and says why.
func endedByKubelet(reason, message string) *corev1.Pod {
	pod := disruptedBy(corev1.PodReasonTerminationByKubelet)
	pod.Status.Reason, pod.Status.Message = reason, message
	return pod
}

// runningAt returns a Build that failed while the step after some others ran.
func runningAt(t *testing.T, completed []string) *unstructured.Unstructured {
	t.Helper()
	return withState(t, completed, map[string]any{"running": map[string]any{"startedAt": "2026-11-01T11:59:00Z"}})
}

// failedBefore returns a Build whose step ended a minute before disruptedAt.
func failedBefore(t *testing.T, completed []string) *unstructured.Unstructured {
	t.Helper()
	return withState(t, completed, map[string]any{"terminated": map[string]any{"exitCode": int64(51), "finishedAt": disruptedAt().Add(-time.Minute).Format(time.RFC3339)}})
}

// disruptedAt is when disruptedBy says that a pod was disrupted.
func disruptedAt() metav1.Time { return metav1.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC) }

func podThat(reason string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "shop-build-1-build-pod"}, Status: corev1.PodStatus{Reason: reason}}
}

func TestExplainFailure(t *testing.T) {
	const logs = "kubectl logs -n team-a shop-build-1-build-pod -c "
	upTo := func(n int) []string {
		return []string{"prepare", "analyze", "detect", "restore", "build", "export"}[:n]
	}
	cases := map[string]struct {
		reason string
		build  *unstructured.Unstructured
		pod    *corev1.Pod
		want   Failure
	}{
		"Detect": {
			reason: "A step detect that fails is the author's.", build: failedAt(t, upTo(2), "COMMIT", ""), pod: podThat(""),
			want: Failure{Reason: "StepFailed", Step: "detect", Message: "step detect ended with exit code 51", Logs: logs + "detect", IsOfSource: true},
		},
		"Build": {
			reason: "A step build that fails is the author's, and kpack's message is kept.",
			build:  failedAt(t, upTo(4), "COMMIT", "Error: \\u001b[31mno\\u001b[0m\\nmodule"), pod: podThat(""),
			want: Failure{Reason: "StepFailed", Step: "build", Message: "Error: no module", Logs: logs + "build", IsOfSource: true},
		},
		"Export": {
			reason: "A step export that fails is tried again.", build: failedAt(t, upTo(5), "COMMIT", ""), pod: podThat(""),
			want: Failure{Reason: "StepFailed", Step: "export", Message: "step export ended with exit code 51", Logs: logs + "export"},
		},
		"Evicted": {
			reason: "A pod that was evicted in step build is tried again.",
			build:  failedAt(t, upTo(4), "COMMIT", "The node was low on resource: memory."), pod: podThat("Evicted"),
			want: Failure{Reason: "Evicted", Step: "build", Message: "The node was low on resource: memory.", Logs: logs + "build"},
		},
		"NodeShutdown": {
			reason: "A pod whose node was shut down is tried again.", build: failedAt(t, upTo(4), "COMMIT", "off"), pod: podThat("NodeShutdown"),
			want: Failure{Reason: "NodeLost", Step: "build", Message: "off", Logs: logs + "build"},
		},
		"Drained": {
			reason: "A pod that kubectl drain evicted is tried again, although its step ended with a failure.",
			build:  failedAt(t, upTo(4), "COMMIT", "ended"), pod: disruptedBy("EvictionByEvictionAPI"),
			want: Failure{Reason: "Evicted", Step: "build", Message: "ended", Logs: logs + "build"},
		},
		"Tainted": {
			reason: "A pod that had to leave a node which is not ready is tried again.",
			build:  failedAt(t, upTo(4), "COMMIT", "ended"), pod: disruptedBy("DeletionByTaintManager"),
			want: Failure{Reason: "NodeLost", Step: "build", Message: "ended", Logs: logs + "build"},
		},
		"Deleted": {
			reason: "A pod that was deleted while its step ran is tried again: a signal ended the step.", build: endedWith(t, upTo(4), 143, "Error"),
			want: Failure{Reason: "PodDeleted", Step: "build", Message: "step build ended with exit code 143"},
		},
		"OutOfMemory": {
			reason: "A step that used too much memory is the author's, also when its pod is gone.", build: endedWith(t, upTo(4), 137, "OOMKilled"),
			want: Failure{Reason: "StepFailed", Step: "build", Message: "step build ended with exit code 137", IsOfSource: true},
		},
		"Killed": {
			reason: "A step that was killed from outside of its container, and not for its own memory, is tried again.",
			build:  endedWith(t, upTo(4), 137, "Error"), pod: podThat(""),
			want: Failure{Reason: "Evicted", Step: "build", Message: "step build ended with exit code 137", Logs: logs + "build"},
		},
		"KilledForMemory": {
			reason: "A step that was killed for its own memory is the author's failure, while its pod is there.",
			build:  endedWith(t, upTo(4), 137, "OOMKilled"), pod: podThat(""),
			want: Failure{Reason: "StepFailed", Step: "build", Message: "step build ended with exit code 137", Logs: logs + "build", IsOfSource: true},
		},
		"DiskPressure": {
			reason: "A pod that a node without room on its disk evicted is tried again.", build: endedWith(t, upTo(2), 137, "Error"),
			pod: endedByKubelet("Evicted", "The node was low on resource: ephemeral-storage. Threshold quantity: 1Gi, available: 20Mi."),
			want: Failure{
				Reason: "Evicted", Step: "detect", Message: "The node was low on resource: ephemeral-storage. Threshold quantity: 1Gi, available: 20Mi.",
				Logs: logs + "detect",
			},
		},
		"DeviceTainted": {
			reason: "A pod that had to leave a device is tried again.",
			build:  failedAt(t, upTo(4), "COMMIT", "ended"), pod: disruptedBy("DeletionByDeviceTaintManager"),
			want: Failure{Reason: "Evicted", Step: "build", Message: "ended", Logs: logs + "build"},
		},
		"NodeGone": {
			reason: "A pod that was lost with its node is tried again: no kubelet reported how its step ended.", build: runningAt(t, upTo(4)),
			want: Failure{Reason: "NodeLost", Step: "build", Message: "no node reported how step build ended"},
		},
		"DetectGone": {
			reason: "A pod that was lost in step detect is retried, too.", build: runningAt(t, upTo(2)),
			want: Failure{Reason: "NodeLost", Step: "detect", Message: "no node reported how step detect ended"},
		},
		"NodeSilent": {
			reason: "A node that does not answer any more reported no end, although the pod is still there.", build: runningAt(t, upTo(4)), pod: podThat(""),
			want: Failure{Reason: "NodeLost", Step: "build", Message: "no node reported how step build ended", Logs: logs + "build"},
		},
		"StatusUnknown": {
			reason: "A container that the kubelet did not find any more did not fail by itself.",
			build:  endedWith(t, upTo(4), 137, "ContainerStatusUnknown"), pod: podThat(""),
			want: Failure{Reason: "NodeLost", Step: "build", Message: "step build ended with exit code 137", Logs: logs + "build"},
		},
		"NodeRebooted": {
			reason: "A container that a runtime lost with a reboot of its node did not fail by itself.", build: endedWith(t, upTo(4), 255, "Unknown"), pod: podThat(""),
			want: Failure{Reason: "NodeLost", Step: "build", Message: "step build ended with exit code 255", Logs: logs + "build"},
		},
		"NotCreated": {
			reason: "A container whose first process the runtime could not start is tried again.", build: endedWith(t, upTo(4), 128, "StartError"), pod: podThat(""),
			want: Failure{Reason: "NotStarted", Step: "build", Message: "step build ended with exit code 128", Logs: logs + "build"},
		},
		"NotRun": {
			reason: "A container of a runtime with another word for a failed start is retried, too.",
			build:  endedWith(t, upTo(2), 128, "ContainerCannotRun"), pod: podThat(""),
			want: Failure{Reason: "NotStarted", Step: "detect", Message: "step detect ended with exit code 128", Logs: logs + "detect"},
		},
		"Waited": {
			reason: "A step that waited for its container until the timeout did not take too long itself.", pod: podThat("DeadlineExceeded"),
			build: withState(t, upTo(4), map[string]any{"waiting": map[string]any{"reason": "CreateContainerError"}}),
			want:  Failure{Reason: "NotStarted", Step: "build", Message: "no node reported how step build ended", Logs: logs + "build"},
		},
		"Refused": {
			reason: "A pod that a restarted kubelet ended for its node's labels is tried again.",
			build:  endedWith(t, upTo(4), 137, "Error"), pod: podThat("NodeAffinity"),
			want: Failure{Reason: "Evicted", Step: "build", Message: "step build ended with exit code 137", Logs: logs + "build"},
		},
		"OwnDisk": {
			reason: "A pod that was evicted for its own limit of the disk is the author's.", build: failedAt(t, upTo(4), "COMMIT", ""),
			pod: &corev1.Pod{Status: corev1.PodStatus{Reason: "Evicted", Message: "Pod ephemeral local storage usage exceeds the total limit of containers 4Gi. "}},
			want: Failure{
				Reason: "StepFailed", Step: "build", Message: "Pod ephemeral local storage usage exceeds the total limit of containers 4Gi.",
				Logs: logs + "build", IsOfSource: true,
			},
		},
		"OwnVolume": {
			reason: "A Build whose volume grew beyond its limit is the author's failure.", build: failedAt(t, upTo(4), "COMMIT", ""),
			pod: &corev1.Pod{Status: corev1.PodStatus{Reason: "Evicted", Message: `Usage of EmptyDir volume "workspace" exceeds the limit "2Gi". `}},
			want: Failure{
				Reason: "StepFailed", Step: "build", Message: `Usage of EmptyDir volume "workspace" exceeds the limit "2Gi".`, Logs: logs + "build",
				IsOfSource: true,
			},
		},
		"Request": {
			reason: "A pod that used more than it requested had to go for others.",
			build: failedAt(
				t, upTo(4), "COMMIT", "The node was low on resource: memory. Container build was using 5Gi, which exceeds its request of 0.",
			),
			pod: podThat("Evicted"),
			want: Failure{
				Reason: "Evicted", Step: "build",
				Message: "The node was low on resource: memory. Container build was using 5Gi, which exceeds its request of 0.", Logs: logs + "build",
			},
		},
		"Collected": {
			reason: "A pod that was collected with its node is tried again.", build: failedAt(t, upTo(4), "COMMIT", "ended"), pod: disruptedBy("DeletionByPodGC"),
			want: Failure{Reason: "NodeLost", Step: "build", Message: "ended", Logs: logs + "build"},
		},
		"GracefulShutdown": {
			reason: "A pod that its kubelet ended says why: the node was shut down.",
			build:  failedAt(t, upTo(4), "COMMIT", ""), pod: endedByKubelet("Terminated", "node shutdown"),
			want: Failure{Reason: "NodeLost", Step: "build", Message: "node shutdown", Logs: logs + "build"},
		},
		"NodePressure": {
			reason: "A pod that its kubelet ended says why: the node had no room.",
			build:  failedAt(t, upTo(4), "COMMIT", ""), pod: endedByKubelet("Evicted", "low on resource"),
			want: Failure{Reason: "Evicted", Step: "build", Message: "low on resource", Logs: logs + "build"},
		},
		"Critical": {
			reason: "A pod that its kubelet ended says why: it made room.", build: failedAt(t, upTo(4), "COMMIT", ""), pod: endedByKubelet("Preempting", "made room"),
			want: Failure{Reason: "Preempted", Step: "build", Message: "made room", Logs: logs + "build"},
		},
		"NewDisruption": {
			reason: "An unknown disruption counts as a disruption of the infrastructure.",
			build:  failedAt(t, upTo(4), "COMMIT", "ended"), pod: disruptedBy("MovedByRebalancer"),
			want: Failure{Reason: "Evicted", Step: "build", Message: "ended", Logs: logs + "build"},
		},
		"FirstProcess": {
			reason: "A step whose pod was deleted ends with the exit code of a first process, which no signal ends.", build: endedWith(t, upTo(4), 2, "Error"),
			want: Failure{Reason: "PodDeleted", Step: "build", Message: "step build ended with exit code 2"},
		},
		"FirstProcessStays": {
			reason: "An exit code 2 of a pod that stays is the author's failure.", build: endedWith(t, upTo(4), 2, "Error"), pod: podThat(""),
			want: Failure{Reason: "StepFailed", Step: "build", Message: "step build ended with exit code 2", Logs: logs + "build", IsOfSource: true},
		},
		"DrainedLater": {
			reason: "A step that failed before its node was drained is the author's.", build: failedBefore(t, upTo(4)), pod: disruptedBy("EvictionByEvictionAPI"),
			want: Failure{Reason: "StepFailed", Step: "build", Message: "step build ended with exit code 51", Logs: logs + "build", IsOfSource: true},
		},
		"NoRoom": {
			reason: "A pod that a node has no room for never began.",
			build:  object(t, `{metadata: {name: b, namespace: team-a}, status: {podName: p, conditions: [{type: Succeeded, status: "False"}]}}`),
			pod:    &corev1.Pod{Status: corev1.PodStatus{Reason: "OutOfmemory", Message: "Node didn't have enough resource: memory"}},
			want:   Failure{Reason: "Evicted", Message: "Node didn't have enough resource: memory"},
		},
		"Unadmitted": {
			reason: "A pod that its kubelet does not admit never began.",
			build:  object(t, `{metadata: {name: b, namespace: team-a}, status: {podName: p, conditions: [{type: Succeeded, status: "False"}]}}`),
			pod:    &corev1.Pod{Status: corev1.PodStatus{Reason: "UnexpectedAdmissionError", Message: "Allocate failed"}},
			want:   Failure{Reason: "NotStarted", Message: "Allocate failed"},
		},
		"Deadline": {
			reason: "A step build that took too long is the author's.",
			build:  failedAt(t, upTo(4), "COMMIT", "Pod was active too long"), pod: podThat("DeadlineExceeded"),
			want: Failure{Reason: "DeadlineExceeded", Step: "build", Message: "Pod was active too long", Logs: logs + "build", IsOfSource: true},
		},
		"Pending": {
			reason: "A pod that never began within the timeout is tried again.",
			build: object(
				t, `{metadata: {name: b, namespace: team-a}, status: {podName: p, conditions: [{type: Succeeded, status: "False", message: late}]}}`,
			),
			pod:  podThat("DeadlineExceeded"),
			want: Failure{Reason: "DeadlineExceeded", Message: "late"},
		},
		"NoPod": {
			reason: "A Build whose pod could not be made is tried again.",
			build: object(
				t,
				`{metadata: {name: b, namespace: team-a}, status: {conditions: [{type: Succeeded, status: "False", message: "serviceaccounts \"x\" not found"}]}}`,
			),
			want: Failure{Reason: "NotStarted", Message: `serviceaccounts "x" not found`},
		},
		"Gone": {
			reason: "Of a pod that is gone no command shows the log.", build: failedAt(t, upTo(4), "COMMIT", ""),
			want: Failure{Reason: "StepFailed", Step: "build", Message: "step build ended with exit code 51", IsOfSource: true},
		},
		"Rebase": {
			reason: "A rebase has its own steps, and is not the author's.", build: failedAt(t, nil, "STACK", ""), pod: podThat(""),
			want: Failure{Reason: "StepFailed", Step: "rebase", Message: "step rebase ended with exit code 51", Logs: logs + "rebase"},
		},
		"Preempted": {
			reason: "A pod that made room for another pod is retried.", build: failedAt(t, upTo(4), "COMMIT", "made room"),
			pod: &corev1.Pod{
				Status: corev1.PodStatus{
					Conditions: []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: "True", Reason: corev1.PodReasonPreemptionByScheduler}},
				},
			},
			want: Failure{Reason: "Preempted", Step: "build", Message: "made room", Logs: logs + "build"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, ExplainFailure(tc.build, tc.pod)); diff != "" {
				t.Errorf("\n%s\nExplainFailure(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestPendingMessage(t *testing.T) {
	b := object(t, `{metadata: {name: shop-build-1, namespace: team-a}}`)
	pod := podThat("")
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "0/3 nodes are available"}}
	waits := podThat("")
	waits.Status.InitContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: "no such image"}}}}
	cases := map[string]struct {
		reason string
		pod    *corev1.Pod
		want   string
	}{
		"None":          {reason: "A pod that a quota refuses does not exist.", want: "look at the quotas"},
		"Unschedulable": {reason: "A pod without a node says why.", pod: pod, want: "Unschedulable: 0/3 nodes are available"},
		"Waiting":       {reason: "A container that waits says why.", pod: waits, want: "ImagePullBackOff: no such image"},
		"Silent":        {reason: "A pod without a message is named.", pod: podThat(""), want: "pod shop-build-1-build-pod of Build shop-build-1 has not begun"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := PendingMessage(b, tc.pod); !strings.Contains(got, tc.want) {
				t.Errorf("\n%s\nPendingMessage(...): %q, want %q in it", tc.reason, got, tc.want)
			}
		})
	}
}

// TestDesiredImage has each field that may change, and an edit of each is noticed.
func TestDesiredImage(t *testing.T) {
	p := Plan{
		Namespace: "team-a", Name: "shop", Owner: metav1.OwnerReference{UID: "u", Controller: new(true)}, Request: "sha256:r", Commit: commit,
		Tag: "registry.example.org/apps/team-a/shop", Builder: buildv1alpha1.BuilderReference{Kind: "Builder", Name: "b"}, ServiceAccount: "sa",
		Build: buildv1alpha1.ImageBuildParameters{
			Source: buildv1alpha1.Source{Git: &buildv1alpha1.GitSource{URL: "https://git.example.org/shop.git", Revision: "main", SubPath: "web"}, Trigger: "1"},
			Settings: buildv1alpha1.Settings{
				Env:       []buildv1alpha1.Variable{{Name: "B", Value: "2"}, {Name: "A", Value: "1"}},
				Resources: buildv1alpha1.Resources{CPU: "1000m", Memory: "1024Mi"}, Timeout: "30m",
				Cache: &buildv1alpha1.Cache{Registry: true},
			},
		},
	}
	u := DesiredImage(p)
	want := object(t, `{tag: registry.example.org/apps/team-a/shop, builder: {kind: Builder, name: b, namespace: team-a}, serviceAccountName: sa,
source: {git: {url: https://git.example.org/shop.git, revision: "`+commit+`"}, subPath: web},
build: {env: [{name: B, value: "2"}, {name: A, value: "1"}], resources: {requests: {cpu: "1", memory: 1Gi}, limits: {memory: 1Gi}}},
cache: {registry: {tag: "registry.example.org/apps/team-a/shop:build-cache"}}, imageTaggingStrategy: BuildNumber}`).Object
	want["successBuildHistoryLimit"], want["failedBuildHistoryLimit"] = int64(history), int64(history)
	build, _ := want["build"].(map[string]any)
	build["buildTimeout"] = int64(1800)
	if diff := cmp.Diff(want, u.Object["spec"]); diff != "" {
		t.Fatalf("DesiredImage(...): -want, +got:\n%s", diff)
	}
	plain := p
	plain.Build.Env = nil
	build, _ = DesiredImage(plain).Object["spec"].(map[string]any)["build"].(map[string]any)
	if _, ok := build["env"]; ok {
		t.Error("An empty list is never applied: kpack's webhook leaves it out, so that no edit would follow it")
	}
	for name, edit := range map[string]func(*Plan){
		"commit": func(p *Plan) { p.Commit = other }, "request": func(p *Plan) { p.Request = "sha256:s" }, "builder": func(p *Plan) { p.Builder.Name = "c" },
		"account": func(p *Plan) { p.ServiceAccount = "other" }, "cache": func(p *Plan) { p.Build.Cache = nil }, "env": func(p *Plan) { p.Build.Env = nil },
		"source": func(p *Plan) {
			p.Build.Source.Git, p.Build.Source.Blob = nil, &buildv1alpha1.BlobSource{URL: "https://x.example.org/y.tgz"}
		},
	} {
		next := p
		if edit(&next); IsApplied(DesiredImage(next), u) || !IsApplied(u, u) {
			t.Errorf("an edit of %s is not noticed", name)
		}
	}
	defaulted := u.DeepCopy()
	defaulted.Object["spec"].(map[string]any)["cosign"] = map[string]any{}
	if !IsApplied(u, defaulted) {
		t.Error("Fields that kpack adds to an Image are not an edit")
	}
}
