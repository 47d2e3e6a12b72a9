package intent

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestUnquotedSites(t *testing.T) {
	cases := map[string]struct {
		reason string
		text   string
		want   []string
	}{
		"Sentence": {reason: "A sentence lists the Sites that have no quotes.", text: `Deploy shop on edge1 and "edge2"`, want: []string{"edge1"}},
		"Quoted":   {reason: "A sentence whose Sites are all in quotes lists none.", text: `Deploy shop on "edge2"`},
		"Word":     {reason: "A word for several Sites is not the name of one.", text: "Deploy shop on all sites"},
		"JSON":     {reason: "A Site of a JSON document is a field, and no word that became a name by mistake.", text: `{"service": "shop", "site": "edge1"}`},
		"YAML":     {reason: "A Site of a YAML document is a field, and no word that became a name by mistake.", text: "service: shop\nsite: edge1\n"},
		"Refused":  {reason: "A refused sentence lists no Sites.", text: "Deploy shop on edge1 quickly"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, UnquotedSites(tc.text)); diff != "" {
				t.Errorf("\n%s\nUnquotedSites(%q): -want, +got:\n%s", tc.reason, tc.text, diff)
			}
		})
	}
}
