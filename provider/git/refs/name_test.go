package refs

import (
	"strings"
	"testing"
)

func TestCheckRevision(t *testing.T) {
	for revision, ok := range map[string]bool{
		"main": true, "release/1.2": true, "refs/tags/v1": true, "refs/heads/main": true, "refs/pull/1/head": false, "refs/notes/commits": false,
		strings.Repeat("a1", 20): true, "v1.0+build": true,
		"": false, "--upload-pack=x": false, "../x": false, "a..b": false, "HEAD": false, "a b": false, "refs/heads/../x": false, "a~1": false,
		"main:x": false, "x.lock": false, "@{-1}": false,
	} {
		if err := CheckRevision(revision); (err == nil) != ok {
			t.Errorf("CheckRevision(%q): %v, want valid: %t", revision, err, ok)
		}
	}
}
