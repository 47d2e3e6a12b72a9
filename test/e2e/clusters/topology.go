package clusters

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/scene"
)

// maxWrites is the limit for the writes of a few changes: each is repeated while a webhook refuses it, or core has not seen it yet.
const maxWrites = 40

// describeWorkload describes a WorkloadCluster, which composes the ManagedCluster of its name.
func (s *stage) describeWorkload(workloadName string, forProvider map[string]any) *unstructured.Unstructured {
	spec := maps.Clone(forProvider)
	spec["clusterName"], _, _ = unstructured.NestedFieldCopy(forProvider, "cluster", "name")
	delete(spec, "cluster")
	spec["providerConfigRef"] = map[string]any{"kind": "ProviderConfig", "name": scene.Config}
	return s.Set(s.describeObject("claims.intentplane.dev/v1alpha1", "WorkloadCluster", workloadName), spec, "spec")
}

// provisioned waits until a WorkloadCluster is, and is ready.
func (s *stage) provisioned(wc *unstructured.Unstructured) {
	s.T.Helper()
	s.awaitObject(wc, "is provisioned", func(u *unstructured.Unstructured) bool {
		return scene.Field(u, "status", "phase") == "Provisioned" && scene.Is(u, "Ready", corev1.ConditionTrue, "")
	})
}

// workersWanted returns the number of requested workers.
func (s *stage) workersWanted(wc *unstructured.Unstructured, n int64) {
	s.T.Helper()
	workers, _, err := unstructured.NestedSlice(wc.Object, "spec", "topology", "workers")
	s.Must(err)
	if w, ok := workers[0].(map[string]any); ok {
		w["replicas"] = n
	}
	s.Set(wc, workers, "spec", "topology", "workers")
}

// awaitMachines waits until the ManagedCluster reports so many machines, all ready.
func (s *stage) awaitMachines(mc *unstructured.Unstructured, planes, workers int64) {
	s.T.Helper()
	s.awaitObject(mc, "has its machines", func(u *unstructured.Unstructured) bool {
		count := func(role, field string) int64 {
			return scene.Number(u, "status", "atProvider", "replicas", role, field)
		}
		return count("controlPlane", "desired") == planes && count("controlPlane", "ready") == planes &&
			count("workers", "desired") == workers && count("workers", "ready") == workers && scene.Condition(u, "Ready").Reason == "Ready"
	})
}

// describesItself compares the status with the Cluster and its objects.
func (s *stage) describesItself(mc *unstructured.Unstructured) {
	s.T.Helper()
	c := s.Now(s.clusterNamed())
	statusField := func(fields ...string) string {
		return scene.Field(mc, append([]string{"status", "atProvider"}, fields...)...)
	}
	got := map[string]string{
		"uid": statusField("uid"), "phase": statusField("phase"), "version": statusField("version"), "clusterAPIVersion": statusField("clusterAPIVersion"), "host": statusField("endpoint", "host"),
		"infrastructure": statusField("contracts", "infrastructure"), "controlPlane": statusField("contracts", "controlPlane"), "secret": statusField("kubeconfig", "secretRef", "name"),
	}
	want := map[string]string{
		"uid": string(c.GetUID()), "phase": scene.Field(c, "status", "phase"), "version": version, "clusterAPIVersion": "cluster.x-k8s.io/v1beta2",
		"host": scene.Field(c, "spec", "controlPlaneEndpoint", "host"), "infrastructure": "v1beta2", "controlPlane": "v1beta2", "secret": name + "-kubeconfig",
	}
	s.WantEqual("the observed cluster", want, got)
}

// wantRequestedFields wants the requested values in fields that are ours. Values that core wrote into the spec are core's.
func (s *stage) wantRequestedFields(cluster *unstructured.Unstructured, version string, planes, workers int64) {
	s.T.Helper()
	c := s.Now(cluster)
	all, _, err := unstructured.NestedSlice(c.Object, "spec", "topology", "workers", "machineDeployments")
	s.Must(err)
	got := []any{scene.Field(c, "spec", "topology", "version"), scene.Number(c, "spec", "topology", "controlPlane", "replicas"), all}
	want := []any{version, planes, []any{map[string]any{"class": "default-worker", "name": "md-0", "replicas": workers}}}
	s.WantEqual("the Cluster", want, got)
	for _, m := range c.GetManagedFields() {
		if m.Manager == "intentplane-managedcluster" && (m.Subresource != "" || strings.Contains(m.FieldsV1.GetRawString(), `"f:infrastructureRef"`)) {
			s.T.Errorf("fields that are not ours: %s %q: %s", m.Operation, m.Subresource, m.FieldsV1.GetRawString())
		}
	}
	if len(c.GetOwnerReferences()) > 0 {
		s.T.Errorf("the Cluster has owners: %v", c.GetOwnerReferences())
	}
}

// dismantleCluster dismantles the cluster: core deletes workers, the control plane and the infrastructure, in this order, and the status
// names each blocker.
func (s *stage) dismantleCluster(wc, mc *unstructured.Unstructured) {
	s.T.Helper()
	c := s.Now(s.clusterNamed())
	ref := func(field string) *unstructured.Unstructured {
		group := scene.Field(c, "spec", field, "apiGroup")
		return s.describeObject(group+"/v1beta2", scene.Field(c, "spec", field, "kind"), scene.Field(c, "spec", field, "name"))
	}
	plane, infrastructure := ref("controlPlaneRef"), ref("infrastructureRef")
	worker := s.onlyObjectOfKind("cluster.x-k8s.io/v1beta2", "MachineDeployment")
	for _, o := range []*unstructured.Unstructured{worker, plane, infrastructure} {
		s.addTestFinalizer(o)
	}
	s.Delete(wc)
	s.awaitMessage(mc, "Deleting", "WaitingForWorkersDeletion", worker.GetName())
	s.wantNotDeleted(plane, infrastructure)
	s.releaseObject(worker)
	s.awaitMessage(mc, "Deleting", "WaitingForControlPlaneDeletion", plane.GetKind())
	s.wantNotDeleted(infrastructure)
	s.releaseObject(plane)
	s.awaitMessage(mc, "Deleting", "WaitingForInfrastructureDeletion", infrastructure.GetKind())
	s.awaitMessage(mc, "Synced", "DeletionTimedOut: Cluster "+name, "WaitingForInfrastructureDeletion")
	s.releaseObject(infrastructure)
	s.awaitObjectGone(mc)
	s.awaitObjectGone(wc)
	s.awaitObjectGone(s.clusterNamed())
}

const held = "test.intentplane.dev/held"

// addTestFinalizer holds an object, so that its deletion can be seen.
func (s *stage) addTestFinalizer(o *unstructured.Unstructured) {
	s.T.Helper()
	s.changeFinalizers(o, func(all []string) []string { return append(all, held) })
}

func (s *stage) releaseObject(o *unstructured.Unstructured) {
	s.T.Helper()
	s.changeFinalizers(o, func(all []string) []string { return slices.DeleteFunc(all, func(f string) bool { return f == held }) })
}
