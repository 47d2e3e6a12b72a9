package pages

import (
	"os"
	"strings"
	"testing"
)

// TestAdvisoriesAreTested finds the test that each advisory in security.md names, with a case that begins with its identifier, or the reason for
// a missing test.
func TestAdvisoriesAreTested(t *testing.T) {
	b, err := os.ReadFile("../../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(b), "## Advisories of this field")
	listed := map[string]bool{}
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) != 6 {
			continue
		}
		ids, tests := advisory.FindAllString(cells[1], -1), named.FindAllStringSubmatch(cells[3], -1)
		for _, id := range ids {
			listed[id] = true
			if (len(tests) == 0) == (strings.TrimSpace(cells[4]) == "") {
				t.Errorf("%s: want a test, or a reason for its absence", id)
			}
			for _, test := range tests {
				text := textOfTests(t, test[1])
				if !strings.Contains(text, "func "+test[2]+"(") || !strings.Contains(text, `"`+id) {
					t.Errorf("%s: %s of %s has no case that begins with it", id, test[2], test[1])
				}
			}
		}
	}
	for _, dir := range []string{"function/render", "test/cve"} {
		for _, id := range advisory.FindAllString(textOfTests(t, dir), -1) {
			if !listed[id] {
				t.Errorf("%s is tested by %s, and security.md does not list it", id, dir)
			}
		}
	}
}
