package diagnosis

import (
	"bytes"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

// TestReadExpected compares the expected objects with the files that people apply.
func TestReadExpected(t *testing.T) {
	e := expected(t)
	b, err := os.ReadFile("../../../examples/rbac/provider.yaml")
	if err != nil {
		t.Fatal(err)
	}
	role := &rbacv1.ClusterRole{}
	if err := yaml.Unmarshal(bytes.SplitN(b, []byte("\n---\n"), 2)[0], role); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(role.Rules, e.Rules); diff != "" || len(role.Rules) == 0 {
		t.Errorf("The provider has the rules of examples/rbac/provider.yaml: -file, +expected:\n%s", diff)
	}
	if diff := cmp.Diff(Account{Namespace: "crossplane-system", Name: "provider-intentplane"}, e.Account); diff != "" {
		t.Errorf("account of the provider: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(">=v2.4.0-0", e.Crossplane); diff != "" {
		t.Errorf("Crossplane that the package demands: -want, +got:\n%s", diff)
	}
	policies := []string{
		"approvals.rollout.intentplane.dev", "approvals.state.intentplane.dev", "bundles.rollout.intentplane.dev", "clusters.rollout.intentplane.dev",
		"deletions.rollout.intentplane.dev", "evidence.delivery.intentplane.dev", "gates.rollout.intentplane.dev",
		"gitdeliveries.delivery.intentplane.dev", "requests.rollout.intentplane.dev",
	}
	if diff := cmp.Diff(policies, e.Policies); diff != "" {
		t.Errorf("policies: -want, +got:\n%s", diff)
	}
	var installed []string
	for _, r := range e.Installer {
		installed = append(installed, Right{Group: r.APIGroups[0], Resource: r.Resources[0]}.resourceName())
	}
	want := []string{
		"imageconfigs.pkg.crossplane.io", "deploymentruntimeconfigs.pkg.crossplane.io", "validatingadmissionpolicies.admissionregistration.k8s.io",
		"validatingadmissionpolicybindings.admissionregistration.k8s.io", "clusterroles.rbac.authorization.k8s.io", "clusterrolebindings.rbac.authorization.k8s.io",
		"configurations.pkg.crossplane.io",
	}
	if diff := cmp.Diff(want, installed); diff != "" {
		t.Errorf("kinds that a user creates to install: -want, +got:\n%s", diff)
	}
	definitions := [][]string{
		{"xbundles.claims.intentplane.dev", "bundles.intentplane.dev", "xapplications.claims.intentplane.dev", "applications.intentplane.dev"},
		{"xintentdeployments.claims.intentplane.dev", "xworkloadclusters.claims.intentplane.dev"},
		{"intentdeployments.intentplane.dev", "workloadclusters.intentplane.dev"},
	}
	if diff := cmp.Diff(definitions, e.Definitions); diff != "" {
		t.Errorf("definitions of each Configuration: -want, +got:\n%s", diff)
	}
	if len(e.Kinds) != 15 {
		t.Errorf("want 15 kinds, got %q", e.Kinds)
	}
}
