// Package tour runs "make tour" as a user does, but for the build.
package tour

import (
	"regexp"
	"strings"
)

// columns is how wide a line of the tour is at most.
const columns = 80

// storyLines is the output of the tour, in this order.
func storyLines() []string {
	return []string{
		`Version 1\.0 goes out`,
		`Git has revision 1, in commit [0-9a-f]{7}`,
		`Flux runs the very files of revision 1, at 1/1 Sites`,
		`latency_p99 at edge1 passed: measured 0\.\d+s, the objective is < 0\.5s`,
		`the outcome is Succeeded`,
		`edge1 runs registry\.example\.org/shop:1\.0`,
		`Version 2\.0 has a mistake`,
		`Git has revision 2, in commit [0-9a-f]{7}`,
		`Flux runs the very files of revision 2, at 1/1 Sites`,
		`latency_p99 at edge1 FAILED: measured \d\S*s, the objective is < 0\.5s`,
		`Flux runs the very files of revision 1, at 1/1 Sites`,
		`the outcome is RolledBack`,
		`edge1 runs registry\.example\.org/shop:1\.0`,
		`Version 3\.0 goes out`,
		`Flux runs the very files of revision 3, at 1/1 Sites`,
		`latency_p99 at edge1 passed`,
		`edge1 runs registry\.example\.org/shop:3\.0`,
		`The commits in Git`,
		`The tour took \d+ seconds\.`,
	}
}

// rollbackLines is the output of the tour between the Sites that run the bad revision and the outcome, in any order: the commit is on the
// branch a moment before or after the deployment and its Gate say why it was made.
func rollbackLines() []string {
	return []string{
		`revision 2 is rolled back, in Git, because of GateFailed`,
		`Git has the files from before again, in commit [0-9a-f]{7}`,
	}
}

// missingStoryLine follows the story through the output. It returns the first line of it that is not there, or is not there in its turn.
func missingStoryLine(printed string) (missing string) {
	rest := printed
	for _, step := range storyLines() {
		match := regexp.MustCompile(step).FindStringIndex(rest)
		if match == nil {
			return step
		}
		rest = rest[match[1]:]
	}
	return ""
}

// missingRollbackLine looks for the lines of the rollback where they belong.
func missingRollbackLine(printed string) (missing string) {
	_, after, _ := strings.Cut(printed, "Flux runs the very files of revision 2")
	text, _, _ := strings.Cut(after, "the outcome is RolledBack")
	for _, line := range rollbackLines() {
		if !regexp.MustCompile(line).MatchString(text) {
			return line
		}
	}
	return ""
}
