package connection_test

import (
	"github.com/intentplane/intentplane/cmd/kubectl-intent/live"
	"github.com/intentplane/intentplane/test/cli"
)

// commands are the commands that the tests run, by the names that they have in the program.
type commands struct {
	Status live.Status `cmd:""`
}

// runIntent returns the output of a command line, and its exit code.
func runIntent(in string, args ...string) (out, problems string, code int) {
	return cli.Run(&commands{}, in, args...)
}
