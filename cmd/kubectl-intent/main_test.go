package main

import (
	"bytes"
	"strings"
	"time"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
)

const (
	examples   = "../../examples/quickstart/"
	blueprints = "../../examples/blueprints/"

	// trialSites are the Sites of the quickstart without an engine.
	trialSites = "../../examples/trial/10-sites.yaml"
)

// runIntent returns the output of a command line, and its exit code.
func runIntent(in string, args ...string) (out, problems string, code int) {
	o, p := &bytes.Buffer{}, &bytes.Buffer{}
	code = runCommand(args, &terminal.Streams{In: strings.NewReader(in), Out: o, Interval: time.Millisecond}, p)
	return o.String(), p.String(), code
}
