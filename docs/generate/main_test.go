package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestReference compares the page with the code.
func TestReference(t *testing.T) {
	root := filepath.Join("..", "..")
	want, err := reference(root)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(root, page))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("%s: run make generate: -want, +got:\n%s", page, diff)
	}
	for line := range strings.SplitSeq(want, "\n") {
		if strings.HasPrefix(line, "| `") && strings.HasSuffix(line, "|  |") {
			t.Errorf("%s says nothing about %s", page, line)
		}
	}
	for _, say := range []string{"`PhaseTransition`", "`StateUntrusted`", "`NotOwner`", "`intentdeployment_phase_transitions_total` | counter | `from`, `to`", "### Gate"} {
		if !strings.Contains(want, say) {
			t.Errorf("%s does not mention %s", page, say)
		}
	}
}
