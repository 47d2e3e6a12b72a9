package intent

import (
	"os"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDocumentation runs each example of the documentation, and holds it to what the documentation says about it.
func TestDocumentation(t *testing.T) {
	b, err := os.ReadFile("../../docs/intents.md")
	if err != nil {
		t.Fatal(err)
	}
	fence := regexp.MustCompile("(?s)```(intent|understood|refused)\n(.*?)\n```")
	blocks := fence.FindAllStringSubmatch(string(b), -1)
	var got Intent
	for _, block := range blocks {
		kind, text := block[1], block[2]
		switch kind {
		case "intent":
			got, err = FromText(text)
		case "understood":
			if diff := cmp.Diff(text, string(got.Canonical())); err != nil || diff != "" {
				t.Errorf("%v: -documented, +understood:\n%s", err, diff)
			}
		case "refused":
			if diff := cmp.Diff(text, message(err)); diff != "" {
				t.Errorf("-documented, +refused:\n%s", diff)
			}
			err = nil
		}
	}
	if len(blocks) < 15 || err != nil {
		t.Errorf("there must be at least 15 blocks, the last one understood or refused, not %d: %v", len(blocks), err)
	}
}
