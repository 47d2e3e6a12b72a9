package capt

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/apis/cluster/v1alpha1"
)

// TestNameTaken: CAPT's Workspaces are in no namespace, so two clusters of one name would be built into one another.
func TestNameTaken(t *testing.T) {
	t.Parallel()
	first, second := newClusterLife(t, "taken"), newClusterLife(t, "taken2")
	first.buildCluster()
	second.makeManagedCluster(func(p *v1alpha1.ManagedClusterParameters) { p.Cluster.Name = "taken" })
	if m := second.messageOfReady(v1alpha1.ReasonNameTaken); !strings.HasPrefix(m, "another namespace has a CAPT") {
		t.Errorf("message %q", m)
	}
	second.wantNothingMade()
	// The first owner is not disturbed by a later ManagedCluster, which is deleted without a trace.
	second.requireNoError(kube.Delete(t.Context(), &v1alpha1.ManagedCluster{ObjectMeta: objectMetaFor("taken2")}))
	second.pollUntilTrue("the later ManagedCluster is deleted", second.isClusterGone, nothingElse)
	first.awaitReadyReason(v1alpha1.ReasonReady)
}

// TestTemplateMissing: nothing is made until all that it is made from is there.
func TestTemplateMissing(t *testing.T) {
	t.Parallel()
	l := newClusterLife(t, "template")
	l.requireNoError(kube.Delete(t.Context(), l.namedObject("WorkspaceTemplate", "eks")))
	l.makeManagedCluster()
	if m := l.messageOfReady(v1alpha1.ReasonTemplateMissing); !strings.HasPrefix(m, "WorkspaceTemplate template/eks") {
		t.Errorf("message %q", m)
	}
	l.wantNothingMade()
	l.emptyTemplate("eks")
	l.awaitObject("Cluster")
}

// TestObjectsGone: a cluster whose objects are gone may live on elsewhere, so its creation takes a person.
func TestObjectsGone(t *testing.T) {
	t.Parallel()
	l := newClusterLife(t, "gone")
	l.buildCluster()
	uid := string(l.liveObject("CAPTControlPlane").GetUID())
	l.editAsController(l.namedObject("CAPTControlPlane"), captManager, func(u *unstructured.Unstructured) { u.SetFinalizers(nil) })
	l.requireNoError(kube.Delete(t.Context(), l.namedObject("CAPTControlPlane")))
	if m := l.messageOfReady(v1alpha1.ReasonObjectsGone); !strings.Contains(m, "CAPTControlPlane gone with uid "+uid) || !strings.Contains(m, v1alpha1.AnnotationRecreate+"="+uid) {
		t.Errorf("message %q", m)
	}
	// Another change of the Cluster does not change the reason.
	l.pauseCluster(true)
	l.pauseCluster(false)
	l.awaitReadyReason(v1alpha1.ReasonObjectsGone)
	if l.liveObject("CAPTControlPlane") != nil {
		t.Error("it was made again")
	}
	l.changeManagedCluster(func(mc *v1alpha1.ManagedCluster) {
		mc.SetAnnotations(map[string]string{v1alpha1.AnnotationRecreate: uid})
	})
	if recreated := l.awaitObject("CAPTControlPlane"); string(recreated.GetUID()) == uid {
		t.Error("the object has the UID of the deleted object")
	}
}

// TestOwners: after Cluster API takes an object over, and before CAPT begins, the object may still be changed. Fields that others
// wrote into it by then stay.
func TestOwners(t *testing.T) {
	t.Parallel()
	l := newClusterLife(t, "owners")
	l.makeManagedCluster()
	l.awaitObject("Cluster")
	recorded{}.followCluster(l.stage, applied)
	l.changeManagedCluster(func(mc *v1alpha1.ManagedCluster) {
		mc.Spec.ForProvider.Version, mc.Spec.ForProvider.CAPT.Region = "v1.31.1", "eu-west-2"
		mc.Spec.ForProvider.CAPT.ControlPlane.Tags = nil
	})
	l.pollUntilTrue("the change is applied", l.specFieldEquals("CAPTControlPlane", "v1.31.1", "version"), nothingElse)
	l.pollUntilTrue("the change is applied", l.specFieldEquals("CAPTCluster", "eu-west-2", "region"), nothingElse)
	if tags, found, _ := unstructured.NestedMap(l.liveObject("CAPTControlPlane").Object, "spec", "additionalTags"); found {
		t.Errorf("removed tags are still set: %v", tags)
	}
	recorded{}.followCluster(l.stage, begun)
	l.awaitCondition(v1alpha1.TypeInfrastructureReady, corev1.ConditionFalse, "Provisioning")
	l.checkOwnedObjects()
	for _, kind := range []string{"CAPTCluster", "CAPTControlPlane"} {
		for _, o := range l.liveObject(kind).GetOwnerReferences() {
			if o.Controller == nil || !*o.Controller {
				t.Errorf("%s has lost its controller: %+v", kind, o)
			}
		}
	}
}

// TestLeftOvers: a Cluster that is gone without its objects leaves them to us, the control plane first.
func TestLeftOvers(t *testing.T) {
	t.Parallel()
	l := newClusterLife(t, "leftovers")
	l.buildCluster()
	l.requireNoError(kube.Delete(t.Context(), &v1alpha1.ManagedCluster{ObjectMeta: objectMetaFor("leftovers")}))
	l.pollUntilTrue("the Cluster is deleted", l.deleteObject("Cluster"), nothingElse)
	l.releaseProtected("Cluster", clusterFinalizer)
	l.pollUntilTrue("the control plane is deleted", l.deleteObject("CAPTControlPlane"), nothingElse)
	if l.liveObject("CAPTCluster").GetDeletionTimestamp() != nil {
		t.Error("the infrastructure is deleted before the control plane is gone")
	}
	l.releaseProtected("CAPTControlPlane", planeFinalizer)
	l.pollUntilTrue("the infrastructure is deleted", l.deleteObject("CAPTCluster"), nothingElse)
	l.releaseProtected("CAPTCluster", infrastructureFinalizer)
	l.pollUntilTrue("the ManagedCluster is gone", l.isClusterGone, nothingElse)
}
