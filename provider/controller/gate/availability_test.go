package gate

import (
	"maps"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clienttesting "k8s.io/client-go/testing"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/controller/setup"
	"github.com/intentplane/intentplane/provider/instant"
)

type object = map[string]any

const newImage = "registry.example.org/team-a/web@sha256:1111111111111111111111111111111111111111111111111111111111111111"

func appsResource(resource string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: resource}
}

// available is a check that passes once a pod is available for 10 seconds, and fails after two minutes.
func available(change ...func(*v1alpha1.GateCheck)) v1alpha1.GateCheck {
	c := check("available", "edge1")
	c.Type, c.Prometheus, c.Threshold, c.Timeout = typeAvailability, nil, "", "2m"
	c.Availability = &deploymentv1alpha1.AvailabilityCheck{Image: newImage}
	for _, do := range change {
		do(&c)
	}
	return c
}

// A podWorld is a world whose clock the test sets, which begins when the Site goes live.
type podWorld struct {
	*world

	clock time.Time
	// refused is true while the cluster lists no Deployments for the provider.
	refused atomic.Bool
}

func newPodWorld(t *testing.T, checks ...v1alpha1.GateCheck) *podWorld {
	t.Helper()
	w := &podWorld{world: newWorld(t, checks...), clock: noon()}
	w.c.now = func() time.Time { return w.clock }
	w.edit(func(s *deliveryv1alpha1.SiteSync) {
		s.Status.AtProvider.Sites[0].LiveSince = instant.Timestamp(w.clock)
	})
	w.cluster.PrependReactor("list", "deployments", func(clienttesting.Action) (bool, runtime.Object, error) {
		return w.refused.Load(), nil, kerrors.NewForbidden(appsResource("deployments").GroupResource(), "", nil)
	})
	return w
}

// deployed has the cluster report a Deployment of a claim for an image, of which so many of two pods are available.
func (w *podWorld) deployed(claim, image string, pods int64) {
	w.Helper()
	w.deployedInTrack(claim, "", image, pods)
}

// deployedInTrack has it report one in a track. Empty means none.
func (w *podWorld) deployedInTrack(claim, track, image string, pods int64) {
	w.Helper()
	name, labels := claim+track, object{"intentplane.dev/claim": claim, "intentplane.dev/workload": "main"}
	if track != "" {
		labels["intentplane.dev/track"] = track
	}
	containers := object{"spec": object{"containers": []any{object{"name": "web", "image": image}}}}
	revision := object{"deployment.kubernetes.io/revision": "1"}
	w.put(appsResource("replicasets"), object{
		"apiVersion": "apps/v1", "kind": "ReplicaSet",
		"metadata": object{
			"name": name + "-1", "namespace": "team-a", "annotations": revision, "labels": object{"pod-template-hash": "h1"},
			"ownerReferences": []any{object{"apiVersion": "apps/v1", "kind": "Deployment", "name": name, "uid": name, "controller": true}},
		},
		"spec": object{"template": containers}, "status": object{"replicas": int64(2), "availableReplicas": pods},
	})
	w.put(appsResource("deployments"), object{
		"apiVersion": "apps/v1", "kind": "Deployment",
		"metadata": object{
			"name": name, "namespace": "team-a", "uid": name, "generation": int64(1), "annotations": revision, "labels": labels,
		},
		"spec":   object{"replicas": int64(2), "template": containers},
		"status": object{"observedGeneration": int64(1), "updatedReplicas": int64(2), "availableReplicas": pods},
	})
}

// put an object into the cluster, or replace it.
func (w *podWorld) put(r schema.GroupVersionResource, o object) {
	w.Helper()
	u := &unstructured.Unstructured{Object: o}
	resourceClient := w.cluster.Resource(r).Namespace(u.GetNamespace())
	if _, err := resourceClient.Update(w.Context(), u, metav1.UpdateOptions{}); err == nil {
		return
	}
	_, err := resourceClient.Create(w.Context(), u, metav1.CreateOptions{})
	w.must(err)
}

// after reconciles the Gate so many seconds after the Site went live, and expects a state.
func (w *podWorld) after(seconds int, want string) {
	w.Helper()
	w.clock = noon().Add(time.Duration(seconds) * time.Second)
	w.reconcile()
	if got := w.state(); got != want {
		w.Fatalf("%d seconds after the Site went live: want %s, got %s", seconds, want, got)
	}
}

