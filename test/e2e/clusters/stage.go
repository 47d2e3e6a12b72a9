// Package clusters shows ManagedClusters on a real control plane with the real controllers of Cluster API beside it.
package clusters

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/test/clusterapi"
	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

// audit notes who writes objects of Cluster API.
const audit = `
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - level: Metadata
    verbs: [create, update, patch, delete, deletecollection]
    resources:
      - group: cluster.x-k8s.io
      - group: infrastructure.cluster.x-k8s.io
      - group: controlplane.cluster.x-k8s.io
      - group: bootstrap.cluster.x-k8s.io
  - level: None
`

// cp is the control plane of all tests of this package.
var cp *controlplane.ControlPlane

// capi is the Cluster API of all tests.
var capi = sync.OnceValue(func() error { return clusterapi.Start(context.Background(), cp) })

const (
	name       = "prod"
	version    = "v1.34.2"
	newVersion = "v1.35.0"
)

// A stage is a scene with a ClusterClass in its namespace, and Cluster API.
type stage struct{ *scene.Scene }

func newClusterStage(t *testing.T) *stage {
	t.Helper()
	if err := capi(); err != nil {
		t.Fatal(err)
	}
	s := &stage{Scene: scene.New(t, cp)}
	t.Cleanup(s.explainFailure)
	objects, err := clusterapi.Class(s.Namespace)
	s.Must(err)
	for _, o := range objects {
		s.Apply(o)
	}
	return s
}

// explainFailure shows where the clusters stood when a test failed.
func (s *stage) explainFailure() {
	if !s.T.Failed() {
		return
	}
	s.T.Logf("events that Crossplane's circuit breaker refused: %v", s.refusedByBreaker(context.Background()))
	for _, kind := range []string{"workloadclusters.claims.intentplane.dev", "managedclusters.cluster.intentplane.dev", "clusters.cluster.x-k8s.io", "kubeadmcontrolplanes", "devclusters", "machines.cluster.x-k8s.io"} {
		out, err := s.Kubectl(context.Background(), "get", kind, "-n", s.Namespace, "-o", "yaml")
		s.T.Logf("%s: %v\n%s", kind, err, out)
	}
}

func (s *stage) describeObject(apiVersion, kind, name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetAPIVersion(apiVersion)
	o.SetKind(kind)
	o.SetNamespace(s.Namespace)
	o.SetName(name)
	return o
}

// describeManaged describes a ManagedCluster, to create or only to read it.
func (s *stage) describeManaged(name string, forProvider map[string]any) *unstructured.Unstructured {
	o := s.describeObject("cluster.intentplane.dev/v1alpha1", "ManagedCluster", name)
	s.Set(o, map[string]any{"kind": "ProviderConfig", "name": scene.Config}, "spec", "providerConfigRef")
	if forProvider == nil {
		return o
	}
	return s.Set(o, forProvider, "spec", "forProvider")
}

// describeTopology is a cluster of the stage's class, with one machine each.
func (s *stage) describeTopology() map[string]any {
	return map[string]any{
		"cluster": map[string]any{"name": name}, "type": "Topology", "version": version,
		"topology": map[string]any{
			"classRef":     map[string]any{"name": clusterapi.ClassName},
			"controlPlane": map[string]any{"replicas": int64(1)},
			// Core adds the class's other variable to the same list.
			"variables": []any{map[string]any{"name": "tier", "value": "gold"}},
			"workers":   []any{map[string]any{"class": clusterapi.WorkerClass, "name": "md-0", "replicas": int64(1)}},
		},
		"readiness": map[string]any{"stabilizationSeconds": int64(1)},
	}
}

// clusterNamed is the Cluster of that name.
func (s *stage) clusterNamed() *unstructured.Unstructured {
	return s.describeObject("cluster.x-k8s.io/v1beta2", "Cluster", name)
}

