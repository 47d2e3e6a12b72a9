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
