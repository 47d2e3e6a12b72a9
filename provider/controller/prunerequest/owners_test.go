package prunerequest

import (
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/state/v1alpha1"
	"github.com/intentplane/intentplane/provider/prune"
	"github.com/intentplane/intentplane/provider/remote"
	"github.com/intentplane/intentplane/provider/usage"
)

// TestAddDelivery adds deliveries of several configurations that name one URL, none of which knows its memory.
func TestAddDelivery(t *testing.T) {
	const path = "clusters/edge1/team-b/shop"
	counted := []prune.Delivery{{Namespace: "team-b", Name: "shop", Reason: "MemoryUnknown"}}
	ofTeamB := xpv2.ProviderConfigReference{Kind: policy.KindProviderConfig, Name: "own"}
	shared := xpv2.ProviderConfigReference{Kind: policy.KindClusterProviderConfig, Name: "default"}
	request := func(namespace string, kind, name string) *v1alpha1.PruneRequest {
		pr := &v1alpha1.PruneRequest{}
		pr.SetNamespace(namespace)
		pr.Spec.ProviderConfigRef = &rolloutv1alpha1.ConfigReference{Kind: kind, Name: name}
		return pr
	}
	cases := map[string]struct {
		reason  string
		request *v1alpha1.PruneRequest
		ref     xpv2.ProviderConfigReference
		unknown bool
		want    []prune.Delivery
	}{
		"Tenant": {
			reason:  "A tenant's configuration with the platform's URL refuses no plan of others.",
			request: request("system", policy.KindClusterProviderConfig, "default"), ref: ofTeamB,
		},
		"TenantGone": {
			reason:  "A tenant's configuration that is gone refuses no plan of others.",
			request: request("system", policy.KindClusterProviderConfig, "default"), ref: ofTeamB, unknown: true,
		},
		"OtherTenant": {
			reason:  "A configuration of the same name in another namespace is another configuration.",
			request: request("team-a", policy.KindProviderConfig, "own"), ref: ofTeamB,
		},
		"Own": {
			reason:  "A delivery with the configuration of the request counts.",
			request: request("team-b", policy.KindProviderConfig, "own"), ref: ofTeamB, want: counted,
		},
		"Platform": {
			reason:  "A delivery with a configuration of the platform counts.",
			request: request("team-a", policy.KindProviderConfig, "own"), ref: shared, want: counted,
		},
		"Gone": {
			reason:  "A delivery whose configuration of the platform is gone counts.",
			request: request("team-a", policy.KindProviderConfig, "own"), ref: shared, unknown: true, want: counted,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := &deliveryv1alpha1.GitDelivery{}
			d.SetNamespace("team-b")
			d.SetName("shop")
			d.SetProviderConfigReference(&tc.ref)
			d.SetConditions(xpv2.Condition{Type: xpv2.TypeReady, Status: corev1.ConditionFalse, Reason: "MemoryUnknown"})
			d.Spec.ForProvider.Trees = []deliveryv1alpha1.Tree{{Branch: "main", Path: path}}
			d.Spec.ForProvider.Later = []deliveryv1alpha1.LaterTree{{Tree: deliveryv1alpha1.Tree{Branch: "main", Path: path + "/later"}}}
			g, f, configs := &gatherer{request: tc.request, opened: remote.Opened{Config: &configv1alpha1.ProviderConfigSpec{}}}, &prune.Facts{}, map[string]bool{}
			g.opened.Config.Git.Branch = "main"
			if !tc.unknown {
				configs[usage.Key(tc.ref.Kind, client.ObjectKey{Namespace: "team-b", Name: tc.ref.Name})] = true
			}
			g.addDelivery(f, d, configs)
			if diff := cmp.Diff(tc.want, f.Repository.Deliveries); diff != "" {
				t.Errorf("\n%s\naddDelivery(...): -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff([]string{path, path + "/later"}, f.Living[0].Paths); diff != "" {
				t.Errorf("Each delivery keeps its directories, and those of later waves: -want, +got:\n%s", diff)
			}
		})
	}
}
