package sitesync

import (
	stdcmp "cmp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clienttesting "k8s.io/client-go/testing"
	"sigs.k8s.io/yaml"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/provider/engines"
	"github.com/intentplane/intentplane/provider/workload"
)

// givenUp is a Deployment without available pods whose rollout exceeded its progress deadline.
func givenUp() *unstructured.Unstructured {
	d := deploymentWith(0)
	d.SetLabels(map[string]string{"intentplane.dev/claim": "web"})
	status, _ := d.Object["status"].(map[string]any)
	status["conditions"] = []any{map[string]any{
		"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded", "message": "no", "lastTransitionTime": "2026-11-01T12:00:05Z",
	}}
	return d
}

// TestFailedCanary has a canary whose Deployment the cluster gives up. Before, a watch that is behind reports a failure that has ended.
func TestFailedCanary(t *testing.T) {
	w := newWorld(t)
	var isBehind atomic.Bool
	isBehind.Store(true)
	w.cluster.PrependReactor("get", "deployments", func(clienttesting.Action) (bool, runtime.Object, error) {
		return isBehind.Load(), deploymentWith(0), nil
	})
	commit := w.deliver("green")
	w.askFor(1)
	s := w.get()
	s.Spec.ForProvider.Position.Stage = ledger.StageSteps
	s.Spec.ForProvider.Sites[0].Traffic = &v1alpha1.SiteTraffic{Drain: "30s", Tracks: []v1alpha1.TrackTraffic{{
		Name: track.Green, Tree: theFolder, Awaited: true, Workloads: []v1alpha1.TrafficWorkload{{Namespace: "team-a", Name: "web-green"}},
	}}}
	w.must(w.kube.Update(w.Context(), s))
	_, err := w.cluster.Resource(deployments()).Namespace("team-a").Create(w.Context(), deploymentWith(0), metav1.CreateOptions{})
	w.must(err)
	w.flux(commit, false)
	w.until("Syncing | Syncing | CanaryNotAvailable")
	_, err = w.cluster.Resource(deployments()).Namespace("team-a").Update(w.Context(), givenUp(), metav1.UpdateOptions{})
	w.must(err)
	w.sees("the failure", workloadRef(v1alpha1.TrafficWorkload{Namespace: "team-a", Name: "web-green"}), func(o *unstructured.Unstructured) bool {
		return workload.FindFinalFailure(o) != nil
	})
	w.reconcile()
	w.expect("The API server does not confirm the failure.", "Syncing | Syncing | CanaryNotAvailable")
	isBehind.Store(false)
	w.reconcile()
	w.expect("The API server confirms the failure.", "Failed | Failed | ObjectFailed")
}

// refusedRoute is a route of the claim that a Gateway has refused since five seconds after noon.
func refusedRoute(kind string) *unstructured.Unstructured {
	parent := map[string]any{"name": "outside"}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "gateway.networking.k8s.io/v1", "kind": kind,
		"metadata": map[string]any{"name": "web", "namespace": "team-a", "generation": int64(1), "labels": map[string]any{"intentplane.dev/claim": "web"}},
		"spec":     map[string]any{"parentRefs": []any{parent}},
		"status": map[string]any{"parents": []any{map[string]any{"parentRef": parent, "controllerName": "example.org/a", "conditions": []any{map[string]any{
			"type": "Accepted", "status": "False", "reason": "NotAllowedByListeners", "message": "no", "observedGeneration": int64(1),
			"lastTransitionTime": "2026-11-01T12:00:05Z",
		}}}}},
	}}
}

