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

// A life is what happens to one cluster, in the order in which it happens. Each step waits for what the step before led to.
type life struct {
	*stage

	others others
}

func newLife(t *testing.T, name string) *life {
	t.Helper()
	return &life{stage: newStage(t, name), others: cast()}
}

// built is a cluster that is ready.
func (l *life) built() *v1alpha1.ManagedCluster {
	l.Helper()
	l.created()
	l.infrastructureReady()
	l.endpointIsURL()
	return l.becomesReady()
}

func (l *life) follow(m moment) {
	l.Helper()
	l.others.follow(l.stage, m)
}

// created: three objects, the Cluster last, by a field owner of our own, without an owner reference.
func (l *life) created() {
	l.Helper()
	l.manage()
	var versions []string
	for _, kind := range []string{"CAPTCluster", "CAPTControlPlane", "Cluster"} {
		u := l.appears(kind)
		for _, f := range u.GetManagedFields() {
			if f.Manager == fieldOwner {
				versions = append(versions, kind+" "+string(f.Operation))
			}
		}
	}
	if diff := cmp.Diff([]string{"CAPTCluster Apply", "CAPTControlPlane Apply", "Cluster Apply"}, versions); diff != "" {
		l.Errorf("who made what: -want, +got:\n%s", diff)
	}
	l.follow(applied)
	l.follow(begun)
}

// vpcFirst: what is built first is named first.
func (l *life) vpcFirst() {
	l.Helper()
	l.terraform("-vpc", "", false, nil)
	l.is(v1alpha1.TypeInfrastructureReady, corev1.ConditionFalse, "Provisioning")
	l.is(v1alpha1.TypeControlPlaneInitialized, corev1.ConditionFalse, "NotInitialized")
	l.owned()
}

// owned: what CAPT and core wrote into our objects is there, and so is what we wrote.
func (l *life) owned() {
	l.Helper()
	l.until("owner references of Cluster API", l.hasOwners, nothingElse)
	for kind, field := range map[string]string{"CAPTCluster": "vpcTemplateRef", "CAPTControlPlane": "workspaceTemplateRef"} {
		u := l.live(kind)
		spec, _, _ := unstructured.NestedMap(u.Object, "spec")
		if spec["workspaceTemplateApplyName"] == nil || spec[field] == nil || len(u.GetFinalizers()) == 0 {
			l.Errorf("%s has spec %v and finalizers %v", kind, spec, u.GetFinalizers())
		}
		if owner := u.GetLabels()[v1alpha1.LabelOwner]; owner == "" {
			l.Errorf("%s has no owner label of ours", kind)
		}
	}
	for _, kind := range []string{"CAPTCluster", "CAPTControlPlane", "Cluster"} {
		l.keepsOff(kind)
	}
}

