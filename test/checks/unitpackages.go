package checks

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// listUnitPackages returns the lines of a list of unit-packages.sh.
func listUnitPackages(t *testing.T, list string) []string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "../../tools/unit-packages.sh", list).Output()
	if err != nil {
		t.Fatalf("unit-packages.sh %s: %v", list, err)
	}
	return strings.Fields(string(out))
}

// testsOf returns the names of the tests in a folder of the module.
func testsOf(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, file := range files {
		for _, match := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllStringSubmatch(readFile(t, file), -1) {
			names = append(names, match[1])
		}
	}
	return names
}
