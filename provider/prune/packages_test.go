package prune

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

func TestPackageRules(t *testing.T) {
	otherBundle := BundleName{"claims.intentplane.dev", "platform"}
	first := func(change func(*Package)) func(*Facts) { return func(f *Facts) { change(&f.Packages[0]) } }
	cases := map[string]struct {
		reason string
		n      int
		change func(*Facts)
		want   string
	}{
		"Left": {reason: "A package that left its bundle goes.", change: func(*Facts) {}, want: "app-0 Prune"},
		"Named": {
			reason: "A package that its bundle names is not a leftover.",
			n:      2, change: func(f *Facts) { f.Bundles[0].Packages = []string{"app-0"} }, want: "app-1 Prune",
		},
		"OtherBundle": {reason: "A request about one bundle is not about packages of another bundle.", change: func(f *Facts) { f.Bundle = otherBundle }, want: ""},
		"ThisBundle":  {reason: "A request about one bundle is about its packages.", change: func(f *Facts) { f.Bundle = f.Packages[0].Bundle }, want: "app-0 Prune"},
		"SameNameElsewhere": {reason: "A request about one bundle is not about one of the same name in another namespace.", change: func(f *Facts) {
			f.Bundle, f.Namespace, f.Namespaces = f.Packages[0].Bundle, f.SystemNamespace, []string{"*"}
		}, want: ""},
		"Namespace": {
			reason: "A package of another namespace is that tenant's.",
			change: first(func(p *Package) { p.Namespace = "team-b" }), want: "app-0 Keep NotYourNamespace",
		},
		"NotMade": {reason: "An object that no bundle made is a user's.", change: first(func(p *Package) { p.IsMade = false }), want: "app-0 Keep NotOurs"},
		"Label": {
			reason: "A label that a user changed names another package.",
			change: first(func(p *Package) { p.Label = "app-9" }), want: "app-0 Keep NotOurs",
		},
		"NoBundle": {
			reason: "A package without the label of a bundle belongs to no bundle.",
			change: first(func(p *Package) { p.Bundle = BundleName{} }), want: "app-0 Keep NotOurs",
		},
		"RecordMissing": {reason: "A bundle without its record is waited for.", change: func(f *Facts) { f.Records = nil }, want: "app-0 Keep RecordMissing"},
		"RecordBroken": {
			reason: "A record that is broken is waited for.",
			change: func(f *Facts) { f.Records[0].IsBroken = true }, want: "app-0 Keep RecordMissing",
		},
		"RecordNewer": {
			reason: "A record of a newer version is that version's.",
			change: func(f *Facts) { f.Records[0].IsNewer = true }, want: "app-0 Keep RecordNewer",
		},
		"BundleDeleted": {reason: "A package of a deleted bundle needs no record.", change: func(f *Facts) { f.Records, f.Bundles = nil, nil }, want: "app-0 Prune"},
		"Deleting": {
			reason: "A package that is being deleted goes by itself.",
			change: first(func(p *Package) { p.Deleting = true }), want: "app-0 Keep Deleting",
		},
		"Pinned": {reason: "A label keeps a package.", change: first(func(p *Package) { p.Pinned = true }), want: "app-0 Keep Pinned"},
		"Controlled": {reason: "A package that another object uses stays.", change: func(f *Facts) {
			f.Living = []Living{{Kind: "Application", Namespace: "team-a", Name: "x", Claim: rolloutv1alpha1.ClaimReference{Kind: "IntentDeployment", Namespace: "team-a", Name: "app-0"}}}
		}, want: "app-0 Keep InUse"},
		"UsedByBundle": {
			reason: "A package that another bundle names stays, also if that bundle has the same name in the other group.",
			change: func(f *Facts) { f.Bundles = append(f.Bundles, Bundle{otherBundle, "team-a", []string{"app-0"}}) },
			want:   "app-0 Keep UsedByBundle",
		},
		"UsedElsewhere": {
			reason: "A bundle of another namespace has another package of the name.",
			change: func(f *Facts) { f.Bundles = append(f.Bundles, Bundle{otherBundle, "team-b", []string{"app-0"}}) }, want: "app-0 Prune",
		},
		"UsedByRecord": {reason: "A record that another program keeps counts as a user.", change: func(f *Facts) {
			f.Records = append(f.Records, Record{BundleName: BundleName{"", "uds"}, Namespace: "team-a", Uses: []string{"app-0"}})
		}, want: "app-0 Keep UsedByBundle"},
		"UnknownUser": {reason: "Another record that cannot be read may be that of a user.", change: func(f *Facts) {
			f.Records = append(f.Records, Record{BundleName: otherBundle, Namespace: "team-a", IsBroken: true})
		}, want: "app-0 Keep UsedByBundle"},
		"Elsewhere": {
			reason: "A package whose directories another control plane owns is not ours to remove.",
			change: first(func(p *Package) { p.Reason = "OwnedElsewhere" }), want: "app-0 Keep OwnedElsewhere",
		},
		"Young": {
			reason: "A package that left just now may come back.",
			change: first(func(p *Package) { p.Since = now.Add(-time.Minute) }), want: "app-0 Keep TooYoung",
		},
		"Undated": {
			reason: "A package that left at an unknown time is not old.",
			change: first(func(p *Package) { p.Since = time.Time{} }), want: "app-0 Keep TooYoung",
		},
		"Stateful": {
			reason: "A package with a volume stays.",
			change: first(func(p *Package) { p.Objects[0].Kind = "PersistentVolumeClaim" }), want: "app-0 Keep Stateful",
		},
		"Unread": {
			reason: "A package whose objects are unknown may have a volume.",
			change: first(func(p *Package) { p.Unread = true }), want: "app-0 Keep Stateful",
		},
		"DependedOn": {reason: "The dependencies of a package that stays are kept, with their own dependencies.", n: 4, change: func(f *Facts) {
			f.Packages[1].DependsOn, f.Packages[2].DependsOn, f.Packages[2].Pinned = []string{"app-0"}, []string{"app-1"}, true
		}, want: "app-3 Prune, app-0 Keep DependedOn, app-1 Keep DependedOn, app-2 Keep Pinned"},
		"AllDepend": {reason: "Packages that depend on each other are removed together.", n: 2, change: func(f *Facts) {
			f.Packages[0].DependsOn, f.Packages[1].DependsOn = []string{"app-1"}, []string{"app-0"}
		}, want: "app-0 Prune, app-1 Prune"},
		"NotSelected": {reason: "A dependency of a package that the user did not name stays.", n: 2, change: func(f *Facts) {
			f.Packages[1].DependsOn, f.Only = []string{"app-0"}, []string{"app-0"}
		}, want: "app-0 Keep DependedOn"},
		"NamedDepends": {reason: "A dependency of a package that its bundle names stays.", n: 2, change: func(f *Facts) {
			f.Packages[1].DependsOn, f.Bundles[0].Packages = []string{"app-0"}, []string{"app-1"}
		}, want: "app-0 Keep DependedOn"},
		"DependsElsewhere": {reason: "A package of another namespace needs another package of the name.", n: 2, change: func(f *Facts) {
			f.Packages[1].DependsOn, f.Packages[1].Namespace = []string{"app-0"}, "team-b"
		}, want: "app-0 Prune, app-1 Keep NotYourNamespace"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := leftovers(max(1, tc.n))
			tc.change(f)
			p := planOf(t, f)
			if diff := cmp.Diff(tc.want, summarise(&p)); diff != "" {
				t.Errorf("\n%s\nMakePlan(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestRemovable orders the removal of packages by their dependencies.
func TestRemovable(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(*Facts)
		want   string
	}{
		"Alone": {reason: "Packages without dependents are removed at once.", change: func(*Facts) {}, want: "app-0 Prune, app-1 Prune, app-2 Prune"},
		"Layers": {reason: "A package is removed after its dependents.", change: func(f *Facts) {
			f.Packages[1].DependsOn, f.Packages[2].DependsOn = []string{"app-0"}, []string{"app-1"}
		}, want: "app-2 Prune"},
		"Gone": {
			reason: "A deleted package holds back no other package.",
			change: func(f *Facts) { f.Packages = f.Packages[:2]; f.Packages[0].DependsOn = []string{"app-2"} }, want: "app-0 Prune, app-1 Prune",
		},
		"Circle": {reason: "Packages that depend on each other go together.", change: func(f *Facts) {
			f.Packages[0].DependsOn, f.Packages[1].DependsOn, f.Packages[2].DependsOn = []string{"app-1"}, []string{"app-2"}, []string{"app-0"}
		}, want: "app-0 Prune, app-1 Prune, app-2 Prune"},
		"Refused": {reason: "Of a plan that is refused nothing goes.", change: func(f *Facts) { f.Unlisted = []string{"Bundle"} }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := leftovers(3)
			tc.change(f)
			p := planOf(t, f)
			if diff := cmp.Diff(tc.want, summarise(&Plan{Items: p.Removable(f)})); diff != "" {
				t.Errorf("\n%s\nRemovable(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestPackagesAreJudgedOnce plans with more packages, Bundles and records than the product of two of them allows to go through, each package the dependency of
// the package before it.
func TestPackagesAreJudgedOnce(t *testing.T) {
	const many = 30_000
	f := leftovers(many)
	for i := range f.Packages {
		f.Packages[i].DependsOn = []string{fmt.Sprintf("app-%d", i+1)}
		namespace, name := f.Packages[i].Namespace, BundleName{Name: fmt.Sprintf("other-%d", i)}
		f.Bundles = append(f.Bundles, Bundle{BundleName: name, Namespace: namespace, Packages: []string{"other"}})
		f.Records = append(f.Records, Record{BundleName: name, Namespace: namespace, Uses: []string{"other"}})
	}
	f.Packages[0].Pinned = true
	began := time.Now()
	p := planOf(t, f)
	if took := time.Since(began); took > 10*time.Second || len(p.Pruned()) > 0 {
		t.Errorf("\nThe time of a plan grows with the number of objects, and not with their product.\nMakePlan(...): %s, %d packages go", took, len(p.Pruned()))
	}
}
