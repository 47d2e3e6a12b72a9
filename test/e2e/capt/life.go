package capt

import (
	"strings"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/apis/cluster/v1alpha1"
)

const (
	fieldOwner = "intentplane-managedcluster"

	flaps = 20

	// most is how often the status may be written while it flaps: when it is lost, when it is back, and a few times in between.
	most = 15
)

// A life is the life of one cluster, in the order of its events. Each step waits for the result of the previous step.
type life struct {
	*stage

	others others
}

func newClusterLife(t *testing.T, name string) *life {
	t.Helper()
	return &life{stage: newCAPTStage(t, name), others: othersOfRun()}
}

// buildCluster is a cluster that is ready.
func (l *life) buildCluster() *v1alpha1.ManagedCluster {
	l.Helper()
	l.playCreated()
	l.infrastructureReady()
	l.endpointIsURL()
	return l.becomesReady()
}

func (l *life) followCluster(m moment) {
	l.Helper()
	l.others.followCluster(l.stage, m)
}

// playCreated: three objects, the Cluster last, by a field owner of our own, without an owner reference.
func (l *life) playCreated() {
	l.Helper()
	l.makeManagedCluster()
	var versions []string
	for _, kind := range []string{"CAPTCluster", "CAPTControlPlane", "Cluster"} {
		u := l.awaitObject(kind)
		for _, f := range u.GetManagedFields() {
			if f.Manager == fieldOwner {
				versions = append(versions, kind+" "+string(f.Operation))
			}
		}
	}
	if diff := cmp.Diff([]string{"CAPTCluster Apply", "CAPTControlPlane Apply", "Cluster Apply"}, versions); diff != "" {
		l.Errorf("creator of each object: -want, +got:\n%s", diff)
	}
	l.followCluster(applied)
	l.followCluster(begun)
}

// playNetworkFirst: the part that is built first is named first.
func (l *life) playNetworkFirst() {
	l.Helper()
	l.reportTerraform("-vpc", "", false, nil)
	l.awaitCondition(v1alpha1.TypeInfrastructureReady, corev1.ConditionFalse, "Provisioning")
	l.awaitCondition(v1alpha1.TypeControlPlaneInitialized, corev1.ConditionFalse, "NotInitialized")
	l.checkOwnedObjects()
}

// checkOwnedObjects checks that the writes of CAPT and core to our objects are there, and so are ours.
func (l *life) checkOwnedObjects() {
	l.Helper()
	l.pollUntilTrue("owner references of Cluster API", l.hasClusterOwners, nothingElse)
	for kind, field := range map[string]string{"CAPTCluster": "vpcTemplateRef", "CAPTControlPlane": "workspaceTemplateRef"} {
		u := l.liveObject(kind)
		spec, _, _ := unstructured.NestedMap(u.Object, "spec")
		if spec["workspaceTemplateApplyName"] == nil || spec[field] == nil || len(u.GetFinalizers()) == 0 {
			l.Errorf("%s has spec %v and finalizers %v", kind, spec, u.GetFinalizers())
		}
		if owner := u.GetLabels()[v1alpha1.LabelOwner]; owner == "" {
			l.Errorf("%s has no owner label of ours", kind)
		}
	}
	for _, kind := range []string{"CAPTCluster", "CAPTControlPlane", "Cluster"} {
		l.playKeepsOff(kind)
	}
}

// playKeepsOff: we never wrote the fields of CAPT and core, nor any status.
func (l *life) playKeepsOff(kind string) {
	l.Helper()
	for _, f := range l.liveObject(kind).GetManagedFields() {
		if f.Manager != fieldOwner {
			continue
		}
		for _, field := range []string{"ownerReferences", "finalizers", "controlPlaneEndpoint", "workspaceTemplateApplyName", "cluster-name", "f:status"} {
			if f.Subresource != "" || strings.Contains(f.FieldsV1.GetRawString(), field) {
				l.Errorf("we wrote %s of %s, %s: %s", field, kind, f.Subresource, f.FieldsV1.GetRawString())
			}
		}
	}
}

