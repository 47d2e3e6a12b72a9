package capt

import (
	"context"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/intentplane/intentplane/apis/cluster/v1alpha1"
)

// terraformFinalizer is the finalizer by which the provider of Terraform protects a Workspace until all is destroyed.
const terraformFinalizer = "finalizer.managedresource.crossplane.io"

// objectMetaFor is an object of the stage's name and namespace.
func objectMetaFor(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: name, Name: name}
}

// hasClusterOwners is true once the Cluster owns both objects that it refers to, and CAPT began with them.
func (s *stage) hasClusterOwners(context.Context) (bool, error) {
	c := s.liveObject("Cluster")
	for _, kind := range []string{"CAPTCluster", "CAPTControlPlane"} {
		owned := false
		for _, o := range s.liveObject(kind).GetOwnerReferences() {
			owned = owned || o.UID == c.GetUID()
		}
		begun, _, _ := unstructured.NestedString(s.liveObject(kind).Object, "spec", "workspaceTemplateApplyName")
		if !owned || begun == "" || s.liveObject(kind).GetLabels()["cluster.x-k8s.io/cluster-name"] != c.GetName() {
			return false, nil
		}
	}
	return true, nil
}

// isPlaneReady reports whether CAPT says that the control plane is ready, to the Cluster too.
func (s *stage) isPlaneReady(ready bool) wait.ConditionWithContextFunc {
	return func(context.Context) (bool, error) {
		plane, _, _ := unstructured.NestedBool(s.liveObject("CAPTControlPlane").Object, "status", "ready")
		cluster, _, _ := unstructured.NestedBool(s.liveObject("Cluster").Object, "status", "controlPlaneReady")
		return plane == ready && cluster == ready, nil
	}
}

func (s *stage) labelledObject(key, value string) wait.ConditionWithContextFunc {
	return func(context.Context) (bool, error) { return s.liveObject("Cluster").GetLabels()[key] == value, nil }
}

func (s *stage) deleteObject(kind string) wait.ConditionWithContextFunc {
	return func(context.Context) (bool, error) { return s.liveObject(kind).GetDeletionTimestamp() != nil, nil }
}

func (s *stage) isClusterGone(ctx context.Context) (bool, error) {
	err := kube.Get(ctx, s.namespacedName(), &v1alpha1.ManagedCluster{})
	return kerrors.IsNotFound(err), client.IgnoreNotFound(err)
}

func (s *stage) specFieldEquals(kind, want, field string) wait.ConditionWithContextFunc {
	return func(context.Context) (bool, error) {
		got, _, _ := unstructured.NestedString(s.liveObject(kind).Object, "spec", field)
		return got == want, nil
	}
}

// nothingElse has no explanation.
func nothingElse() string { return "" }

// pauseCluster pauses the Cluster, or lets it go on.
func (s *stage) pauseCluster(paused bool) {
	s.Helper()
	s.editAsController(s.namedObject("Cluster"), "somebody", func(u *unstructured.Unstructured) {
		s.requireNoError(unstructured.SetNestedField(u.Object, paused, "spec", "paused"))
	})
}

// holdWorkspace holds a Workspace until Terraform destroyed its content.
func (s *stage) holdWorkspace(workspace string) {
	s.Helper()
	s.editAsController(s.namedObject("Workspace", s.namespace+workspace), "terraform", func(u *unstructured.Unstructured) { controllerutil.AddFinalizer(u, terraformFinalizer) })
}

func (s *stage) releaseWorkspace(workspace string) {
	s.Helper()
	s.editAsController(s.namedObject("Workspace", s.namespace+workspace), "terraform", func(u *unstructured.Unstructured) { controllerutil.RemoveFinalizer(u, terraformFinalizer) })
}
