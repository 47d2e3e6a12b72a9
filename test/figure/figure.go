// Package figure compares counts and speeds with their limits. They depend on the machine, so a test logs them, and fails only where the machine has time.
package figure

import (
	"os"
	"testing"
)

// variable is 1 where figures are compared with their limits. Elsewhere they are logged.
const variable = "INTENTPLANE_FIGURES"

// Check logs a figure and its limit, which is the highest good value. With INTENTPLANE_FIGURES=1 the test fails above the limit.
func Check(tb testing.TB, name string, got, limit float64) {
	tb.Helper()
	tb.Logf("figure %s=%v limit=%v", name, got, limit)
	if os.Getenv(variable) == "1" && got > limit {
		tb.Errorf("figure %s is %v, above its limit of %v", name, got, limit)
	}
}
