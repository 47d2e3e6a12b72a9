package rendering_test

import (
	"github.com/intentplane/intentplane/cmd/kubectl-intent/offline"
	"github.com/intentplane/intentplane/test/cli"
)

const (
	examples = "../../../examples/quickstart/"

	// trialSites are the Sites of the quickstart without an engine.
	trialSites = "../../../examples/trial/10-sites.yaml"
)

// commands are the commands that the tests run, by the names that they have in the program.
type commands struct {
	Blueprint offline.Blueprint `cmd:""`
	Explain   offline.Explain   `cmd:""`
	Render    offline.Render    `cmd:""`
	Validate  offline.Validate  `cmd:""`
}

// runIntent returns the output of a command line, and its exit code.
func runIntent(in string, args ...string) (out, problems string, code int) {
	return cli.Run(&commands{}, in, args...)
}
