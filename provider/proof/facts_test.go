package proof

import (
	"testing"

	"github.com/intentplane/intentplane/provider/engines"
)

func TestTriedCommit(t *testing.T) {
	report := engines.Observation{Commit: "applied", Attempted: "attempted"}
	cases := map[string]struct {
		reason string
		facts  SiteFacts
		want   string
	}{
		"Applied": {
			reason: "The commit that the engine applied has the tree.",
			facts:  SiteFacts{Engine: report, Applied: Subtree{ID: wantedTree()}, Attempted: Subtree{ID: wantedTree()}}, want: "applied",
		},
		"Attempted": {
			reason: "An engine that still applies another tree attempted a commit with the tree.",
			facts:  SiteFacts{Engine: report, Applied: Subtree{ID: otherTree()}, Attempted: Subtree{ID: wantedTree()}}, want: "attempted",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := tc.facts.TriedCommit(wantedTree()); got != tc.want {
				t.Errorf("\n%s\nwant %s, got %s", tc.reason, tc.want, got)
			}
		})
	}
}