// wakes waits until the cluster reports a change of the Pods that the Gate reads.
func (w *podWorld) wakes() {
	w.Helper()
	select {
	case <-w.woken:
	case <-time.After(time.Minute):
		w.Fatal("The cluster does not wake the Gate.")
	}
}

// due is how many seconds after the Site went live the Gate is looked at by itself.
func (w *podWorld) due() float64 { return w.c.memory.nextReconcileTime(w.get()).Sub(noon()).Seconds() }

// TestAvailable has pods become available: the cluster wakes the Gate, which passes once they stayed so.
func TestAvailable(t *testing.T) {
	w := newPodWorld(t, available())
	w.deployed("web", newImage, 0)
	w.after(1, "Measuring//Running")
	if got := w.due(); got != 120 {
		t.Errorf("the Gate is looked at after %v seconds, want the timeout", got)
	}
	w.deployed("web", newImage, 1)
	// Then the Gate is reconciled when the pods stayed available.
	for w.after(30, "Measuring//Running"); w.due() != 40; w.after(30, "Measuring//Running") {
		w.wakes()
	}
	w.after(40, "Passed/Passed/Passed")
}

// TestAvailableTrack has a canary beside the track of the image before, which does not count.
func TestAvailableTrack(t *testing.T) {
	w := newPodWorld(t, available())
	w.deployedInTrack("web", "blue", "web:1", 0)
	w.deployedInTrack("web", "green", newImage, 1)
	w.after(1, "Measuring//Running")
	w.after(11, "Passed/Passed/Passed")
}

