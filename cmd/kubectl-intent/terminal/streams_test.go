package terminal

import (
	"strings"
	"testing"
)

// TestAskUser takes nothing but yes for an answer.
func TestAskUser(t *testing.T) {
	for answer, want := range map[string]bool{"y\n": true, "YES\n": true, "n\n": false, "\n": false, "": false, "yes please\n": false} {
		problems := &strings.Builder{}
		got, err := (&Streams{In: strings.NewReader(answer), ErrOut: problems}).AskUser("Remove 1 directory?")
		if got != want || err != nil || problems.String() != "Remove 1 directory? [y/N] " {
			t.Errorf("AskUser with answer %q: want %t, got %t, %v, and %q was asked", answer, want, got, err, problems)
		}
	}
}