// TestFailedObject has a Kustomization that reads all of a Site, and fails its health checks. It cannot say for which claim.
func TestFailedObject(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		failed *unstructured.Unstructured
		want   string
	}{
		"Deployment": {reason: "A Deployment that the cluster gives up ends the wait.", failed: givenUp(), want: "Failed | Failed | ObjectFailed"},
		"HTTPRoute":  {reason: "A route that a Gateway refuses ends the wait.", failed: refusedRoute("HTTPRoute"), want: "Failed | Failed | RouteNotAccepted"},
		"GRPCRoute": {
			reason: "A route of gRPC that a Gateway refuses ends the wait.",
			failed: refusedRoute("GRPCRoute"), want: "Failed | Failed | RouteNotAccepted",
		},
		"TLSRoute": {reason: "A route of TLS that a Gateway refuses ends the wait.", failed: refusedRoute("TLSRoute"), want: "Failed | Failed | RouteNotAccepted"},
		"HelmRelease": {
			reason: "A release that its controller gives up ends the wait.",
			failed: stalledObject("helm.toolkit.fluxcd.io/v2", "HelmRelease"), want: "Failed | Failed | ObjectFailed",
		},
		"HelmRepository": {
			reason: "A repository of charts that its controller gives up ends the wait.",
			failed: stalledObject("source.toolkit.fluxcd.io/v1", "HelmRepository"), want: "Failed | Failed | ObjectFailed",
		},
		"OCIRepository": {
			reason: "A repository of artifacts that its controller gives up ends the wait.",
			failed: stalledObject("source.toolkit.fluxcd.io/v1", "OCIRepository"), want: "Failed | Failed | ObjectFailed",
		},
		"Kustomization": {
			reason: "A Kustomization of Flux in the directory that its controller gives up ends the wait.",
			failed: stalledObject("kustomize.toolkit.fluxcd.io/v1", "Kustomization"), want: "Failed | Failed | ObjectFailed",
		},
		"ExternalSecret": {
			reason: "An object of any kind that its controller gives up ends the wait.",
			failed: stalledObject("external-secrets.io/v1", "ExternalSecret"), want: "Failed | Failed | ObjectFailed",
		},
		"Certificate": {
			reason: "An object of any version that its controller gives up ends the wait.",
			failed: stalledObject("certificates.example.org/v1beta3", "Certificate"), want: "Failed | Failed | ObjectFailed",
		},
		"Pod": {
			reason: "A pod of the directory that failed ends the wait.", want: "Failed | Failed | ObjectFailed",
			failed: endedObject("v1", "Pod", map[string]any{"phase": "Failed", "reason": "Evicted", "conditions": []any{
				map[string]any{"type": "DisruptionTarget", "status": "True", "lastTransitionTime": "2026-11-01T12:00:05Z"},
			}}),
		},
		"PodEarlier": {
			reason: "A pod that failed before the position does not end the wait.", want: "Syncing | Syncing | EngineFailed",
			failed: endedObject("v1", "Pod", map[string]any{"phase": "Failed", "conditions": []any{
				map[string]any{"type": "DisruptionTarget", "status": "True", "lastTransitionTime": "2026-11-01T11:00:05Z"},
			}}),
		},
		"Rollout": {
			reason: "A Rollout that exceeded its progress deadline ends the wait.", want: "Failed | Failed | ObjectFailed",
			failed: endedObject("argoproj.io/v1alpha1", "Rollout", map[string]any{"phase": "Degraded", "observedGeneration": "1", "conditions": []any{
				map[string]any{"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded", "lastTransitionTime": "2026-11-01T12:00:05Z"},
			}}),
		},
		"OtherNamespace": {
			reason: "An object in a namespace that the deployment may write to ends the wait.", want: "Failed | Failed | ObjectFailed",
			failed: inNamespace(stalledObject("external-secrets.io/v1", "ExternalSecret"), "shared"),
		},
		"ForeignNamespace": {
			reason: "An object in a namespace that the deployment may not write to is not observed.", want: "Syncing | Syncing | EngineFailed",
			failed: inNamespace(stalledObject("external-secrets.io/v1", "ExternalSecret"), "team-b"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newSharedWorld(t, tc.failed)
			w.must(w.cluster.Tracker().Add(tc.failed))
			w.clock = w.clock.Add(time.Minute)
			t.Log(tc.reason)
			w.until(tc.want)
		})
	}
}

// stalledObject is an object of the claim that its controller gave up five seconds after noon.
func stalledObject(apiVersion, kind string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": apiVersion, "kind": kind,
		"metadata": map[string]any{"name": "web", "namespace": "team-a", "generation": int64(1), "labels": map[string]any{"intentplane.dev/claim": "web"}},
		"status": map[string]any{"conditions": []any{map[string]any{
			"type": "Stalled", "status": "True", "reason": "URLInvalid", "message": "no", "observedGeneration": int64(1),
			"lastTransitionTime": "2026-11-01T12:00:05Z",
		}}},
	}}
}

// endedObject is an object of the claim with a status.
func endedObject(apiVersion, kind string, status map[string]any) *unstructured.Unstructured {
	u := stalledObject(apiVersion, kind)
	u.Object["status"] = status
	return u
}

func inNamespace(u *unstructured.Unstructured, namespace string) *unstructured.Unstructured {
	u.SetNamespace(namespace)
	return u
}

