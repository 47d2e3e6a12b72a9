package workload

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
)

const (
	newImage = "registry.example.org/team-a/shop@sha256:1111111111111111111111111111111111111111111111111111111111111111"
	oldImage = "registry.example.org/team-a/shop@sha256:2222222222222222222222222222222222222222222222222222222222222222"
)

type object = map[string]any

// newDeployment returns a Deployment as its controller reports it. Available are pods of all revisions.
func newDeployment(name, image string, replicas, available int64, change ...func(object)) *unstructured.Unstructured {
	o := object{
		"apiVersion": "apps/v1", "kind": "Deployment",
		"metadata": object{"name": name, "namespace": "team-a", "uid": name, "generation": int64(3), "annotations": object{revisionAnnotation: "2"}},
		"spec": object{
			"replicas": replicas,
			"template": object{
				"spec": object{"containers": []any{object{"name": "proxy", "image": "proxy:1"}, object{"name": "shop", "image": image}}},
			},
		},
		"status": object{"observedGeneration": int64(3), "updatedReplicas": replicas, "availableReplicas": available},
	}
	for _, do := range change {
		do(o)
	}
	return &unstructured.Unstructured{Object: o}
}

func newReplicaSet(owner, revision, image string, replicas, available int64) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: object{
		"apiVersion": "apps/v1", "kind": "ReplicaSet",
		"metadata": object{
			"name": owner + "-" + revision, "namespace": "team-a", "annotations": object{revisionAnnotation: revision},
			"labels":          object{"pod-template-hash": "h" + revision},
			"ownerReferences": []any{object{"apiVersion": "apps/v1", "kind": "Deployment", "name": owner, "uid": owner, "controller": true}},
		},
		"spec":   object{"template": object{"spec": object{"containers": []any{object{"image": image}}}}},
		"status": object{"replicas": replicas, "availableReplicas": available},
	}}
}

func set(value any, path ...string) func(object) {
	return func(o object) {
		if err := unstructured.SetNestedField(o, value, path...); err != nil {
			panic(err)
		}
	}
}

func failing(message string) func(object) {
	return set([]any{object{"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": message}}, "status", "conditions")
}

