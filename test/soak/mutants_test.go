package soak

import (
	"maps"
	"slices"
	"testing"
)

// TestCanaryMutants breaks one rule of canaries at a time in the code of the product. A test of the package that is named fails then. Under make mutants it runs
// these tests, which takes minutes; else it looks whether the code has each rule.
func TestCanaryMutants(t *testing.T) { findMutants(t, canaryMutants()) }

// TestMandateMutants does the same with the rules by which the provider concludes.
func TestMandateMutants(t *testing.T) { findMutants(t, mandateMutants()) }

func findMutants(t *testing.T, all map[string]mutant) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t.Run(name, func(t *testing.T) {
			m := all[name]
			m.source(t)
			if !Long() {
				return
			}
			if printed, fails := m.runTests(t); !fails {
				t.Errorf("\n%s\nno test of %s misses the rule:\n%s", m.reason, m.pkg, printed)
			}
		})
	}
	if Long() && !t.Failed() {
		t.Logf("soak: all %d mutants are found", len(all))
	}
}