// manifestOf returns objects as a directory has them.
func manifestOf(t *testing.T, all ...*unstructured.Unstructured) string {
	t.Helper()
	var out []string
	for _, u := range all {
		u = u.DeepCopy()
		unstructured.RemoveNestedField(u.Object, "status")
		b, err := yaml.Marshal(u.Object)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(b))
	}
	return strings.Join(out, "---\n")
}

// newSharedWorld has a Kustomization of all of a Site, which fails its health checks. The directory of the claim has some objects.
func newSharedWorld(t *testing.T, delivered ...*unstructured.Unstructured) *world {
	t.Helper()
	w := newWorld(t)
	commit := w.deliver(manifestOf(t, delivered...))
	w.askFor(1)
	w.flux(commit, false)
	k, err := w.cluster.Resource(kustomizations()).Namespace("flux").Get(w.Context(), "team-a-web-edge1", metav1.GetOptions{})
	w.must(err)
	w.must(unstructured.SetNestedField(k.Object, "clusters/edge1", "spec", "path"))
	w.must(unstructured.SetNestedSlice(k.Object, []any{map[string]any{
		"type": "Ready", "status": "False", "reason": "HealthCheckFailed", "message": "no", "observedGeneration": int64(1),
		"lastTransitionTime": "2026-11-01T12:00:00Z",
	}}, "status", "conditions"))
	_, err = w.cluster.Resource(kustomizations()).Namespace("flux").Update(w.Context(), k, metav1.UpdateOptions{})
	w.must(err)
	w.until("Syncing | Syncing | EngineFailed")
	return w
}

// failedObject is an object of the claim in the namespace of the claim that failed five seconds after noon.
func failedObject(kind, name string, change ...func(*unstructured.Unstructured)) *unstructured.Unstructured {
	apiVersion, condition := "apps/v1", map[string]any{"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded"}
	if kind == "Job" {
		apiVersion, condition = "batch/v1", map[string]any{"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded"}
	}
	condition["lastTransitionTime"] = "2026-11-01T12:00:05Z"
	u := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"name": name, "namespace": "team-a", "generation": int64(1)},
		"status": map[string]any{"observedGeneration": int64(1), "conditions": []any{condition}},
	}}
	u.SetLabels(map[string]string{"intentplane.dev/claim": "web"})
	for _, fn := range change {
		fn(u)
	}
	return u
}

func inTrack(name string) func(*unstructured.Unstructured) {
	return func(u *unstructured.Unstructured) {
		u.SetLabels(map[string]string{"intentplane.dev/claim": "web", track.LabelTrack: name})
	}
}

// TestFailedBesideCanary has a canary that waits for its pods, and another object of the deployment that the cluster gives up.
func TestFailedBesideCanary(t *testing.T) {
	cases := map[string]struct {
		reason string
		failed *unstructured.Unstructured
		want   string
	}{
		"SharedJob": {
			reason: "A Job that the tracks share ends the wait once it failed.",
			failed: failedObject("Job", "migrate"), want: "Failed | Failed | ObjectFailed",
		},
		"StatefulSet": {
			reason: "A StatefulSet that the tracks share ends the wait once its status reports a failure.",
			failed: failedObject("StatefulSet", "db"), want: "Failed | Failed | ObjectFailed",
		},
		"Deployment": {
			reason: "A Deployment without tracks ends the wait once it is given up.",
			failed: failedObject("Deployment", "cache"), want: "Failed | Failed | ObjectFailed",
		},
		"Awaited": {
			reason: "A Job of the track that takes requests over ends the wait.",
			failed: failedObject("Job", "warm", inTrack(track.Green)), want: "Failed | Failed | ObjectFailed",
		},
		"OtherTrack": {
			reason: "A Job of the track that loses its requests may fail.",
			failed: failedObject("Job", "warm", inTrack(track.Blue)), want: "Syncing | Syncing | CanaryNotAvailable",
		},
		"Leaving": {
			reason: "The Deployment of the track that loses its requests may fail.",
			failed: failedObject("Deployment", "web-blue"), want: "Syncing | Syncing | CanaryNotAvailable",
		},
		"Unlisted": {
			reason: "A Deployment of a track that is left over may fail.",
			failed: failedObject("Deployment", "old-blue", inTrack(track.Blue)), want: "Syncing | Syncing | CanaryNotAvailable",
		},
		"OtherClaim": {
			reason: "An object of another deployment does not give a reason.", want: "Syncing | Syncing | CanaryNotAvailable",
			failed: failedObject("Job", "other", func(u *unstructured.Unstructured) { u.SetLabels(map[string]string{"intentplane.dev/claim": "other"}) }),
		},
		"CronJob": {
			reason: "A Job that another object controls is replaced by that.", want: "Syncing | Syncing | CanaryNotAvailable",
			failed: failedObject("Job", "nightly-1", func(u *unstructured.Unstructured) {
				u.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "CronJob", Name: "nightly", UID: "u", Controller: new(true)}})
			}),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			commit := w.deliver(manifestOf(t, tc.failed))
			w.askFor(1)
			s := w.get()
			s.Spec.ForProvider.Position.Stage = ledger.StageSteps
			s.Spec.ForProvider.Sites[0].Traffic = &v1alpha1.SiteTraffic{Drain: "30s", Tracks: []v1alpha1.TrackTraffic{
				{Name: track.Blue, Workloads: []v1alpha1.TrafficWorkload{{Namespace: "team-a", Name: "web-blue"}}},
				{Name: track.Green, Tree: theFolder, Awaited: true, Workloads: []v1alpha1.TrafficWorkload{{Namespace: "team-a", Name: "web-green"}}},
			}}
			w.must(w.kube.Update(w.Context(), s))
			_, err := w.cluster.Resource(deployments()).Namespace("team-a").Create(w.Context(), deploymentWith(0), metav1.CreateOptions{})
			w.must(err)
			w.flux(commit, false)
			w.reports(tc.failed)
			w.until("Syncing | Syncing | CanaryNotAvailable")
			w.must(w.cluster.Tracker().Add(tc.failed))
			w.clock = w.clock.Add(time.Minute)
			w.reconcile()
			w.expect(tc.reason, tc.want)
		})
	}
}