// keepsOff: what CAPT and core write we never did, nor any status.
func (l *life) keepsOff(kind string) {
	l.Helper()
	for _, f := range l.live(kind).GetManagedFields() {
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

// terraformFails: CAPT hides what Terraform says, and we name it.
func (l *life) terraformFails() {
	l.Helper()
	l.terraform("-vpc", "apply failed: VpcLimitExceeded", false, nil)
	message := l.is(v1alpha1.TypeProviderHealthy, corev1.ConditionFalse, "TerraformFailed")
	if want := "Workspace " + l.namespace + "-vpc: apply failed: VpcLimitExceeded"; message != want {
		l.Errorf("want message %q, got %q", want, message)
	}
	l.ready("TerraformFailed")
}

func (l *life) infrastructureReady() {
	l.Helper()
	l.terraform("-vpc", "", true, map[string]any{"vpc_id": "vpc-1"})
	l.follow(vpcDone)
	l.is(v1alpha1.TypeInfrastructureReady, corev1.ConditionTrue, "Provisioned")
	l.is(v1alpha1.TypeProviderHealthy, corev1.ConditionTrue, "NoFailure")
}

// endpointIsURL: the whole URL stands where a host belongs.
func (l *life) endpointIsURL() {
	l.Helper()
	l.yaml("Secret", "metadata: {name: "+l.namespace+"-eks-connection}\nstringData: {cluster_endpoint: '"+endpoint+"', cluster_certificate_authority_data: Y2E=}")
	l.terraform("-eks-controlplane", "", true, map[string]any{"cluster_endpoint": endpoint})
	l.follow(planeDone)
	l.is(v1alpha1.TypeEndpointKnown, corev1.ConditionTrue, "EndpointCorrected")
	l.await("the endpoint's host", func(mc *v1alpha1.ManagedCluster) bool {
		e := mc.Status.AtProvider.Endpoint
		return e != nil && e.Host == strings.TrimPrefix(endpoint, "https://") && e.Port == 443
	})
}

// emptyKubeconfig: there is a Secret, and nothing in it.
func (l *life) emptyKubeconfig() {
	l.Helper()
	l.kubeconfig("")
	l.follow(secretsDone)
	l.is(v1alpha1.TypeKubeconfigReady, corev1.ConditionFalse, "KubeconfigEmpty")
}

func (l *life) becomesReady() *v1alpha1.ManagedCluster {
	l.Helper()
	l.kubeconfig(cp.Kubeconfig)
	l.follow(secretsDone)
	mc := l.ready(v1alpha1.ReasonReady)
	at := mc.Status.AtProvider
	if at.WasReady == nil || at.WasReady.UID != at.UID || at.Initialized == nil || at.Initialized.UID != at.UID || !strings.HasPrefix(at.Version, "v1.") {
		l.Errorf("what is remembered of a cluster that is ready: %s", describe(mc))
	}
	if diff := cmp.Diff(map[string]string{"CAPTCluster": "v1beta1", "Cluster": "cluster.x-k8s.io/v1beta1"}, map[string]string{"CAPTCluster": at.Contracts.Infrastructure, "Cluster": at.ClusterAPIVersion}); diff != "" {
		l.Errorf("versions: -want, +got:\n%s", diff)
	}
	return mc
}

// flaps: it is Degraded at once, initialized all the time, written a few times, and ready again a while after the last one.
func (l *life) flaps() {
	l.Helper()
	writes := l.writes()
	for range flaps {
		l.terraform("-eks-controlplane", "", false, map[string]any{"cluster_endpoint": endpoint})
		l.follow(planeLost)
		l.lostPlane(true)
		l.terraform("-eks-controlplane", "", true, map[string]any{"cluster_endpoint": endpoint})
		l.follow(planeDone)
		l.lostPlane(false)
	}
	mc := l.ready(v1alpha1.ReasonReady)
	n, degraded, taken := writes()
	// One when it is lost, a few of progress, and one when it counts as ready again.
	if n > most || degraded == 0 || taken > 0 {
		l.Errorf("%d writes of the status, %d of them Degraded, and %d unset what was initialized", n, degraded, taken)
	}
	l.Logf("the status was written %d times while the control plane was lost %d times", n, flaps)
	if at := mc.Status.AtProvider; at.Initialized == nil || at.Initialized.UID != at.UID || at.WasReady == nil {
		l.Errorf("what is remembered after it flapped: %s", describe(mc))
	}
	l.owned()
}

// lostPlane waits until CAPT says so.
func (l *life) lostPlane(lost bool) {
	l.Helper()
	l.until("CAPT says whether the control plane is ready", l.planeIs(!lost), nothingElse)
}

// writes counts how often the status is written from now on, how often it says Degraded, and how often that the control plane is not
// initialized any more.
func (l *life) writes() func() (n, degraded, taken int) {
	l.Helper()
	w, err := kube.Watch(l.Context(), &v1alpha1.ManagedClusterList{}, client.InNamespace(l.namespace))
	l.must(err)
	return func() (n, degraded, taken int) {
		defer w.Stop()
		last := l.await("the last one", func(*v1alpha1.ManagedCluster) bool { return true }).GetResourceVersion()
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
				taken++
			}
			if mc.GetResourceVersion() == last {
				break
			}
		}
		return n, degraded, taken
	}
}

// failureStays: what is left over is reported, and does no harm.
func (l *life) failureStays() {
	l.Helper()
	l.follow(planeFailed)
	message := l.is(v1alpha1.TypeProviderHealthy, corev1.ConditionTrue, "FailureReported")
	if !strings.HasPrefix(message, "Cluster "+l.namespace+": EndpointUpdateFailed") {
		l.Errorf("message %q", message)
	}
	l.ready(v1alpha1.ReasonReady)
}

