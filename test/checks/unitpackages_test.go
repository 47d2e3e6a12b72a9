package checks

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestEachPackageRunsWhole compares the lists of packages: each package runs all of its tests with the race detector, or without it.
func TestEachPackageRunsWhole(t *testing.T) {
	race, plain := listUnitPackages(t, "race"), listUnitPackages(t, "plain")
	both := slices.Concat(race, plain)
	slices.Sort(both)
	if diff := cmp.Diff(slices.Compact(slices.Clone(both)), both); diff != "" {
		t.Errorf("packages of two lists: -once, +listed:\n%s", diff)
	}
	for _, dir := range both {
		if files, err := filepath.Glob(filepath.Join("..", "..", dir, "*_test.go")); err != nil || len(files) == 0 {
			t.Errorf("unit-packages.sh lists %q, which has no test: %v", dir, err)
		}
	}
	for _, dir := range []string{"./provider/git", "./provider/controller/gitdelivery", "./apis/step"} {
		if !slices.Contains(both, dir) {
			t.Errorf("unit-packages.sh lists no %s", dir)
		}
	}
	for _, dir := range listUnitPackages(t, "crowded")[1:] {
		if !slices.Contains(plain, dir) || !slices.Contains(listUnitPackages(t, "calm"), dir) {
			t.Errorf("a part of %s runs with the race detector: want the whole without it, and with it under make test-all", dir)
		}
	}
}

// TestCrowdedTests reads the tests that run with the race detector too. Each name is of a test.
func TestCrowdedTests(t *testing.T) {
	lines := listUnitPackages(t, "crowded")
	var all []string
	for _, dir := range lines[1:] {
		all = append(all, testsOf(t, dir)...)
	}
	names := strings.SplitSeq(strings.TrimSuffix(strings.TrimPrefix(lines[0], "-run=^Test("), ")$"), "|")
	for name := range names {
		if !slices.Contains(all, "Test"+name) {
			t.Errorf("unit-packages.sh crowded: no package of %q has Test%s", lines[1:], name)
		}
	}
}
