package prune

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/marker"
)

var now = time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)

const (
	ourUID  = "uid-1"
	lostUID = "uid-0"
)

// markerOf returns the marker's file of a claim.
func markerOf(tb testing.TB, controlPlane, uid, namespace, name string) []byte {
	tb.Helper()
	b, err := marker.Marker{
		ControlPlane: controlPlane, ClusterUID: uid,
		Claim: rolloutv1alpha1.ClaimReference{APIGroup: "claims.intentplane.dev", Kind: "IntentDeployment", Namespace: namespace, Name: name},
	}.Encode()
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// orphans returns facts in which so many directories of team-a, and none of the others, may go.
func orphans(tb testing.TB, n int) *Facts {
	tb.Helper()
	f := &Facts{
		Options: Options{Scope: ScopeDirectories, Namespace: "team-a", MinAge: time.Hour}, Now: now, SystemNamespace: "crossplane-system",
		Repository: Repository{URL: "https://git.example.org/fleet", Branch: "main", ControlPlane: "prod", ClusterUID: ourUID},
	}
	for i := range n {
		name := fmt.Sprintf("app-%d", i)
		path := "clusters/edge1/team-a/" + name
		f.Directories = append(f.Directories, Directory{
			Site: "edge1", Path: path, Tree: "tree-" + name, Marker: markerOf(tb, "prod", ourUID, "team-a", name), Objects: []Object{{Kind: "Deployment", Name: name}},
		})
		f.Repository.Entries = append(f.Repository.Entries, Entry{
			Path: path, Namespace: "team-a", Name: name, Tree: "tree-" + name, Commit: "commit-" + name, At: now.Add(-2 * time.Hour),
		})
	}
	return f
}

// leftovers returns facts in which so many packages of a bundle of team-a left it and may go.
func leftovers(n int) *Facts {
	f := &Facts{
		Options: Options{Scope: ScopeBundle, Namespace: "team-a", MinAge: time.Hour}, Now: now, SystemNamespace: "crossplane-system",
		Bundles: []Bundle{{BundleName: BundleName{"intentplane.dev", "platform"}, Namespace: "team-a"}},
		Records: []Record{{BundleName: BundleName{"intentplane.dev", "platform"}, Namespace: "team-a"}},
	}
	for i := range n {
		name := fmt.Sprintf("app-%d", i)
		f.Packages = append(f.Packages, Package{
			Kind: "IntentDeployment", Namespace: "team-a", Name: name, UID: "uid-" + name, Label: name, IsMade: true, Bundle: BundleName{"intentplane.dev", "platform"},
			SpecDigest: "digest-" + name, Since: now.Add(-2 * time.Hour), Objects: []Object{{Kind: "Deployment", Name: name}},
		})
	}
	return f
}

func planOf(t *testing.T, f *Facts) Plan {
	t.Helper()
	p, err := MakePlan(f)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// summarise returns a short text of a plan.
func summarise(p *Plan) string {
	out := []string{}
	if p.Refusal != "" {
		out = append(out, string(p.Refusal))
	}
	for _, i := range p.Items {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %s", i.Name, i.Verdict, i.Reason)))
	}
	return strings.Join(out, ", ")
}

func TestRefusePlan(t *testing.T) {
	cases := map[string]struct {
		reason string
		facts  func() *Facts
		want   Refusal
		says   string
	}{
		"Few": {reason: "Five directories may go although they are all that there are.", facts: func() *Facts { return orphans(t, 5) }},
		"Most": {
			reason: "Six of six directories are most of the repository.",
			facts:  func() *Facts { return orphans(t, 6) }, want: RefusalMostOfRepository, says: "6 of 6 items",
		},
		"MostPackages": {reason: "Six of six packages are most of the bundle.", facts: func() *Facts { return leftovers(6) }, want: RefusalMostOfRepository},
		"MostAllowed": {reason: "A user may allow that most goes.", facts: func() *Facts {
			f := orphans(t, 6)
			f.AllowMost = true
			return f
		}},
		"Half": {reason: "Half of the directories may go.", facts: func() *Facts {
			f := orphans(t, 12)
			for i := range 6 {
				f.Living = append(f.Living, Living{Kind: "GitDelivery", Namespace: "team-a", Name: "d", Paths: []string{f.Directories[i].Path}})
			}
			return f
		}},
		"OthersDoNotCount": {reason: "Directories of others do not make six of ours a smaller part.", facts: func() *Facts {
			f := orphans(t, 20)
			for i := range 14 {
				f.Directories[i].Marker = markerOf(t, "other", "x", "team-a", "x")
			}
			return f
		}, want: RefusalMostOfRepository, says: "6 of 6 items"},
		"Only": {reason: "A user may name few of many.", facts: func() *Facts {
			f := orphans(t, 6)
			f.Only = []string{"app-1", "clusters/edge1/team-a/app-2"}
			return f
		}},
		"NotInPlan": {reason: "A name that nothing has refuses all.", facts: func() *Facts {
			f := orphans(t, 3)
			f.Only = []string{"app-1", "app-9"}
			return f
		}, want: RefusalNotInPlan, says: "spec.only: not in the plan: app-9"},
		"TooMany": {reason: "More than 500 directories are too many, also where most may go.", facts: func() *Facts {
			f := orphans(t, 501)
			f.AllowMost = true
			return f
		}, want: RefusalTooMany, says: "name some of them in only"},
		"Unlisted": {reason: "A kind that cannot be listed may own everything.", facts: func() *Facts {
			f := orphans(t, 1)
			f.Unlisted = []string{"intentdeployments.intentplane.dev"}
			return f
		}, want: RefusalUncertain, says: "cannot list intentdeployments.intentplane.dev"},
		"UnlistedPackages": {reason: "A kind that cannot be listed may use each package.", facts: func() *Facts {
			f := leftovers(1)
			f.Unlisted = []string{"bundles.intentplane.dev"}
			return f
		}, want: RefusalUncertain},
		"Unnamed": {reason: "A control plane that does not know its cluster owns nothing.", facts: func() *Facts {
			f := orphans(t, 1)
			f.Repository.ClusterUID, f.Directories[0].Marker = "", markerOf(t, "prod", "", "team-a", "app-0")
			return f
		}, want: RefusalUncertain},
		"Untrusted": {reason: "A state that cannot be believed names no directories.", facts: func() *Facts {
			f := orphans(t, 1)
			f.Repository.Untrusted = "the state is not signed"
			return f
		}, want: RefusalStateUntrusted, says: "the state is not signed"},
	}
	cases["HiddenDelivery"] = struct {
		reason string
		facts  func() *Facts
		want   Refusal
		says   string
	}{reason: "A tenant does not learn which delivery of another namespace shows signs of a restore.", facts: func() *Facts {
		f := orphans(t, 1)
		f.Repository.Deliveries = []Delivery{{Namespace: "team-b", Name: "y", Reason: "Diverged"}}
		return f
	}, want: RefusalUncertain, says: "a GitDelivery of another namespace of the repository is Diverged"}
	for _, reason := range []string{"OwnedElsewhere", "MemoryUnknown", "OrderBehind", "Diverged"} {
		cases[reason] = struct {
			reason string
			facts  func() *Facts
			want   Refusal
			says   string
		}{reason: "A delivery that shows signs of a restore refuses all.", facts: func() *Facts {
			f := orphans(t, 1)
			f.Repository.Deliveries = []Delivery{{Namespace: "team-a", Name: "x", Reason: "Delivered"}, {Namespace: "team-a", Name: "y", Reason: reason}}
			return f
		}, want: RefusalUncertain, says: "GitDelivery team-a/y of the repository is " + reason}
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p := planOf(t, tc.facts())
			if p.Refusal != tc.want || !strings.Contains(p.Message, tc.says) || (p.Digest == "") != (tc.want != "") || (p.Message == "") != (tc.want == "") {
				t.Errorf("\n%s\nMakePlan(...): %q, %q, digest %q, want %q with %q", tc.reason, p.Refusal, p.Message, p.Digest, tc.want, tc.says)
			}
		})
	}
}

