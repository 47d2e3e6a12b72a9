package prune

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/marker"
)

// stories are how many random repositories and namespaces are looked at.
const stories = 10_000

// oneOf returns one of several values.
func oneOf[T any](r *rand.Rand, all ...T) T { return all[r.IntN(len(all))] }

// seldom is true once in n times.
func seldom(r *rand.Rand, n int) bool { return r.IntN(n) == 0 }

// markers of all that a random repository has, by who wrote it, for whom.
var markers = map[[4]string][]byte{}

func cachedMarker(tb testing.TB, controlPlane, uid, namespace, name string) []byte {
	tb.Helper()
	key := [4]string{controlPlane, uid, namespace, name}
	if markers[key] == nil {
		markers[key] = markerOf(tb, controlPlane, uid, namespace, name)
	}
	return markers[key]
}

func randomObjects(r *rand.Rand) []Object {
	out := []Object{}
	for range r.IntN(3) {
		out = append(out, Object{Kind: oneOf(r, "Deployment", "Service", "ConfigMap"), Name: "x"})
	}
	if seldom(r, 8) {
		out = append(out, oneOf(r, Object{Kind: "PersistentVolumeClaim", Name: "x"}, Object{Kind: "StatefulSet", Name: "x"}, Object{Kind: "Job", Name: "x", Irreversible: true}))
	}
	return out
}

func randomTime(r *rand.Rand) time.Time {
	switch {
	case seldom(r, 15):
		return time.Time{}
	case seldom(r, 8):
		return now.Add(oneOf(r, -time.Minute, time.Minute))
	}
	return now.Add(-2 * time.Hour)
}

func randomOptions(r *rand.Rand, scope Scope) *Facts {
	f := &Facts{Options: Options{Scope: scope, Namespace: oneOf(r, "a", "a", "system"), MinAge: oneOf(r, 0, time.Hour)}, Now: now, SystemNamespace: "system"}
	f.Namespaces = oneOf(r, nil, nil, []string{"b"}, []string{"*"}, []string{"a", "b"})
	f.AllowMost, f.AllowStateful = !seldom(r, 3), seldom(r, 4)
	if seldom(r, 30) {
		f.Unlisted = []string{"claims"}
	}
	return f
}

// randomRepository is one in which several claims, control planes and users wrote.
func randomRepository(tb testing.TB, r *rand.Rand) *Facts {
	tb.Helper()
	f := randomOptions(r, ScopeDirectories)
	f.Repository = Repository{URL: "u", Branch: "main", ControlPlane: "prod", ClusterUID: ourUID, TakeOverFrom: oneOf(r, "", "", lostUID)}
	if seldom(r, 30) {
		f.Repository.Untrusted = "not signed"
	}
	for range 1 + r.IntN(9) {
		namespace, name := oneOf(r, "a", "a", "b"), oneOf(r, "x", "y", "z", "w")
		d := Directory{Path: fmt.Sprintf("s%d/%s/%s", r.IntN(2), namespace, name), Objects: randomObjects(r), Unread: seldom(r, 15)}
		if seldom(r, 10) {
			d.Path += "/" + oneOf(r, "x", "deep/y")
		}
		if slices.ContainsFunc(f.Directories, func(o Directory) bool { return o.Path == d.Path }) {
			continue
		}
		d.Tree = "t-" + d.Path
		d.Marker = cachedMarker(tb, oneOf(r, "prod", "prod", "prod", "prod", "other"), oneOf(r, ourUID, ourUID, ourUID, lostUID), namespace, name)
		if seldom(r, 10) {
			d.Marker = oneOf(r, nil, []byte("{}"), []byte("no"))
		}
		f.Directories = append(f.Directories, d)
		if seldom(r, 8) {
			continue
		}
		e := Entry{Path: d.Path, Namespace: namespace, Name: name, Tree: d.Tree, Commit: "c", At: randomTime(r)}
		if seldom(r, 8) {
			e.Tree = "before"
		}
		if seldom(r, 15) {
			e.Name = "somebody-else"
		}
		f.Repository.Entries = append(f.Repository.Entries, e)
	}
	for range r.IntN(4) {
		f.Living = append(f.Living, randomLiving(r))
	}
	if seldom(r, 5) {
		f.Repository.Deliveries = []Delivery{{Namespace: "a", Name: "x", Reason: oneOf(r, "Delivered", "Pushing", "Diverged", "MemoryUnknown", "OrderBehind", "OwnedElsewhere")}}
	}
	if seldom(r, 5) {
		f.Only = []string{oneOf(r, "x", "y", "s0/a/x")}
	}
	return f
}

