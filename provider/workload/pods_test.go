package workload

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func newPod(status object) unstructured.Unstructured {
	return unstructured.Unstructured{Object: object{"apiVersion": "v1", "kind": "Pod", "metadata": object{"name": "shop-h2-x"}, "status": status}}
}

func withContainer(c object) unstructured.Unstructured {
	c["name"] = "shop"
	return newPod(object{"containerStatuses": []any{c}})
}

func waiting(reason, message string) object {
	return object{"waiting": object{"reason": reason, "message": message}}
}

func ended(code int64, reason string) object {
	return object{"terminated": object{"exitCode": code, "reason": reason}}
}

// endedPod is a pod that its node ended, with the container that ended with it.
func endedPod(reason, message string, conditions ...any) unstructured.Unstructured {
	container := object{"name": "shop", "state": ended(137, "Error")}
	return newPod(object{"phase": "Failed", "reason": reason, "message": message, "conditions": conditions, "containerStatuses": []any{container}})
}

func TestPodTrouble(t *testing.T) {
	type list = []unstructured.Unstructured
	const crashMessage = "container shop ends again and again"
	crash := withContainer(object{"state": waiting("CrashLoopBackOff", "back-off 5m0s restarting failed container"), "lastState": ended(137, "OOMKilled"), "restartCount": int64(7)})
	cases := map[string]struct {
		reason string
		pods   list
		want   Trouble
	}{
		"CrashLoop": {
			reason: "A crash loop has the last exit code, and no time that changes.",
			pods:   list{crash}, want: Trouble{"CrashLoopBackOff", crashMessage + ": exit code 137, OOMKilled"},
		},
		"Ended": {
			reason: "A container that has just failed is in the loop.",
			pods:   list{withContainer(object{"state": ended(1, "Error")})}, want: Trouble{"CrashLoopBackOff", crashMessage + ": exit code 1, Error"},
		},
		"Restarted": {
			reason: "A container that runs again and is not ready is still in the loop.",
			pods:   list{withContainer(object{"state": object{"running": object{}}, "lastState": ended(1, "Error")})},
			want:   Trouble{"CrashLoopBackOff", crashMessage + ": exit code 1, Error"},
		},
		"Pull": {
			reason: "An image that cannot be pulled is named, whether it is tried or waited for.",
			pods:   list{withContainer(object{"image": "shop:2", "state": waiting("ErrImagePull", "rpc error")})},
			want:   Trouble{"ImagePullBackOff", "container shop: image shop:2 cannot be pulled"},
		},
		"Config": {
			reason: "A Secret that is missing is named.",
			pods:   list{withContainer(object{"state": waiting("CreateContainerConfigError", `secret "shop-db" not found`)})},
			want:   Trouble{"ConfigMissing", `container shop: secret "shop-db" not found`},
		},
		"Unschedulable": {
			reason: "A pod that no node takes has the reason of the scheduler.",
			pods: list{
				newPod(
					object{
						"conditions": []any{
							object{
								"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/3 nodes are available: 3 Insufficient cpu.",
							},
						},
					},
				),
			},
			want: Trouble{"Unschedulable", "0/3 nodes are available: 3 Insufficient cpu."},
		},
		"NotReady": {
			reason: "A container that runs and is not ready has a probe that does not succeed.",
			pods:   list{withContainer(object{"state": object{"running": object{}}})},
			want:   Trouble{"NotReady", "container shop runs, and its readiness probe does not succeed"},
		},
		"Starting": {reason: "A container that is being created has no fault.", pods: list{withContainer(object{"state": waiting("ContainerCreating", "")})}},
		"Init": {
			reason: "An init container that succeeded is not a fault, and a failing init container is.",
			pods: list{
				newPod(
					object{
						"initContainerStatuses": []any{
							object{"name": "a", "state": ended(0, "Completed")}, object{"name": "shop", "state": ended(2, "Error")},
						},
					},
				),
			},
			want: Trouble{"CrashLoopBackOff", crashMessage + ": exit code 2, Error"},
		},
		"Gravest": {
			reason: "A failure that a user has to fix comes before a failure that may end by itself, whatever the order of the pods.",
			pods:   list{crash, withContainer(object{"state": waiting("CreateContainerConfigError", "x")}), withContainer(object{"state": object{"running": object{}}})},
			want:   Trouble{"ConfigMissing", "container shop: x"},
		},
		"Ready": {
			reason: "A container that is ready has no fault, whatever its last state.",
			pods:   list{withContainer(object{"ready": true, "state": object{"running": object{}}, "lastState": ended(1, "Error")})},
		},
		"Evicted": {
			reason: "A pod that its node evicted for want of memory does not crash.",
			pods:   list{endedPod("Evicted", "The node was low on resource: memory. Container shop was using 5Gi, which exceeds its request of 0.")},
			want:   Trouble{"Progressing", "a node ended a pod (Evicted), and the cluster creates another pod"},
		},
		"NodeShutdown": {
			reason: "A pod that ended with its node does not crash.",
			pods:   list{endedPod("Terminated", "Pod was terminated in response to imminent node shutdown.")},
			want:   Trouble{"Progressing", "a node ended a pod (Terminated), and the cluster creates another pod"},
		},
		"NoRoom": {
			reason: "A pod that its node did not admit does not crash.",
			pods:   list{newPod(object{"phase": "Failed", "reason": "OutOfcpu", "message": "Node didn't have enough resource: cpu"})},
			want:   Trouble{"Progressing", "a node ended a pod (OutOfcpu), and the cluster creates another pod"},
		},
		"Disrupted": {
			reason: "A pod without a reason of its own has the reason of its disruption.",
			pods:   list{endedPod("", "", object{"type": "DisruptionTarget", "status": "True", "reason": "DeletionByPodGC"})},
			want:   Trouble{"Progressing", "a node ended a pod (DeletionByPodGC), and the cluster creates another pod"},
		},
		"EndedWithoutReason": {
			reason: "A pod that ended without any reason is named by its phase.",
			pods:   list{newPod(object{"phase": "Succeeded"})},
			want:   Trouble{"Progressing", "a node ended a pod (Succeeded), and the cluster creates another pod"},
		},
		"OwnLimit": {
			reason: "A pod that is evicted for its own limits is at fault.",
			pods:   list{endedPod("Evicted", "Pod ephemeral local storage usage exceeds the total limit of containers 4Gi. ")},
			want:   Trouble{"CrashLoopBackOff", "pods are evicted again and again: Pod ephemeral local storage usage exceeds the total limit of containers 4Gi."},
		},
		"EvictedBefore": {
			reason: "The fault of the present pod comes before the end of an earlier pod.",
			pods:   list{endedPod("Evicted", "The node was low on resource: memory."), withContainer(object{"state": object{"running": object{}}})},
			want:   Trouble{"NotReady", "container shop runs, and its readiness probe does not succeed"},
		},
		"NodeRestarted": {
			reason: "A container that was lost with its node, and starts again, does not crash.",
			pods:   list{withContainer(object{"state": object{"running": object{}}, "lastState": ended(255, "Unknown")})},
			want:   Trouble{"NotReady", "container shop runs, and its readiness probe does not succeed"},
		},
		"NodeLost": {
			reason: "A container whose state the kubelet lost does not crash.",
			pods:   list{withContainer(object{"state": ended(137, "ContainerStatusUnknown")})},
		},
		"Malformed": {reason: "A pod that cannot be decoded has no fault.", pods: list{newPod(object{"containerStatuses": "junk"})}},
		"None":      {reason: "A Deployment without pods has no fault."},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, PodTrouble(tc.pods)); diff != "" {
				t.Errorf("\n%s\nPodTrouble(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
	long := PodTrouble(list{withContainer(object{"state": waiting("CreateContainerConfigError", strings.Repeat("long \x1b[31m\n", 1000))})})
	if len(long.Message) > 520 || strings.ContainsAny(long.Message, "\n\x1b") {
		t.Errorf("A message of a hostile cluster is one short line: %q", long.Message)
	}
}
