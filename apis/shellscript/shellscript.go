// Package shellscript detects scripts of checks that always exit with code 0. It is pure.
package shellscript

import (
	"path"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"mvdan.cc/sh/v3/syntax"
)

// Check returns an error for a script of a check that cannot fail: it would pass each revision.
func Check(text string) error {
	if CanFail(text) {
		return nil
	}
	return errors.New("ends with 0 whatever its commands return, so that no revision fails the check: begin it with set -e, or exit 3 where it fails")
}

// CanFail reports whether a script of a POSIX shell can end with another exit code than 0. It is false where the text alone excludes that, as of a script whose
// last command is echo, and true in doubt: for a loop that waits, a command that the script computes, a text that the shell cannot parse, and a text that may
// nest too deeply for a parser.
func CanFail(text string) bool { return canScriptFail(text, settingsOfShell("sh")) }

// CommandCanFail reports whether a command with its arguments, which no shell expands, can end with another exit code than 0. It is true in doubt.
func CommandCanFail(words []string) bool {
	if len(words) == 0 {
		return true
	}
	switch name := path.Base(words[0]); {
	case name == "true" || name == "echo":
		return false
	case IsShell(words[0]):
		return shellCanFail(words)
	case name == "busybox", name == "env":
		return CommandCanFail(withoutAssignments(words[1:]))
	case name == "tini", name == "dumb-init":
		return CommandCanFail(withoutMark(words[1:]))
	}
	return true
}

// withoutMark returns a command without the mark that ends the options of a program before it.
func withoutMark(words []string) []string {
	if len(words) > 0 && words[0] == "--" {
		return words[1:]
	}
	return words
}

// IsShell reports whether a program is a shell.
func IsShell(program string) bool {
	return slices.Contains([]string{"sh", "ash", "bash", "dash"}, path.Base(program))
}

// withoutAssignments returns a command without the variables that are set before it.
func withoutAssignments(words []string) []string {
	i := slices.IndexFunc(words, func(word string) bool { return !strings.Contains(word, "=") })
	return words[max(i, 0):]
}

// shellCanFail reports whether a shell with its arguments, among them the option -c with a script, can fail.
func shellCanFail(words []string) bool {
	s := settingsOfShell(words[0])
	operands, ok := s.readOptions(words[1:], shellOption)
	return !ok || !s.readsScript || len(operands) == 0 || canScriptFail(operands[0], s)
}

// canScriptFail reports whether a script can fail, in a shell with some settings.
func canScriptFail(text string, inherited settings) bool {
	if mayNestDeeply(text) {
		return true
	}
	f, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(text), "")
	if err != nil {
		return true
	}
	s := survey{settings: inherited}
	syntax.Walk(f, s.visitSyntaxNode)
	if s.isUnclear || s.endsAtUnset && s.readsUnset {
		return true
	}
	judged := judge{settings: s.settings}
	end := slices.IndexFunc(f.Stmts, isExitStatement)
	if end < 0 {
		return judged.canListFail(f.Stmts)
	}
	return s.endsAtFailure && judged.canListFail(f.Stmts[:end])
}

// isExitStatement reports whether a statement ends the script.
func isExitStatement(s *syntax.Stmt) bool {
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || s.Negated || s.Background || len(s.Redirs) > 0 || len(call.Args) == 0 {
		return false
	}
	name, _ := literalWord(call.Args[0])
	return name == "exit"
}

// A judge reports which parts of a script can fail. The script has nothing that a survey finds unclear.
type judge struct{ settings }

// canListFail reports whether the last of some statements can fail, or any statement if the script ends at a failure.
func (j judge) canListFail(list []*syntax.Stmt) bool {
	if j.endsAtFailure {
		return slices.ContainsFunc(list, j.canStatementFail)
	}
	return len(list) > 0 && j.canStatementFail(list[len(list)-1])
}

// canStatementFail reports whether a statement can fail. A statement in the background cannot.
func (j judge) canStatementFail(s *syntax.Stmt) bool {
	if s.Background {
		return false
	}
	return s.Negated || slices.ContainsFunc(s.Redirs, isFileRedirect) || j.canCommandFail(s.Cmd)
}

func (j judge) canCommandFail(c syntax.Command) bool {
	switch c := c.(type) {
	case nil:
		return false
	case *syntax.CallExpr:
		return canCallFail(c)
	case *syntax.BinaryCmd:
		return j.canPairFail(c)
	case *syntax.Block:
		return j.canListFail(c.Stmts)
	case *syntax.Subshell:
		return j.canListFail(c.Stmts)
	case *syntax.ForClause:
		return j.canListFail(c.Do)
	case *syntax.CaseClause:
		return slices.ContainsFunc(c.Items, func(i *syntax.CaseItem) bool { return j.canListFail(i.Stmts) })
	case *syntax.IfClause:
		for ; c != nil; c = c.Else {
			if j.canListFail(c.Then) {
				return true
			}
		}
		return false
	}
	return true
}

// canPairFail reports whether two statements can fail. A pipe has the exit code of the second, unless each of its commands counts.
func (j judge) canPairFail(b *syntax.BinaryCmd) bool {
	switch b.Op {
	case syntax.AndStmt:
		return j.canStatementFail(b.X) || j.canStatementFail(b.Y)
	case syntax.OrStmt:
		return j.canStatementFail(b.X) && j.canStatementFail(b.Y)
	}
	return j.pipesFail || j.canStatementFail(b.Y)
}

// canCallFail reports whether a simple command can fail. An assignment has the exit code of the command whose output it assigns.
func canCallFail(c *syntax.CallExpr) bool {
	if len(c.Args) == 0 {
		return slices.ContainsFunc(c.Assigns, runsCommand)
	}
	words := make([]string, 0, len(c.Args))
	for _, arg := range c.Args {
		word, ok := literalWord(arg)
		if !ok {
			break
		}
		words = append(words, word)
	}
	switch words[0] {
	case ":", "true", "echo", "set", "exit", "break", "continue":
		return false
	case "printf":
		return len(words) != 2 || strings.Contains(words[1], "%")
	case "export":
		return len(words) > 1 && strings.HasPrefix(words[1], "-")
	}
	return len(words) < len(c.Args) || CommandCanFail(words)
}

// runsCommand reports whether an assignment runs a command.
func runsCommand(a *syntax.Assign) bool {
	found := false
	syntax.Walk(a, func(n syntax.Node) bool {
		_, isCommand := n.(*syntax.CmdSubst)
		found = found || isCommand
		return true
	})
	return found
}
