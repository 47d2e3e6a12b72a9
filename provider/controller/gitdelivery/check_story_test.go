package gitdelivery

import (
	"strings"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
)

func xpUID(s string) types.UID { return types.UID(s) }

// withFiles replaces the files of a delivery's first tree, like a user with a manual edit.
func withFiles(t *testing.T, d *v1alpha1.GitDelivery, f tree.Files) {
	t.Helper()
	b, err := tree.Encode(f)
	if err != nil {
		t.Fatal(err)
	}
	d.Spec.ForProvider.Trees[0].Files, d.Spec.ForProvider.Trees[0].Tree = b, tree.ID(f)
}

func TestRefusedDelivery(t *testing.T) {
	object := func(yaml string) tree.Files {
		return tree.Files{"kustomization.yaml": files("")["kustomization.yaml"], "configmap.yaml": []byte(yaml)}
	}
	cases := map[string]struct {
		reason string
		change func(t *testing.T, d *v1alpha1.GitDelivery)
		config func(c *configv1alpha1.ProviderConfigSpec)
		want   xpv2.ConditionReason
	}{
		"ForeignPath": {
			reason: "The directory of another claim is not this one's",
			change: func(_ *testing.T, d *v1alpha1.GitDelivery) {
				d.Spec.ForProvider.Trees[0].Path = "clusters/edge1/team-b/web"
			},
			want: v1alpha1.ReasonPolicyDenied,
		},
		"Traversal": {
			reason: "No path leads out of the claim's directory",
			change: func(_ *testing.T, d *v1alpha1.GitDelivery) {
				d.Spec.ForProvider.Trees[0].Path = webAtE1 + "/../../../.."
			},
			want: v1alpha1.ReasonPolicyDenied,
		},
		"ForeignBranch": {
			reason: "A branch that is not the configuration's is not written",
			change: func(_ *testing.T, d *v1alpha1.GitDelivery) { d.Spec.ForProvider.Trees[0].Branch = "prod" },
			want:   v1alpha1.ReasonPolicyDenied,
		},
		"ForeignClaim": {
			reason: "A delivery for a claim of another namespace is refused.",
			change: func(_ *testing.T, d *v1alpha1.GitDelivery) { d.Spec.ForProvider.ClaimRef.Namespace = "team-b" },
			want:   v1alpha1.ReasonPolicyDenied,
		},
		"MissingSite": {
			reason: "A Site that does not exist receives nothing",
			change: func(_ *testing.T, d *v1alpha1.GitDelivery) { d.Spec.ForProvider.Trees[0].Site = "mars" },
			want:   v1alpha1.ReasonSiteMissing,
		},
		"CVE-2023-50726-ClusterScopedKind": {
			reason: "A GitDelivery that brings its own files delivers no kind that the Site does not allow.",
			change: func(t *testing.T, d *v1alpha1.GitDelivery) {
				t.Helper()
				withFiles(t, d, object("apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: all}\n"))
			},
			want: v1alpha1.ReasonPolicyDenied,
		},
		"CVE-2023-50726-ForeignNamespace": {
			reason: "A GitDelivery that brings its own files delivers no object of another namespace.",
			change: func(t *testing.T, d *v1alpha1.GitDelivery) {
				t.Helper()
				withFiles(t, d, object("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web, namespace: team-b}\n"))
			},
			want: v1alpha1.ReasonPolicyDenied,
		},
		"Secret": {
			reason: "Secrets are not written to Git",
			change: func(t *testing.T, d *v1alpha1.GitDelivery) {
				t.Helper()
				withFiles(t, d, object("apiVersion: v1\nkind: Secret\nmetadata: {name: web, namespace: team-a}\n"))
			},
			want: v1alpha1.ReasonPolicyDenied,
		},
		"Variable": {
			reason: "A GitDelivery that is written past the function brings no variable that the engine of the Site may replace by a value of its Secrets.",
			change: func(t *testing.T, d *v1alpha1.GitDelivery) {
				t.Helper()
				withFiles(t, d, object("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web, namespace: team-a}\ndata: {says: \"\\u0024{TOKEN}\"}\n"))
			},
			want: v1alpha1.ReasonPolicyDenied,
		},
		"OtherTree": {
			reason: "Files that are not the tree that was ordered are not written",
			change: func(_ *testing.T, d *v1alpha1.GitDelivery) { d.Spec.ForProvider.Trees[0].Tree = tree.ID(files("b")) },
			want:   v1alpha1.ReasonInvalid,
		},
		"NoArchive": {
			reason: "Files that cannot be decoded are not written.",
			change: func(_ *testing.T, d *v1alpha1.GitDelivery) { d.Spec.ForProvider.Trees[0].Files = []byte("x") },
			want:   v1alpha1.ReasonInvalid,
		},
		"Restore": {
			reason: "A restored tree with files of its own is refused.",
			change: func(_ *testing.T, d *v1alpha1.GitDelivery) {
				d.Spec.ForProvider.Trees[0].Action = v1alpha1.ActionRestore
			},
			want: v1alpha1.ReasonInvalid,
		},
		"Tracks": {
			reason: "A track whose folder the directory does not have is refused.",
			change: func(_ *testing.T, d *v1alpha1.GitDelivery) {
				d.Spec.ForProvider.Trees[0].Tracks = []v1alpha1.TreeTrack{{Name: "blue", Revision: 1}}
			},
			want: v1alpha1.ReasonInvalid,
		},
		"CVE-2024-31990-NamespaceNotAllowed": {
			reason: "A GitDelivery that is written past the function may not use a configuration that does not allow its namespace.",
			config: func(c *configv1alpha1.ProviderConfigSpec) { c.Policy.AllowedNamespaces = []string{"team-b"} },
			want:   v1alpha1.ReasonPolicyDenied,
		},
		"SSH": {
			reason: "A configuration that is not supported yet is not used in another way",
			config: func(c *configv1alpha1.ProviderConfigSpec) { c.Git.Credentials.Type = configv1alpha1.CredentialsSSH },
			want:   v1alpha1.ReasonInvalid,
		},
		"SecretGone": {
			reason: "A Secret that is not there is named",
			config: func(c *configv1alpha1.ProviderConfigSpec) {
				c.Git.Credentials.Type = configv1alpha1.CredentialsBearer
				c.Git.Credentials.SecretRef = &configv1alpha1.SecretReference{Namespace: "team-a", Name: "creds"}
			},
			want: v1alpha1.ReasonCredentialsGone,
		},
		"TooManySites": {
			reason: "A configuration limits how many Sites a delivery has",
			config: func(c *configv1alpha1.ProviderConfigSpec) { c.Policy.MaxSites = new(int32(0)) },
			want:   v1alpha1.ReasonPolicyDenied,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Log(tc.reason)
			w := newWorld(t)
			d := w.first()
			if tc.change != nil {
				tc.change(t, d)
			}
			if tc.config != nil {
				w.configure(tc.config)
			}
			w.create(d)
			w.reconcile("web")
			w.expect("web", tc.want)
			w.count(0)
			w.holds(nil, nil)
		})
	}
}

