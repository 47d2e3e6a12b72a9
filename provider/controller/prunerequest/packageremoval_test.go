package prunerequest

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/apis/state/v1alpha1"
	"github.com/intentplane/intentplane/provider/prune"
)

// packagesFacts returns the facts about packages that left bundle platform long ago, as "name: needs".
func packagesFacts(lines ...string) *prune.Facts {
	f := &prune.Facts{
		Options: prune.Options{Scope: prune.ScopeBundle, Namespace: team, AllowMost: true}, Now: noon,
		Bundles: []prune.Bundle{{BundleName: prune.BundleName{Group: "intentplane.dev", Name: "platform"}, Namespace: team}},
		Records: []prune.Record{{BundleName: prune.BundleName{Group: "intentplane.dev", Name: "platform"}, Namespace: team}},
	}
	for _, line := range lines {
		name, needs, _ := strings.Cut(line, ":")
		f.Packages = append(f.Packages, prune.Package{
			Kind: "IntentDeployment", Namespace: team, Name: name, UID: "uid-" + name, Label: name, Bundle: f.Bundles[0].BundleName, IsMade: true,
			Since: noon.Add(-time.Hour), DependsOn: strings.Fields(needs),
		})
	}
	return f
}

// planOf returns the plan of facts, and how a status shows it.
func planOf(t *testing.T, f *prune.Facts) (*prune.Plan, *v1alpha1.PrunePlan) {
	t.Helper()
	p, err := prune.MakePlan(f)
	if err != nil {
		t.Fatal(err)
	}
	return &p, publishedPlan(&p, noon, "")
}

func TestStepRemoval(t *testing.T) {
	cases := map[string]struct {
		reason    string
		change    func(*prune.Facts)
		remove    []string
		kept      []string
		isWaiting bool
	}{
		"First": {reason: "A package is removed after its dependents.", change: func(*prune.Facts) {}, remove: []string{"front", "other"}, isWaiting: true},
		"Deleting": {
			reason: "A package waits until its dependents are gone.",
			change: func(f *prune.Facts) { f.Packages[1].Deleting = true }, remove: []string{"other"}, kept: []string{"base"}, isWaiting: true,
		},
		"Gone": {
			reason: "The next layer is removed after the previous layer.",
			change: func(f *prune.Facts) { f.Packages = append(f.Packages[:1], f.Packages[2]) }, remove: []string{"base", "other"},
		},
		"Again": {
			reason: "A package that a bundle names again meanwhile stays, and so do its dependencies.",
			change: func(f *prune.Facts) { f.Bundles[0].Packages = []string{"front"} }, remove: []string{"other"}, kept: []string{"base", "front"},
		},
		"Other": {
			reason: "A package of the same name that was created again is another package.",
			change: func(f *prune.Facts) { f.Packages[2].UID = "another" }, remove: []string{"front"}, isWaiting: true,
		},
		"Unknown": {
			reason: "While some users of packages are unknown, the provider removes nothing, and the removal waits.",
			change: func(f *prune.Facts) { f.Unlisted = []string{"Bundle"} }, isWaiting: true,
		},
		"Empty": {reason: "Nothing is left to do when all are gone.", change: func(f *prune.Facts) { f.Packages = nil }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := packagesFacts("base", "front: base", "other")
			_, published := planOf(t, f)
			tc.change(f)
			f.Only = remainingPackages(published, f)
			fresh, _ := planOf(t, f)
			got := stepRemoval(published, f, fresh)
			names := []string(nil)
			for _, p := range got.remove {
				names = append(names, p.Name)
			}
			if diff := cmp.Diff([]any{tc.remove, tc.kept, tc.isWaiting}, []any{names, got.kept, got.isWaiting}); diff != "" {
				t.Errorf("\n%s\nstepRemoval(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestStepRemovalOfOnly goes on with a removal of packages that a request names, of which some are gone.
func TestStepRemovalOfOnly(t *testing.T) {
	f := packagesFacts("base", "front: base", "other")
	f.Only = []string{"base", "front"}
	_, published := planOf(t, f)
	f.Packages = append(f.Packages[:1], f.Packages[2])
	f.Only = remainingPackages(published, f)
	fresh, _ := planOf(t, f)
	got := stepRemoval(published, f, fresh)
	if len(got.remove) != 1 || got.remove[0].Name != "base" || len(got.kept) > 0 {
		t.Errorf("\nThe provider removes a named package after another named package; an unnamed package stays.\nstepRemoval(...): got %+v", got)
	}
	f.Packages = f.Packages[1:]
	if diff := cmp.Diff([]string{"base"}, remainingPackages(published, f)); diff != "" {
		t.Errorf("\nWhen all are gone that a request names, it does not mean all others.\nonlyLeft(...): -want, +got:\n%s", diff)
	}
}

func TestRemovalWait(t *testing.T) {
	for hangs, want := range map[time.Duration]time.Duration{0: 2 * time.Second, time.Minute: 6 * time.Second, time.Hour: time.Minute} {
		if got := removalWait(noon, noon.Add(hangs)); got != want {
			t.Errorf("\nThe longer a removal hangs the less it is looked at.\nremovalWait(...) after %s: want %s, got %s", hangs, want, got)
		}
	}
}

// TestDeletePackage removes only the version of a package in the plan. A bundle that comes to use it after the look writes another version.
func TestDeletePackage(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(*prune.Package)
		stays  bool
	}{
		"Seen": {reason: "The package that was seen goes.", change: func(*prune.Package) {}},
		"Used": {reason: "A package that changed after it was seen stays until the next look.", change: func(p *prune.Package) { p.Version = "1" }, stays: true},
		"Gone": {reason: "The removal of a missing package succeeds.", change: func(p *prune.Package) { p.Name = "other" }, stays: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 0, metadataOf(2, "base", func(o *metav1.PartialObjectMetadata) { o.UID = "uid-base" }))
			o := metadataOf(2, "base")
			w.must(w.kube.Get(t.Context(), client.ObjectKeyFromObject(o), o))
			p := prune.Package{Kind: "IntentDeployment", Namespace: team, Name: "base", UID: "uid-base", Version: o.GetResourceVersion()}
			tc.change(&p)
			w.must(w.reconciler.deletePackage(t.Context(), p))
			if err := w.kube.Get(t.Context(), client.ObjectKeyFromObject(o), o); (err == nil) != tc.stays {
				t.Errorf("\n%s\nGet(...) after deletePackage(...): %v", tc.reason, err)
			}
		})
	}
}

func TestExplainPackages(t *testing.T) {
	f := packagesFacts("base", "front")
	_, published := planOf(t, f)
	f.Bundles[0].Packages, f.Packages[1].Pinned = []string{"base"}, true
	fresh, _ := planOf(t, f)
	want := "The plan changed: package base is gone, or in its bundle again; package front is kept, Pinned: it is labelled to be kept."
	if diff := cmp.Diff(want, explainPackages(published, fresh)); diff != "" {
		t.Errorf("explainPackages(...): -want, +got:\n%s", diff)
	}
}
