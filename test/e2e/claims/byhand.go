package claims

import (
	"strings"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/test/load"
	"github.com/intentplane/intentplane/test/scene"
)

const (
	configMap   = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: NAMESPACE}\n"
	secret      = "apiVersion: v1\nkind: Secret\nmetadata: {name: a, namespace: NAMESPACE}\n"
	clusterRole = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: a}\n"
	kustomized  = "resources: [a.yaml]\n"
)

// replaceFiles makes the delivery's one tree hold these files.
func replaceFiles(s *scene.Scene, d *deliveryv1alpha1.GitDelivery, object, kustomization string) {
	s.T.Helper()
	files := tree.Files{"a.yaml": []byte(strings.ReplaceAll(object, "NAMESPACE", s.Namespace)), "kustomization.yaml": []byte(kustomization)}
	encoded, err := tree.Encode(files)
	s.Must(err)
	t := &d.Spec.ForProvider.Trees[0]
	t.Files, t.Tree = encoded, tree.ID(files)
}

// deliveryByHand is a GitDelivery that a user who may make one could write, for a claim that does not exist. Everything in it is allowed.
func deliveryByHand(s *scene.Scene) *deliveryv1alpha1.GitDelivery {
	s.T.Helper()
	d := &deliveryv1alpha1.GitDelivery{}
	d.SetName("by-hand")
	d.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: "ProviderConfig", Name: scene.Config}
	d.Spec.ForProvider = deliveryv1alpha1.GitDeliveryParameters{
		ClaimRef: rolloutv1alpha1.ClaimReference{APIGroup: "intentplane.dev", Kind: "IntentDeployment", Namespace: s.Namespace, Name: "shop"},
		Copy:     load.Copy(1),
		Position: new(load.Position(1)),
		Trees: []deliveryv1alpha1.Tree{{
			Site: s.Site("edge1"), Branch: "main", Path: s.Directory("edge1", "shop"), Action: deliveryv1alpha1.ActionDesired,
		}},
	}
	replaceFiles(s, d, configMap, kustomized)
	return d
}

type forgery struct {
	reason string
	change func(s *scene.Scene, d *deliveryv1alpha1.GitDelivery)
	why    xpv2.ConditionReason
	want   string
}

func forgedPlaces() map[string]forgery {
	changeBy := func(change func(*deliveryv1alpha1.GitDeliveryParameters)) func(*scene.Scene, *deliveryv1alpha1.GitDelivery) {
		return func(_ *scene.Scene, d *deliveryv1alpha1.GitDelivery) { change(&d.Spec.ForProvider) }
	}
	path := func(site, namespace, name string) func(*scene.Scene, *deliveryv1alpha1.GitDelivery) {
		return changeBy(func(p *deliveryv1alpha1.GitDeliveryParameters) {
			p.Trees[0].Path = strings.Join([]string{"clusters", site, namespace, name}, "/")
		})
	}
	return map[string]forgery{
		"Site": {
			reason: "A Site has its allowed namespaces.",
			change: func(s *scene.Scene, d *deliveryv1alpha1.GitDelivery) {
				d.Spec.ForProvider.Trees[0].Site, d.Spec.ForProvider.Trees[0].Path = s.Site("theirs"), s.Directory("theirs", "shop")
			},
			why: deliveryv1alpha1.ReasonSiteMissing, want: "does not exist or may not be used from namespace",
		},
		"SiteNowhere": {
			reason: "A claim that does not exist is refused in the same words.",
			change: changeBy(func(p *deliveryv1alpha1.GitDeliveryParameters) { p.Trees[0].Site = "nowhere" }),
			why:    deliveryv1alpha1.ReasonSiteMissing, want: "does not exist or may not be used from namespace",
		},
		"OtherClaim":     {reason: "A claim writes to its own directory.", change: path("edge1", "NAMESPACE", "bank"), why: deliveryv1alpha1.ReasonPolicyDenied, want: "is not the claim's directory"},
		"OtherNamespace": {reason: "No namespace writes to another's.", change: path("edge1", "team-b", "shop"), why: deliveryv1alpha1.ReasonPolicyDenied, want: "is not the claim's directory"},
		"OtherSite":      {reason: "A Site's directory is its own.", change: path("theirs", "NAMESPACE", "shop"), why: deliveryv1alpha1.ReasonPolicyDenied, want: "is not the claim's directory"},
		"Above":          {reason: "A path cannot leave the directory of its claim.", change: path("edge1/../theirs", "NAMESPACE", "shop"), why: deliveryv1alpha1.ReasonPolicyDenied, want: "is not the claim's directory"},
		"Branch": {
			reason: "A GitDelivery made by hand does not write to another branch.",
			change: changeBy(func(p *deliveryv1alpha1.GitDeliveryParameters) { p.Trees[0].Branch = "release" }),
			why:    deliveryv1alpha1.ReasonPolicyDenied, want: "branch",
		},
		"ClaimElsewhere": {
			reason: "Who may make a GitDelivery here may not make claims there.",
			change: changeBy(func(p *deliveryv1alpha1.GitDeliveryParameters) { p.ClaimRef.Namespace = "team-b" }),
			why:    deliveryv1alpha1.ReasonPolicyDenied, want: "is not the namespace of the GitDelivery",
		},
		"Config": {
			reason: "A ClusterProviderConfig has its allowed namespaces.",
			change: func(s *scene.Scene, d *deliveryv1alpha1.GitDelivery) {
				d.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: "ClusterProviderConfig", Name: s.Namespace}
			},
			why: deliveryv1alpha1.ReasonPolicyDenied, want: "spec.policy.allowedNamespaces",
		},
		"ConfigNowhere": {
			reason: "A missing configuration holds no credentials.",
			change: func(_ *scene.Scene, d *deliveryv1alpha1.GitDelivery) { d.Spec.ProviderConfigReference.Name = "nowhere" },
			why:    deliveryv1alpha1.ReasonCredentialsGone, want: "nowhere",
		},
	}
}

