// Package checks has the doubles of the programs by which tests check the tiers of tests and the scripts that run them.
package checks

import (
	"os"
	"path/filepath"
	"testing"
)

// fakeMake plays the stages: it prints the log of a stage, and fails if the file STAGE.fails exists.
const fakeMake = `#!/usr/bin/env bash
stage=${@: -1}
cat "$(dirname "$0")/$stage.log"
[[ ! -e $(dirname "$0")/$stage.leaves ]] || (cd "$(dirname "$0")/provider/git" && exec bash -c 'sleep 654 >/dev/null 2>&1 &')
[[ ! -e $(dirname "$0")/$stage.fails ]]
`

func readFile(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// writeFiles writes files that can be run into a folder.
func writeFiles(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}
