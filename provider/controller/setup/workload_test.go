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

	"github.com/intentplane/intentplane/apis/instruction"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/provider/clusters"
	"github.com/intentplane/intentplane/provider/clusters/account"
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
	pool := clusters.NewPool(func([]byte, clusters.Origin) (dynamic.Interface, func(), error) { return server, func() {}, nil }, account.New(account.Bounds{}), func(types.NamespacedName) {})
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

// stalledCache is an object of claim shop that its controller gave up at noon.
func stalledCache(namespace, name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.org/v1", "kind": "Cache",
		"metadata": map[string]any{"name": name, "namespace": namespace, "labels": map[string]any{LabelClaim: "shop"}},
		"status": map[string]any{"conditions": []any{map[string]any{
			"type": "Stalled", "status": "True", "reason": "Invalid", "lastTransitionTime": "2026-11-01T12:00:00Z",
		}}},
	}}
}

// delivers returns a directory with an object of each kind in the namespace of the claim.
func delivers(kinds ...schema.GroupVersionKind) []instruction.Manifest {
	out := make([]instruction.Manifest, 0, len(kinds))
	for _, gvk := range kinds {
		o := policy.Object{Group: gvk.Group, Kind: gvk.Kind, Namespace: "team-a", Name: "shop"}
		out = append(out, instruction.Manifest{Version: gvk.Version, Object: o})
	}
	return out
}

func TestFindFinalFailure(t *testing.T) {
	noon := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	kind := func(group, kind string) schema.GroupVersionKind {
		return schema.GroupVersionKind{Group: group, Version: "v1", Kind: kind}
	}
	deployment, job := kind("apps", "Deployment"), kind("batch", "Job")
	cache, index := kind("example.org", "Cache"), kind("example.org", "Index")
	forbidden, notFound := kerrors.NewForbidden(schema.GroupResource{}, "", nil), kerrors.NewNotFound(schema.GroupResource{}, "")
	inShared := delivers(cache)
	inShared[0].Object.Namespace = "shared"
	const inClaim = "Cache team-a/shop: Invalid"
	cases := map[string]struct {
		reason    string
		delivered []instruction.Manifest
		stalled   *unstructured.Unstructured
		// answers are the errors of lists, by their resources.
		answers  map[string]error
		since    time.Time
		counts   func(*unstructured.Unstructured) bool
		want     string
		lists    []string
		complete bool
	}{
		"Delivered": {
			reason:    "The kinds of the directory are listed, and no others.",
			delivered: delivers(cache, deployment), want: inClaim, lists: []string{"deployments", "caches"}, complete: true,
		},
		"NotDelivered": {
			reason:    "An object of a kind that the directory does not have is not read.",
			delivered: delivers(deployment), lists: []string{"deployments"}, complete: true,
		},
		"Unknown": {reason: "Without the objects of the directory nothing is listed, and the absence of a failure proves nothing."},
		"Denied": {
			reason:    "A kind that the provider may not list declares nothing, and the next kind is read.",
			delivered: delivers(job, cache, index),
			answers:   map[string]error{"jobs": forbidden, "indices": forbidden},
			want:      inClaim, lists: []string{"jobs", "caches", "indices"},
		},
		"DeniedCustom": {
			reason:    "The absence of a failure of Kubernetes' own workloads is proven without a kind that the provider may not list.",
			delivered: delivers(job, index),
			answers:   map[string]error{"indices": forbidden}, lists: []string{"jobs", "indices"}, complete: true,
		},
		"Missing": {
			reason:    "A kind that the cluster does not serve declares nothing.",
			delivered: delivers(job, cache),
			answers:   map[string]error{"jobs": notFound}, want: inClaim, lists: []string{"jobs", "caches"},
		},
		"NotListed": {
			reason:    "A kind that the cluster serves without lists declares nothing.",
			delivered: delivers(job, cache),
			answers:   map[string]error{"jobs": kerrors.NewMethodNotSupported(schema.GroupResource{}, "list")},
			want:      inClaim, lists: []string{"jobs", "caches"},
		},
		"Silent": {
			reason:    "A cluster that does not answer is not asked for the next kind, and the absence of its failure proves nothing.",
			delivered: delivers(cache, index),
			answers:   map[string]error{"caches": kerrors.NewTimeoutError("no", 1)}, lists: []string{"caches"},
		},
		"Earlier": {
			reason:    "A failure from before the position does not count.",
			delivered: delivers(cache), since: noon.Add(time.Second), lists: []string{"caches"}, complete: true,
		},
		"LeftOut": {
			reason:    "A failure of an object that the caller leaves out does not count.",
			delivered: delivers(cache), counts: func(u *unstructured.Unstructured) bool { return u.GetName() != "shop" },
			lists: []string{"caches"}, complete: true,
		},
		"OtherNamespace": {
			reason:    "An object of the directory in another namespace is read there.",
			delivered: inShared, stalled: stalledCache("shared", "shop"),
			want: "Cache shared/shop: Invalid", lists: []string{"caches"}, complete: true,
		},
		"SameName": {
			reason:    "In another namespace a claim of the same name may have an object, which is not an object of the directory.",
			delivered: inShared,
			stalled:   stalledCache("shared", "other"), lists: []string{"caches"}, complete: true,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if tc.counts == nil {
				tc.counts = func(*unstructured.Unstructured) bool { return true }
			}
			if tc.stalled == nil {
				tc.stalled = stalledCache("team-a", "shop")
			}
			server := apiserver.New(map[string]schema.GroupVersionResource{
				"Deployment": deployment.GroupVersion().WithResource("deployments"), "Job": job.GroupVersion().WithResource("jobs"),
				"Cache": cache.GroupVersion().WithResource("caches"), "Index": index.GroupVersion().WithResource("indices"),
			})
			if err := server.Tracker().Add(tc.stalled); err != nil {
				t.Fatal(err)
			}
			var lists []string
			server.PrependReactor("list", "*", func(a clienttesting.Action) (bool, runtime.Object, error) {
				lists = append(lists, a.GetResource().Resource)
				return tc.answers[a.GetResource().Resource] != nil, nil, tc.answers[a.GetResource().Resource]
			})
			search := FailureSearch{Namespace: "team-a", Claim: "shop", Delivered: tc.delivered, Start: tc.since}
			failure, isComplete := FindFinalFailure(t.Context(), connectServer(t, server), search, tc.counts)
			got := ""
			if failure != nil {
				got = failure.Message
			}
			if diff := cmp.Diff(tc.want, got) + cmp.Diff(tc.lists, lists) + cmp.Diff(tc.complete, isComplete); diff != "" {
				t.Errorf("\n%s\nFindFinalFailure(...): failure, lists, and whether each kind was read: -want, +got:\n%s", tc.reason, diff)
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
			reason: "In the cluster of the control plane it is the provider's service account that lacks them.",
			err:    clusters.Error{Reason: "ProviderAccessDenied", Detail: "forbidden"},
			want:   "the provider's service account may not list and watch HTTPRoutes of namespace team-a: bind the rules of examples/health/rbac.yaml",
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
