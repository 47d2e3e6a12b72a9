// Package soak lets a test run in a short form, in its whole form under make test-all, and in a long form under make soak.
package soak

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"
)

const (
	// variable is set by make soak.
	variable = "INTENTPLANE_SOAK"

	// wholeVariable is set by make test-all.
	wholeVariable = "INTENTPLANE_WHOLE"

	// seedVariable names the seed that repeats a failed test.
	seedVariable = "INTENTPLANE_SEED"
)

// Long is true under make soak.
func Long() bool { return os.Getenv(variable) != "" }

// Quick returns few rounds under make test, and whole rounds under make test-all and make soak: the first rounds of a test, which are always the same, find
// most faults.
func Quick(few, whole int) int {
	if Long() || os.Getenv(wholeVariable) != "" {
		return whole
	}
	return few
}

// Rounds returns how many rounds a test runs: few, or many under make soak. When the test ends it says how it went.
func Rounds(t *testing.T, short, long int) int {
	t.Helper()
	return reportRounds(t, short, long, "none")
}

// Random is like Rounds, for a test that takes its chances under make soak: its few rounds are always the same, so that no author is held up
// by a fault that another one made. It says its seed, which can be given in INTENTPLANE_SEED to do the same again.
func Random(t *testing.T, short, long int) (int, *rand.Rand) {
	t.Helper()
	n, seed := Seed(t, short, long)
	return n, rand.New(rand.NewPCG(seed, seed))
}

// Seed is like Random, for a test that makes its own chances of the seed.
func Seed(t *testing.T, short, long int) (rounds int, seed uint64) {
	t.Helper()
	seed, err := strconv.ParseUint(os.Getenv(seedVariable), 10, 64)
	switch {
	case err == nil:
	case Long():
		seed = uint64(time.Now().UnixNano())
	default:
		seed = 1
	}
	return reportRounds(t, short, long, strconv.FormatUint(seed, 10)), seed
}

func reportRounds(t *testing.T, short, long int, seed string) int {
	t.Helper()
	rounds := short
	if Long() {
		rounds = long
	}
	t.Cleanup(func() {
		failures := 0
		if t.Failed() {
			failures = 1
		}
		t.Logf("soak %s seed=%s rounds=%d failures=%d", t.Name(), seed, rounds, failures)
	})
	return rounds
}
