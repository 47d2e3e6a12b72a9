package wait

import "github.com/intentplane/intentplane/test/cli"

const examples = "../../../examples/quickstart/"

// commands are the commands of this package, by the names that they have in the program.
type commands struct {
	Wait Command `cmd:""`
}

// runIntent returns the output of a command line, and its exit code.
func runIntent(in string, args ...string) (out, problems string, code int) {
	return cli.Run(&commands{}, in, args...)
}
