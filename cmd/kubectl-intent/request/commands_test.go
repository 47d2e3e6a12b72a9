package request

import (
	"github.com/intentplane/intentplane/cmd/kubectl-intent/offline"
	"github.com/intentplane/intentplane/test/cli"
)

// commands are the commands of this package, and validate, by the names that they have in the program.
type commands struct {
	Abort    Abort    `cmd:""`
	Approve  Approve  `cmd:""`
	Look     Look     `cmd:""`
	Promote  Promote  `cmd:""`
	Prune    Prune    `cmd:""`
	Refresh  Refresh  `cmd:""`
	Retry    Retry    `cmd:""`
	Rollback Rollback `cmd:""`

	Validate offline.Validate `cmd:""`
}

// runIntent returns the output of a command line, and its exit code.
func runIntent(in string, args ...string) (out, problems string, code int) {
	return cli.Run(&commands{}, in, args...)
}
