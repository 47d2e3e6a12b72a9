package pages

import (
	"regexp"
)

// testedPage says which programs were tested, in which versions.
const testedPage = "docs/tested.md"

// pinnedRow is a row of that page about a program which a module of tools pins: its name, its version, the module, and the path
// that the module requires.
var pinnedRow = regexp.MustCompile("(?m)^\\| ([^|]+) \\| (v[^ |]+) \\| `tools/([a-z0-9-]+)`: `([^`]+)` \\|")

// buildTools are the modules of tools whose programs build, generate or lint, and are not tested against.
var buildTools = []string{"actionlint", "codegen", "gofumpt", "golangci-lint", "gotestsum", "govulncheck", "images", "release", "vulncheck", "vulndb", "xpkg"}
