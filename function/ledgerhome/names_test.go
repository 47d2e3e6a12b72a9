package ledgerhome

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/function/catalog"
)

// TestPreferred opens the ledger of a deployment whose first wave is edge2.
func TestPreferred(t *testing.T) {
	place := func(site, kind, name string) catalog.Place {
		p := catalog.Place{ConfigRef: catalog.ConfigRef{Kind: kind, Name: name}}
		p.Site.SetName(site)
		return p
	}
	places := []catalog.Place{place("edge1", "ClusterProviderConfig", "default"), place("edge2", "ProviderConfig", "team")}
	plan := []ledger.Step{{Sites: []string{"edge2"}}, {Sites: []string{"edge1"}}}
	cases := map[string]struct {
		reason string
		named  *deploymentv1alpha1.ConfigReference
		plan   []ledger.Step
		want   string
		err    string
	}{
		"First":   {reason: "The repository of the first Site of the plan gets a push in any case.", plan: plan, want: "ProviderConfig/team"},
		"Nothing": {reason: "A plan without Sites has no first repository."},
		"Named": {
			reason: "The spec may name another repository.", plan: plan,
			named: &deploymentv1alpha1.ConfigReference{Name: "default"}, want: "default",
		},
		"NamedKind": {
			reason: "The kind of a cluster is the default.", plan: plan,
			named: &deploymentv1alpha1.ConfigReference{Kind: "ClusterProviderConfig", Name: "default"}, want: "default",
		},
		"OtherKind": {
			reason: "A configuration of the namespace with the same name is another one, to whose repository no Site is delivered.", plan: plan,
			named: &deploymentv1alpha1.ConfigReference{Kind: "ProviderConfig", Name: "default"},
			err:   `spec.deliveryConfig.ledgerConfigRef: no Site of the deployment is delivered to the repository of ProviderConfig "default"`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Preferred(tc.named, tc.plan, places)
			text := ""
			if err != nil {
				text = err.Error()
			}
			if diff := cmp.Diff([]string{tc.want, tc.err}, []string{got, text}); diff != "" {
				t.Errorf("\n%s\nPreferred(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
