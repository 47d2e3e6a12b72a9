package kubernetes

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestUnlistedDefinitions(t *testing.T) {
	list := func(groupVersion string, names ...string) *metav1.APIResourceList {
		out := &metav1.APIResourceList{GroupVersion: groupVersion}
		for _, name := range names {
			out.APIResources = append(out.APIResources, metav1.APIResource{Name: name})
		}
		return out
	}
	cases := map[string]struct {
		reason  string
		defined []string
		lists   []*metav1.APIResourceList
		want    []string
	}{
		"AnyVersion": {
			reason:  "A definition is listed if one of its versions is.",
			defined: []string{"bundles.intentplane.dev"},
			lists:   []*metav1.APIResourceList{list("intentplane.dev/v1alpha1"), list("intentplane.dev/v1beta1", "bundles", "bundles/status")},
			want:    []string{},
		},
		"OtherGroup": {
			reason:  "Two groups have a kind of the same name, and each is listed by itself.",
			defined: []string{"bundles.intentplane.dev", "bundles.claims.intentplane.dev"},
			lists:   []*metav1.APIResourceList{list("v1", "secrets"), list("claims.intentplane.dev/v1alpha1", "bundles")},
			want:    []string{"bundles.intentplane.dev"},
		},
		"Nothing": {
			reason:  "Without an answer of the API server no definition is listed.",
			defined: []string{"bundles.intentplane.dev"},
			want:    []string{"bundles.intentplane.dev"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			defined := []metav1.PartialObjectMetadata{}
			for _, name := range tc.defined {
				defined = append(defined, metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: name}})
			}
			if diff := cmp.Diff(tc.want, unlistedDefinitions(defined, tc.lists)); diff != "" {
				t.Errorf("\n%s\nunlistedDefinitions(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
