package disruption

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/scene"
)

func TestPackagesWork(t *testing.T) {
	t.Parallel()
	s := scene.New(t, cp)
	cases := map[string]struct {
		reason string
		kind   string
		types  []string
		want   []string
	}{
		"Configurations": {
			reason: "The packages of both shapes should be installed.", kind: "configurations.pkg.crossplane.io", types: []string{"Installed", "Healthy"},
			want: []string{"configuration-intentplane Installed=True Healthy=True", "configuration-intentplane-namespaced Installed=True Healthy=True"},
		},
		"Functions": {
			reason: "The function should come as a dependency.", kind: "functions.pkg.crossplane.io", types: []string{"Installed", "Healthy"},
			want: []string{"intentplane-function-intentplane Installed=True Healthy=True"},
		},
		"Providers": {
			reason: "The provider should come as a dependency.", kind: "providers.pkg.crossplane.io", types: []string{"Installed", "Healthy"},
			want: []string{"intentplane-provider-intentplane Installed=True Healthy=True"},
		},
		"Composites": {
			reason: "Only one of the two shapes of each kind has a claim.", kind: "xrds", types: []string{"Established", "Offered"},
			want: []string{
				"intentdeployments.intentplane.dev Established=True Offered=",
				"workloadclusters.intentplane.dev Established=True Offered=",
				"xintentdeployments.claims.intentplane.dev Established=True Offered=True",
				"xworkloadclusters.claims.intentplane.dev Established=True Offered=True",
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, conditionLines(s, tc.kind, tc.types...)); diff != "" {
				t.Errorf("\n%s\n%s: -want, +got:\n%s", tc.reason, tc.kind, diff)
			}
		})
	}
}

func TestKindsAreActive(t *testing.T) {
	t.Parallel()
	s := scene.New(t, cp)
	mrds := conditionLines(s, "managedresourcedefinitions.apiextensions.crossplane.io", "Established")
	for _, want := range []string{"gitdeliveries.delivery.intentplane.dev", "sites.catalog.intentplane.dev", "blueprints.catalog.intentplane.dev", "rolloutrequests.rollout.intentplane.dev"} {
		if !strings.Contains(strings.Join(mrds, "\n"), want+" Established=True") {
			t.Errorf("%s should be active: %q", want, mrds)
		}
	}
}

