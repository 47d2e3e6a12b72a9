package listing_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/intentplane/intentplane/provider/listing"
	"github.com/intentplane/intentplane/test/cacheclient"
)

// keyIndex finds ConfigMaps by the keys of their data.
func keyIndex() listing.Index {
	return listing.NewIndex(&corev1.ConfigMap{}, "test.key", func(c *corev1.ConfigMap) []string {
		out := []string{}
		for key := range c.Data {
			out = append(out, key)
		}
		return out
	})
}

func configMap(namespace, name string, keys ...string) *corev1.ConfigMap {
	c := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Data: map[string]string{}}
	for _, key := range keys {
		c.Data[key] = "x"
	}
	return c
}

// TestRequests has ConfigMaps in two namespaces, and a hundred others, which are not read.
func TestRequests(t *testing.T) {
	b := cacheclient.Indexer{ClientBuilder: fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).WithObjects(
		configMap("team-a", "both", "site/a", "site/b"), configMap("team-a", "one", "site/b"), configMap("team-b", "namesake", "site/a"),
	)}
	for i := range 100 {
		b.WithObjects(configMap("team-a", fmt.Sprintf("other-%d", i), "site/c"))
	}
	if err := listing.AddIndexes(t.Context(), b, keyIndex()); err != nil {
		t.Fatal(err)
	}
	kube := &cacheclient.Counter{Client: b.Build()}
	cases := map[string]struct {
		reason  string
		keys    []string
		options []client.ListOption
		want    []string
		listed  int
	}{
		"Namespace": {
			reason: "A key finds the objects of a namespace that have it.", keys: []string{"site/a"}, options: []client.ListOption{client.InNamespace("team-a")},
			want: []string{"team-a/both"}, listed: 1,
		},
		"AllNamespaces": {reason: "A key without a namespace finds objects of all namespaces.", keys: []string{"site/a"}, want: []string{"team-a/both", "team-b/namesake"}, listed: 2},
		"Twice":         {reason: "An object with two of the keys gets one request.", keys: []string{"site/b", "site/a"}, want: []string{"team-a/both", "team-a/one", "team-b/namesake"}, listed: 4},
		"NoKey":         {reason: "No key finds no object, and lists none.", want: []string{}},
		"Unknown":       {reason: "A key that no object has finds none.", keys: []string{"site"}, want: []string{}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			kube.Listed = 0
			found, err := keyIndex().Requests(t.Context(), kube, &corev1.ConfigMapList{}, tc.keys, tc.options...)
			if err != nil {
				t.Fatal(err)
			}
			got := []string{}
			for _, r := range found {
				got = append(got, r.String())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" || kube.Listed != tc.listed {
				t.Errorf("\n%s\nRequests(...): want %d objects, got %d; -want, +got:\n%s", tc.reason, tc.listed, kube.Listed, diff)
			}
		})
	}
}

// TestRequestsWithoutIndex lists from a cache without the index.
func TestRequestsWithoutIndex(t *testing.T) {
	kube := fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).WithObjects(configMap("team-a", "one", "site/a")).Build()
	if found, err := keyIndex().Requests(t.Context(), kube, &corev1.ConfigMapList{}, []string{"site/a"}); err == nil || len(found) > 0 {
		t.Errorf("A cache without the index finds no object, and fails.\nRequests(...): %v, %v", found, err)
	}
}