func randomLiving(r *rand.Rand) Living {
	l := Living{Kind: oneOf(r, "GitDelivery", "SiteSync", "IntentDeployment"), Namespace: oneOf(r, "a", "b"), Name: "l", Deleting: seldom(r, 4), Pinned: seldom(r, 6)}
	if seldom(r, 2) {
		l.Claim = rolloutv1alpha1.ClaimReference{APIGroup: oneOf(r, "claims.intentplane.dev", "intentplane.dev"), Kind: "IntentDeployment", Namespace: l.Namespace, Name: oneOf(r, "x", "y", "z")}
	} else {
		l.Paths = []string{fmt.Sprintf("s%d/%s/%s", r.IntN(2), oneOf(r, "a", "b"), oneOf(r, "x", "y", "x/deep"))}
	}
	return l
}

// randomNamespaces have bundles, their objects, and changes of users to these.
func randomNamespaces(_ testing.TB, r *rand.Rand) *Facts {
	f := randomOptions(r, ScopeBundle)
	for _, namespace := range []string{"a", "b"} {
		for _, group := range []string{"g", "h"} {
			name := BundleName{group, "platform"}
			if !seldom(r, 3) {
				f.Bundles = append(f.Bundles, Bundle{BundleName: name, Namespace: namespace, Packages: randomNames(r, 1)})
			}
			if !seldom(r, 6) {
				f.Records = append(f.Records, Record{BundleName: name, Namespace: namespace, IsNewer: seldom(r, 15), IsBroken: seldom(r, 15), Uses: randomNames(r, 1)})
			}
		}
		for _, name := range []string{"x", "y", "z", "w", "v"} {
			if seldom(r, 4) {
				continue
			}
			p := Package{
				Kind: "IntentDeployment", Namespace: namespace, Name: name, UID: namespace + name, SpecDigest: "d", Label: name, IsMade: !seldom(r, 10),
				Bundle: BundleName{oneOf(r, "g", "h"), oneOf(r, "platform", "platform", "gone")}, Since: randomTime(r), Deleting: seldom(r, 10), Pinned: seldom(r, 10),
				Objects: randomObjects(r), Unread: seldom(r, 15), Reason: oneOf(r, "Delivered", "Delivered", "Delivered", "Diverged", "OwnedElsewhere"),
			}
			if seldom(r, 12) {
				p.Label = "q"
			}
			if seldom(r, 3) {
				p.DependsOn = randomNames(r, 2)
			}
			f.Packages = append(f.Packages, p)
		}
	}
	if seldom(r, 4) {
		f.Living = []Living{{Kind: "Application", Namespace: "a", Name: "l", Claim: rolloutv1alpha1.ClaimReference{Kind: "IntentDeployment", Namespace: "a", Name: oneOf(r, "x", "y")}}}
	}
	if seldom(r, 4) {
		f.Only = []string{oneOf(r, "x", "y", "q")}
	}
	if seldom(r, 4) {
		f.Bundle = BundleName{oneOf(r, "g", "h"), "platform"}
	}
	return f
}

func randomNames(r *rand.Rand, limit int) []string {
	out := []string{}
	for range r.IntN(limit + 1) {
		out = append(out, oneOf(r, "x", "y", "z", "w", "v"))
	}
	return out
}