func TestRolesOfPackages(t *testing.T) {
	t.Parallel()
	s := scene.New(t, cp)
	for _, role := range []string{"view", "edit", "admin"} {
		s.Run("create", "rolebinding", role, "-n", s.Namespace, "--clusterrole="+role, "--user="+s.Namespace+"-"+role)
	}
	provider := "system:serviceaccount:" + controlplane.Namespace + ":" + controlplane.ProviderServiceAccount
	cases := map[string]struct {
		reason string
		as     string
		args   []string
		want   string
	}{
		"EditorMakesClaims": {
			reason: "An editor may create claims.",
			as:     "edit", args: []string{"create", "intentdeployments.claims.intentplane.dev"}, want: "yes",
		},
		"EditorMakesComposites": {
			reason: "An editor may create namespaced composites.",
			as:     "edit", args: []string{"create", "intentdeployments.intentplane.dev"}, want: "yes",
		},
		"EditorReadsDeliveries": {
			reason: "An editor may read the cause of a failed delivery.",
			as:     "edit", args: []string{"get", "gitdeliveries.delivery.intentplane.dev"}, want: "yes",
		},
		"EditorReadsGates": {reason: "An editor may read Gates.", as: "edit", args: []string{"list", "gates.rollout.intentplane.dev"}, want: "yes"},
		"EditorReadsSyncs": {
			reason: "An editor may watch the trees that the Sites run.",
			as:     "edit", args: []string{"watch", "sitesyncs.delivery.intentplane.dev"}, want: "yes",
		},
		"ViewerReadsGates":  {reason: "A viewer may read Gates too.", as: "view", args: []string{"get", "gates.rollout.intentplane.dev"}, want: "yes"},
		"AdminWritesNoGate": {reason: "No user may change a Gate.", as: "admin", args: []string{"patch", "gates.rollout.intentplane.dev"}, want: "no"},
		"AdminWritesNoVerdict": {
			reason: "No user may write a verdict.",
			as:     "admin", args: []string{"patch", "gates.rollout.intentplane.dev", "--subresource=status"}, want: "no",
		},
		"EditorMakesNoDelivery": {
			reason: "An editor may not create GitDeliveries.",
			as:     "edit", args: []string{"create", "gitdeliveries.delivery.intentplane.dev"}, want: "no",
		},
		"EditorApproves": {
			reason: "An editor may create RolloutRequests.",
			as:     "edit", args: []string{"create", "rolloutrequests.rollout.intentplane.dev"}, want: "yes",
		},
		"EditorAsksForPlans": {
			reason: "An editor may request a plan of removals.",
			as:     "edit", args: []string{"create", "prunerequests.state.intentplane.dev"}, want: "yes",
		},
		"EditorPrunesNothing": {
			reason: "An editor may not approve a plan.",
			as:     "edit", args: []string{"create", "pruneapprovals.state.intentplane.dev"}, want: "no",
		},
		"EditorLeavesStates": {
			reason: "An editor may not change the composed objects of a Bundle.",
			as:     "edit", args: []string{"update", "bundlestates.state.intentplane.dev"}, want: "no",
		},
		"ProviderMakesPackages": {
			reason: "The provider makes the packages of Bundles.",
			as:     provider, args: []string{"create", "intentdeployments.intentplane.dev"}, want: "yes",
		},
		"AdminPrunes": {
			reason: "An admin may approve a plan.",
			as:     "admin", args: []string{"create", "pruneapprovals.state.intentplane.dev"}, want: "yes",
		},
		"AdminMakesNoPlan": {
			reason: "A plan is the provider's.",
			as:     "admin", args: []string{"patch", "prunerequests.state.intentplane.dev", "--subresource=status"}, want: "no",
		},
		"ViewerReadsPlans": {reason: "A viewer may read plans.", as: "view", args: []string{"list", "prunerequests.state.intentplane.dev"}, want: "yes"},
		"EditorAnswersNothing": {
			reason: "Answers are not the asker's.",
			as:     "edit", args: []string{"update", "rolloutrequests.rollout.intentplane.dev", "--subresource=status"}, want: "no",
		},
		"ViewerApprovesNothing": {
			reason: "A viewer may not create requests.",
			as:     "view", args: []string{"create", "rolloutrequests.rollout.intentplane.dev"}, want: "no",
		},
		"ProviderSeesClaims": {
			reason: "Answers to RolloutRequests stand in the claims.",
			as:     provider, args: []string{"watch", "intentdeployments.claims.intentplane.dev"}, want: "yes",
		},
		"EditorLeavesConfigs": {
			reason: "Configurations hold the limits of the tenant.",
			as:     "edit", args: []string{"update", "providerconfigs.config.intentplane.dev"}, want: "no",
		},
		"EditorMakesNoConfig": {
			reason: "Configurations hold the limits of the tenant.",
			as:     "edit", args: []string{"create", "providerconfigs.config.intentplane.dev"}, want: "no",
		},
		"EditorLeavesSites": {
			reason: "An editor may not change Sites of the platform.",
			as:     "edit", args: []string{"update", "sites.catalog.intentplane.dev"}, want: "no",
		},
		"AdminMakesConfigs": {
			reason: "An admin of the namespace sets its limits.",
			as:     "admin", args: []string{"create", "providerconfigs.config.intentplane.dev"}, want: "yes",
		},
		"AdminTakesWayOut": {
			reason: "An administrator may patch a GitDelivery, which is the way out of a blocked delivery.",
			as:     "admin", args: []string{"patch", "gitdeliveries.delivery.intentplane.dev"}, want: "yes",
		},
		"ViewerReads": {
			reason: "A viewer may read deployments.",
			as:     "view", args: []string{"get", "intentdeployments.claims.intentplane.dev"}, want: "yes",
		},
		"ViewerChangesNothing": {
			reason: "A viewer may not change deployments.",
			as:     "view", args: []string{"update", "intentdeployments.claims.intentplane.dev"}, want: "no",
		},
		"ProviderKeepsSites": {
			reason: "The provider publishes Sites and takes them back.",
			as:     provider, args: []string{"get", "sites.catalog.intentplane.dev"}, want: "yes",
		},
		"ProviderSeesComposites": {
			reason: "The provider reports transitions from the composites of claims.",
			as:     provider, args: []string{"list", "xintentdeployments.claims.intentplane.dev"}, want: "yes",
		},
		"ProviderListsJobs": {
			reason: "A Job of a deployment that failed for good ends the wait for its Site.",
			as:     provider, args: []string{"list", "jobs.batch"}, want: "yes",
		},
		"ProviderMakesNoJobs": {reason: "The provider may not create Jobs elsewhere.", as: provider, args: []string{"create", "jobs.batch"}, want: "no"},
		"ProviderSeesClusters": {
			reason: "The provider reports transitions of clusters, too.",
			as:     provider, args: []string{"watch", "workloadclusters.intentplane.dev"}, want: "yes",
		},
		"EditorMakesClusters": {
			reason: "An editor may create clusters.",
			as:     "edit", args: []string{"create", "workloadclusters.claims.intentplane.dev"}, want: "yes",
		},
		"EditorLeavesManaged": {
			reason: "An editor may not change the composed objects of a cluster.",
			as:     "edit", args: []string{"update", "managedclusters.cluster.intentplane.dev"}, want: "no",
		},
		"ProviderLeavesClaims": {
			reason: "The provider may not change claims.",
			as:     provider, args: []string{"update", "intentdeployments.claims.intentplane.dev"}, want: "no",
		},
		"ProviderSeesNoNodes": {reason: "Nodes are none of its business.", as: provider, args: []string{"list", "nodes"}, want: "no"},
		"ProviderSeesNoPods": {
			reason: "The provider lists no pods, unless an administrator binds the rules for SiteHealths.",
			as:     provider, args: []string{"list", "pods"}, want: "no",
		},
		"ProviderLeavesRoles":     {reason: "The provider may not give itself more rights.", as: provider, args: []string{"update", "clusterroles"}, want: "no"},
		"ProviderSeesNoNamespace": {reason: "Namespaces are read one at a time, by their names.", as: provider, args: []string{"list", "namespaces"}, want: "no"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, answerOfCanI(s, tc.as, tc.args)); diff != "" {
				t.Errorf("\n%s\nkubectl auth can-i %v as %s: -want, +got:\n%s", tc.reason, tc.args, tc.as, diff)
			}
		})
	}
}
