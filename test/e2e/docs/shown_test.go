package docs

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/test/typed"
)

func TestShownOutputs(t *testing.T) {
	command := typed.Block{Page: "p.md", Line: 1, Language: typed.Shell, Text: "a\n"}
	const output = "@@ typed p.md:1\nWarning: old\nshop 8d21c0e  127.0.0.1:4123/fleet 0m04s\n@@ typed p.md:9\nother\n"
	cases := map[string]struct {
		reason string
		sample typed.Block
		want   bool
	}{
		"Variable": {
			reason: "Ages, ids, the Git server and the width of columns differ.",
			sample: typed.Block{Text: "shop  5f77a901 git.example.org/fleet 1m40s\n"}, want: true,
		},
		"Other": {reason: "Another name is another output.", sample: typed.Block{Text: "shoe 5f77a901 git.example.org/fleet 1m40s\n"}},
		"Part":  {reason: "A sample has each line.", sample: typed.Block{}},
		"Later": {reason: "The output of another block does not count.", sample: typed.Block{Text: "other\n"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			all := shownOutputs([]typed.Block{command, tc.sample}, output)
			if got := comparableText(tc.sample.Text) == comparableText(all[tc.sample]); got != tc.want || len(all) != 1 {
				t.Errorf("\n%s\nshownOutputs(...): want equal: %t, got %v", tc.reason, tc.want, all)
			}
		})
	}
	elsewhere := typed.Block{Section: unlikeHere, Text: "a\n"}
	if diff := cmp.Diff(map[typed.Block]string{}, shownOutputs([]typed.Block{elsewhere, command, elsewhere}, output)); diff != "" {
		t.Errorf("A section about another cluster is not compared: -want, +got:\n%s", diff)
	}
}
