package compose

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/policy"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/function/catalog"
)

func place(site, url, config string) catalog.Place {
	p := catalog.Place{ConfigRef: catalog.ConfigRef{Kind: policy.KindClusterProviderConfig, Name: config}, Path: "clusters/" + site + "/team-a/shop"}
	p.Site.SetName(site)
	p.Config.Git.URL, p.Config.Git.Branch, p.Repository = url, "main", policy.RepositoryKey(url)
	return p
}

func TestDeliveries(t *testing.T) {
	type summary struct {
		Config   xpv2.ProviderConfigReference
		Policies xpv2.ManagementPolicies
		// Trees as site, action and id.
		Trees []string
	}
	const firstURL, secondURL = "https://git.example.org/one.git", "https://git.example.org/other.git"
	files := tree.Files{"a.yaml": []byte("a")}
	id := tree.ID(files)
	all := xpv2.ManagementPolicies{"*"}
	config := func(name string) xpv2.ProviderConfigReference {
		return xpv2.ProviderConfigReference{Kind: policy.KindClusterProviderConfig, Name: name}
	}
	cases := map[string]struct {
		reason   string
		deletion string
		rendered []Rendered
		want     map[string]summary
	}{
		"OneRepository": {
			reason:   "Sites in one repository share a delivery, however its URL is spelled.",
			rendered: []Rendered{{Place: place("a", firstURL, "c"), Files: files}, {Place: place("b", strings.TrimSuffix(firstURL, ".git"), "c"), Files: files}},
			want:     map[string]summary{firstURL: {Config: config("c"), Policies: all, Trees: []string{"a Desired " + id, "b Desired " + id}}},
		},
		"TwoRepositories": {
			reason:   "Each repository has its own.",
			rendered: []Rendered{{Place: place("a", firstURL, "c"), Files: files}, {Place: place("b", secondURL, "d"), Files: files}},
			want: map[string]summary{
				firstURL:  {Config: config("c"), Policies: all, Trees: []string{"a Desired " + id}},
				secondURL: {Config: config("d"), Policies: all, Trees: []string{"b Desired " + id}},
			},
		},
		"Orphan": {
			reason: "The files of an orphaned delivery are not deleted.", deletion: deploymentv1alpha1.DeletionOrphan,
			rendered: []Rendered{{Place: place("a", firstURL, "c"), Files: files}},
			want: map[string]summary{
				firstURL: {Config: config("c"), Policies: xpv2.ManagementPolicies{"Observe", "Create", "Update"}, Trees: []string{"a Desired " + id}},
			},
		},
		"Waiting": {
			reason:   "The directory of a Site that has to wait stays as it is.",
			rendered: []Rendered{{Place: place("a", firstURL, "c")}, {Place: place("b", firstURL, "c"), Files: files}},
			want:     map[string]summary{firstURL: {Config: config("c"), Policies: all, Trees: []string{"a Keep ", "b Desired " + id}}},
		},
	}
	claim := rolloutv1alpha1.ClaimReference{APIGroup: deploymentv1alpha1.GroupClaims, Kind: deploymentv1alpha1.Kind, Namespace: "team-a", Name: "shop"}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			spec := deploymentv1alpha1.DeliveryConfig{DeletionPolicy: tc.deletion}
			spec.Default()
			ds, err := Deliveries(claim, spec, tc.rendered)
			if err != nil {
				t.Fatal(err)
			}
			want, got := map[string]summary{}, map[string]summary{}
			for url, s := range tc.want {
				n, err := Name(place("a", url, "any"))
				if err != nil {
					t.Fatal(err)
				}
				want[n] = s
			}
			for n, d := range ds {
				p := d.Spec.ForProvider
				if diff := cmp.Diff(claim, p.ClaimRef) + cmp.Diff("team-a", d.GetNamespace()); diff != "" {
					t.Errorf("\n%s\nDeliveries(...): -want, +got:\n%s", tc.reason, diff)
				}
				s := summary{Config: *d.Spec.ProviderConfigReference, Policies: d.Spec.ManagementPolicies}
				for _, tr := range p.Trees {
					s.Trees = append(s.Trees, strings.Join([]string{tr.Site, string(tr.Action), tr.Tree}, " "))
				}
				got[n] = s
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("\n%s\nDeliveries(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestDeliveriesTravel(t *testing.T) {
	files := tree.Files{"a.yaml": []byte("a"), "b/c.yaml": []byte("c")}
	ds, err := Deliveries(rolloutv1alpha1.ClaimReference{}, deploymentv1alpha1.DeliveryConfig{}, []Rendered{{Place: place("a", "https://x/y", "c"), Files: files}})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range ds {
		got, err := tree.Decode(d.Spec.ForProvider.Trees[0].Files)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(files, got); diff != "" {
			t.Errorf("Decode(Deliveries(...)): -want, +got:\n%s", diff)
		}
		b, err := json.Marshal(d.Spec.ForProvider.Trees[0].Files)
		if err != nil {
			t.Fatal(err)
		}
		// The quotes do not count; the path of the tree does.
		want := len(b) - 2 + 3*len(d.Spec.ForProvider.Trees[0].Path) + treeOverhead
		if diff := cmp.Diff(want, EncodedBytes(d)); diff != "" {
			t.Errorf("EncodedBytes(...): -want, +got:\n%s", diff)
		}
	}
}

// TestEncodedBytes counts files of each length modulo three, which base64 rounds up.
func TestEncodedBytes(t *testing.T) {
	for n := range 5 {
		d := asking(ledger.Position{}, "a")
		d.Spec.ForProvider.Trees[0].Files = make([]byte, n)
		if diff := cmp.Diff(base64.StdEncoding.EncodedLen(n)+3*len("a/x")+treeOverhead, EncodedBytes(d)); diff != "" {
			t.Errorf("\nFiles of %d bytes take as many as JSON carries.\nEncodedBytes(...): -want, +got:\n%s", n, diff)
		}
	}
}

func TestDeliveriesTooLarge(t *testing.T) {
	_, err := Deliveries(rolloutv1alpha1.ClaimReference{}, deploymentv1alpha1.DeliveryConfig{}, []Rendered{{Place: place("a", "https://x/y", "c"), Files: tree.Files{"../a": nil}}})
	if err == nil {
		t.Error("Deliveries(...): want an error for files that may not be in a tree")
	}
	if e := (&tree.TooLargeError{}); errors.As(err, &e) {
		t.Error("Deliveries(...): a bad path is not too large")
	}
}

func TestTreeIDs(t *testing.T) {
	d := &deliveryv1alpha1.GitDelivery{}
	d.Spec.ForProvider.Trees = []deliveryv1alpha1.Tree{{Branch: "main", Path: "a", Tree: "1"}, {Branch: "b", Path: "a", Tree: "2"}}
	want := map[string]string{"x main a": "1", "x b a": "2"}
	if diff := cmp.Diff(want, TreeIDs(map[string]*deliveryv1alpha1.GitDelivery{"x": d})); diff != "" {
		t.Errorf("TreeIDs(...): -want, +got:\n%s", diff)
	}
}

// TestInherit gives a wanted delivery the name of the observed one with its configuration, which names another repository since.
func TestInherit(t *testing.T) {
	now := inWaves(1).Position()
	withOtherConfig := func(d *deliveryv1alpha1.GitDelivery) *deliveryv1alpha1.GitDelivery {
		d.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: "ProviderConfig", Name: "other"}
		return d
	}
	cases := map[string]struct {
		reason           string
		wanted, observed map[string]*deliveryv1alpha1.GitDelivery
		// want are names, with the repository where it is another one.
		want map[string]string
	}{
		"Same": {
			reason: "A delivery that is wanted as it is observed keeps its name.",
			wanted: byName("one", asking(now, "a")), observed: byName("one", asking(now, "a")), want: map[string]string{"one": ""},
		},
		"Heir": {
			reason: "The delivery with the same configuration goes on under its name, to the new repository.",
			wanted: byName("new", asking(now, "a")), observed: byName("one", asking(now, "a")), want: map[string]string{"one": "new"},
		},
		"Config": {
			reason: "A delivery with another configuration is another one.",
			wanted: byName("new", withOtherConfig(asking(now, "a"))), observed: byName("one", asking(now, "a")), want: map[string]string{"new": ""},
		},
		"There": {
			reason: "A delivery that is there already takes over no other one.", wanted: byName("new", asking(now, "a")), want: map[string]string{"new": ""},
			observed: map[string]*deliveryv1alpha1.GitDelivery{"new": asking(now, "a"), "one": asking(now, "a")},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := map[string]string{}
			for name, d := range Inherit(tc.wanted, tc.observed) {
				got[name] = d.GetAnnotations()[AnnotationRepository]
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nInherit(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func byName(name string, d *deliveryv1alpha1.GitDelivery) map[string]*deliveryv1alpha1.GitDelivery {
	return map[string]*deliveryv1alpha1.GitDelivery{name: d}
}

// TestByRepository finds deliveries by the repository that their trees are for.
func TestByRepository(t *testing.T) {
	now := inWaves(1).Position()
	applied := asking(now, "a")
	applied.Status.AtProvider.Remote = &deliveryv1alpha1.Remote{}
	moved := byName("one", withAnnotation(asking(now, "a"), AnnotationRepository, "new"))
	cases := map[string]struct {
		reason   string
		observed *deliveryv1alpha1.GitDelivery
		wanted   map[string]*deliveryv1alpha1.GitDelivery
		asked    bool
		want     string
	}{
		"Named": {reason: "A delivery that names no other repository is for that of its name.", observed: applied, want: "one"},
		"Applied": {
			reason:   "A delivery that was applied is in its repository, even if another one is wanted in its place.",
			observed: applied, wanted: moved, want: "one",
		},
		"Never": {reason: "A delivery that was never applied counts as the wanted delivery in its place.", observed: asking(now, "a"), wanted: moved, want: "new"},
		"Asked": {reason: "A delivery that asks for the wanted places counts as the wanted delivery.", observed: applied, wanted: moved, asked: true, want: "new"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := ByRepository(byName("one", tc.observed), tc.wanted, tc.asked)
			if got[tc.want] != tc.observed || len(got) != 1 {
				t.Errorf("\n%s\nByRepository(...): want the delivery under %s, got %v", tc.reason, tc.want, got)
			}
		})
	}
}
