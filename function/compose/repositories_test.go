package compose

import (
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/function/catalog"
)

func TestKeepRepositories(t *testing.T) {
	const first, second = "https://git.example.org/first.git", "https://git.example.org/second.git"
	placeOf := func(config, url string) catalog.Place {
		ref := catalog.ConfigRef{Kind: policy.KindClusterProviderConfig, Name: config}
		return catalog.Place{ConfigRef: ref, Repository: policy.RepositoryKey(url)}
	}
	reached := func(config string, remote *deliveryv1alpha1.Remote) map[string]*deliveryv1alpha1.GitDelivery {
		d := &deliveryv1alpha1.GitDelivery{}
		d.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: policy.KindClusterProviderConfig, Name: config}
		d.Status.AtProvider.Remote = remote
		return map[string]*deliveryv1alpha1.GitDelivery{"delivery": d}
	}
	cases := map[string]struct {
		reason   string
		places   []catalog.Place
		observed map[string]*deliveryv1alpha1.GitDelivery
		want     []string
	}{
		"Reached": {
			reason: "A Site stays in the repository that its delivery reached.",
			places: []catalog.Place{placeOf("a", second)}, observed: reached("a", &deliveryv1alpha1.Remote{URL: first}), want: []string{first},
		},
		"Unreached": {
			reason: "A delivery that reached no repository holds no Site.",
			places: []catalog.Place{placeOf("a", second)}, observed: reached("a", nil), want: []string{second},
		},
		"OtherConfig": {
			reason: "The delivery of another configuration holds no Site.",
			places: []catalog.Place{placeOf("a", second)}, observed: reached("b", &deliveryv1alpha1.Remote{URL: first}), want: []string{second},
		},
		"Named": {
			reason: "A repository that another configuration names is left to that one.",
			places: []catalog.Place{placeOf("a", second), placeOf("b", first)}, observed: reached("a", &deliveryv1alpha1.Remote{URL: first}),
			want: []string{second, first},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var want, got []string
			for _, url := range tc.want {
				want = append(want, policy.RepositoryKey(url))
			}
			for _, p := range KeepRepositories(tc.places, tc.observed) {
				got = append(got, p.Repository)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("\n%s\nKeepRepositories(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