func forgedFiles() map[string]forgery {
	holding := func(object, kustomization string) func(*scene.Scene, *deliveryv1alpha1.GitDelivery) {
		return func(s *scene.Scene, d *deliveryv1alpha1.GitDelivery) { replaceFiles(s, d, object, kustomization) }
	}
	return map[string]forgery{
		"ClusterRole": {
			reason: "A commit does not make its author an administrator of a Site.",
			change: holding(clusterRole, kustomized), why: deliveryv1alpha1.ReasonPolicyDenied, want: "ClusterRole",
		},
		"ClusterRoleInNamespace": {
			reason: "An API server drops the namespace of a cluster-scoped object.",
			change: holding(strings.Replace(clusterRole, "name: a", "name: a, namespace: NAMESPACE", 1), kustomized), why: deliveryv1alpha1.ReasonPolicyDenied, want: "ClusterRole",
		},
		"Secret": {
			reason: "A secret is not committed.",
			change: holding(secret, kustomized), why: deliveryv1alpha1.ReasonPolicyDenied, want: "spec.policy.plainSecrets",
		},
		"SecretBehind": {
			reason: "Every document of a file counts.",
			change: holding(configMap+"---\n"+secret, kustomized), why: deliveryv1alpha1.ReasonPolicyDenied, want: "spec.policy.plainSecrets",
		},
		"Namespace": {
			reason: "A Site has the target namespaces of a claim.",
			change: holding(strings.Replace(configMap, "NAMESPACE", "kube-system", 1), kustomized), why: deliveryv1alpha1.ReasonPolicyDenied, want: "spec.targetNamespaces.allowed",
		},
		"RemoteResource": {
			reason: "An engine would fetch files that the provider did not check.",
			change: holding(configMap, "resources: [a.yaml, 'https://example.org/all.yaml']\n"), why: deliveryv1alpha1.ReasonPolicyDenied, want: "kustomization.yaml",
		},
		"Patched": {
			reason: "A kustomization made by hand may not change checked files.",
			change: holding(configMap, kustomized+"namespace: kube-system\n"), why: deliveryv1alpha1.ReasonPolicyDenied, want: "kustomization.yaml",
		},
		"TreeID": {
			reason: "The evidence is the tree's id: it must be that of the files.",
			change: func(_ *scene.Scene, d *deliveryv1alpha1.GitDelivery) {
				d.Spec.ForProvider.Trees[0].Tree = strings.Repeat("a", 40)
			},
			why: deliveryv1alpha1.ReasonInvalid, want: "spec.forProvider.trees[0].tree",
		},
		"Files": {
			reason: "A file that cannot be read is not written.",
			change: func(_ *scene.Scene, d *deliveryv1alpha1.GitDelivery) {
				d.Spec.ForProvider.Trees[0].Files = []byte("no archive")
			},
			why: deliveryv1alpha1.ReasonInvalid, want: "spec.forProvider.trees[0].files",
		},
	}
}
