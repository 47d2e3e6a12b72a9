package pages

import (
	"regexp"
	"strings"
)

// vague are words that name neither an actor nor an action. CONTRIBUTING.md has the rule.
var vague = regexp.MustCompile(`(?i)\b(` + strings.Join([]string{
	`nobody`, `somebody`, `whoever`, `stranger'?s?`, `strangers`, `anew`, `told`, `telling`, `ways? back`, `knows? of`, `heeds?`, `amiss`, `mend(?:s|ed)?`, `lets go`,
	`speaks? (?:about|of)`, `brought to`,
}, "|") + `)\b`)

// generatedPart matches generated parts of a page, whose words come from the code.
var generatedPart = regexp.MustCompile(`(?s)<!-- generated: .*?<!-- end -->`)

// findVagueLines returns the lines of a page that have vague words, outside of code blocks and of generated parts.
func findVagueLines(page string) []string {
	var out []string
	for _, line := range withoutCode(generatedPart.ReplaceAllString(page, "")) {
		if found := vague.FindString(line); found != "" {
			out = append(out, found+": "+line)
		}
	}
	return out
}
