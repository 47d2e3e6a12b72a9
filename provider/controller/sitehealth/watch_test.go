package sitehealth

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
)

// TestWakers find the SiteHealths that a Site or a Secret concerns.
func TestWakers(t *testing.T) {
	w := newWorld(t)
	w.editSite(func(s *catalogv1alpha1.Site) { s.Spec.Cluster = kubeconfigIn("edge1") })
	wake := waker{kube: w.kube}
	cases := map[string]struct {
		reason string
		got    int
		want   int
	}{
		"Site":      {reason: "A Site wakes the SiteHealths that name it.", got: len(wake.requestsForSite(t.Context(), newSite("edge1"))), want: 1},
		"OtherSite": {reason: "Another Site wakes none of them.", got: len(wake.requestsForSite(t.Context(), newSite("edge2")))},
		"Secret": {
			reason: "The Secret with a Site's kubeconfig wakes its SiteHealths.",
			got:    len(wake.requestsForSecret(t.Context(), secretNamed("edge1"))), want: 1,
		},
		"OtherSecret": {reason: "Another Secret wakes none of them.", got: len(wake.requestsForSecret(t.Context(), secretNamed("edge2")))},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if tc.got != tc.want {
				t.Errorf("\n%s\n%d requests, want %d", tc.reason, tc.got, tc.want)
			}
		})
	}
}

func secretNamed(name string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "admin", Name: name}}
}
