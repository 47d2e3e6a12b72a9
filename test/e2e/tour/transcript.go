package tour

import (
	"context"
	"os/exec"
	"regexp"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// watchedCommand is the command that a reader types to see the transcript.
const watchedCommand = "$ kubectl intent status shop -n team-a --watch | fold -s -w 80\n"

// transcriptPattern is the block of the tutorial with the transcript.
var transcriptPattern = regexp.MustCompile("(?s)(```console\n" + regexp.QuoteMeta(watchedCommand) + ")(.*?)(```\n)")

// changePattern is a line of the watch: the time, the deployment, its phase and outcome, its revision once there is one, and the message.
var changePattern = regexp.MustCompile(`^\d\d:\d\d:\d\d team-a/shop ([A-Za-z/]+(?: revision \d+)?)(.*)$`)

// timePattern is how each line of a watch begins.
var timePattern = regexp.MustCompile(`^\d\d:\d\d:\d\d `)

// measuredPattern matches the parts of messages that differ between two runs: measured numbers, and commits.
var measuredPattern = regexp.MustCompile(`\d+(?:\.\d+)?(?:ms|s)\b|\d+\.\d+|\b[0-9a-f]{7,40}\b`)

// A moment is the last line of a watch about one phase of one revision.
type moment struct {
	// phase with the outcome and the revision.
	phase string

	// line is the line that the watch printed, and said is its message about the phase, without the parts that differ between two runs.
	line, said string
}

// storyPhases are the phases that the transcript has, in this order. Phases in which a version ends last until the tour goes on, and the tour
// does that only when the watch has shown them. The others pass: a watch that is slow, as on a machine with much load, misses them.
func storyPhases() []string {
	return []string{
		"Delivering revision 1", "Validating revision 1", "Succeeded revision 1",
		"Delivering revision 2", "Validating revision 2", "RollingBack revision 2", "Succeeded/RolledBack revision 2",
		"Delivering revision 3", "Validating revision 3", "Succeeded revision 3",
	}
}

// isFinalPhase is true for a phase in which a version ends.
func isFinalPhase(phase string) bool { return strings.HasPrefix(phase, "Succeeded") }

// finalPhases returns the phases in which a version ends.
func finalPhases(phases []string) []string {
	return slices.DeleteFunc(slices.Clone(phases), func(phase string) bool { return !isFinalPhase(phase) })
}

// isMomentary is true for a phase that passes within one or two calls of the function, so that a watch seldom shows it.
func isMomentary(phase string) bool {
	name, _, _ := strings.Cut(phase, " ")
	name, _, _ = strings.Cut(name, "/")
	return slices.Contains([]string{"Unknown", "Pending", "Compiling", "Rendering", "Failed"}, name)
}

// readMoments returns the moments of a transcript, without momentary ones. It returns an error for a line about something else.
func readMoments(printed string) ([]moment, error) {
	var out []moment
	for line := range strings.Lines(printed) {
		line = strings.TrimSpace(line)
		found := changePattern.FindStringSubmatch(line)
		if found == nil {
			return nil, errors.Errorf("status --watch prints a line about something else: %q", line)
		}
		next := moment{phase: found[1], line: line, said: measuredPattern.ReplaceAllString(found[2], "N")}
		if isMomentary(next.phase) {
			continue
		}
		if last := len(out) - 1; last >= 0 && out[last].phase == next.phase {
			out[last] = next
			continue
		}
		out = append(out, next)
	}
	return out, nil
}

// finalMoments returns the moments in which versions end, with their messages.
func finalMoments(all []moment) []string {
	var out []string
	for _, m := range all {
		if isFinalPhase(m.phase) {
			out = append(out, m.phase+m.said)
		}
	}
	return out
}

// phasesOfMoments returns the phases of moments.
func phasesOfMoments(all []moment) []string {
	var out []string
	for _, m := range all {
		out = append(out, m.phase)
	}
	return out
}

// firstStrangePhase returns the first phase that is not one of the story, or not in its turn, or "".
func firstStrangePhase(all []moment) string {
	rest := storyPhases()
	for _, m := range all {
		index := slices.Index(rest, m.phase)
		if index < 0 {
			return m.phase
		}
		rest = rest[index+1:]
	}
	return ""
}

// linesOfMoments returns the lines of moments, as the watch printed them.
func linesOfMoments(all []moment) string {
	out := strings.Builder{}
	for _, m := range all {
		out.WriteString(m.line + "\n")
	}
	return out.String()
}

// foldLines lets fold break lines, as the command of the tutorial does, without the spaces at their ends.
func foldLines(ctx context.Context, text string) (string, error) {
	fold := exec.CommandContext(ctx, "fold", "-s", "-w", "80")
	fold.Stdin = strings.NewReader(text)
	out, err := fold.Output()
	return regexp.MustCompile(`(?m) +$`).ReplaceAllString(string(out), ""), errors.Wrap(err, "cannot fold the transcript")
}

// unfoldLines joins the lines that fold broke: a line that does not begin with a time goes on with the previous line.
func unfoldLines(text string) string {
	out := strings.Builder{}
	for line := range strings.Lines(text) {
		if out.Len() > 0 && !timePattern.MatchString(line) {
			out.WriteString(" " + strings.TrimSuffix(line, "\n"))
			continue
		}
		if out.Len() > 0 {
			out.WriteString("\n")
		}
		out.WriteString(strings.TrimSuffix(line, "\n"))
	}
	return out.String()
}
