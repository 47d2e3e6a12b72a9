package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/posener/complete"
	"github.com/willabides/kongplete"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/cluster"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/connection"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
)

// completer is the program that kubectl calls to complete "kubectl intent". It is this program, under another name.
const completer = "kubectl_complete-intent"

// lineToComplete is the variable that a shell sets to ask for completion of that line.
const lineToComplete = "COMP_LINE"

// Last lines of the words printed for kubectl: the shell completes files after them, or nothing else.
const (
	thenFiles   = ":0"
	thenNothing = ":4"
)

// patience is how long a completion waits for a cluster.
const patience = 2 * time.Second

// A completionCommand prints the completion script of a shell.
type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"Shell: bash, zsh or fish."`
}

// Run prints the lines that make a shell complete kubectl-intent.
func (c *completionCommand) Run(s *terminal.Streams) error {
	_, err := io.WriteString(s.Out, map[string]string{
		"bash": "complete -C kubectl-intent kubectl-intent\n",
		"zsh":  "autoload -U +X bashcompinit && bashcompinit\ncomplete -C kubectl-intent kubectl-intent\n",
		"fish": `function __complete_kubectl_intent
    set -lx COMP_LINE (commandline -cp)
    test -z (commandline -ct)
    and set COMP_LINE "$COMP_LINE "
    kubectl-intent
end
complete -f -c kubectl-intent -a "(__complete_kubectl_intent)"
`,
	}[c.Shell])
	return errors.Wrap(err, "cannot print")
}

// completionPredictors know values that the command line does not: files, folders, and the names of objects in a cluster.
func completionPredictors() map[string]complete.Predictor {
	return map[string]complete.Predictor{
		"file": complete.PredictFiles("*"), "dir": complete.PredictDirs("*"),
		"claim":   predictNames((*cluster.Cluster).ClaimNames),
		"bundle":  predictNames((*cluster.Cluster).BundleNames),
		"subject": predictNames((*cluster.Cluster).SubjectNames),
	}
}

// predictNames asks the cluster for names.
func predictNames(list func(*cluster.Cluster, context.Context) []string) complete.Predictor {
	return complete.PredictFunc(func(a complete.Args) []string { return namesInCluster(a, list) })
}

// namesInCluster reads the flags for the cluster that were typed already.
func namesInCluster(a complete.Args, list func(*cluster.Cluster, context.Context) []string) []string {
	flags := connection.Flags{}
	parser, err := kong.New(&flags, kong.Exit(func(int) {}), kong.Writers(io.Discard, io.Discard))
	if err != nil {
		return nil
	}
	if _, err := parser.Parse(clusterArgs(parser, a.Completed)); err != nil {
		return nil
	}
	flags.RequestTimeout = patience
	c, err := flags.OpenCluster()
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return list(c, ctx)
}

// clusterArgs returns the flags, and their values, that a parser knows. Help would answer instead of the cluster.
func clusterArgs(parser *kong.Kong, words []string) []string {
	knownFlags := map[string]*kong.Flag{}
	for _, f := range parser.Model.Flags {
		knownFlags["--"+f.Name], knownFlags["-"+string(f.Short)] = f, f
	}
	delete(knownFlags, "--help")
	delete(knownFlags, "-h")
	delete(knownFlags, "-"+string(rune(0))) // Flags without a short name.
	out := []string{}
	for i, word := range words {
		name, _, joined := strings.Cut(word, "=")
		f := knownFlags[name]
		switch {
		case f == nil:
		case joined || f.IsBool():
			out = append(out, word)
		case i+1 < len(words):
			out = append(out, word, words[i+1])
		}
	}
	return out
}

// completeLine answers a shell that asks by its environment.
func completeLine(out io.Writer) error {
	parser, err := newCommandParser(out, io.Discard)
	if err != nil {
		return err
	}
	kongplete.Complete(parser, kongplete.WithPredictors(completionPredictors()), kongplete.WithExitFunc(func(int) {}))
	return nil
}

// completeWords answers kubectl, in the protocol of cobra: a word on each line, and then a directive for the shell.
func completeWords(words []string, out io.Writer) error {
	parser, err := newCommandParser(out, io.Discard)
	if err != nil {
		return err
	}
	// The shell completes files better than we do.
	predictors := completionPredictors()
	predictors["file"], predictors["dir"] = complete.PredictNothing, complete.PredictNothing
	command, err := kongplete.Command(parser, kongplete.WithPredictors(predictors))
	if err != nil {
		return errors.Wrap(err, "cannot complete")
	}
	args, prefix := completionArgs(words)
	found := []string{}
	for _, word := range command.Predict(args) {
		if strings.HasPrefix(word, args.Last) {
			found = append(found, prefix+word)
		}
	}
	slices.Sort(found)
	mark := thenNothing
	if len(found) == 0 {
		mark = thenFiles
	}
	_, err = fmt.Fprintln(out, strings.Join(append(slices.Compact(found), mark), "\n"))
	return errors.Wrap(err, "cannot print")
}

// completionArgs returns the words of a command line, the last one not yet complete. Of --flag=value only the value is.
func completionArgs(words []string) (complete.Args, string) {
	if len(words) == 0 {
		words = []string{""}
	}
	done, last, prefix := words[:len(words)-1], words[len(words)-1], ""
	if flag, value, ok := strings.Cut(last, "="); ok && strings.HasPrefix(last, "-") {
		done, last, prefix = append(slices.Clone(done), flag), value, flag+"="
	}
	a := complete.Args{All: append(slices.Clone(done), last), Completed: done, Last: last}
	if len(done) > 0 {
		a.LastCompleted = done[len(done)-1]
	}
	return a, prefix
}