// mayGo is the answer of a person to the question whether a directory may be removed: it looks at the whole repository each
// time.
func mayGo(f *Facts, d Directory) bool {
	m, err := marker.Parse(d.Marker)
	isOurs := err == nil && m.ControlPlane == "prod" && (m.ClusterUID == ourUID || m.ClusterUID == lostUID && f.Repository.TakeOverFrom == lostUID)
	isMine := m.Claim.Namespace == f.Namespace || f.Namespace == "system" && (slices.Contains(f.Namespaces, m.Claim.Namespace) || slices.Contains(f.Namespaces, "*"))
	if !isOurs || !isMine {
		return false
	}
	for _, o := range f.Directories {
		if o.Path != d.Path && (strings.HasPrefix(o.Path+"/", d.Path+"/") || strings.HasPrefix(d.Path+"/", o.Path+"/")) {
			return false
		}
	}
	for _, l := range f.Living {
		if l.Claim.Namespace+"/"+l.Claim.Name == m.Claim.Namespace+"/"+m.Claim.Name {
			return false
		}
		for _, p := range l.Paths {
			if strings.HasPrefix(p+"/", d.Path+"/") || strings.HasPrefix(d.Path+"/", p+"/") {
				return false
			}
		}
	}
	remembered := false
	for _, e := range f.Repository.Entries {
		if e.Path == d.Path && e.Name == m.Claim.Name && e.Namespace == m.Claim.Namespace && e.Tree == d.Tree {
			remembered = !e.At.IsZero() && !e.At.After(now.Add(-f.MinAge))
		}
	}
	return remembered && (f.AllowStateful || !d.Unread && isHarmless(d.Objects))
}

func isHarmless(all []Object) bool {
	for _, o := range all {
		switch {
		case o.Irreversible, o.Kind == "PersistentVolumeClaim", o.Kind == "StatefulSet":
			return false
		}
	}
	return true
}

// mayPackageGo is mayGo for a package, apart from its dependents.
func mayPackageGo(f *Facts, p *Package) bool {
	isMine := p.Namespace == f.Namespace || f.Namespace == "system" && (slices.Contains(f.Namespaces, p.Namespace) || slices.Contains(f.Namespaces, "*"))
	if !isMine || !p.IsMade || p.Label != p.Name || p.Deleting || p.Pinned || p.Reason == "OwnedElsewhere" || p.Since.IsZero() || p.Since.After(now.Add(-f.MinAge)) {
		return false
	}
	if f.Bundle.Name != "" && (f.Bundle != p.Bundle || p.Namespace != f.Namespace) || !f.AllowStateful && (p.Unread || !isHarmless(p.Objects)) {
		return false
	}
	needsRecord, hasRecord := false, false
	for _, b := range f.Bundles {
		if b.Namespace == p.Namespace && slices.Contains(b.Packages, p.Name) {
			return false
		}
		needsRecord = needsRecord || b.Namespace == p.Namespace && b.BundleName == p.Bundle
	}
	for _, r := range f.Records {
		if r.Namespace == p.Namespace && (r.IsNewer || r.IsBroken || slices.Contains(r.Uses, p.Name)) {
			return false
		}
		hasRecord = hasRecord || r.Namespace == p.Namespace && r.BundleName == p.Bundle
	}
	for _, l := range f.Living {
		if l.Claim.Namespace+"/"+l.Claim.Name == p.Namespace+"/"+p.Name {
			return false
		}
	}
	return hasRecord || !needsRecord
}

// oracle returns the removable objects by the naive rule.
func oracle(f *Facts) []string {
	out, named := []string{}, func(names ...string) bool {
		return len(f.Only) == 0 || slices.ContainsFunc(names, func(n string) bool { return slices.Contains(f.Only, n) })
	}
	if f.Scope == ScopeDirectories {
		for _, d := range f.Directories {
			m, _ := marker.Parse(d.Marker)
			if mayGo(f, d) && named(d.Path, m.Claim.Name) {
				out = append(out, d.Path)
			}
		}
		slices.Sort(out)
		return out
	}
	going := map[string]bool{}
	for i := range f.Packages {
		if p := &f.Packages[i]; mayPackageGo(f, p) && named(p.Name) {
			going[p.UID] = true
		}
	}
	// A package that stays keeps its dependencies: as many rounds as there are packages are enough.
	for range f.Packages {
		for _, o := range f.Packages {
			for _, p := range f.Packages {
				if !going[o.UID] && o.UID != p.UID && o.Namespace == p.Namespace && slices.Contains(o.DependsOn, p.Name) {
					delete(going, p.UID)
				}
			}
		}
	}
	for uid := range going {
		out = append(out, uid)
	}
	slices.Sort(out)
	return out
}

