package setup

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	clienttesting "k8s.io/client-go/testing"

	"github.com/intentplane/intentplane/provider/clusters"
	"github.com/intentplane/intentplane/provider/workload"
	"github.com/intentplane/intentplane/test/apiserver"
)

// newCluster is a cluster with Deployments, by their names the claims that they are labelled with, and a ReplicaSet of each.
func newCluster(t *testing.T, claims map[string]string) *clusters.Cluster {
	t.Helper()
	apps := func(resource string) schema.GroupVersionResource {
		return schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: resource}
	}
	server := apiserver.New(map[string]schema.GroupVersionResource{"Deployment": apps("deployments"), "ReplicaSet": apps("replicasets")})
	create := func(resource, kind, name string, change func(o *unstructured.Unstructured)) {
		o := &unstructured.Unstructured{}
		o.SetAPIVersion("apps/v1")
		o.SetKind(kind)
		o.SetNamespace("team-a")
		o.SetName(name)
		change(o)
		if _, err := server.Resource(apps(resource)).Namespace("team-a").Create(t.Context(), o, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	for name, claim := range claims {
		create("deployments", "Deployment", name, func(o *unstructured.Unstructured) {
			o.SetUID(types.UID(name))
			o.SetLabels(map[string]string{LabelClaim: claim})
			if name != "unmarked" {
				o.SetLabels(map[string]string{LabelClaim: claim, "intentplane.dev/workload": "main"})
			}
		})
		create("replicasets", "ReplicaSet", name+"-1", func(o *unstructured.Unstructured) {
			o.SetOwnerReferences([]metav1.OwnerReference{{Kind: "Deployment", Name: name, UID: types.UID(name), Controller: new(true)}})
		})
	}
	return connectServer(t, server)
}

// connectServer returns the cluster of a server.
func connectServer(t *testing.T, server *apiserver.Server) *clusters.Cluster {
	t.Helper()
	pool := clusters.NewPool(func([]byte, clusters.Origin) (dynamic.Interface, func(), error) { return server, func() {}, nil }, clusters.NewAccounts(clusters.Bounds{}), func(types.NamespacedName) {})
	owner := types.NamespacedName{Name: "a"}
	t.Cleanup(func() { pool.Forget(owner) })
	c, err := pool.Look(owner).Home()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestSelectWorkload(t *testing.T) {
	c := newCluster(t, map[string]string{"shop": "shop", "unmarked": "shop", "other": "blog"})
	w, err := SelectWorkload(t.Context(), c, "team-a", "shop")
	if err != nil {
		t.Fatal(err)
	}
	names := [][]string{{}, {}}
	for i, all := range [][]*unstructured.Unstructured{w.Deployments, w.ReplicaSets} {
		for _, o := range all {
			names[i] = append(names[i], o.GetName())
		}
	}
	if diff := cmp.Diff([][]string{{"shop"}, {"shop-1"}}, names); diff != "" {
		t.Errorf("\nThe marked Deployments of a claim and their ReplicaSets are its workload.\nSelectWorkload(...): -want, +got:\n%s", diff)
	}
}

// TestFindFinalFailure has a cluster that answers for Deployments alone, and so never for all kinds that every cluster serves. There, one exceeded its progress deadline at noon.
func TestFindFinalFailure(t *testing.T) {
	noon := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	deployments := schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	cases := map[string]struct {
		reason string
		answer error
		since  time.Time
		counts func(*unstructured.Unstructured) bool
		want   string
		lists  int
	}{
		"Denied": {
			reason: "A kind that the provider may not list declares nothing.",
			answer: kerrors.NewForbidden(schema.GroupResource{}, "", nil), since: noon, want: "Deployment team-a/shop: ProgressDeadlineExceeded", lists: 12,
		},
		"Missing": {
			reason: "A kind that the cluster does not serve declares nothing.",
			answer: kerrors.NewNotFound(schema.GroupResource{}, ""), since: noon, want: "Deployment team-a/shop: ProgressDeadlineExceeded", lists: 12,
		},
		"Silent": {
			reason: "A cluster that does not answer is not asked for the next kind.",
			answer: kerrors.NewTimeoutError("no", 1), since: noon, want: "Deployment team-a/shop: ProgressDeadlineExceeded", lists: 2,
		},
		"Earlier": {
			reason: "A failure from before the position does not count.",
			answer: kerrors.NewNotFound(schema.GroupResource{}, ""), since: noon.Add(time.Second), lists: 12,
		},
		"LeftOut": {
			reason: "A failure of an object that the caller leaves out does not count.",
			answer: kerrors.NewNotFound(schema.GroupResource{}, ""), since: noon, counts: func(u *unstructured.Unstructured) bool { return u.GetName() != "shop" }, lists: 12,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if tc.counts == nil {
				tc.counts = func(*unstructured.Unstructured) bool { return true }
			}
			kinds := map[string]schema.GroupVersionResource{}
			for _, r := range workload.FinalResources() {
				kinds[r.Resource] = r
			}
			server := apiserver.New(kinds)
			failed := &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": "shop", "namespace": "team-a", "labels": map[string]any{LabelClaim: "shop"}},
				"status": map[string]any{"conditions": []any{map[string]any{
					"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded", "lastTransitionTime": noon.Format(time.RFC3339),
				}}},
			}}
			if _, err := server.Resource(deployments).Namespace("team-a").Create(t.Context(), failed, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			lists := 0
			server.PrependReactor("list", "*", func(a clienttesting.Action) (bool, runtime.Object, error) {
				lists++
				return a.GetResource() != deployments, nil, tc.answer
			})
			failure, isComplete := FindFinalFailure(t.Context(), connectServer(t, server), "team-a", "shop", tc.since, tc.counts)
			got := ""
			if failure != nil {
				got = failure.Message
			}
			if diff := cmp.Diff(tc.want, got); diff != "" || lists != tc.lists || isComplete {
				t.Errorf("\n%s\nFindFinalFailure(...): %d lists, want %d, complete is %t: -want, +got:\n%s", tc.reason, lists, tc.lists, isComplete, diff)
			}
		})
	}
}

func TestExplainUnread(t *testing.T) {
	cases := map[string]struct {
		reason string
		err    clusters.Error
		want   string
	}{
		"Denied": {
			reason: "The message of missing rights names the role to bind.", err: clusters.Error{Reason: "AccessDenied", Detail: "forbidden"},
			want: "the credentials may not list and watch HTTPRoutes of namespace team-a: bind the rules of examples/health/rbac.yaml",
		},
		"ProviderDenied": {
			reason: "In the cluster of the control plane it is the provider's service account that lacks them.", err: clusters.Error{Reason: "ProviderAccessDenied", Detail: "forbidden"},
			want: "the provider's service account may not list and watch HTTPRoutes of namespace team-a: bind the rules of examples/health/rbac.yaml",
		},
		"Other": {reason: "Any other error is reported unchanged.", err: clusters.Error{Reason: "Unreachable", Detail: "no route to host"}, want: "no route to host"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, ExplainUnread(&tc.err, "HTTPRoutes", "team-a")); diff != "" {
				t.Errorf("\n%s\nExplainUnread(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