// reports lets Flux report that it applied an object.
func (w *world) reports(u *unstructured.Unstructured) {
	w.Helper()
	id := strings.Join([]string{u.GetNamespace(), u.GetName(), u.GroupVersionKind().Group, u.GetKind()}, "_")
	_, err := w.cluster.Resource(kustomizations()).Namespace("flux").Patch(w.Context(), "team-a-web-edge1", types.MergePatchType,
		[]byte(`{"status":{"inventory":{"entries":[{"id":"`+id+`","v":"v1"}]}}}`), metav1.PatchOptions{})
	w.must(err)
}

// useArgoCD lets Argo CD deliver to edge1, after a change of the Site.
func (w *world) useArgoCD(change func(*catalogv1alpha1.SiteSpec)) {
	w.Helper()
	s := site("edge1")
	w.must(w.kube.Get(w.Context(), keyOf("edge1"), s))
	s.Spec.Engine = catalogv1alpha1.SiteEngine{Type: catalogv1alpha1.EngineArgoCD, ObjectRef: &catalogv1alpha1.ObjectReference{
		APIVersion: "argoproj.io/v1alpha1", Kind: "Application", Namespace: "argocd", Name: "web",
	}}
	change(&s.Spec)
	w.must(w.kube.Update(w.Context(), s))
}

// moveToHub lets an engine in the cluster of the control plane deliver to a Site of which the kubeconfig is missing.
func moveToHub(s *catalogv1alpha1.SiteSpec) {
	s.Cluster = catalogv1alpha1.SiteCluster{KubeconfigSecretRef: &catalogv1alpha1.NamespacedSecretKeySelector{Namespace: "sites", Name: "edge1"}}
	s.Engine.Location = "ControlPlane"
}

// denyLists lets the account of the Site list no objects of a resource.
func (w *world) denyLists(resource string) {
	w.cluster.PrependReactor("list", resource, func(a clienttesting.Action) (bool, runtime.Object, error) {
		l, isList := a.(clienttesting.ListAction)
		isOfClaim := isList && !l.GetListRestrictions().Labels.Empty()
		return isOfClaim, nil, kerrors.NewForbidden(a.GetResource().GroupResource(), "", nil)
	})
}

// degradedApplication is an Application of Argo CD that applied a commit from a directory, and reports since some seconds after noon that an object is degraded.
func (w *world) degradedApplication(commit, dir, server, group, kind string, seconds int) *unstructured.Unstructured {
	source := map[string]any{"repoURL": w.git.URL(repo), "targetRevision": "main", "path": dir, "directory": map[string]any{"recurse": true}}
	destination := map[string]any{"server": server}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": map[string]any{"name": "web", "namespace": "argocd", "generation": int64(1)},
		"spec": map[string]any{"source": source, "destination": destination},
		"status": map[string]any{
			"sync":   map[string]any{"status": "Synced", "revision": commit, "comparedTo": map[string]any{"source": source, "destination": destination}},
			"health": map[string]any{"status": "Degraded", "lastTransitionTime": noon().Add(time.Duration(seconds) * time.Second).Format(time.RFC3339)},
			"resources": []any{map[string]any{
				"group": group, "kind": kind, "namespace": "team-a", "name": "web", "status": "Synced", "health": map[string]any{"status": "Degraded", "message": "no"},
			}},
		},
	}}
}

