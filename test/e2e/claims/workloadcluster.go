package claims

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

// A life is the life of a WorkloadCluster of one shape, whose Cluster the test plays.
type life struct {
	*scene.Scene

	east, cluster, managed *unstructured.Unstructured
	resource               string
}

// newClusterLife has no Cluster yet. Each test plays a part of a life: Crossplane's circuit breaker has enough of a composite that lives a
// whole one within seconds.
func newClusterLife(t *testing.T, apiVersion string) *life {
	t.Helper()
	l := &life{Scene: scene.New(t, cp)}
	l.east = l.clusterObject(fmt.Sprintf(`{apiVersion: %s, kind: WorkloadCluster, metadata: {name: east},
		spec: {providerConfigRef: {kind: ProviderConfig, name: %s}, clusterName: c1, type: Existing, readiness: {stabilizationSeconds: 1}, site: {publish: true, labels: {region: east}}}}`, apiVersion, scene.Config))
	l.cluster = l.clusterObject(`{apiVersion: cluster.x-k8s.io/v1beta2, kind: Cluster, metadata: {name: c1, finalizers: [test/hold]}, spec: {controlPlaneEndpoint: {host: c1.example.org, port: 6443}}}`)
	l.managed = l.clusterObject(`{apiVersion: cluster.intentplane.dev/v1alpha1, kind: ManagedCluster, metadata: {name: east}}`)
	l.resource = "workloadclusters." + strings.TrimSuffix(apiVersion, "/v1alpha1")
	return l
}

// awaitBuiltAndDeleted waits for a Cluster that is built, and is deleted.
func awaitBuiltAndDeleted(t *testing.T, apiVersion string) {
	t.Helper()
	l := newClusterLife(t, apiVersion)
	l.buildCluster()
	l.wantPrintedStatus()
	l.deleteCluster()
}

// awaitLostCluster has a Cluster that is lost for a while, and then for good.
func awaitLostCluster(t *testing.T, apiVersion string) {
	t.Helper()
	l := newClusterLife(t, apiVersion)
	l.Apply(l.cluster)
	l.statusOfCluster(well)
	l.Apply(l.east)
	l.awaitPhaseReason("Provisioned", "KubeconfigMissing")
	l.loseControlPlane()
	l.recreateCluster()
}

func (l *life) clusterObject(text string) *unstructured.Unstructured {
	l.T.Helper()
	o := objectFromYAML(l.T, text)
	o.SetNamespace(l.Namespace)
	return o
}

// statusOfCluster returns the status of the Cluster, as Cluster API would write it.
func (l *life) statusOfCluster(text string) {
	l.T.Helper()
	l.Patch(l.cluster, `{"status": `+text+`}`, "status")
}

const well = `{"initialization": {"infrastructureProvisioned": true, "controlPlaneInitialized": true}, "conditions": [{"type": "ControlPlaneAvailable", "status": "True", "reason": "Available", "message": ""}]}`

const ill = `{"conditions": [{"type": "ControlPlaneAvailable", "status": "False", "reason": "NotAvailable", "message": "2 of 3 machines are lost"}]}`

// awaitPhaseReason waits for a phase, and for why it is not ready: the reason of Reconciling.
func (l *life) awaitPhaseReason(phase, reason string) *unstructured.Unstructured {
	l.T.Helper()
	return l.Await(l.east, phase+", "+reason, func(u *unstructured.Unstructured) bool {
		return scene.Field(u, "status", "phase") == phase && scene.Is(u, "Reconciling", corev1.ConditionTrue, reason) &&
			scene.Is(u, "Stalled", corev1.ConditionFalse, "") && scene.Is(u, "Ready", corev1.ConditionFalse, "")
	})
}

// awaitClusterReady waits until the cluster is.
func (l *life) awaitClusterReady() *unstructured.Unstructured {
	l.T.Helper()
	return l.Await(l.east, "ready", func(u *unstructured.Unstructured) bool {
		return scene.Field(u, "status", "phase") == "Provisioned" && scene.Is(u, "Ready", corev1.ConditionTrue, "") && scene.Is(u, "Reconciling", corev1.ConditionFalse, "Idle")
	})
}

func (l *life) buildCluster() {
	l.T.Helper()
	l.Apply(l.east)
	u := l.awaitPhaseReason("Provisioning", "ObjectMissing")
	if m := scene.Field(u, "status", "message"); m != "ObjectMissing: Cluster c1: it does not exist." || !scene.Is(u, "InfrastructureReady", corev1.ConditionFalse, "ObjectMissing") {
		l.T.Errorf("message %q, conditions %v", m, u.Object["status"])
	}
	l.Apply(l.cluster)
	l.statusOfCluster(well)
	l.awaitPhaseReason("Provisioned", "KubeconfigMissing")
	l.Apply(kubeconfigOf(l.Scene, "c1"))
}

