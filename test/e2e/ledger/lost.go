package ledger

import (
	"os"
)

// remake a repository without anything that it held.
func (d *deployment) remake(repository string) {
	d.T.Helper()
	d.must(os.RemoveAll(d.Git.Path(repository)))
	d.createRepository(repository)
}