// terraformFails: CAPT hides the message of Terraform, and we name it.
func (l *life) terraformFails() {
	l.Helper()
	l.reportTerraform("-vpc", "apply failed: VpcLimitExceeded", false, nil)
	message := l.awaitCondition(v1alpha1.TypeProviderHealthy, corev1.ConditionFalse, "TerraformFailed")
	if want := "Workspace " + l.namespace + "-vpc: apply failed: VpcLimitExceeded"; message != want {
		l.Errorf("want message %q, got %q", want, message)
	}
	l.awaitReadyReason("TerraformFailed")
}

func (l *life) infrastructureReady() {
	l.Helper()
	l.reportTerraform("-vpc", "", true, map[string]any{"vpc_id": "vpc-1"})
	l.followCluster(vpcDone)
	l.awaitCondition(v1alpha1.TypeInfrastructureReady, corev1.ConditionTrue, "Provisioned")
	l.awaitCondition(v1alpha1.TypeProviderHealthy, corev1.ConditionTrue, "NoFailure")
}

// endpointIsURL: the whole URL stands where a host belongs.
func (l *life) endpointIsURL() {
	l.Helper()
	l.applyYAML("Secret", "metadata: {name: "+l.namespace+"-eks-connection}\nstringData: {cluster_endpoint: '"+endpoint+"', cluster_certificate_authority_data: Y2E=}")
	l.reportTerraform("-eks-controlplane", "", true, map[string]any{"cluster_endpoint": endpoint})
	l.followCluster(planeDone)
	l.awaitCondition(v1alpha1.TypeEndpointKnown, corev1.ConditionTrue, "EndpointCorrected")
	l.awaitManagedCluster("the endpoint's host", func(mc *v1alpha1.ManagedCluster) bool {
		e := mc.Status.AtProvider.Endpoint
		return e != nil && e.Host == strings.TrimPrefix(endpoint, "https://") && e.Port == 443
	})
}

// emptyKubeconfig: there is a Secret, and nothing in it.
func (l *life) emptyKubeconfig() {
	l.Helper()
	l.reportKubeconfig("")
	l.followCluster(secretsDone)
	l.awaitCondition(v1alpha1.TypeKubeconfigReady, corev1.ConditionFalse, "KubeconfigEmpty")
}

func (l *life) becomesReady() *v1alpha1.ManagedCluster {
	l.Helper()
	l.reportKubeconfig(cp.Kubeconfig)
	l.followCluster(secretsDone)
	mc := l.awaitReadyReason(v1alpha1.ReasonReady)
	observation := mc.Status.AtProvider
	if observation.WasReady == nil || observation.WasReady.UID != observation.UID || observation.Initialized == nil || observation.Initialized.UID != observation.UID || !strings.HasPrefix(observation.Version, "v1.") {
		l.Errorf("recorded state of a ready cluster: %s", describeObject(mc))
	}
	if diff := cmp.Diff(map[string]string{"CAPTCluster": "v1beta1", "Cluster": "cluster.x-k8s.io/v1beta1"}, map[string]string{"CAPTCluster": observation.Contracts.Infrastructure, "Cluster": observation.ClusterAPIVersion}); diff != "" {
		l.Errorf("versions: -want, +got:\n%s", diff)
	}
	return mc
}

