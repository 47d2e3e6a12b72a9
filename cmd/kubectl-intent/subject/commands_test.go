package subject_test

import (
	"github.com/intentplane/intentplane/cmd/kubectl-intent/live"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/request"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/wait"
	"github.com/intentplane/intentplane/test/cli"
)

// commands are the commands that the tests run, by the names that they have in the program.
type commands struct {
	Abort    request.Abort    `cmd:""`
	Approve  request.Approve  `cmd:""`
	History  live.History     `cmd:""`
	Retry    request.Retry    `cmd:""`
	Rollback request.Rollback `cmd:""`
	Status   live.Status      `cmd:""`
	Wait     wait.Command     `cmd:""`
	Why      live.Why         `cmd:""`
}

// runIntent returns the output of a command line, and its exit code.
func runIntent(in string, args ...string) (out, problems string, code int) {
	return cli.Run(&commands{}, in, args...)
}