// wantPrintedStatus compares the columns and conditions that a user sees.
func (l *life) wantPrintedStatus() {
	l.T.Helper()
	l.Inside("wait", "--timeout="+patience.Limit.String(), "--for=jsonpath={.status.phase}=Provisioned", l.resource+"/east")
	l.Inside("wait", "--timeout="+patience.Limit.String(), "--for=condition=Ready", l.resource+"/east")
	l.awaitClusterReady()
	u := l.Await(l.east, "the Site is published", func(u *unstructured.Unstructured) bool {
		return scene.Is(u, "SitePublished", corev1.ConditionTrue, "Published") && scene.Field(u, "status", "siteName") != "" // Conditions go first.
	})
	want := scene.Row{
		"PHASE": "Provisioned", "VERSION": scene.Field(u, "status", "version"), "ENDPOINT": "c1.example.org", "INFRA": "True", "CONTROLPLANE": "True", "SYNCED": "True", "READY": "True",
	}
	wantColumns(l.T, "kubectl get "+l.resource, awaitReadyRow(l.Scene, l.resource, "east"), want)
	site := l.Namespace + ".east"
	got := []string{
		scene.Field(u, "status", "siteName"), scene.Field(u, "status", "kubeconfig", "secretRef", "name"), scene.Field(u, "status", "cluster", "uid"),
		scene.Field(u, "status", "managedCluster"), scene.Field(u, "status", "initialized", "uid"),
	}
	uid := string(l.Now(l.cluster).GetUID())
	if diff := cmp.Diff([]string{site, "c1-kubeconfig", uid, "east", uid}, got); diff != "" || want["VERSION"] == "" {
		l.T.Errorf("observed cluster: -want, +got:\n%s\nversion %q", diff, want["VERSION"])
	}
	s := l.Now(objectFromYAML(l.T, "{apiVersion: catalog.intentplane.dev/v1alpha1, kind: Site, metadata: {name: "+site+"}}"))
	if s.GetLabels()["region"] != "east" {
		l.T.Errorf("the Site has labels %v", s.GetLabels())
	}
	version := l.Now(l.east).GetResourceVersion()
	l.refusedChanges()
	if diff := cmp.Diff(version, l.Now(l.east).GetResourceVersion()); diff != "" {
		l.T.Errorf("steady state writes: -before, +after:\n%s", diff)
	}
}

// refusedChanges are changes that would have made another cluster of it.
func (l *life) refusedChanges() {
	l.T.Helper()
	for field, value := range map[string]string{"clusterName": "c2", "type": "Topology"} {
		if refusal := l.Refused(l.Set(l.east.DeepCopy(), value, "spec", field)); !strings.Contains(refusal, field+" is immutable") {
			l.T.Errorf("another %s: %s", field, refusal)
		}
	}
}

// loseControlPlane loses the control plane for a while.
func (l *life) loseControlPlane() {
	l.T.Helper()
	l.statusOfCluster(ill)
	u := l.awaitPhaseReason("Degraded", "")
	if m := scene.Field(u, "status", "message"); !strings.Contains(m, "2 of 3 machines are lost") {
		l.T.Errorf("message %q", m)
	}
	l.statusOfCluster(well)
	l.awaitPhaseReason("Provisioned", "KubeconfigMissing")
}

// recreateCluster deletes the Cluster, and makes it again.
func (l *life) recreateCluster() {
	l.T.Helper()
	l.Delete(l.cluster)
	l.awaitPhaseReason("Deleting", "Deleting")
	l.Patch(l.cluster, `{"metadata": {"finalizers": null}}`)
	l.Await(l.east, "the Cluster is gone", func(u *unstructured.Unstructured) bool {
		return scene.Field(u, "status", "phase") == "Deleting" && scene.Is(u, "Stalled", corev1.ConditionTrue, "ClusterGone") && scene.Is(u, "Reconciling", corev1.ConditionFalse, "")
	})
	l.cluster.SetFinalizers(nil)
	l.Apply(l.cluster)
	l.statusOfCluster(well)
	u := l.awaitPhaseReason("Provisioned", "KubeconfigMissing")
	log, _, err := unstructured.NestedSlice(u.Object, "status", "transitions")
	l.Must(err)
	var way []string
	for _, logEntry := range log {
		entry, _ := logEntry.(map[string]any)
		way = append(way, fmt.Sprint(entry["to"]))
	}
	want := []string{"Pending", "Provisioning", "Provisioned", "Degraded", "Provisioned", "Deleting", "Pending", "Provisioning", "Provisioned"}
	l.WantEqual("status.transitions", want, way)
	l.wantEventCount(u, len(want))
}

// wantEventCount compares the events with the status, and finds the metrics.
func (l *life) wantEventCount(u *unstructured.Unstructured, n int) {
	l.T.Helper()
	l.Until("each transition has its event", patience.Limit, func() bool { return len(transitionEvents(l.Scene, u)) >= n })
	all := transitionEvents(l.Scene, u)
	if len(all) != n || !slices.Contains(all, "Transitioned from Degraded to Provisioned") || !slices.Contains(all, "Transitioned from Deleting to Pending") {
		l.T.Errorf("events: %q", all)
	}
	ctx, cancel := l.Context()
	defer cancel()
	m, err := cp.ProviderMetrics(ctx)
	l.Must(err)
	if m.Sum("workloadcluster_phase_transitions_total", map[string]string{"from": "Provisioned", "to": "Degraded"}) == 0 {
		l.T.Error("no transition is counted")
	}
}

// deleteCluster deletes the WorkloadCluster with its objects, and leaves the Cluster.
func (l *life) deleteCluster() {
	l.T.Helper()
	l.Delete(l.east)
	l.Gone(l.east)
	l.Gone(l.managed)
	l.Gone(objectFromYAML(l.T, "{apiVersion: catalog.intentplane.dev/v1alpha1, kind: Site, metadata: {name: "+l.Namespace+".east}}"))
	if l.Now(l.cluster).GetDeletionTimestamp() != nil {
		l.T.Error("the Cluster that was there before is deleted")
	}
}
