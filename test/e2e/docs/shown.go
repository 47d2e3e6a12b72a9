package docs

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/intentplane/intentplane/test/typed"
)

// unlikeHere is the section with the output of a cluster on which Crossplane runs as a Deployment, and which has no mirror.
const unlikeHere = "Before you begin"

// variableText matches the text that differs between two runs: ids and digests, ages, and times of the day.
var variableText = regexp.MustCompile(`\b[0-9a-f]{7,64}\b|\b\d+m\d\ds\b|\b\d+(?:s|ms|m)\b|\d\d:\d\d:\d\d`)

// comparableLine returns a line without the text that differs between two runs, and with single spaces.
func comparableLine(line string) string {
	return strings.Join(strings.Fields(variableText.ReplaceAllString(line, "N")), " ")
}

// missingLines returns the lines of a sample that an output does not have in this order.
func missingLines(sample, output string) []string {
	var missing []string
	rest := []string{}
	for line := range strings.Lines(output) {
		rest = append(rest, comparableLine(line))
	}
	for line := range strings.Lines(sample) {
		position := slices.Index(rest, comparableLine(line))
		if position < 0 {
			missing = append(missing, strings.TrimSpace(line))
			continue
		}
		rest = rest[position+1:]
	}
	return missing
}

// wantShown compares the samples of a page with the output of its commands.
func wantShown(t *testing.T, blocks []typed.Block, output string) {
	t.Helper()
	samples := 0
	for _, b := range blocks {
		if b.Language != "" || b.Section == unlikeHere {
			continue
		}
		samples++
		if missing := missingLines(b.Text, output); len(missing) > 0 {
			t.Errorf("%s shows lines that the commands do not print, or not in this order:\n%s", b.Place(), strings.Join(missing, "\n"))
		}
	}
	if samples == 0 {
		t.Error("The page shows the output of commands.")
	}
}
