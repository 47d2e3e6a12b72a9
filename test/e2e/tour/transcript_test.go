package tour

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/test/controlplane/toolbox"
)

// updateTranscript is the variable with which TestTour writes the transcript of the tutorial.
const updateTranscript = "UPDATE_TRANSCRIPT"

// tutorialPage is the page that shows a run of the tour.
const tutorialPage = "docs/start/see-it-roll-back.md"

// readTutorial returns the tutorial, the name of its file, and its transcript.
func readTutorial(t *testing.T) (text, file, transcript string) {
	t.Helper()
	root, err := toolbox.Root()
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(root, filepath.FromSlash(tutorialPage))
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	found := transcriptPattern.FindStringSubmatch(string(b))
	if found == nil {
		t.Fatalf("docs/start/see-it-roll-back.md has no block with %q", watchedCommand)
	}
	return string(b), file, found[2]
}

// mustReadMoments returns the moments of a transcript that has no control sequences.
func mustReadMoments(t *testing.T, printed string) []moment {
	t.Helper()
	if strings.Contains(printed, "\x1b") {
		t.Errorf("A watch without a terminal has no colours, got:\n%q", printed)
	}
	all, err := readMoments(printed)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// compareWithTutorial compares the tutorial with the output of a watch. Where a version ends, the text has to be the same except for measured values.
// An intermediate phase may be missing, and shows the state at the time of the watch: it has to be a phase of the story, in its turn.
func compareWithTutorial(t *testing.T, printed string) {
	t.Helper()
	_, _, transcript := readTutorial(t)
	want, got := mustReadMoments(t, unfoldLines(transcript)), mustReadMoments(t, printed)
	if strange := firstStrangePhase(got); strange != "" {
		t.Errorf("status --watch shows %q, which is not a phase of the story, or not in its turn:\n%s", strange, printed)
	}
	if diff := cmp.Diff(finalMoments(want), finalMoments(got)); diff != "" {
		t.Errorf("docs/start/see-it-roll-back.md shows other ends, run this test with %s=1: -page, +watch:\n%s", updateTranscript, diff)
	}
}

// writeTutorial writes the last line of each phase that the watch showed into the tutorial. It fails the test where the watch missed the end of a version.
func writeTutorial(t *testing.T, printed string) {
	t.Helper()
	all := mustReadMoments(t, printed)
	if diff := cmp.Diff(finalPhases(storyPhases()), finalPhases(phasesOfMoments(all))); diff != "" {
		t.Fatalf("the watch missed the end of a version: -story, +watch:\n%s\n%s", diff, printed)
	}
	folded, err := foldLines(t.Context(), linesOfMoments(all))
	if err != nil {
		t.Fatal(err)
	}
	text, file, transcript := readTutorial(t)
	if err := os.WriteFile(file, []byte(strings.Replace(text, watchedCommand+transcript, watchedCommand+folded, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestTutorial compares the tutorial with the story, without a run: its transcript has the end of each version and no strange phase, and its copy of the
// tour shows all of it.
func TestTutorial(t *testing.T) {
	text, _, transcript := readTutorial(t)
	all := mustReadMoments(t, unfoldLines(transcript))
	if diff := cmp.Diff(finalPhases(storyPhases()), finalPhases(phasesOfMoments(all))); diff != "" {
		t.Errorf("ends of versions in the transcript: -story, +page:\n%s", diff)
	}
	if strange := firstStrangePhase(all); strange != "" {
		t.Errorf("The transcript shows %q, which is not a phase of the story, or not in its turn", strange)
	}
	for _, missing := range []string{missingStoryLine(text), missingRollbackLine(text)} {
		if missing != "" {
			t.Errorf("docs/start/see-it-roll-back.md does not show %q of the tour, or not in its turn", missing)
		}
	}
}

func TestReadMoments(t *testing.T) {
	cases := map[string]struct {
		reason  string
		printed string
		want    []moment
	}{
		"LastOfPhase": {
			reason:  "The last line about a phase is kept, and its measured values are left out.",
			printed: "14:00:01 team-a/shop Delivering revision 1 sites 0/1: a\n14:00:02 team-a/shop Delivering revision 1 sites 1/1: is 0.995, not < 0.5s\n",
			want: []moment{{
				phase: "Delivering revision 1", said: " sites 1/1: is N, not < N",
				line: "14:00:02 team-a/shop Delivering revision 1 sites 1/1: is 0.995, not < 0.5s",
			}},
		},
		"Momentary": {
			reason:  "A phase that passes within a moment is left out.",
			printed: "14:00:01 team-a/shop Pending\n14:00:01 team-a/shop Failed/Failed revision 2: a\n",
		},
		"NextRevision": {
			reason:  "The same phase of another revision is another moment.",
			printed: "14:00:01 team-a/shop Delivering revision 1: a\n14:00:02 team-a/shop Delivering revision 2: b\n",
			want: []moment{
				{phase: "Delivering revision 1", said: ": a", line: "14:00:01 team-a/shop Delivering revision 1: a"},
				{phase: "Delivering revision 2", said: ": b", line: "14:00:02 team-a/shop Delivering revision 2: b"},
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := readMoments(tc.printed)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(moment{})); diff != "" {
				t.Errorf("\n%s\nreadMoments(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
	if _, err := readMoments("the server is away\n"); err == nil {
		t.Error("A line in another format is an error.")
	}
}

// TestUnfoldLines folds lines and joins them again.
func TestUnfoldLines(t *testing.T) {
	want := "14:00:01 team-a/shop Delivering revision 1 sites 0/1: Syncing: Site edge1: Progressing: flux-system/fleet: reconciling\n14:00:02 team-a/shop Succeeded"
	folded, err := foldLines(t.Context(), want+"\n")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, unfoldLines(folded)); diff != "" {
		t.Errorf("unfoldLines(foldLines(...)): -want, +got:\n%s", diff)
	}
}
