package canary

import (
	"testing"
)

// runReleasePart runs a part of a release under a name.
func (y *followedRelease) runReleasePart(name string, do func(y *followedRelease)) {
	y.Helper()
	y.Run(name, func(t *testing.T) {
		part := *y
		part.T = t
		do(&part)
	})
	if y.Failed() {
		y.FailNow()
	}
}

// staysForDrain checks that the last commit, which removes pods, comes a drain after the previous commit, which takes their requests.
func (y *followedRelease) staysForDrain() {
	y.Helper()
	all := y.divisionsAt(y.Sites[0])
	last, previous := all[len(all)-1], all[len(all)-2]
	if stayed := last.Since.Sub(previous.Since); len(last.Weights) != 1 || len(previous.Weights) != 2 || stayed < drain {
		y.Errorf("pods without requests should stay %s: %q comes %s after %q", drain, last, stayed, previous)
	}
}
