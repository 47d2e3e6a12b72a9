package statusmessage

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSanitize(t *testing.T) {
	if diff := cmp.Diff("a b c?", Sanitize(" a\n\tb\u200b  c\xff ")); diff != "" {
		t.Errorf("Sanitize(...): -want, +got:\n%s", diff)
	}
	if got := Sanitize(strings.Repeat("ä", maxBytes)); len(got) > maxBytes+len("…") || !strings.HasSuffix(got, "ä…") {
		t.Errorf("Sanitize(...): want at most maxBytes bytes that end with a whole character, got %d", len(got))
	}
}
