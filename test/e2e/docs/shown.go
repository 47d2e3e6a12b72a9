package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/test/typed"
)

const (
	// updateShown is the variable with which a test writes the outputs of commands into its page.
	updateShown = "UPDATE_TRANSCRIPT"

	// unlikeHere is the section with the output of a cluster on which Crossplane runs as a Deployment, and which has no mirror.
	unlikeHere = "Before you begin"

	// shownServer stands in a page for the Git server.
	shownServer = "git.example.org"
)

var (
	// gitServer matches the address of the Git server of a control plane.
	gitServer = regexp.MustCompile(`\b127\.0\.0\.1:\d+`)

	// variableText matches the text that differs between two runs: ids and digests, ages, and times of the day.
	variableText = regexp.MustCompile(`\b[0-9a-f]{7,64}\b|\b\d+m\d\ds\b|\b\d+(?:s|ms|m)\b|\d\d:\d\d:\d\d`)
)

// publishedText returns an output as a page shows it: without the warnings of the API server, and with another Git server.
func publishedText(output string) string {
	out := strings.Builder{}
	for line := range strings.Lines(gitServer.ReplaceAllString(output, shownServer)) {
		if !strings.HasPrefix(line, "Warning: ") {
			out.WriteString(line)
		}
	}
	return out.String()
}

// comparableText returns a text without the parts that differ between two runs, and with single spaces.
func comparableText(text string) string {
	out := strings.Builder{}
	for line := range strings.Lines(variableText.ReplaceAllString(text, "N")) {
		out.WriteString(strings.Join(strings.Fields(line), " ") + "\n")
	}
	return out.String()
}

// shownOutputs returns the blocks of a page that show the output of the block before them, with that output.
func shownOutputs(blocks []typed.Block, output string) map[typed.Block]string {
	out, printed := map[typed.Block]string{}, typed.Outputs(output)
	for i, b := range blocks {
		if i == 0 || b.Language != "" || b.Section == unlikeHere {
			continue
		}
		if text, isTyped := printed[blocks[i-1].Place()]; isTyped {
			out[b] = publishedText(text)
		}
	}
	return out
}

// wantPageSamples compares the samples of a page with the output of the commands before them, or writes that output into the page.
func (r *reader) wantPageSamples(t *testing.T, page string, blocks []typed.Block, output string) {
	t.Helper()
	all := shownOutputs(blocks, output)
	if len(all) == 0 {
		t.Error("The page shows the output of commands.")
	}
	for b, printed := range all {
		if os.Getenv(updateShown) != "" {
			replaceShown(t, filepath.Join(r.root, page), b.Text, printed)
			continue
		}
		if diff := cmp.Diff(comparableText(b.Text), comparableText(printed)); diff != "" {
			t.Errorf("%s shows another output, run this test with %s=1: -page, +printed:\n%s", b.Place(), updateShown, diff)
		}
	}
}

// replaceShown replaces a sample of a page.
func replaceShown(t *testing.T, file, sample, printed string) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(b), "```\n"+sample+"```\n", "```\n"+printed+"```\n", 1)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
