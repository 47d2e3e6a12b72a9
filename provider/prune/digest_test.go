package prune

import (
	"slices"
	"testing"
	"time"
)

func TestDigest(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(*Facts)
		same   bool
	}{
		"Nothing": {reason: "Equal facts have equal digests.", change: func(*Facts) {}, same: true},
		"Later":   {reason: "Time does not change a plan.", change: func(f *Facts) { f.Now = f.Now.Add(time.Minute) }, same: true},
		"Order":   {reason: "The order in which directories are found does not change a plan.", change: func(f *Facts) { slices.Reverse(f.Directories); slices.Reverse(f.Repository.Entries) }, same: true},
		"Commit": {
			reason: "A commit that brought the same tree does not change a plan.",
			change: func(f *Facts) { f.Repository.Entries[0].Commit = "other" }, same: true,
		},
		"Kept": {
			reason: "A retained object does not change a plan.",
			change: func(f *Facts) { f.Directories = append(f.Directories, Directory{Path: "z"}) }, same: true,
		},
		"Objects": {
			reason: "How objects are counted does not change a plan: the tree does.",
			change: func(f *Facts) { f.Directories[0].Objects = nil }, same: true,
		},
		"Tree": {reason: "Another tree is another plan.", change: func(f *Facts) { f.Directories[0].Tree, f.Repository.Entries[0].Tree = "x", "x" }},
		"Less": {reason: "A directory less is another plan.", change: func(f *Facts) { f.Directories = f.Directories[1:] }},
		"Claimed": {
			reason: "A claim that is made meanwhile makes another plan.",
			change: func(f *Facts) { f.Living = []Living{{Paths: []string{f.Directories[0].Path}}} },
		},
		"Repository": {reason: "Another repository is another plan.", change: func(f *Facts) { f.Repository.URL = "x" }},
		"Branch":     {reason: "Another branch is another plan.", change: func(f *Facts) { f.Repository.Branch = "x" }},
		"TakeOver":   {reason: "Taking over a cluster is another plan.", change: func(f *Facts) { f.Repository.TakeOverFrom = "x" }},
		"MinAge":     {reason: "Another minAge is another plan.", change: func(f *Facts) { f.MinAge = time.Minute }},
		"Most":       {reason: "Allowing most is another plan.", change: func(f *Facts) { f.AllowMost = true }},
		"Stateful":   {reason: "Allowing volumes is another plan.", change: func(f *Facts) { f.AllowStateful = true }},
		"Only": {
			reason: "A name in only of an object that the plan prunes anyway makes another plan.",
			change: func(f *Facts) { f.Only = []string{"app-0", "app-1", "app-2"} },
		},
		"Namespaces": {reason: "Other namespaces are another plan.", change: func(f *Facts) { f.Namespaces = []string{"x"} }},
		"Bundle":     {reason: "Another bundle is another plan.", change: func(f *Facts) { f.Bundle = BundleName{"a", "b"} }},
	}
	want := planOf(t, orphans(t, 3)).Digest
	if !digestPattern.MatchString(want) {
		t.Fatalf("the digest is %q", want)
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := orphans(t, 3)
			tc.change(f)
			if got := planOf(t, f).Digest; (got == want) != tc.same || got == "" {
				t.Errorf("\n%s\nMakePlan(...): digest %q, was %q", tc.reason, got, want)
			}
		})
	}
	facts, otherFacts := orphans(t, 3), orphans(t, 3)
	facts.Only, otherFacts.Only = []string{"app-0", "app-1"}, []string{"app-1", "app-0"}
	if planOf(t, facts).Digest != planOf(t, otherFacts).Digest {
		t.Error("The same names in another order have another digest")
	}
	first := planOf(t, leftovers(2)).Digest
	for changed, change := range map[string]func(*Package){
		"Another object of the name": func(p *Package) { p.UID = "x" },
		"Another spec":               func(p *Package) { p.SpecDigest = "x" },
	} {
		f := leftovers(2)
		change(&f.Packages[0])
		if got := planOf(t, f).Digest; got == first {
			t.Errorf("%s has the same digest", changed)
		}
	}
}