// paused: CAPT goes on, and we write nothing until it is over.
func (l *life) paused() {
	l.Helper()
	l.pause(true)
	l.is(v1alpha1.TypePaused, corev1.ConditionTrue, "PausedIgnoredByProvider")
	l.change(func(mc *v1alpha1.ManagedCluster) { mc.Spec.ForProvider.Labels["cni"] = "cilium" })
	l.ready(v1alpha1.ReasonReady)
	if cni := l.live("Cluster").GetLabels()["cni"]; cni != "" {
		l.Errorf("a paused Cluster was written")
	}
	l.pause(false)
	l.until("the label is there once it is not paused any more", l.labelled("cni", "cilium"), nothingElse)
	l.change(func(mc *v1alpha1.ManagedCluster) { delete(mc.Spec.ForProvider.Labels, "cni") })
	l.until("the label goes with the one who wanted it", l.labelled("cni", ""), nothingElse)
	l.owned()
}

// changeIsIgnored: CAPT would never upgrade, so it is not asked to.
func (l *life) changeIsIgnored() {
	l.Helper()
	l.change(func(mc *v1alpha1.ManagedCluster) {
		mc.Spec.ForProvider.Version, mc.Spec.ForProvider.CAPT.ControlPlane.Tags = "v1.32.0", nil
	})
	mc := l.ready(v1alpha1.ReasonChangeIgnored)
	if m := mc.GetCondition(xpv2.TypeReady).Message; !strings.HasPrefix(m, "CAPTControlPlane "+l.namespace+": spec.additionalTags; CAPTControlPlane "+l.namespace+": spec.version: CAPT ignores changes") {
		l.Errorf("message %q", m)
	}
	version, _, _ := unstructured.NestedString(l.live("CAPTControlPlane").Object, "spec", "version")
	if version != "v1.31.0" {
		l.Errorf("version %s was written", version)
	}
	l.change(func(mc *v1alpha1.ManagedCluster) {
		mc.Spec.ForProvider.Version, mc.Spec.ForProvider.CAPT.ControlPlane.Tags = "v1.31.0", map[string]v1alpha1.BoundedText{"team": "a"}
	})
	l.ready(v1alpha1.ReasonReady)
	l.owned()
}

// deleted: only the Cluster is, by us. What it waits for is said, and templates stay.
func (l *life) deleted() {
	l.Helper()
	l.hold("-eks-controlplane")
	l.must(kube.Delete(l.Context(), &v1alpha1.ManagedCluster{ObjectMeta: metav1Name(l.namespace)}))
	l.until("the Cluster is deleted", l.deletes("Cluster"), nothingElse)
	if u := l.live("CAPTCluster"); u == nil || u.GetDeletionTimestamp() != nil {
		l.Errorf("the infrastructure is deleted before the control plane")
	}
	l.follow(planeDeleted)
	l.is(v1alpha1.TypeDeleting, corev1.ConditionTrue, "WaitingForControlPlaneDeletion")
	l.terraform("-eks-controlplane", "destroy failed: DependencyViolation", true, nil)
	l.await("who blocks the deletion", func(mc *v1alpha1.ManagedCluster) bool {
		b := mc.Status.AtProvider.Blocker
		return b != nil && b.Kind == "Workspace" && b.Message == "destroy failed: DependencyViolation"
	})
	l.unhold("-eks-controlplane")
	l.follow(allDeleted)
	for _, kind := range []string{"Cluster", "CAPTControlPlane", "CAPTCluster"} {
		l.vanishes(kind)
	}
	l.until("the ManagedCluster is gone", l.isGone, nothingElse)
	for _, template := range []string{"vpc", "eks"} {
		if l.live("WorkspaceTemplate", template) == nil {
			l.Errorf("template %s is gone", template)
		}
	}
}

// bornAgain: another cluster of that name is another one, of which nothing is known yet.
func (l *life) bornAgain(first *v1alpha1.ManagedCluster) {
	l.Helper()
	l.manage()
	l.appears("Cluster")
	l.follow(applied)
	mc := l.await("another Cluster", func(mc *v1alpha1.ManagedCluster) bool { return mc.Status.AtProvider.UID != "" })
	at := mc.Status.AtProvider
	if at.UID == first.Status.AtProvider.UID || at.Initialized != nil || at.WasReady != nil {
		l.Errorf("what was known of the first one: %s", describe(mc))
	}
	l.is(v1alpha1.TypeControlPlaneInitialized, corev1.ConditionFalse, "NotInitialized")
}
