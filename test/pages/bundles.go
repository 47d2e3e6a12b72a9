package pages

import (
	"os"
	"strings"
	"testing"
)

// readProjectFile returns the content of a file of the project.
func readProjectFile(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile("../../" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// firstCodeBlock returns the first block of a language on the page of bundles.
func firstCodeBlock(t *testing.T, page, language string) string {
	t.Helper()
	_, rest, found := strings.Cut(page, "```"+language+"\n")
	block, _, closed := strings.Cut(rest, "```")
	if !found || !closed {
		t.Fatalf("the page has no block of %s", language)
	}
	return block
}

// rowsOfTables returns the words between backticks in each cell of each row of a page's tables, by the first word.
func rowsOfTables(page string) map[string][][]string {
	out := map[string][][]string{}
	for line := range strings.SplitSeq(page, "\n") {
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		cells := [][]string{}
		for cell := range strings.SplitSeq(strings.Trim(line, "|"), "|") {
			words := []string{}
			for _, found := range codeWord.FindAllStringSubmatch(cell, -1) {
				words = append(words, found[1])
			}
			cells = append(cells, words)
		}
		for _, word := range cells[0] {
			out[word] = cells
		}
	}
	return out
}
