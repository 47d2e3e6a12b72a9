// Package soak lets a test run in a short form, and in a long one under make soak.
package soak

import (
	"os"
	"testing"
)

// variable is set by make soak.
const variable = "INTENTPLANE_SOAK"

// Long is true under make soak.
func Long() bool { return os.Getenv(variable) != "" }

// Rounds returns how many rounds a test runs: few, or many under make soak. When the test ends it says how it went.
func Rounds(t *testing.T, few, many int) int {
	t.Helper()
	rounds := few
	if Long() {
		rounds = many
	}
	t.Cleanup(func() {
		failures := 0
		if t.Failed() {
			failures = 1
		}
		t.Logf("soak %s seed=none rounds=%d failures=%d", t.Name(), rounds, failures)
	})
	return rounds
}
