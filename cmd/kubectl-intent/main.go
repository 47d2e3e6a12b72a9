// Command kubectl-intent shows IntentDeployments and the objects that they need, from files or from a cluster, and requests the decisions of
// a person. As kubectl-intent on the PATH it is also "kubectl intent", and as kubectl_complete-intent it completes that.
package main

import (
	"io"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/alecthomas/kong"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/live"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/offline"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/request"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/wait"
)

// version of the build. The linker sets it; main replaces the default.
var version = unlinked

// commands are the commands of kubectl-intent.
type commands struct {
	Abort      request.Abort     `cmd:"" help:"Give up the revision that goes out."`
	Approve    request.Approve   `cmd:"" help:"Let the update through that waits."`
	Artifacts  live.Artifacts    `cmd:"" help:"Show the files that a deployment delivers to each Site."`
	Blueprint  offline.Blueprint `cmd:"" help:"Make and test Blueprints."`
	Blueprints live.Blueprints   `cmd:"" help:"Show the Blueprints that a namespace may use, with parameters and defaults."`
	Completion completionCommand `cmd:"" help:"Print the script with which a shell completes this command."`
	Diff       live.Diff         `cmd:"" help:"Show the changes that a file would make to the delivered objects. Exits with 1 when there are any."`
	Digest     offline.Digest    `cmd:"" help:"Print the digest that status.intentDigest has when the status describes this spec."`
	Doctor     live.Doctor       `cmd:"" help:"Look for problems of an installation of Intentplane. Exits with 1 when there are any."`
	Explain    offline.Explain   `cmd:"" help:"Show how an IntentDeployment is understood, and where each value comes from."`
	History    live.History      `cmd:"" help:"Show the revisions of a deployment, and why they were rejected."`
	Import     offline.Import    `cmd:"" help:"Convert the analyses of Argo Rollouts and Flagger into checks."`
	Logs       live.Logs         `cmd:"" help:"Show the measurements of a check of a deployment, or the log of the build of an Application."`
	Look       request.Look      `cmd:"" help:"Have the repository with the source of an Application looked at now."`
	Promote    request.Promote   `cmd:"" help:"Release a step of a canary that waits, or all of them."`
	Prune      request.Prune     `cmd:"" help:"Remove packages that left their bundle, or directories of a repository without an owner, after the plan was shown and confirmed. Exits with 3 when the plan changed, and removes nothing then."`
	Refresh    request.Refresh   `cmd:"" help:"Have the repositories of a deployment looked at now, also where an error is waited out."`
	Render     offline.Render    `cmd:"" help:"Write the rendered files of an IntentDeployment, for each Site that it goes to."`
	Retry      request.Retry     `cmd:"" help:"Deliver the same again, as a new revision, which its gates judge again."`
	Rollback   request.Rollback  `cmd:"" help:"Roll back to an earlier revision."`
	Sites      live.Sites        `cmd:"" help:"Show the Sites that a namespace may use."`
	State      live.State        `cmd:"" help:"Read the records of bundles."`
	Status     live.Status       `cmd:"" help:"Show the progress of Bundles, Applications, deployments and clusters, and the cause of their wait."`
	Validate   offline.Validate  `cmd:"" help:"Look for mistakes in objects of Intentplane. Exits with 1 when there are any."`
	Version    live.Version      `cmd:"" help:"Print the versions of this program and of the packages in the cluster."`
	Why        live.Why          `cmd:"" help:"Say why a Bundle, an Application, a deployment or a cluster does not go on, who has to act, and how."`
	Wait       wait.Command      `cmd:"" help:"Wait until the Sites run the current spec of an Application, an IntentDeployment or a Bundle. Exits with 1 when that is rejected or held up, 3 when it is rolled back, 4 when it takes too long, and 5 when another spec took its place."`
}

// gcPercent lets the heap grow to five times the live objects: a command ends within seconds, and the default spends a fifth of its time on garbage collection.
const gcPercent = 400

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	info, _ := debug.ReadBuildInfo()
	version = buildVersion(version, info)
	s := &terminal.Streams{
		In: os.Stdin, Out: os.Stdout, Colours: terminal.PaletteOf(os.Stdout, os.Getenv),
		Screen: terminal.ScreenOf(os.Stdout), IsInteractive: terminal.ScreenOf(os.Stdin) != nil,
	}
	if filepath.Base(os.Args[0]) == completer {
		os.Exit(terminal.ExitCode(completeWords(os.Args[1:], s.Out), os.Stderr))
	}
	if line := os.Getenv(lineToComplete); line != "" {
		os.Exit(terminal.ExitCode(completeLine(s.Out), os.Stderr))
	}
	os.Exit(runCommand(os.Args[1:], s, os.Stderr))
}

func newCommandParser(out, problems io.Writer) (*kong.Kong, error) {
	parser, err := terminal.NewParser(&commands{}, out, problems)
	if err == nil {
		addExamples(parser.Model.Node)
	}
	return parser, err
}

// runCommand returns the exit code.
func runCommand(args []string, s *terminal.Streams, problems io.Writer) int {
	parser, err := newCommandParser(s.Out, problems)
	if err != nil {
		return terminal.ExitCode(err, problems)
	}
	s.Version = version
	return terminal.Run(parser, args, s, problems)
}
