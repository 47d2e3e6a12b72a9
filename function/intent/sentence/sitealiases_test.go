package sentence

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSiteAliases(t *testing.T) {
	cases := map[string]struct {
		reason   string
		place    string
		sites    []string
		selector map[string]string
	}{
		"EverySite": {
			reason: "The words \"every site\" stand for all Sites.",
			place:  "at every site",
			sites:  []string{"all"},
		},
		"AllSites": {
			reason: "The words \"all sites\" stand for all Sites behind any word for a place.",
			place:  "across all sites",
			sites:  []string{"all"},
		},
		"All": {
			reason: "The word \"all\" stands for all Sites without a noun.",
			place:  "on all",
			sites:  []string{"all"},
		},
		"BothSites": {
			reason: "The words \"both sites\" stand for exactly two Sites.",
			place:  "on both sites",
			sites:  []string{"both"},
		},
		"Both": {
			reason: "The word \"both\" stands for exactly two Sites without a noun.",
			place:  "at both",
			sites:  []string{"both"},
		},
		"NounBeforeNames": {
			reason: "A noun before names of Sites is not a name itself.",
			place:  "at the sites edge1 and edge2",
			sites:  []string{"edge1", "edge2"},
		},
		"AllOfOurSites": {
			reason: "Words that say whose the Sites are change nothing.",
			place:  "across all of our sites",
			sites:  []string{"all"},
		},
		"OurSites": {
			reason: "A noun with a possessive before names is not a name either.",
			place:  "at our sites edge1 and edge2",
			sites:  []string{"edge1", "edge2"},
		},
		"NounBeforeLabels": {
			reason:   "A noun before labels selects the Sites that have them.",
			place:    "on sites labelled tier=edge",
			selector: map[string]string{"tier": "edge"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for _, text := range []string{"Deploy shop " + tc.place, "Deploy shop with 3 replicas per site " + tc.place} {
				got, fault := Parse(text)
				if fault != nil {
					t.Fatalf("\n%s\nParse(%q): want no fault, got %v", tc.reason, text, fault)
				}
				if diff := cmp.Diff(tc.sites, got.Sites); diff != "" {
					t.Errorf("\n%s\nParse(%q): -want Sites, +got Sites:\n%s", tc.reason, text, diff)
				}
				if diff := cmp.Diff(tc.selector, got.Selector); diff != "" {
					t.Errorf("\n%s\nParse(%q): -want labels, +got labels:\n%s", tc.reason, text, diff)
				}
			}
		})
	}
}

func TestReplicasPerSite(t *testing.T) {
	for _, alias := range everySiteWords() {
		text := "Deploy shop with 3 replicas " + alias.words + " on edge1 and edge2"
		got, fault := Parse(text)
		if fault != nil {
			t.Fatalf("\nWords for each Site may stand behind a number of replicas.\nParse(%q): want no fault, got %v", text, fault)
		}
		if got.Replicas != "3" || len(got.SiteReplicas) != 0 {
			t.Errorf("\nA number of replicas with words for each Site counts at each of them.\nParse(%q): got %q and %v", text, got.Replicas, got.SiteReplicas)
		}
	}
}
