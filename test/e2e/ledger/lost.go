package ledger

import (
	"os"
)

// remakeRepository remakes a repository without its content.
func (d *deployment) remakeRepository(repository string) {
	d.T.Helper()
	d.Must(os.RemoveAll(d.Git.Path(repository)))
	d.createRepository(repository)
}