func TestAssess(t *testing.T) {
	type list = []*unstructured.Unstructured
	const lag = "the cluster has not acted on the last change of Deployment shop"
	cases := map[string]struct {
		reason            string
		deployments, sets list
		want              Health
	}{
		"Available": {
			reason:      "Pods of the present revision that are available serve.",
			deployments: list{newDeployment("shop", newImage, 2, 2)}, sets: list{newReplicaSet("shop", "2", newImage, 2, 2)},
			want: Health{State: "Available", Available: 2, Updated: 2, Desired: 2},
		},
		"OldPods": {
			reason:      "Pods of the previous revision do not have the image, although the Deployment counts them as available.",
			deployments: list{newDeployment("shop", newImage, 2, 2)}, sets: list{newReplicaSet("shop", "1", oldImage, 2, 2), newReplicaSet("shop", "2", newImage, 1, 0)},
			want: Health{State: "Progressing", Reason: "Progressing", AvailableOther: 2, Updated: 1, Desired: 2, PodSelector: "pod-template-hash=h2"},
		},
		"Both": {
			reason:      "One available pod of the image is enough while the others follow.",
			deployments: list{newDeployment("shop", newImage, 2, 2)}, sets: list{newReplicaSet("shop", "1", oldImage, 1, 1), newReplicaSet("shop", "2", newImage, 1, 1)},
			want: Health{State: "Available", Available: 1, AvailableOther: 1, Updated: 1, Desired: 2},
		},
		"OtherImage": {
			reason:      "A Deployment with another image serves another image.",
			deployments: list{newDeployment("shop", oldImage, 2, 2)}, sets: list{newReplicaSet("shop", "2", oldImage, 2, 2)},
			want: Health{State: "OtherImage", Reason: "OtherImage", Message: "Deployment shop has proxy:1, " + oldImage, AvailableOther: 2, Desired: 2},
		},
		"OldGeneration": {
			reason:      "The status of the Deployment's controller from before the last change proves nothing.",
			deployments: list{newDeployment("shop", newImage, 2, 2, set(int64(2), "status", "observedGeneration"))},
			sets:        list{newReplicaSet("shop", "2", newImage, 2, 2)},
			want:        Health{State: "Progressing", Reason: "Progressing", Message: lag, AvailableOther: 2, Desired: 2},
		},
		"OldTemplate": {
			reason:      "The pods of a paused Deployment are of the template before the last change, although it has their revision and the image.",
			deployments: list{newDeployment("shop", newImage, 2, 2, set(true, "spec", "paused"), set(int64(0), "status", "updatedReplicas"))},
			sets:        list{newReplicaSet("shop", "2", newImage, 2, 2)},
			want:        Health{State: "Progressing", Reason: "Progressing", Message: lag, AvailableOther: 2, Desired: 2},
		},
		"OldSet": {
			reason:      "A ReplicaSet with another image than its Deployment is not that of the present revision.",
			deployments: list{newDeployment("shop", newImage, 2, 2)}, sets: list{newReplicaSet("shop", "2", oldImage, 2, 2)},
			want: Health{State: "Progressing", Reason: "Progressing", Message: lag, AvailableOther: 2, Desired: 2},
		},
		"SetOfOthers": {
			reason:      "A ReplicaSet of another Deployment does not count.",
			deployments: list{newDeployment("shop", newImage, 2, 0)}, sets: list{newReplicaSet("blog", "2", newImage, 2, 2)},
			want: Health{State: "Progressing", Reason: "Progressing", Message: lag, Desired: 2},
		},
		"Zero": {
			reason:      "A Deployment that is asked for no pods is as it was asked for.",
			deployments: list{newDeployment("shop", newImage, 0, 0)}, sets: list{newReplicaSet("shop", "2", newImage, 0, 0)},
			want: Health{State: "ScaledToZero", Reason: "ScaledToZero"},
		},
		"Quota": {
			reason:      "A quota that is used up is named.",
			deployments: list{newDeployment("shop", newImage, 2, 0, failing(`pods "shop-h2-x" is forbidden: exceeded quota: small`))},
			sets:        list{newReplicaSet("shop", "2", newImage, 0, 0)},
			want:        Health{State: "Unavailable", Reason: "QuotaExceeded", Message: `pods "shop-h2-x" is forbidden: exceeded quota: small`, Desired: 2},
		},
		"Refused": {
			reason:      "A cluster that refuses to make pods for another reason is quoted.",
			deployments: list{newDeployment("shop", newImage, 2, 0, failing("admission webhook\ndenied the request"))},
			sets:        list{newReplicaSet("shop", "2", newImage, 0, 0)},
			want:        Health{State: "Unavailable", Reason: "PodsRefused", Message: "admission webhook denied the request", Desired: 2},
		},
		"Deleting": {
			reason:      "A Deployment that is being deleted does not count.",
			deployments: list{newDeployment("shop", newImage, 2, 2, set("2031-12-17T13:14:15Z", "metadata", "deletionTimestamp"))},
			want:        Health{State: "Missing", Reason: "WorkloadMissing", Message: "Deployment shop is being deleted", AvailableOther: 2, Desired: 2},
		},
		"Missing": {
			reason: "Without a Deployment no pod can be available.",
			want:   Health{State: "Missing", Reason: "WorkloadMissing", Message: "no Deployment has the labels intentplane.dev/claim and intentplane.dev/workload"},
		},
		"TwoOfTwo": {
			reason:      "All Deployments of a claim have to be available, and their pods are counted together.",
			deployments: list{newDeployment("shop", newImage, 2, 2), newDeployment("worker", newImage, 1, 1)},
			sets:        list{newReplicaSet("shop", "2", newImage, 2, 2), newReplicaSet("worker", "2", newImage, 1, 1)},
			want:        Health{State: "Available", Available: 3, Updated: 3, Desired: 3},
		},
		"OneOfTwo": {
			reason:      "One Deployment without an available pod makes the Site unavailable.",
			deployments: list{newDeployment("shop", newImage, 2, 2), newDeployment("worker", newImage, 1, 0)},
			sets:        list{newReplicaSet("shop", "2", newImage, 2, 2), newReplicaSet("worker", "2", newImage, 1, 0)},
			want:        Health{State: "Progressing", Reason: "Progressing", Available: 2, Updated: 3, Desired: 3, PodSelector: "pod-template-hash=h2"},
		},
		"Hostile": {
			reason:      "Numbers that no cluster has are bounded.",
			deployments: list{newDeployment("shop", newImage, 1<<62, -5)}, sets: list{newReplicaSet("shop", "2", newImage, 1<<62, 1<<62)},
			want: Health{State: "Available", Available: mostPods, Updated: mostPods, Desired: mostPods},
		},
		"Malformed": {
			reason:      "A Deployment that cannot be decoded proves nothing.",
			deployments: list{newDeployment("shop", newImage, 2, 2, set("two", "spec", "replicas"))},
			want:        Health{State: "Progressing", Reason: "Progressing", Message: "cannot read Deployment: a field has an unexpected type"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Assess(newImage, tc.deployments, tc.sets)); diff != "" {
				t.Errorf("\n%s\nAssess(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestAnyImage assesses a Deployment of which no image is asked for.
func TestAnyImage(t *testing.T) {
	got := Assess("", []*unstructured.Unstructured{newDeployment("shop", oldImage, 1, 1)}, []*unstructured.Unstructured{newReplicaSet("shop", "2", oldImage, 1, 1)})
	if diff := cmp.Diff(Health{State: "Available", Available: 1, Updated: 1, Desired: 1}, got); diff != "" {
		t.Errorf("\nWithout an image that is asked for, pods of each image count.\nAssess(...): -want, +got:\n%s", diff)
	}
}

func TestSelectTracks(t *testing.T) {
	in := func(track string) func(object) { return set(track, "metadata", "labels", "intentplane.dev/track") }
	type list = []*unstructured.Unstructured
	broken := newDeployment("c", newImage, 1, 1, in("green"), set("one", "spec", "replicas"))
	cases := map[string]struct {
		reason      string
		image       string
		deployments list
		want        []string
	}{
		"NoTracks": {
			reason: "Without tracks each Deployment of a claim counts.",
			image:  newImage, deployments: list{newDeployment("a", oldImage, 1, 1), newDeployment("b", newImage, 1, 1)}, want: []string{"a", "b"},
		},
		"Beside": {
			reason: "Of two tracks beside each other the track with the image counts.", image: newImage,
			deployments: list{newDeployment("a", oldImage, 1, 1, in("blue")), newDeployment("b", newImage, 1, 1, in("green"))}, want: []string{"b"},
		},
		"Plain": {
			reason: "A workload without a track may be beside a workload in a track.", image: newImage,
			deployments: list{newDeployment("a", oldImage, 1, 1), newDeployment("b", newImage, 1, 1, in("blue"))}, want: []string{"b"},
		},
		"None": {
			reason: "Where no track has the image, each counts, and the other image is reported.", image: newImage,
			deployments: list{newDeployment("a", oldImage, 1, 1, in("blue")), newDeployment("b", oldImage, 1, 1, in("green"))}, want: []string{"a", "b"},
		},
		"Malformed": {
			reason: "A Deployment that cannot be decoded leaves the choice to who assesses it.",
			image:  newImage, deployments: list{newDeployment("a", oldImage, 1, 1, in("blue")), broken}, want: []string{"a", "c"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, u := range SelectTracks(tc.image, tc.deployments) {
				got = append(got, u.GetName())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nSelectTracks(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestAssessStates holds the order of states against the list of all that a Deployment may have.
func TestAssessStates(t *testing.T) {
	for _, s := range []v1alpha1.HealthState{"ScaledToZero", "Available", "Progressing", "Unavailable", "OtherImage", "Missing"} {
		if gravityOfState(s) < 0 {
			t.Errorf("state %s has no gravity", s)
		}
	}
}

func TestIsOwner(t *testing.T) {
	uidSet := func(uids ...types.UID) map[types.UID]bool {
		out := map[types.UID]bool{}
		for _, u := range uids {
			out[u] = true
		}
		return out
	}
	set := newReplicaSet("shop", "2", newImage, 1, 1)
	orphan := newReplicaSet("shop", "2", newImage, 1, 1)
	orphan.SetOwnerReferences(nil)
	if !IsOwner(uidSet("blog", "shop"), set) || IsOwner(uidSet("blog"), set) || IsOwner(uidSet("shop"), orphan) {
		t.Error("A ReplicaSet belongs to the Deployment that controls it, and to no other.")
	}
}

// TestMatchesCopyNothing reads a label and the owner of an object with many of both.
func TestMatchesCopyNothing(t *testing.T) {
	u := newReplicaSet("shop", "2", newImage, 1, 1)
	labels, owners := map[string]string{}, u.GetOwnerReferences()
	for n := range 100 {
		labels[fmt.Sprintf("label-%d", n)] = "x"
		owners = append(owners, metav1.OwnerReference{Kind: "Other", Name: fmt.Sprint(n), UID: types.UID(fmt.Sprint(n))})
	}
	u.SetLabels(labels)
	u.SetOwnerReferences(owners)
	uids := map[types.UID]bool{"shop": true}
	allocations := testing.AllocsPerRun(10, func() {
		if LabelOf(u, "label-7") != "x" || LabelOf(u, "other") != "" || !IsOwner(uids, u) {
			t.Error("A label has its value, and a ReplicaSet the Deployment that controls it.")
		}
	})
	if allocations > 5 {
		t.Errorf("Each change in a cluster is compared with all that is read, so a comparison takes no memory.\nGot %.0f allocations", allocations)
	}
}
