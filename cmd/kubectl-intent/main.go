// Command kubectl-intent looks at IntentDeployments and what they need, without a cluster. As kubectl-intent on the PATH it is also
// "kubectl intent".
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/alecthomas/kong"
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// Exit codes.
const (
	exitInvalid = 1
	exitUsage   = 2
)

// commands are what kubectl-intent can do.
type commands struct {
	Blueprint blueprintCommand `cmd:"" help:"Make and test Blueprints."`
	Digest    digestCommand    `cmd:"" help:"Print the digest that status.intentDigest has when the status speaks about this spec."`
	Explain   explainCommand   `cmd:"" help:"Show what an IntentDeployment is understood as, and where each value comes from."`
	Render    renderCommand    `cmd:"" help:"Write what an IntentDeployment renders to, for each Site."`
	Validate  validateCommand  `cmd:"" help:"Look for mistakes in IntentDeployments, Blueprints, Sites and configurations. Exits with 1 when there are any."`
}

// streams that commands read from and write to.
type streams struct {
	in  io.Reader
	out io.Writer
}

// A usageError says that the command line is wrong, and nothing was looked at.
type usageError struct{ error }

// A verdictError says that what was looked at is not as it should be. Why was printed.
type verdictError struct{}

// Error says nothing: what was found is printed already.
func (verdictError) Error() string { return "" }

func main() {
	os.Exit(run(os.Args[1:], &streams{in: os.Stdin, out: os.Stdout}, os.Stderr))
}

// run returns the exit code.
func run(args []string, s *streams, problems io.Writer) int {
	parser, err := kong.New(&commands{},
		kong.Name("kubectl-intent"),
		kong.Description("Looks at IntentDeployments and what they need, without a cluster."),
		kong.Writers(s.out, problems))
	if err != nil {
		return code(err, problems)
	}
	c, err := parser.Parse(args)
	if err != nil {
		return code(usageError{err}, problems)
	}
	return code(c.Run(s), problems)
}

func code(err error, problems io.Writer) int {
	if err == nil {
		return 0
	}
	if e := (verdictError{}); errors.As(err, &e) {
		return exitInvalid
	}
	_, _ = fmt.Fprintf(problems, "kubectl-intent: error: %s\n", err)
	if e := (usageError{}); errors.As(err, &e) {
		return exitUsage
	}
	return exitInvalid
}