// identify returns the items that a plan removes.
func identify(p *Plan) []string {
	out := []string{}
	for _, i := range p.Pruned() {
		out = append(out, i.Path+i.UID)
	}
	slices.Sort(out)
	return out
}

func worlds() map[string]func(testing.TB, *rand.Rand) *Facts {
	return map[string]func(testing.TB, *rand.Rand) *Facts{"Directories": randomRepository, "Packages": randomNamespaces}
}

// TestRandom holds plans of random repositories and namespaces to a naive rule.
func TestRandom(t *testing.T) {
	for name, world := range worlds() {
		t.Run(name, func(t *testing.T) {
			pruned, counts := 0, map[string]int{}
			for seed := range uint64(stories) {
				f := world(t, rand.New(rand.NewPCG(seed, 22)))
				p := planOf(t, f)
				for _, i := range p.Items {
					counts[string(i.Reason)]++
				}
				counts[string(p.Refusal)]++
				if diff := cmp.Diff(oracle(f), identify(&p)); diff != "" {
					t.Fatalf("story %d: the plan is %s; -oracle, +plan:\n%s", seed, summarise(&p), diff)
				}
				if unsafe := len(f.Unlisted) > 0 || f.Repository.Untrusted != ""; unsafe && p.Digest != "" {
					t.Fatalf("story %d: a plan that has to be refused can be approved", seed)
				}
				pruned += len(p.Pruned())
			}
			if pruned < stories/10 {
				t.Errorf("%d stories removed %d items: they show little", stories, pruned)
			}
			t.Logf("%d stories, %d items to prune, %v", stories, pruned, counts)
		})
	}
}

// TestEachRule takes each rule away, and looks for a story that finds out.
func TestEachRule(t *testing.T) {
	find := func(t *testing.T, world func(testing.TB, *rand.Rand) *Facts, plan func(*Facts) (Plan, error)) bool {
		t.Helper()
		for seed := range uint64(stories) {
			f := world(t, rand.New(rand.NewPCG(seed, 22)))
			p, err := plan(f)
			if err != nil {
				t.Fatal(err)
			}
			if !cmp.Equal(oracle(f), identify(&p)) {
				return true
			}
		}
		return false
	}
	for i, r := range directoryRules() {
		rules := slices.Delete(directoryRules(), i, i+1)
		if !find(t, randomRepository, func(f *Facts) (Plan, error) { return planByRules(f, rules, nil) }) {
			t.Errorf("without %s no random repository loses a directory", r.reason)
		}
	}
	for i, r := range packageRules() {
		rules := slices.Delete(packageRules(), i, i+1)
		if !find(t, randomNamespaces, func(f *Facts) (Plan, error) { return planByRules(f, nil, rules) }) {
			t.Errorf("without %s no random namespace loses a package", r.reason)
		}
	}
}

// BenchmarkPlan makes a plan of 5,000 directories, each of which one object names, but for 100; and counts wrong plans of random repositories and
// namespaces.
func BenchmarkPlan(b *testing.B) {
	f := orphans(b, 5_000)
	for _, d := range f.Directories[100:] {
		f.Living = append(f.Living, Living{Kind: "GitDelivery", Namespace: "team-a", Name: "d", Paths: []string{d.Path}})
	}
	for b.Loop() {
		if p, err := MakePlan(f); err != nil || p.Digest == "" || len(p.Pruned()) != 100 {
			b.Fatalf("%d directories, %v", len(p.Pruned()), err)
		}
	}
	b.StopTimer()
	wrong := 0
	for _, world := range worlds() {
		for seed := range uint64(stories / 2) {
			w := world(b, rand.New(rand.NewPCG(seed, 23)))
			if p, err := MakePlan(w); err != nil || !cmp.Equal(oracle(w), identify(&p)) {
				wrong++
			}
		}
	}
	b.ReportMetric(float64(wrong), "prune_wrong")
}
