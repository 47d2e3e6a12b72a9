package pages

import (
	"regexp"
	"strings"

	"github.com/intentplane/intentplane/test/typed"
)

// figureMention is how a page repeats a figure: its value and unit, and its name in parentheses.
var figureMention = regexp.MustCompile("([0-9.]+) [a-zA-Z]+ \\(`([a-z0-9_]+)`\\)")

// tourDuration is how a page and the tour say the duration of the tour, in seconds.
var tourDuration = regexp.MustCompile(`(?i)the tour (?:itself )?took (\d+) seconds`)

// tourDurations returns the durations of the tour that a page says.
func tourDurations(page string) []string {
	var out []string
	for _, found := range tourDuration.FindAllStringSubmatch(strings.Join(strings.Fields(page), " "), -1) {
		out = append(out, found[1])
	}
	return out
}

// installedConfiguration is the command of a page that installs a Configuration: the package, without its version.
var installedConfiguration = regexp.MustCompile(`crossplane xpkg install configuration "?(\S+):`)

// crossplaneColumns are the columns that Crossplane adds to the columns of a composite.
var crossplaneColumns = []string{"SYNCED", "READY", "COMPOSITION", "AGE"}

// A definition has the columns of a CompositeResourceDefinition.
type definition struct {
	Spec struct {
		Versions []struct {
			AdditionalPrinterColumns []struct {
				Name     string `json:"name"`
				Priority int32  `json:"priority"`
			} `json:"additionalPrinterColumns"`
		} `json:"versions"`
	} `json:"spec"`
}

// printerColumns returns the columns that kubectl prints of a composite.
func (d definition) printerColumns() []string {
	out := []string{"NAME"}
	for _, version := range d.Spec.Versions {
		for _, c := range version.AdditionalPrinterColumns {
			if c.Priority == 0 {
				out = append(out, c.Name)
			}
		}
	}
	return append(out, crossplaneColumns...)
}

// countProseWords counts the words of a page outside of code blocks.
func countProseWords(page string) int {
	return len(strings.Fields(strings.Join(withoutCode(page), " ")))
}

// shellCommands returns the commands that a reader types of blocks, in the named sections. A value that a reader sets is not a command.
func shellCommands(blocks []typed.Block, isCounted func(section string) bool) []string {
	var out []string
	for _, b := range blocks {
		if b.Language != typed.Shell || b.Skip != "" || !isCounted(b.Section) {
			continue
		}
		for line := range strings.Lines(strings.ReplaceAll(b.Text, "\\\n", " ")) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "export ") {
				out = append(out, line)
			}
		}
	}
	return out
}

// firstMissingLine returns the first line that a text does not have, or not after the lines before it. It is empty if the text has all of them.
func firstMissingLine(lines, text string) string {
	rest := "\n" + text
	for line := range strings.Lines(lines) {
		line = strings.TrimRight(line, "\n")
		_, following, found := strings.Cut(rest, "\n"+line+"\n")
		if !found {
			return line
		}
		rest = "\n" + following
	}
	return ""
}