// awaitObject waits until a condition holds for an object, and returns the object. The wait ends at once when a controller ended.
func (s *stage) awaitObject(o *unstructured.Unstructured, description string, condition func(*unstructured.Unstructured) bool) *unstructured.Unstructured {
	s.T.Helper()
	observed := o.DeepCopy()
	s.Until(fmt.Sprintf("%s %s %s", o.GetKind(), o.GetName(), description), patience.Limit, func() bool {
		s.Must(s.Err())
		observed = o.DeepCopy()
		return s.Client.Get(s.T.Context(), client.ObjectKeyFromObject(o), observed) == nil && condition(observed)
	})
	return observed
}

// awaitObjectGone waits until an object is not there any more.
func (s *stage) awaitObjectGone(o *unstructured.Unstructured) {
	s.T.Helper()
	s.Until(fmt.Sprintf("%s %s is gone", o.GetKind(), o.GetName()), patience.Limit, func() bool {
		s.Must(s.Err())
		err := s.Client.Get(s.T.Context(), client.ObjectKeyFromObject(o), o.DeepCopy())
		return err != nil && client.IgnoreNotFound(err) == nil
	})
}

// awaitReason waits until Ready of a ManagedCluster has a reason for its current generation.
func (s *stage) awaitReason(mc *unstructured.Unstructured, want string) *unstructured.Unstructured {
	s.T.Helper()
	return s.awaitObject(mc, "has reason "+want, func(u *unstructured.Unstructured) bool {
		c := scene.Condition(u, "Ready")
		return string(c.Reason) == want && c.ObservedGeneration == u.GetGeneration()
	})
}

// awaitClusterReady waits until a ManagedCluster is.
func (s *stage) awaitClusterReady(mc *unstructured.Unstructured) *unstructured.Unstructured {
	s.T.Helper()
	out := s.awaitReason(mc, "Ready")
	if !scene.Is(out, "Synced", corev1.ConditionTrue, "") {
		s.T.Errorf("Synced: %+v", scene.Condition(out, "Synced"))
	}
	return out
}

// awaitMessage waits until the message of a condition holds some words.
func (s *stage) awaitMessage(o *unstructured.Unstructured, condition string, words ...string) *unstructured.Unstructured {
	s.T.Helper()
	return s.awaitObject(o, fmt.Sprintf("says in %s %q", condition, words), func(u *unstructured.Unstructured) bool {
		c := scene.Condition(u, condition)
		for _, w := range words {
			if !strings.Contains(string(c.Reason)+": "+c.Message, w) {
				return false
			}
		}
		return true
	})
}

// changeFinalizers changes the finalizers of an object. Its controllers write it at the same time.
func (s *stage) changeFinalizers(o *unstructured.Unstructured, change func([]string) []string) {
	s.T.Helper()
	s.Until("the finalizers of "+o.GetName()+" are changed", patience.Limit, func() bool {
		now := s.Now(o)
		now.SetFinalizers(change(now.GetFinalizers()))
		err := s.Client.Update(s.T.Context(), now)
		if !kerrors.IsConflict(err) {
			s.Must(err)
		}
		return err == nil
	})
}

// wantNotDeleted checks that objects exist without a deletion timestamp.
func (s *stage) wantNotDeleted(all ...*unstructured.Unstructured) {
	s.T.Helper()
	for _, o := range all {
		if deletedAt := s.Now(o).GetDeletionTimestamp(); deletedAt != nil {
			s.T.Errorf("%s %s is being deleted since %s", o.GetKind(), o.GetName(), deletedAt)
		}
	}
}

// onlyObjectOfKind is the only object of a kind in the namespace.
func (s *stage) onlyObjectOfKind(apiVersion, kind string) *unstructured.Unstructured {
	s.T.Helper()
	l := &unstructured.UnstructuredList{}
	l.SetAPIVersion(apiVersion)
	l.SetKind(kind + "List")
	s.Must(s.Client.List(s.T.Context(), l, client.InNamespace(s.Namespace)))
	if len(l.Items) != 1 {
		s.T.Fatalf("%d of %s", len(l.Items), kind)
	}
	return s.describeObject(apiVersion, kind, l.Items[0].GetName())
}