// deep is a delivery of another claim, at a Site whose path leads into the directory of the claim web.
func (w *world) deep() (d *v1alpha1.GitDelivery, path string) {
	w.Helper()
	s := site("deep")
	s.Spec.Repository.Path = webAtE1
	w.must(w.kube.Create(w.Context(), s))
	path = webAtE1 + "/team-a/other"
	d = delivery("other", order(1, "b"), desired(w.T, "deep", path, "b"))
	d.Spec.ForProvider.ClaimRef.Name = "other"
	return d, path
}

func TestEntangled(t *testing.T) {
	t.Parallel()
	adopt := func(d *v1alpha1.GitDelivery) *v1alpha1.GitDelivery {
		d.Spec.ForProvider.Adopt = new(true)
		return d
	}
	tell(t, map[string]story{
		"Inner": {reason: "A directory inside another claim's directory is refused: the other claim would remove it as drift.", run: func(w *world) {
			w.create(w.first())
			w.reconcile("web")
			d, _ := w.deep()
			w.create(adopt(d))
			w.reconcile("other")
			w.expect("other", v1alpha1.ReasonNotOwner)
			w.holds(map[string]tree.Files{webAtE1: files("a")}, nil)
		}},
		"Outer": {reason: "A directory around another claim's directory is refused, also with adopt.", run: func(w *world) {
			d, path := w.deep()
			w.create(d)
			w.reconcile("other")
			w.expect("other", v1alpha1.ReasonDelivered)
			w.create(adopt(w.first()))
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonNotOwner)
			w.holds(map[string]tree.Files{path: files("b")}, nil)
		}},
		"Stranger": {reason: "An invalid file with the name of a marker belongs to another user, and may be adopted.", run: func(w *world) {
			w.push(map[string]string{webAtE1 + "/x/.intentplane": "hello\n", "clusters/.intentplane": "hello\n"})
			w.create(adopt(w.first()))
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
			w.holds(map[string]tree.Files{webAtE1: files("a")}, nil)
		}},
	})
}

