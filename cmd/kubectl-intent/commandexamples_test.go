package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/samples"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
	"github.com/intentplane/intentplane/test/cli"
)

// TestEachCommandHasExamples holds each example to its command: it parses, and is one of that command.
func TestEachCommandHasExamples(t *testing.T) {
	parser, err := newCommandParser(&bytes.Buffer{}, &bytes.Buffer{})
	if err != nil {
		t.Fatal(err)
	}
	all, keys := commandExamples(), map[string]bool{}
	for _, command := range parser.Model.Leaves(true) {
		key := examplesKey(command)
		keys[key] = true
		if len(all[key]) == 0 {
			t.Errorf("The help of each command has an example: %q has none.", key)
		}
		for _, line := range all[key] {
			c, err := parser.Parse(argsOfLine(t, line))
			if err != nil {
				t.Errorf("An example is a command line that is understood: %q: %v", line, err)
				continue
			}
			if got := examplesKey(c.Selected()); got != key {
				t.Errorf("An example of %q is one of that command, and not of %q: %q", key, got, line)
			}
		}
	}
	for key := range all {
		if !keys[key] {
			t.Errorf("Examples are of commands that exist: %q does not.", key)
		}
	}
}

// TestExamplesAreInHelp reads the help of a command as a user does.
func TestExamplesAreInHelp(t *testing.T) {
	out := &bytes.Buffer{}
	parser, err := newCommandParser(out, out)
	if err != nil {
		t.Fatal(err)
	}
	parser.Exit = func(int) {}
	if _, err := parser.Parse([]string{"status", "--help"}); err != nil && !strings.Contains(err.Error(), "help") {
		t.Fatal(err)
	}
	for _, want := range []string{"Examples:\n\n    kubectl intent status shop -n team-a\n    kubectl intent status -A --stuck\n", "--kubeconfig", "--context", "-n, --namespace"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("The help of a command shows its examples and how to choose a cluster: want %q, got:\n%s", want, out)
		}
	}
	for _, hidden := range []string{"--as", "--request-timeout", "--token", "--server"} {
		if strings.Contains(out.String(), hidden) {
			t.Errorf("Flags of kubectl that are rarely needed stand on the page of commands alone: %s is shown:\n%s", hidden, out)
		}
	}
}

// needsMore are examples that do not end by themselves, or need a program or an object that this test does not have. The end-to-end tests run such commands.
func needsMore() []string {
	return []string{"--watch", "intent wait", "--checkout", "--fetch", "--wait", "intent refresh", "intent look", "intent prune", "intent state", "intent logs", "intent promote", "intent approve", "intent abort", "workloadclusters/"}
}

// TestExamplesRun runs the examples that need no more than files and the quickstart in a cluster.
func TestExamplesRun(t *testing.T) {
	s := cli.CarryFiles(t, examples, samples.Verified())
	server := cli.Server{Objects: cli.Installation(t)}
	objects, err := s.Objects()
	if err != nil {
		t.Fatal(err)
	}
	server.Objects = append(server.Objects, objects...)
	t.Setenv("KUBECONFIG", server.Start(t, trialSites, examples+"20-blueprint.yaml", examples+"30-config.yaml"))
	repository := t.TempDir()
	if err := os.CopyFS(filepath.Join(repository, "examples"), os.DirFS("../../examples")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(repository)
	ran := 0
	for _, lines := range commandExamples() {
		for _, line := range lines {
			if slices.ContainsFunc(needsMore(), func(part string) bool { return strings.Contains(line, part) }) {
				continue
			}
			ran++
			// Exit code 1 is the verdict of a command that searches, and 2 a wrong command line.
			if out, problems, code := runIntent("", argsOfLine(t, line)...); code >= terminal.ExitUsage || strings.Contains(problems, "error:") {
				t.Errorf("An example runs: %s: exit code %d:\n%s%s", line, code, out, problems)
			}
		}
	}
	if ran < 30 {
		t.Errorf("%d examples were run, want at least 30", ran)
	}
}
