// Command kubectl-intent shows IntentDeployments and the objects that they need, from files or from a cluster, and requests the decisions of
// a person. As kubectl-intent on the PATH it is also "kubectl intent", and as kubectl_complete-intent it completes that.
package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"time"

	"github.com/alecthomas/kong"
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// version of the build. The linker sets it; main replaces the default.
var version = unlinked

// Exit codes. The last three are exit codes of wait.
const (
	exitInvalid    = 1
	exitUsage      = 2
	exitRolledBack = 3
	exitTimedOut   = 4
	exitSuperseded = 5
)

// commands are the commands of kubectl-intent.
type commands struct {
	Abort      abortCommand      `cmd:"" help:"Give up the revision that goes out."`
	Approve    approveCommand    `cmd:"" help:"Let the update through that waits."`
	Artifacts  artifactsCommand  `cmd:"" help:"Show the files that a deployment delivers to each Site."`
	Blueprint  blueprintCommand  `cmd:"" help:"Make and test Blueprints."`
	Blueprints blueprintsCommand `cmd:"" help:"Show the Blueprints that a namespace may use, with parameters and defaults."`
	Completion completionCommand `cmd:"" help:"Print the script with which a shell completes this command."`
	Diff       diffCommand       `cmd:"" help:"Show the changes that a file would make to the delivered objects. Exits with 1 when there are any."`
	Digest     digestCommand     `cmd:"" help:"Print the digest that status.intentDigest has when the status speaks about this spec."`
	Doctor     doctorCommand     `cmd:"" help:"Look for problems of an installation of Intentplane. Exits with 1 when there are any."`
	Explain    explainCommand    `cmd:"" help:"Show how an IntentDeployment is understood, and where each value comes from."`
	History    historyCommand    `cmd:"" help:"Show the revisions of a deployment, and why they were rejected."`
	Import     importCommand     `cmd:"" help:"Convert the analyses of Argo Rollouts and Flagger into checks."`
	Logs       logsCommand       `cmd:"" help:"Show the measurements of a check of a deployment, or the log of the build of an Application."`
	Look       lookCommand       `cmd:"" help:"Have the repository with the source of an Application looked at now."`
	Promote    promoteCommand    `cmd:"" help:"Release a step of a canary that waits, or all of them."`
	Prune      pruneCommand      `cmd:"" help:"Remove packages that left their bundle, or directories of a repository without an owner, after the plan was shown and confirmed. Exits with 3 when the plan changed, and removes nothing then."`
	Refresh    refreshCommand    `cmd:"" help:"Have the repositories of a deployment looked at now, also where an error is waited out."`
	Render     renderCommand     `cmd:"" help:"Write the rendered files of an IntentDeployment, for each Site that it goes to."`
	Retry      retryCommand      `cmd:"" help:"Deliver the same again, as a new revision, which its gates judge again."`
	Rollback   rollbackCommand   `cmd:"" help:"Go back to an earlier revision."`
	Sites      sitesCommand      `cmd:"" help:"Show the Sites that a namespace may use."`
	State      stateCommand      `cmd:"" help:"Read the records of bundles."`
	Status     statusCommand     `cmd:"" help:"Show the progress of Bundles, Applications, deployments and clusters, and the cause of their wait."`
	Validate   validateCommand   `cmd:"" help:"Look for mistakes in objects of Intentplane. Exits with 1 when there are any."`
	Version    versionCommand    `cmd:"" help:"Print the versions of this program and of the packages in the cluster."`
	Why        whyCommand        `cmd:"" help:"Say why a Bundle, an Application, a deployment or a cluster does not go on, who has to act, and how."`
	Wait       waitCommand       `cmd:"" help:"Wait until the Sites run the present spec of an Application, an IntentDeployment or a Bundle. Exits with 1 when that is rejected or held up, 3 when it is rolled back, 4 when it takes too long, and 5 when another spec took its place."`
}

