package catalog

import (
	"fmt"
	"testing"
)

// TestEachFigureIsInOneSlice reads the catalog of the project.
func TestEachFigureIsInOneSlice(t *testing.T) {
	all, err := Read("../../..")
	if err != nil {
		t.Fatal(err)
	}
	filled := map[string]bool{}
	for _, f := range all {
		var found []string
		for i := range runs {
			if name := fmt.Sprintf("%d/%d", i+1, len(runs)); Matches(f.Name, runs[i]) {
				found, filled[name] = append(found, name), true
			}
		}
		if len(found) != 1 {
			t.Errorf("%s is in the slices %q: want one", f.Name, found)
		}
	}
	if len(filled) != len(runs) {
		t.Errorf("the slices %v have figures: want %d", filled, len(runs))
	}
}

func TestSliceOfFigures(t *testing.T) {
	const refused = `cannot find slice %q: name one of 1/16 to 16/16, or of 1/8 to 8/8`
	cases := map[string]struct {
		reason, slice, want, err string
	}{
		"First":   {reason: "A slice is the patterns of its figures.", slice: "1/16", want: runs[0]},
		"Last":    {reason: "The last slice has a thousand deployments at once.", slice: "16/16", want: runs[15]},
		"Eighth":  {reason: "An eighth is two slices that follow each other.", slice: "3/8", want: runs[4] + " " + runs[5]},
		"Eight":   {reason: "The last eighth ends with the last slice.", slice: "8/8", want: runs[14] + " " + runs[15]},
		"Zero":    {reason: "The number of the first slice is one.", slice: "0/8", err: fmt.Sprintf(refused, "0/8")},
		"Beyond":  {reason: "There are sixteen slices.", slice: "17/16", err: fmt.Sprintf(refused, "17/16")},
		"Others":  {reason: "Slices of another number have other figures, which the catalog does not list.", slice: "1/4", err: fmt.Sprintf(refused, "1/4")},
		"NotOne":  {reason: "A number alone is not a slice.", slice: "3", err: fmt.Sprintf(refused, "3")},
		"Leading": {reason: "A slice has one name.", slice: "01/8", err: fmt.Sprintf(refused, "01/8")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Slice(tc.slice)
			message := ""
			if err != nil {
				message = err.Error()
			}
			if got != tc.want || message != tc.err {
				t.Errorf("\n%s\nSlice(%q): want %q and %q, got %q and %q", tc.reason, tc.slice, tc.want, tc.err, got, message)
			}
		})
	}
}

func TestMatchesPattern(t *testing.T) {
	cases := map[string]struct {
		reason, name, patterns string
		want                   bool
	}{
		"All":     {reason: "Without a pattern all figures are wanted.", name: "step_us", want: true},
		"Whole":   {reason: "A name is a pattern.", name: "step_us", patterns: "step_us", want: true},
		"Part":    {reason: "A part of a name is another name.", name: "step_us", patterns: "step"},
		"Second":  {reason: "A name that matches a single pattern is selected.", name: "step_us", patterns: "why_* step_*", want: true},
		"Invalid": {reason: "A pattern that cannot be read matches nothing.", name: "step_us", patterns: "step_["},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := Matches(tc.name, tc.patterns); got != tc.want {
				t.Errorf("\n%s\nMatches(%q, %q): want %t", tc.reason, tc.name, tc.patterns, tc.want)
			}
		})
	}
}
