package live

import (
	"github.com/intentplane/intentplane/test/cli"
)

const (
	examples   = "../../../examples/quickstart/"
	blueprints = "../../../examples/blueprints/"

	// trialSites are the Sites of the quickstart without an engine.
	trialSites = "../../../examples/trial/10-sites.yaml"
)

// commands are the commands of this package, by the names that they have in the program.
type commands struct {
	Artifacts  Artifacts  `cmd:""`
	Blueprints Blueprints `cmd:""`
	Diff       Diff       `cmd:""`
	Doctor     Doctor     `cmd:""`
	History    History    `cmd:""`
	Logs       Logs       `cmd:""`
	Sites      Sites      `cmd:""`
	State      State      `cmd:""`
	Status     Status     `cmd:""`
	Version    Version    `cmd:""`
	Why        Why        `cmd:""`
}

// runIntent returns the output of a command line, and its exit code.
func runIntent(in string, args ...string) (out, problems string, code int) {
	return cli.Run(&commands{}, in, args...)
}
