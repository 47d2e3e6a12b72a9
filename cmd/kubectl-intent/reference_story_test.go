package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"
)

const (
	// updateReference is the variable with which the test writes the page.
	updateReference = "UPDATE_REFERENCE"

	referenceFile = "../../docs/kubectl-intent-commands.md"

	referenceHead = `# Commands and flags of kubectl intent

<!-- "make generate" writes this page from the help of the program. -->

This page has the output of ` + "`kubectl intent COMMAND --help`" + ` for each command. [kubectl-intent.md](kubectl-intent.md) explains them, with examples.
`
)

// TestReferencePage compares the page of commands and flags with the help of the program.
func TestReferencePage(t *testing.T) {
	parser, err := newCommandParser(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := referencePage(parser.Model.Node)
	if os.Getenv(updateReference) != "" {
		if err := os.WriteFile(referenceFile, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(referenceFile)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("docs/kubectl-intent-commands.md differs from the page of make generate: -want, +got:\n%s", diff)
	}
}

// referencePage returns the page of all commands.
func referencePage(root *kong.Node) string {
	b := &strings.Builder{}
	b.WriteString(referenceHead)
	shared := clusterFlagRows(root)
	b.WriteString("\n## Flags of all commands that read a cluster\n\n" + flagTable(shared))
	for _, command := range root.Leaves(true) {
		fmt.Fprintf(b, "\n## %s\n\n%s\n\n```\nkubectl intent %s\n```\n", command.Path(), command.Help, command.Summary())
		if lines := commandExamples()[examplesKey(command)]; len(lines) > 0 {
			fmt.Fprintf(b, "\nExamples:\n\n```\n%s\n```\n", strings.Join(lines, "\n"))
		}
		rows, readsCluster := withoutShared(commandRows(command), shared)
		if len(rows) > 0 {
			b.WriteString("\n" + flagTable(rows))
		}
		if readsCluster {
			b.WriteString("\nIt has the [flags of all commands that read a cluster](#flags-of-all-commands-that-read-a-cluster), too.\n")
		}
	}
	return b.String()
}

// clusterFlagRows returns the rows of the flags that all commands share that read a cluster, as sites has them.
func clusterFlagRows(root *kong.Node) []string {
	var out []string
	for _, command := range root.Leaves(true) {
		if command.Name != "sites" {
			continue
		}
		for _, f := range command.Flags {
			if f.Name != "output" {
				out = append(out, flagRow(f))
			}
		}
	}
	return out
}

// withoutShared leaves rows out where all of them are there, and reports whether they were.
func withoutShared(rows, shared []string) (unshared []string, hadAll bool) {
	isShared := map[string]bool{}
	for _, r := range shared {
		isShared[r] = true
	}
	for _, r := range rows {
		if !isShared[r] {
			unshared = append(unshared, r)
		}
	}
	if len(shared) == 0 || len(rows)-len(unshared) != len(shared) {
		return rows, false
	}
	return unshared, true
}

// commandRows returns a row for each argument and flag of a command.
func commandRows(command *kong.Node) []string {
	var out []string
	for _, p := range command.Positional {
		out = append(out, "| `"+p.Summary()+"` | "+escapeCell(p.Help)+" |")
	}
	// Help hides flags of kubectl that the page has once.
	for _, group := range command.AllFlags(false) {
		for _, f := range group {
			if f.Name != "help" {
				out = append(out, flagRow(f))
			}
		}
	}
	return out
}

func flagRow(f *kong.Flag) string {
	return "| `" + escapeCell(f.String()) + "` | " + escapeCell(f.Help) + " |"
}

// escapeCell keeps a text within its cell.
func escapeCell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

func flagTable(rows []string) string {
	return "| argument or flag | effect |\n|---|---|\n" + strings.Join(rows, "\n") + "\n"
}