// streams that commands read from and write to.
type streams struct {
	in  io.Reader
	out io.Writer

	// problems is where advice goes too. run sets it.
	problems io.Writer

	// colours says whether out shows them.
	colours palette

	// screen is the terminal that out is. Nil means that out is none.
	screen screen

	// isInteractive says that a person answers questions on in.
	isInteractive bool

	// now returns the time, in the zone in which people read it. run sets it where it is nil.
	now func() time.Time

	// interval between two reads of an awaited object. 0 means waitInterval.
	interval time.Duration
}

// pollInterval is the time between two observations of an awaited object.
func (s *streams) pollInterval() time.Duration { return cmp.Or(s.interval, waitInterval) }

// A usageError says that the command line is wrong, and nothing was looked at.
type usageError struct{ error }

// A verdictError says that the examined objects failed a check. Why was printed.
type verdictError struct {
	// code that the program exits with. 0 stands for exitInvalid.
	code int
}

// Error is empty: the findings are printed already.
func (verdictError) Error() string { return "" }

// An endError is the end of a wait. A person reads its message, if that was not printed already, and a script its code.
type endError struct {
	error

	code int
}

// Unwrap returns the error of the message.
func (e endError) Unwrap() error { return e.error }

// gcPercent lets the heap grow to five times the live objects: a command ends within seconds, and the default spends a fifth of its time on garbage collection.
const gcPercent = 400

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	info, _ := debug.ReadBuildInfo()
	version = buildVersion(version, info)
	s := &streams{in: os.Stdin, out: os.Stdout, colours: paletteForFile(os.Stdout, os.Getenv), screen: screenOfFile(os.Stdout), isInteractive: screenOfFile(os.Stdin) != nil}
	if filepath.Base(os.Args[0]) == completer {
		os.Exit(exitCode(completeWords(os.Args[1:], s.out), os.Stderr))
	}
	if line := os.Getenv(lineToComplete); line != "" {
		os.Exit(exitCode(completeLine(s.out), os.Stderr))
	}
	os.Exit(runCommand(os.Args[1:], s, os.Stderr))
}

func newCommandParser(out, problems io.Writer) (*kong.Kong, error) {
	parser, err := kong.New(&commands{},
		kong.Name("kubectl-intent"),
		kong.Description("Shows IntentDeployments and the objects that they need, from files or from a cluster, and records the decisions of a person."),
		kong.Writers(out, problems))
	if err == nil {
		addExamples(parser.Model.Node)
	}
	return parser, err
}

// runCommand returns the exit code.
func runCommand(args []string, s *streams, problems io.Writer) int {
	parser, err := newCommandParser(s.out, problems)
	if err != nil {
		return exitCode(err, problems)
	}
	// A flag of the whole program would stand in the way of the --version of "blueprint create".
	if slices.Equal(args, []string{"--version"}) {
		_, err := fmt.Fprintln(s.out, version)
		return exitCode(errors.Wrap(err, "cannot print"), problems)
	}
	if len(args) == 0 {
		return exitCode(printUsage(parser), problems)
	}
	c, err := parser.Parse(args)
	if err != nil {
		return exitCode(usageError{err}, problems)
	}
	s.problems = problems
	if s.now == nil {
		s.now = time.Now
	}
	return exitCode(c.Run(s), problems)
}

// printUsage prints the commands of the program, as kubectl does without a command.
func printUsage(parser *kong.Kong) error {
	c, err := kong.Trace(parser, nil)
	if err != nil {
		return err
	}
	return errors.Wrap(c.PrintUsage(false), "cannot print")
}

func exitCode(err error, problems io.Writer) int {
	if err == nil {
		return 0
	}
	if e := (verdictError{}); errors.As(err, &e) {
		return cmp.Or(e.code, exitInvalid)
	}
	_, _ = fmt.Fprintf(problems, "kubectl-intent: error: %s\n", plainMessage(err.Error()))
	if e := (endError{}); errors.As(err, &e) {
		return e.code
	}
	if e := (usageError{}); errors.As(err, &e) {
		return exitUsage
	}
	return exitInvalid
}
