package main

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// TestExplained checks the handwritten pages, which have the remedies: each reason in their tables is a constant of the code, and each reason of a
// condition is on a page beside the reference.
func TestExplained(t *testing.T) {
	literalTexts, all := literals(t), handwritten(t)
	n := 0
	for file, text := range all {
		explains := false
		for line := range strings.SplitSeq(text, "\n") {
			explains = strings.HasPrefix(line, "|") && (explains || explaining.MatchString(line))
			if !explains {
				continue
			}
			for _, w := range word.FindAllStringSubmatch(strings.Split(line, "|")[1], -1) {
				n++
				if !literalTexts[w[1]] {
					t.Errorf("%s explains %s, which nothing says", file, w[1])
				}
			}
		}
	}
	reasons, err := readConstants(root, "apis")
	if err != nil {
		t.Fatal(err)
	}
	pages := strings.Join(slices.Collect(maps.Values(all)), "\n")
	for _, c := range reasons {
		if !strings.Contains(pages, "`"+c.value+"`") {
			t.Errorf("no page explains %s of %s", c.value, c.file)
		}
	}
	t.Logf("%d types and reasons in tables, and %d that conditions have", n, len(reasons))
}