// flapControlPlane makes the control plane flap: it is Degraded at once, initialized all the time, written a few times, and ready again a while after the last one.
func (l *life) flapControlPlane() {
	l.Helper()
	writes := l.countStatusWrites()
	for range flaps {
		l.reportTerraform("-eks-controlplane", "", false, map[string]any{"cluster_endpoint": endpoint})
		l.followCluster(planeLost)
		l.awaitLostPlane(true)
		l.reportTerraform("-eks-controlplane", "", true, map[string]any{"cluster_endpoint": endpoint})
		l.followCluster(planeDone)
		l.awaitLostPlane(false)
	}
	mc := l.awaitReadyReason(v1alpha1.ReasonReady)
	n, degraded, reverted := writes()
	// One when it is lost, a few of progress, and one when it counts as ready again.
	if n > most || degraded == 0 || reverted > 0 {
		l.Errorf("%d writes of the status, %d of them Degraded, and %d unset an initialized field", n, degraded, reverted)
	}
	l.Logf("the status was written %d times while the control plane was lost %d times", n, flaps)
	if observation := mc.Status.AtProvider; observation.Initialized == nil || observation.Initialized.UID != observation.UID || observation.WasReady == nil {
		l.Errorf("recorded state after the cluster flapped: %s", describeObject(mc))
	}
	l.checkOwnedObjects()
}

// awaitLostPlane waits until CAPT says so.
func (l *life) awaitLostPlane(isLost bool) {
	l.Helper()
	l.pollUntilTrue("CAPT says whether the control plane is ready", l.isPlaneReady(!isLost), nothingElse)
}

// countStatusWrites counts how often the status is written from now on, how often it says Degraded, and how often that the control plane is not
// initialized any more.
func (l *life) countStatusWrites() func() (n, degraded, reverted int) {
	l.Helper()
	w, err := kube.Watch(l.Context(), &v1alpha1.ManagedClusterList{}, client.InNamespace(l.namespace))
	l.requireNoError(err)
	return func() (n, degraded, reverted int) {
		defer w.Stop()
		last := l.awaitManagedCluster("the last one", func(*v1alpha1.ManagedCluster) bool { return true }).GetResourceVersion()
		for e := range w.ResultChan() {
			mc, ok := e.Object.(*v1alpha1.ManagedCluster)
			if !ok {
				l.Fatalf("the watch says %v", e.Object)
			}
			if e.Type == watch.Modified {
				n++
			}
			if mc.GetCondition(xpv2.TypeReady).Reason == v1alpha1.ReasonDegraded {
				degraded++
			}
			if mc.GetCondition(v1alpha1.TypeControlPlaneInitialized).Status != corev1.ConditionTrue {
				reverted++
			}
			if mc.GetResourceVersion() == last {
				break
			}
		}
		return n, degraded, reverted
	}
}

// failureStays: a remaining failure is reported, and does no harm.
func (l *life) failureStays() {
	l.Helper()
	l.followCluster(planeFailed)
	message := l.awaitCondition(v1alpha1.TypeProviderHealthy, corev1.ConditionTrue, "FailureReported")
	if !strings.HasPrefix(message, "Cluster "+l.namespace+": EndpointUpdateFailed") {
		l.Errorf("message %q", message)
	}
	l.awaitReadyReason(v1alpha1.ReasonReady)
}

// pauseAndResume pauses a cluster and resumes it: CAPT goes on, and we write nothing until it is over.
func (l *life) pauseAndResume() {
	l.Helper()
	l.pauseCluster(true)
	l.awaitCondition(v1alpha1.TypePaused, corev1.ConditionTrue, "PausedIgnoredByProvider")
	l.changeManagedCluster(func(mc *v1alpha1.ManagedCluster) { mc.Spec.ForProvider.Labels["cni"] = "cilium" })
	l.awaitReadyReason(v1alpha1.ReasonReady)
	if cni := l.liveObject("Cluster").GetLabels()["cni"]; cni != "" {
		l.Errorf("a paused Cluster was written")
	}
	l.pauseCluster(false)
	l.pollUntilTrue("the label is there once it is not paused any more", l.labelledObject("cni", "cilium"), nothingElse)
	l.changeManagedCluster(func(mc *v1alpha1.ManagedCluster) { delete(mc.Spec.ForProvider.Labels, "cni") })
	l.pollUntilTrue("the label is removed with its request", l.labelledObject("cni", ""), nothingElse)
	l.checkOwnedObjects()
}

