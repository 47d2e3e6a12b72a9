package terminal

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/alecthomas/kong"
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// NewParser returns a parser of command lines. The fields of commands are the commands of the program, or some of them.
func NewParser(commands any, out, errOut io.Writer) (*kong.Kong, error) {
	return kong.New(commands,
		kong.Name("kubectl-intent"),
		kong.Description("Shows IntentDeployments and the objects that they need, from files or from a cluster, and records the decisions of a person."),
		kong.Writers(out, errOut))
}

// Run runs the command of a command line, and returns the exit code.
func Run(parser *kong.Kong, args []string, s *Streams, errOut io.Writer) int {
	// A flag of the whole program would stand in the way of the --version of "blueprint create".
	if slices.Equal(args, []string{"--version"}) {
		_, err := fmt.Fprintln(s.Out, s.Version)
		return ExitCode(errors.Wrap(err, "cannot print"), errOut)
	}
	if len(args) == 0 {
		return ExitCode(printUsage(parser), errOut)
	}
	c, err := parser.Parse(args)
	if err != nil {
		return ExitCode(UsageError{Err: err}, errOut)
	}
	s.ErrOut = errOut
	if s.Now == nil {
		s.Now = time.Now
	}
	return ExitCode(c.Run(s), errOut)
}

// printUsage prints the commands of the program, as kubectl does without a command.
func printUsage(parser *kong.Kong) error {
	c, err := kong.Trace(parser, nil)
	if err != nil {
		return err
	}
	return errors.Wrap(c.PrintUsage(false), "cannot print")
}