// composite is a delivery of the namespaced composite with the claim's name.
func (w *world) composite(adopt bool) *v1alpha1.GitDelivery {
	w.Helper()
	d := delivery("composite", order(1, "x"), desired(w.T, "edge1", webAtE1, "x"))
	d.Spec.ForProvider.ClaimRef.APIGroup = "intentplane.dev"
	d.Spec.ForProvider.Adopt = &adopt
	return d
}

// owners are the events about owners.
func owners(events []string) []string {
	var out []string
	for _, e := range events {
		if strings.HasPrefix(e, "NotOwner") {
			out = append(out, e)
		}
	}
	return out
}

// orphan deletes the claim's delivery, and leaves its directories.
func (w *world) orphan() {
	w.Helper()
	w.change(func(d *v1alpha1.GitDelivery) {
		d.Spec.ManagementPolicies = xpv2.ManagementPolicies{
			xpv2.ManagementActionObserve, xpv2.ManagementActionCreate, xpv2.ManagementActionUpdate, xpv2.ManagementActionLateInitialize,
		}
	})
	w.must(w.kube.Delete(w.Context(), w.get("web")))
	w.reconcile("web")
	if !w.gone("web") {
		w.Fatal("object: want it gone")
	}
	w.holds(map[string]tree.Files{webAtE1: files("a")}, nil)
}

// TestMoveShape hands a directory over from a claim to a namespaced composite of the same name.
func TestMoveShape(t *testing.T) {
	t.Parallel()
	tell(t, map[string]story{
		"Moves": {reason: "The other shape may adopt an orphaned directory, and the first shape does not get it back.", run: func(w *world) {
			w.create(w.first())
			w.reconcile("web")
			w.orphan()
			w.create(w.composite(true))
			w.reconcile("composite")
			w.expect("composite", v1alpha1.ReasonDelivered)
			w.count(2)
			w.holds(map[string]tree.Files{webAtE1: files("x")}, nil)
			w.create(w.first())
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonNotOwner)
			w.count(2)
		}},
		"NotAdopted": {reason: "An orphaned directory is refused without adopt.", run: func(w *world) {
			w.create(w.first())
			w.reconcile("web")
			w.orphan()
			w.create(w.composite(false))
			w.reconcile("composite")
			w.expect("composite", v1alpha1.ReasonNotOwner)
			w.count(1)
		}},
		"StillThere": {reason: "The first claim keeps its directory as long as it has a delivery.", run: func(w *world) {
			w.create(w.first())
			w.reconcile("web")
			w.create(w.composite(true))
			w.reconcile("composite")
			w.expect("composite", v1alpha1.ReasonNotOwner)
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
			w.count(1)
			w.reconcile("composite")
			want := []string{"NotOwner: GitDelivery team-a/composite requests a directory of this claim, and is refused: directory \"" + webAtE1 +
				"\": it belongs to IntentDeployment team-a/web of control plane \"prod\""}
			if diff := cmp.Diff(want, owners(w.told["web"])); diff != "" {
				w.Errorf("the owner gets one event: -want, +got:\n%s", diff)
			}
		}},
	})
}