// refreshes plays Argo CD, which compares as the provider asks it to, and removes the annotation.
func (w *world) refreshes(application *unstructured.Unstructured) {
	w.Helper()
	ref := engines.Ref{Resource: applications(), Kind: "Application", Namespace: "argocd", Name: "web"}
	w.sees("a refresh was requested", ref, func(o *unstructured.Unstructured) bool { return len(o.GetAnnotations()) > 0 })
	_, err := w.cluster.Resource(applications()).Namespace("argocd").Update(w.Context(), application, metav1.UpdateOptions{})
	w.must(err)
	w.sees("refreshed", ref, func(o *unstructured.Unstructured) bool { return len(o.GetAnnotations()) == 0 })
}

// TestReportedFailure has a Site whose cluster cannot be observed, and a report of Argo CD at a hub from ten seconds before the last look. Where an
// account is denied lists, the engine is in the Site's own cluster, and the other reads succeed.
func TestReportedFailure(t *testing.T) {
	const waits = "Syncing | Syncing | Unhealthy"
	cases := map[string]struct {
		reason      string
		dir         string
		group, kind string
		seconds     int
		later       int
		denied      string
		want        string
	}{
		"Deployment": {
			reason: "A Deployment that Argo CD calls Degraded exceeded its progress deadline.",
			group:  "apps", kind: "Deployment", seconds: 20, later: 30, want: "Failed | Failed | ObjectFailed",
		},
		"Job": {
			reason: "A Job that Argo CD calls Degraded failed.",
			group:  "batch", kind: "Job", seconds: 20, later: 30, want: "Failed | Failed | ObjectFailed",
		},
		"Unsettled": {
			reason: "An object that has just become Degraded may recover in a moment.",
			group:  "apps", kind: "Deployment", seconds: 20, later: 29, want: waits,
		},
		"Earlier": {
			reason: "An object that was Degraded before the step may have an earlier revision.",
			group:  "apps", kind: "Deployment", seconds: -20, later: 30, want: waits,
		},
		"Pod": {reason: "A pod that is Degraded may recover.", kind: "Pod", seconds: 20, later: 30, want: waits},
		"Shared": {
			reason: "An Application that reads the directories of others may be Degraded because of them.",
			dir:    "clusters/edge1", group: "apps", kind: "Deployment", seconds: 20, later: 30, want: waits,
		},
		"Observed": {
			reason: "A cluster that lists its objects speaks for them, and none of them failed.",
			group:  "apps", kind: "Deployment", seconds: 20, later: 30, denied: "pods", want: waits,
		},
		"Denied": {
			reason: "A cluster that does not let the provider list Jobs has Argo CD speak for them.",
			group:  "batch", kind: "Job", seconds: 20, later: 30, denied: "jobs", want: "Failed | Failed | ObjectFailed",
		},
		"NoGateway": {
			reason: "Without routes of the Gateway API the cluster speaks for all other objects.",
			group:  "apps", kind: "Deployment", seconds: 20, later: 30, denied: "httproutes", want: waits,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			change, destination := moveToHub, "https://edge1.example.org"
			if tc.denied != "" {
				w.denyLists(tc.denied)
				change, destination = func(*catalogv1alpha1.SiteSpec) {}, "https://kubernetes.default.svc"
			}
			w.useArgoCD(change)
			reported := endedObject(schema.GroupVersion{Group: tc.group, Version: "v1"}.String(), tc.kind, nil)
			commit := w.deliver(manifestOf(t, reported, refusedRoute("HTTPRoute")))
			w.askFor(1)
			application := w.degradedApplication(commit, stdcmp.Or(tc.dir, webAtE1), destination, tc.group, tc.kind, tc.seconds)
			_, err := w.cluster.Resource(applications()).Namespace("argocd").Create(w.Context(), application, metav1.CreateOptions{})
			w.must(err)
			w.until(waits)
			w.refreshes(application)
			w.clock = noon().Add(time.Duration(tc.later) * time.Second)
			w.reconcile()
			w.expect(tc.reason, tc.want)
		})
	}
}
