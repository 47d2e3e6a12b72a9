package main

import (
	"strings"
	"testing"
)

// TestWaits prints the reason for a wait within 80 columns.
func TestWaits(t *testing.T) {
	out := &strings.Builder{}
	printer{out}.printWaitReason("waiting until " + strings.Repeat("another control plane ends ", 5))
	for line := range strings.Lines(out.String()) {
		if len(strings.TrimSpace(line)) == 0 || len(strings.TrimSuffix(line, "\n")) > columns || !strings.HasPrefix(line, "  ") {
			t.Errorf("waits(...): a line of at most %d columns is wanted, got %q", columns, line)
		}
	}
	if !strings.HasPrefix(out.String(), "  waiting until another") {
		t.Errorf("waits(...): got %q", out)
	}
}