// TestUnavailable has pods that never become available, for reasons that the verdict names.
func TestUnavailable(t *testing.T) {
	cases := map[string]struct {
		reason string
		given  func(w *podWorld)
		want   string
	}{
		"CrashLoop": {
			reason: "A crash loop is named with its exit code.",
			given: func(w *podWorld) {
				w.deployed("web", newImage, 0)
				w.put(podResource(), object{
					"apiVersion": "v1", "kind": "Pod", "metadata": object{"name": "web-1", "namespace": "team-a", "labels": object{"pod-template-hash": "h1"}},
					"status": object{
						"containerStatuses": []any{
							object{
								"name": "web", "state": object{"waiting": object{"reason": "CrashLoopBackOff"}},
								"lastState": object{"terminated": object{"exitCode": int64(3), "reason": "Error"}},
							},
						},
					},
				})
			},
			want: "0 of 1 pods are available: CrashLoopBackOff: container web ends again and again: exit code 3, Error",
		},
		"OtherImage": {
			reason: "Pods of another image do not count for the revision.", given: func(w *podWorld) { w.deployed("web", "web:1", 2) },
			want: "0 of 1 pods are available: OtherImage: Deployment web has web:1",
		},
		"OtherClaim": {
			reason: "Pods of another claim do not count.", given: func(w *podWorld) { w.deployed("other", newImage, 2) },
			want: "0 of 1 pods are available: WorkloadMissing: no Deployment has the labels intentplane.dev/claim and intentplane.dev/workload",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newPodWorld(t, available())
			tc.given(w)
			w.after(1, "Measuring//Running")
			w.after(119, "Measuring//Running")
			w.restart() // A message does not start the clock again.
			w.after(120, "Failed/Failed/Failed")
			if diff := cmp.Diff(tc.want, w.get().Status.AtProvider.Checks[0].Message); diff != "" {
				t.Errorf("\n%s\nthe message of the check: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestSiteOutOfSight takes the right to read Deployments away: the Gate reports it, and rejects nothing, whatever is to happen where a metrics
// backend is unavailable. Then it goes on with the remaining time, also after a restart.
func TestSiteOutOfSight(t *testing.T) {
	w := newPodWorld(t, available())
	g := w.get()
	g.Spec.ForProvider.OnMetricsUnavailable, g.Spec.ForProvider.MetricsUnavailableTimeout = "Reject", "30m"
	w.must(w.kube.Update(t.Context(), g))
	w.refused.Store(true)
	w.after(20, "Measuring//Running")
	w.after(30, "MetricsUnavailable//Running")
	want := `check "available" at Site "edge1": the Site cannot be looked at: the provider's service account may not list and watch Deployments and ReplicaSets of namespace team-a: ` +
		`bind the rules of examples/health/rbac.yaml`
	if diff := cmp.Diff(want, w.get().GetCondition(xpv2.TypeReady).Message); diff != "" {
		t.Errorf("Ready: -want, +got:\n%s", diff)
	}
	w.after(1000, "MetricsUnavailable//Running")
	w.restart()
	w.after(3620, "Held//Running")
	w.deployed("web", newImage, 0)
	w.refused.Store(false)
	w.restart() // A connection that is made again reads at once.
	w.after(3700, "Measuring//Running")
	r := w.get().Status.AtProvider.Checks[0]
	if got := r.CountsFrom.Sub(noon()).Seconds(); got != 3680 || r.UnavailableSince != nil {
		t.Errorf("the timeout counts from %v seconds after the Site went live, want 3680: %+v", got, r)
	}
	w.restart()
	w.after(3799, "Measuring//Running")
	w.after(3800, "Failed/Failed/Failed")
}

// TestUnseenSite has a Site whose workload cannot be observed. It counts by the health of its engine or by unobservedIsLive.
func TestUnseenSite(t *testing.T) {
	const unseen = "the Site cannot be looked at: the provider's service account may not list and watch Deployments and ReplicaSets of namespace team-a: bind the rules of examples/health/rbac.yaml"
	cases := map[string]struct {
		reason     string
		health     string
		unobserved bool
		refused    bool
		change     func(w *podWorld)
		// seconds after the Site went live. Zero stands for 40.
		seconds int
		want    string
		message string
	}{
		"Healthy": {
			reason: "A Site passes if its engine reports healthy objects.",
			health: "Healthy", refused: true, want: "Passed/Passed/Passed", message: setup.CountsAsHealthy + unseen,
		},
		"Current": {
			reason: "Config Sync reports healthy objects as Current.",
			health: "Current", refused: true, want: "Passed/Passed/Passed", message: setup.CountsAsHealthy + unseen,
		},
		"NoChecks": {reason: "An engine without health checks gives no result.", refused: true, want: "Held//Running", message: unseen},
		"Seen":     {reason: "A Site that can be looked at counts by its pods, whatever its engine reports.", health: "Healthy", want: "Measuring//Running"},
		"Unobserved": {
			reason:     "A Site without an engine that counts as live passes.",
			unobserved: true, refused: true, want: "Passed/Passed/Passed", message: setup.CountsAsLive + unseen,
		},
		"NotThere": {reason: "The Deployment of a first revision may be on its way.", unobserved: true, seconds: 119, want: "Measuring//Running"},
		"Elsewhere": {
			reason:     "A Site that nothing can observe counts as live if no Deployment comes within the timeout: its workload may be elsewhere.",
			unobserved: true, seconds: 121, want: "Passed/Passed/Passed",
			message: setup.CountsAsLive + "no Deployment has the labels intentplane.dev/claim and intentplane.dev/workload",
		},
		"Here": {
			reason:     "A workload that is in that cluster counts by its pods.",
			unobserved: true, change: func(w *podWorld) { w.deployed("web", newImage, 0) }, want: "Measuring//Running",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newPodWorld(t, available())
			w.edit(func(s *deliveryv1alpha1.SiteSync) {
				s.Status.AtProvider.Sites[0].Engine = &deliveryv1alpha1.EngineObservation{Health: tc.health}
			})
			if tc.unobserved {
				w.unobserve(new(true))
				w.must(w.kube.Create(t.Context(), delivered()))
			}
			if tc.change != nil {
				tc.change(w)
			}
			if tc.seconds == 0 {
				tc.seconds = 40
			}
			w.refused.Store(tc.refused)
			w.clock = noon().Add(time.Second)
			w.reconcile()
			w.after(tc.seconds, tc.want)
			if diff := cmp.Diff(tc.message, w.get().Status.AtProvider.Checks[0].Message); diff != "" {
				t.Errorf("\n%s\nmessage: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestObservedSiteOutOfSight has a Site that can be looked at once, and whose pods are lost then. The provider goes on, or another replica takes over.
func TestObservedSiteOutOfSight(t *testing.T) {
	cases := map[string]struct {
		reason     string
		unobserved bool
		lose       func(w *podWorld)
		want       map[int]string
	}{
		"Outage": {
			reason: "The report of an engine does not stand in for pods that were not available before their cluster went out of sight.",
			lose:   func(w *podWorld) { w.refused.Store(true) },
			want:   map[int]string{20: "Measuring//Running", 40: "Held//Running"},
		},
		"OutageUnobserved": {
			reason: "A Site without an engine does not count as live once its pods were observed.", unobserved: true,
			lose: func(w *podWorld) { w.refused.Store(true) },
			want: map[int]string{20: "Measuring//Running", 40: "Held//Running"},
		},
		"Deleted": {
			reason: "A Deployment that was in the cluster of the control plane is not elsewhere.", unobserved: true,
			lose: func(w *podWorld) {
				w.must(w.cluster.Resource(appsResource("deployments")).Namespace("team-a").Delete(w.Context(), "web", metav1.DeleteOptions{}))
			},
			want: map[int]string{20: "Measuring//Running", 40: "Measuring//Running", 121: "Failed/Failed/Failed"},
		},
	}
	changes := map[string]func(*podWorld){
		"": func(w *podWorld) { w.c.pool.Forget(gateKey()) }, // A connection that is made again reads at once.
		"OtherReplica": func(w *podWorld) {
			if got := w.get().Status.AtProvider.Checks[0].ObservedAt; got == nil || !got.Time.Equal(noon().Add(time.Second)) {
				w.Errorf("The status says since when the pods of the Site count alone: want a second after the Site went live, got %v", got)
			}
			w.restart()
		},
	}
	for name, tc := range cases {
		for change, apply := range changes {
			t.Run(name+change, func(t *testing.T) {
				w := newPodWorld(t, available())
				w.edit(func(s *deliveryv1alpha1.SiteSync) {
					s.Status.AtProvider.Sites[0].Engine = &deliveryv1alpha1.EngineObservation{Health: "Healthy"}
				})
				if tc.unobserved {
					w.unobserve(new(true))
					w.must(w.kube.Create(t.Context(), delivered()))
				}
				w.deployed("web", newImage, 0)
				w.after(1, "Measuring//Running")
				tc.lose(w)
				apply(w)
				t.Log(tc.reason)
				for _, seconds := range slices.Sorted(maps.Keys(tc.want)) {
					w.after(seconds, tc.want[seconds])
				}
			})
		}
	}
}

// TestAvailabilityNeedsNamespace has a Gate whose namespace the Site does not take: nothing of it is read.
func TestAvailabilityNeedsNamespace(t *testing.T) {
	w := newPodWorld(t, available())
	s := &catalogv1alpha1.Site{}
	w.must(w.kube.Get(t.Context(), types.NamespacedName{Name: "edge1"}, s))
	s.Spec.TargetNamespaces.Allowed = []string{"shared"}
	w.must(w.kube.Update(t.Context(), s))
	w.after(1, "Error/Error/Error")
	want := `availability: the Site's spec.targetNamespaces.allowed does not allow namespace "team-a"`
	if diff := cmp.Diff(want, w.get().Status.AtProvider.Checks[0].Message); diff != "" || len(w.dialled) > 0 {
		t.Errorf("the cluster was reached %d times, the message of the check: -want, +got:\n%s", len(w.dialled), diff)
	}
}

// TestAvailabilityAtOneSite has two Sites, one of which does not accept the namespace: its cluster is not reached for the other
// Site.
func TestAvailabilityAtOneSite(t *testing.T) {
	w := newPodWorld(t, available(), available(func(c *v1alpha1.GateCheck) { c.Site = "edge2" }))
	otherSite := site("")
	otherSite.SetName("edge2")
	otherSite.Spec.TargetNamespaces.Allowed = []string{"shared"}
	otherSite.Spec.Cluster = catalogv1alpha1.SiteCluster{KubeconfigSecretRef: &catalogv1alpha1.NamespacedSecretKeySelector{Namespace: "metrics", Name: "token", Key: "token"}}
	w.must(w.kube.Create(t.Context(), otherSite))
	w.edit(func(s *deliveryv1alpha1.SiteSync) {
		s.Status.AtProvider.Sites = append(s.Status.AtProvider.Sites, s.Status.AtProvider.Sites[0])
		s.Status.AtProvider.Sites[1].Name = "edge2"
	})
	w.after(1, "Error/Error/Running/Error")
	if diff := cmp.Diff([]string{" "}, w.dialled); diff != "" {
		t.Errorf("clusters that were reached: -want, +got:\n%s", diff)
	}
}

// TestAvailabilityRules has rules that no measurement can meet.
func TestAvailabilityRules(t *testing.T) {
	w := newPodWorld(t, available(func(c *v1alpha1.GateCheck) { c.Timeout = "10s" }))
	w.after(1, "Error/Error/Error")
	if diff := cmp.Diff("timeout: must be longer than it takes to measure count times at this interval", w.get().Status.AtProvider.Checks[0].Message); diff != "" {
		t.Errorf("the message of the check: -want, +got:\n%s", diff)
	}
}
