package clusters

import (
	"maps"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/scene"
)

// maxWrites is what a few changes may cost: each is repeated while a webhook refuses it, or core has not seen it yet.
const maxWrites = 40

// workload describes a WorkloadCluster, which composes the ManagedCluster of its name.
func (s *stage) workload(as string, forProvider map[string]any) *unstructured.Unstructured {
	spec := maps.Clone(forProvider)
	spec["clusterName"], _, _ = unstructured.NestedFieldCopy(forProvider, "cluster", "name")
	delete(spec, "cluster")
	spec["providerConfigRef"] = map[string]any{"kind": "ProviderConfig", "name": scene.Config}
	return s.Set(s.describe("claims.intentplane.dev/v1alpha1", "WorkloadCluster", as), spec, "spec")
}

// provisioned waits until a WorkloadCluster is, and is ready.
func (s *stage) provisioned(wc *unstructured.Unstructured) {
	s.T.Helper()
	s.until(wc, "is provisioned", func(u *unstructured.Unstructured) bool {
		return scene.Field(u, "status", "phase") == "Provisioned" && scene.Is(u, "Ready", corev1.ConditionTrue, "")
	})
}

// workers asked for.
func (s *stage) workers(wc *unstructured.Unstructured, n int64) {
	s.T.Helper()
	workers, _, err := unstructured.NestedSlice(wc.Object, "spec", "topology", "workers")
	s.must(err)
	if w, ok := workers[0].(map[string]any); ok {
		w["replicas"] = n
	}
	s.Set(wc, workers, "spec", "topology", "workers")
}

// machines waits until the ManagedCluster says that there are so many, all ready.
func (s *stage) machines(mc *unstructured.Unstructured, planes, workers int64) {
	s.T.Helper()
	s.until(mc, "has its machines", func(u *unstructured.Unstructured) bool {
		count := func(of, what string) int64 { return scene.Number(u, "status", "atProvider", "replicas", of, what) }
		return count("controlPlane", "desired") == planes && count("controlPlane", "ready") == planes &&
			count("workers", "desired") == workers && count("workers", "ready") == workers && scene.Condition(u, "Ready").Reason == "Ready"
	})
}

// describesItself is true to what the Cluster and its objects say.
func (s *stage) describesItself(mc *unstructured.Unstructured) {
	s.T.Helper()
	c := s.Now(s.cluster())
	at := func(fields ...string) string {
		return scene.Field(mc, append([]string{"status", "atProvider"}, fields...)...)
	}
	got := map[string]string{
		"uid": at("uid"), "phase": at("phase"), "version": at("version"), "clusterAPIVersion": at("clusterAPIVersion"), "host": at("endpoint", "host"),
		"infrastructure": at("contracts", "infrastructure"), "controlPlane": at("contracts", "controlPlane"), "secret": at("kubeconfig", "secretRef", "name"),
	}
	want := map[string]string{
		"uid": string(c.GetUID()), "phase": scene.Field(c, "status", "phase"), "version": version, "clusterAPIVersion": "cluster.x-k8s.io/v1beta2",
		"host": scene.Field(c, "spec", "controlPlaneEndpoint", "host"), "infrastructure": "v1beta2", "controlPlane": "v1beta2", "secret": name + "-kubeconfig",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		s.T.Errorf("what is said of the cluster: -want, +got:\n%s", diff)
	}
}

// carries what was asked for, in fields that are ours. What core wrote into the spec is core's.
func (s *stage) carries(cluster *unstructured.Unstructured, version string, planes, workers int64) {
	s.T.Helper()
	c := s.Now(cluster)
	all, _, err := unstructured.NestedSlice(c.Object, "spec", "topology", "workers", "machineDeployments")
	s.must(err)
	got := []any{scene.Field(c, "spec", "topology", "version"), scene.Number(c, "spec", "topology", "controlPlane", "replicas"), all}
	want := []any{version, planes, []any{map[string]any{"class": "default-worker", "name": "md-0", "replicas": workers}}}
	if diff := cmp.Diff(want, got); diff != "" {
		s.T.Errorf("the Cluster: -want, +got:\n%s", diff)
	}
	for _, m := range c.GetManagedFields() {
		if m.Manager == "intentplane-managedcluster" && (m.Subresource != "" || strings.Contains(m.FieldsV1.GetRawString(), `"f:infrastructureRef"`)) {
			s.T.Errorf("fields that are not ours: %s %q: %s", m.Operation, m.Subresource, m.FieldsV1.GetRawString())
		}
	}
	if len(c.GetOwnerReferences()) > 0 {
		s.T.Errorf("the Cluster has owners: %v", c.GetOwnerReferences())
	}
}

// dismantle the cluster: core deletes workers, the control plane and the infrastructure, in this order, and at each what it waits for is said.
func (s *stage) dismantle(wc, mc *unstructured.Unstructured) {
	s.T.Helper()
	c := s.Now(s.cluster())
	ref := func(field string) *unstructured.Unstructured {
		group := scene.Field(c, "spec", field, "apiGroup")
		return s.describe(group+"/v1beta2", scene.Field(c, "spec", field, "kind"), scene.Field(c, "spec", field, "name"))
	}
	plane, infrastructure := ref("controlPlaneRef"), ref("infrastructureRef")
	worker := s.one("cluster.x-k8s.io/v1beta2", "MachineDeployment")
	for _, o := range []*unstructured.Unstructured{worker, plane, infrastructure} {
		s.hold(o)
	}
	s.Delete(wc)
	s.contains(mc, "Deleting", "WaitingForWorkersDeletion", worker.GetName())
	s.stays(plane, infrastructure)
	s.release(worker)
	s.contains(mc, "Deleting", "WaitingForControlPlaneDeletion", plane.GetKind())
	s.stays(infrastructure)
	s.release(plane)
	s.contains(mc, "Deleting", "WaitingForInfrastructureDeletion", infrastructure.GetKind())
	s.contains(mc, "Synced", "DeletionTimedOut: Cluster "+name, "WaitingForInfrastructureDeletion")
	s.release(infrastructure)
	s.gone(mc)
	s.gone(wc)
	s.gone(s.cluster())
}

const held = "test.intentplane.dev/held"

// hold an object, so that its deletion can be seen.
func (s *stage) hold(o *unstructured.Unstructured) {
	s.T.Helper()
	s.finalizers(o, func(all []string) []string { return append(all, held) })
}

func (s *stage) release(o *unstructured.Unstructured) {
	s.T.Helper()
	s.finalizers(o, func(all []string) []string { return slices.DeleteFunc(all, func(f string) bool { return f == held }) })
}