func TestMakePlan(t *testing.T) {
	f := orphans(t, 3)
	f.Directories[0].Tree = "changed"
	want := Plan{
		Items: []Item{
			{
				Kind: KindDirectory, Namespace: "team-a", Name: "app-1", Site: "edge1", Path: "clusters/edge1/team-a/app-1", Tree: "tree-app-1", Commit: "commit-app-1",
				Objects: 1, Stateful: []string{}, Verdict: VerdictPrune,
			},
			{
				Kind: KindDirectory, Namespace: "team-a", Name: "app-0", Site: "edge1", Path: "clusters/edge1/team-a/app-0", Tree: "changed", Commit: "commit-app-0",
				Objects: 1, Stateful: []string{}, Verdict: VerdictKeep, Reason: KeepChanged,
				Message: "an unmanaged commit changed it: it has tree changed, and the state has tree-app-0: remove it in Git by hand, " +
					"or make a claim of that name with adopt: true and delete the claim",
			},
		},
	}
	f.Only = []string{"app-0", "app-1"}
	got := planOf(t, f)
	want.Digest = got.Digest
	if diff := cmp.Diff(want, got); diff != "" || len(got.Pruned()) != 1 {
		t.Errorf("MakePlan(...): -want, +got:\n%s", diff)
	}
	f.Scope = "Everything"
	if _, err := MakePlan(f); err == nil {
		t.Errorf("MakePlan(...) with a scope that does not exist: want an error")
	}
	long := orphans(t, 600)
	for i := range long.Directories {
		long.Directories[i].Tree = "changed"
	}
	long.Directories[599].Tree = "tree-app-599"
	if p := planOf(t, long); len(p.Items) != 500 || p.More != 100 || p.Items[0].Name != "app-599" {
		t.Errorf("A plan of 600 items lists %d, leaves out %d, and begins with %s", len(p.Items), p.More, p.Items[0].Name)
	}
}

func TestCovers(t *testing.T) {
	cases := map[string]struct {
		reason     string
		from       string
		namespaces []string
		of         string
		want       bool
	}{
		"Own":    {reason: "A request covers its own namespace.", from: "team-a", of: "team-a", want: true},
		"Other":  {reason: "A request does not cover another namespace.", from: "team-a", of: "team-b"},
		"Named":  {reason: "A tenant cannot name another namespace.", from: "team-a", namespaces: []string{"team-b", "*"}, of: "team-b"},
		"System": {reason: "A request in Crossplane's namespace covers others only if it names them.", from: "crossplane-system", of: "team-b"},
		"SystemName": {
			reason: "A request in Crossplane's namespace may name another namespace.",
			from:   "crossplane-system", namespaces: []string{"team-b"}, of: "team-b", want: true,
		},
		"SystemAll": {reason: "A request in Crossplane's namespace may name all.", from: "crossplane-system", namespaces: []string{"*"}, of: "team-b", want: true},
		"None":      {reason: "A resource without a namespace is covered by no request.", from: "crossplane-system", namespaces: []string{"*"}, of: ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := &Facts{Options: Options{Namespace: tc.from, Namespaces: tc.namespaces}, SystemNamespace: "crossplane-system"}
			if got := f.coversNamespace(tc.of); got != tc.want {
				t.Errorf("\n%s\ncovers(%q): %t, want %t", tc.reason, tc.of, got, tc.want)
			}
		})
	}
}
