package pages

import (
	"path/filepath"
)

// engineless are the folders of examples with Sites that have no engine, and say why.
var engineless = []string{"trial", filepath.Join("render", "required")}
