// Package cli runs commands of kubectl intent in the process of a test, against a server that holds objects.
package cli

import (
	"bytes"
	"cmp"
	"strings"
	"time"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
)

// Run returns the output of a command line, and its exit code. The fields of commands are the commands that it may name.
func Run(commands any, in string, args ...string) (out, problems string, code int) {
	o := &bytes.Buffer{}
	problems, code = RunWith(commands, &terminal.Streams{In: strings.NewReader(in), Out: o, Interval: time.Millisecond}, args...)
	return o.String(), problems, code
}

// RunWith is Run with the streams of a case. Without a version the program is of version dev.
func RunWith(commands any, s *terminal.Streams, args ...string) (problems string, code int) {
	p := &bytes.Buffer{}
	parser, err := terminal.NewParser(commands, s.Out, p)
	if err != nil {
		return err.Error(), terminal.ExitInvalid
	}
	s.Version = cmp.Or(s.Version, "dev")
	code = terminal.Run(parser, args, s, p)
	return p.String(), code
}