// changeIsIgnored: CAPT would never upgrade, so it is not asked to.
func (l *life) changeIsIgnored() {
	l.Helper()
	l.changeManagedCluster(func(mc *v1alpha1.ManagedCluster) {
		mc.Spec.ForProvider.Version, mc.Spec.ForProvider.CAPT.ControlPlane.Tags = "v1.32.0", nil
	})
	mc := l.awaitReadyReason(v1alpha1.ReasonChangeIgnored)
	if m := mc.GetCondition(xpv2.TypeReady).Message; !strings.HasPrefix(m, "CAPTControlPlane "+l.namespace+": spec.additionalTags; CAPTControlPlane "+l.namespace+": spec.version: CAPT ignores changes") {
		l.Errorf("message %q", m)
	}
	version, _, _ := unstructured.NestedString(l.liveObject("CAPTControlPlane").Object, "spec", "version")
	if version != "v1.31.0" {
		l.Errorf("version %s was written", version)
	}
	l.changeManagedCluster(func(mc *v1alpha1.ManagedCluster) {
		mc.Spec.ForProvider.Version, mc.Spec.ForProvider.CAPT.ControlPlane.Tags = "v1.31.0", map[string]v1alpha1.BoundedText{"team": "a"}
	})
	l.awaitReadyReason(v1alpha1.ReasonReady)
	l.checkOwnedObjects()
}

// playDeleted: only the Cluster is, by us. Its wait is reported, and templates stay.
func (l *life) playDeleted() {
	l.Helper()
	l.holdWorkspace("-eks-controlplane")
	l.requireNoError(kube.Delete(l.Context(), &v1alpha1.ManagedCluster{ObjectMeta: objectMetaFor(l.namespace)}))
	l.pollUntilTrue("the Cluster is deleted", l.deleteObject("Cluster"), nothingElse)
	if u := l.liveObject("CAPTCluster"); u == nil || u.GetDeletionTimestamp() != nil {
		l.Errorf("the infrastructure is deleted before the control plane")
	}
	l.followCluster(planeDeleted)
	l.awaitCondition(v1alpha1.TypeDeleting, corev1.ConditionTrue, "WaitingForControlPlaneDeletion")
	l.reportTerraform("-eks-controlplane", "destroy failed: DependencyViolation", true, nil)
	l.awaitManagedCluster("who blocks the deletion", func(mc *v1alpha1.ManagedCluster) bool {
		b := mc.Status.AtProvider.Blocker
		return b != nil && b.Kind == "Workspace" && b.Message == "destroy failed: DependencyViolation"
	})
	l.releaseWorkspace("-eks-controlplane")
	l.followCluster(allDeleted)
	for _, kind := range []string{"Cluster", "CAPTControlPlane", "CAPTCluster"} {
		l.awaitVanished(kind)
	}
	l.pollUntilTrue("the ManagedCluster is gone", l.isClusterGone, nothingElse)
	for _, template := range []string{"vpc", "eks"} {
		if l.liveObject("WorkspaceTemplate", template) == nil {
			l.Errorf("template %s is gone", template)
		}
	}
}

// recreateCluster deletes a cluster and creates it again: its status has no fact of the earlier cluster.
func (l *life) recreateCluster(first *v1alpha1.ManagedCluster) {
	l.Helper()
	l.makeManagedCluster()
	l.awaitObject("Cluster")
	l.followCluster(applied)
	mc := l.awaitManagedCluster("another Cluster", func(mc *v1alpha1.ManagedCluster) bool { return mc.Status.AtProvider.UID != "" })
	observation := mc.Status.AtProvider
	if observation.UID == first.Status.AtProvider.UID || observation.Initialized != nil || observation.WasReady != nil {
		l.Errorf("recorded state of the first cluster: %s", describeObject(mc))
	}
	l.awaitCondition(v1alpha1.TypeControlPlaneInitialized, corev1.ConditionFalse, "NotInitialized")
}
