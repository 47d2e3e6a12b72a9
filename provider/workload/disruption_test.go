package workload

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestFindDisruption(t *testing.T) {
	disruptedAt := metav1.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	target := func(status corev1.ConditionStatus, reason, kubelet string) *corev1.Pod {
		c := corev1.PodCondition{Type: corev1.DisruptionTarget, Status: status, Reason: reason, LastTransitionTime: disruptedAt}
		return &corev1.Pod{Status: corev1.PodStatus{Reason: kubelet, Conditions: []corev1.PodCondition{c}}}
	}
	kubelet := func(reason, message string) *corev1.Pod {
		return &corev1.Pod{Status: corev1.PodStatus{Reason: reason, Message: message}}
	}
	exit := func(code int32, reason string, finished time.Time) *corev1.ContainerStateTerminated {
		return &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason, FinishedAt: metav1.NewTime(finished)}
	}
	earlier, later := disruptedAt.Add(-time.Minute), disruptedAt.Add(time.Minute)
	running := func(ready, containersReady corev1.ConditionStatus, gates ...corev1.PodReadinessGate) *corev1.Pod {
		return &corev1.Pod{Spec: corev1.PodSpec{ReadinessGates: gates}, Status: corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{
			{Type: corev1.PodReady, Status: ready}, {Type: corev1.ContainersReady, Status: containersReady},
		}}}
	}
	going := kubelet("", "")
	going.DeletionTimestamp = &disruptedAt
	cases := map[string]struct {
		reason string
		pod    *corev1.Pod
		end    *corev1.ContainerStateTerminated
		want   Disruption
	}{
		"Drained": {
			reason: "A drain evicts pods by the API.",
			pod:    target("True", "EvictionByEvictionAPI", ""), end: exit(1, "Error", later), want: "Evicted",
		},
		"Preempted": {reason: "The scheduler makes room.", pod: target("True", "PreemptionByScheduler", ""), want: "Preempted"},
		"Tainted": {
			reason: "A node that is not ready loses its pods.",
			pod:    target("True", "DeletionByTaintManager", ""), want: "NodeLost",
		},
		"Collected": {reason: "A node that is removed loses its pods.", pod: target("True", "DeletionByPodGC", ""), want: "NodeLost"},
		"Newer": {
			reason: "A reason of a newer Kubernetes is a disruption, too.",
			pod:    target("True", "MovedByRebalancer", ""), want: "Evicted",
		},
		"Shutdown": {
			reason: "The status says why a kubelet ended a pod.",
			pod:    target("True", "TerminationByKubelet", "Terminated"), want: "NodeLost",
		},
		"NotDisrupted": {
			reason: "A false condition is no disruption.",
			pod:    target("False", "EvictionByEvictionAPI", ""), end: exit(1, "Error", later),
		},
		"Late": {
			reason: "A disruption after the end of a container is not why it ended.",
			pod:    target("True", "EvictionByEvictionAPI", ""), end: exit(1, "Error", earlier),
		},
		"Pressure": {
			reason: "A node without memory evicts pods.",
			pod:    kubelet("Evicted", "The node was low on resource: memory."), want: "Evicted",
		},
		"NoRoom":   {reason: "A node without room refuses pods.", pod: kubelet("OutOfcpu", ""), want: "Evicted"},
		"NoMemory": {reason: "A node without memory refuses pods.", pod: kubelet("OutOfmemory", ""), want: "Evicted"},
		"NoPlace":  {reason: "A node with the largest number of pods refuses pods.", pod: kubelet("OutOfpods", ""), want: "Evicted"},
		"Unadmitted": {
			reason: "A kubelet refuses pods whose devices it cannot allocate.",
			pod:    kubelet("UnexpectedAdmissionError", "Allocate failed due to requested number of devices unavailable"), want: "Refused",
		},
		"PressureCondition": {
			reason: "A kubelet that ends a pod for its node adds the condition, too.",
			pod:    target("True", "TerminationByKubelet", "Evicted"), want: "Evicted",
		},
		"DeviceTainted": {
			reason: "A device that fails loses its pods.",
			pod:    target("True", "DeletionByDeviceTaintManager", ""), want: "Evicted",
		},
		"NodeLost":     {reason: "The control plane marks the pods of a lost node.", pod: kubelet("NodeLost", ""), want: "NodeLost"},
		"NodeShutdown": {reason: "A node that shuts down ends its pods.", pod: kubelet("NodeShutdown", ""), want: "NodeLost"},
		"Terminated":   {reason: "A node that shuts down reports so in newer versions.", pod: kubelet("Terminated", ""), want: "NodeLost"},
		"StatusUnknown": {
			reason: "A kubelet that finds no container of a pod reports that its node lost it.",
			pod:    kubelet("", ""), end: exit(137, "ContainerStatusUnknown", later), want: "NodeLost",
		},
		"OutOfMemoryStays": {
			reason: "A container that used too much memory is at fault itself in a pod that stays.",
			pod:    kubelet("", ""), end: exit(137, "OOMKilled", later),
		},
		"OutOfMemoryDrained": {
			reason: "A container that used too much memory before its node was drained is at fault itself.",
			pod:    target("True", "EvictionByEvictionAPI", ""), end: exit(137, "OOMKilled", earlier),
		},
		"Critical": {reason: "A kubelet makes room for critical pods.", pod: kubelet("Preempting", ""), want: "Preempted"},
		"Affinity": {reason: "A kubelet refuses pods that its node's labels exclude.", pod: kubelet("NodeAffinity", ""), want: "Refused"},
		"OwnLimit": {
			reason: "A pod beyond its own limit of the disk is at fault itself.",
			pod:    kubelet("Evicted", "Pod ephemeral local storage usage exceeds the total limit of containers 1Gi. "),
		},
		"OwnDeadline": {reason: "A pod beyond its own deadline is at fault itself.", pod: kubelet("DeadlineExceeded", "")},
		"Deleted": {
			reason: "A signal ended the container of a pod that is being deleted.",
			pod:    going, end: exit(137, "Error", later), want: "PodDeleted",
		},
		"Gone": {reason: "A signal ended the container of a pod that is gone.", end: exit(143, "Error", later), want: "PodDeleted"},
		"EndedThenGone": {
			reason: "A container that ended by itself did so before its pod was deleted.",
			pod:    going, end: exit(1, "Error", later),
		},
		"OutOfMemory": {reason: "A container that used too much memory is at fault itself.", pod: going, end: exit(137, "OOMKilled", later)},
		"Killed": {
			reason: "A container with that exit code in a pod that stays may have chosen it.",
			pod:    kubelet("", ""), end: exit(137, "Error", later),
		},
		"Rebooted": {
			reason: "A node that restarts loses its containers.",
			pod:    kubelet("", ""), end: exit(255, "Unknown", later), want: "NodeLost",
		},
		"Silent": {reason: "A node that sends no status has its pods marked as not ready.", pod: running("False", "True"), want: "NodeLost"},
		"Ready":  {reason: "A pod that is ready runs.", pod: running("True", "True")},
		"Unready": {
			reason: "A kubelet reports a pod with a container that is not ready.",
			pod:    running("False", "False"),
		},
		"Gated": {
			reason: "A readiness gate makes a pod not ready.",
			pod:    running("False", "True", corev1.PodReadinessGate{ConditionType: "example.org/registered"}),
		},
		"Failed":  {reason: "A container that ends with an error is no disruption.", pod: kubelet("", ""), end: exit(1, "Error", later)},
		"Nothing": {reason: "A pod that is gone without a report proves nothing."},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, FindDisruption(tc.pod, tc.end)); diff != "" {
				t.Errorf("%s\nFindDisruption(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
