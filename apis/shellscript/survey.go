package shellscript

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A survey collects the properties of a script that hold for all of its commands.
type survey struct {
	settings

	// isUnclear is true if the script has something that may end it with any exit code.
	isUnclear bool

	// readsUnset says that the script reads a variable that may not be set.
	readsUnset bool
}

// unclearCommands run other commands, end the shell, or end it at an error.
func unclearCommands() []string {
	return []string{".", "alias", "builtin", "command", "eval", "exec", "kill", "readonly", "return", "shift", "source", "trap", "unset"}
}

// specialCommands end the shell where a file of a redirection cannot be opened.
func specialCommands() []string { return []string{":", "break", "continue", "exit", "export", "set"} }

func (s *survey) visitSyntaxNode(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.CallExpr:
		s.visitCall(n)
	case *syntax.Stmt:
		call, isCall := n.Cmd.(*syntax.CallExpr)
		s.isUnclear = s.isUnclear || isCall && len(call.Args) > 0 && slices.ContainsFunc(n.Redirs, isFileRedirect) && isWordAmong(call.Args[0], specialCommands())
	case *syntax.ParamExp:
		s.readsUnset = s.readsUnset || mayReadUnset(n)
		s.isUnclear = s.isUnclear || n.Exp != nil && (n.Exp.Op == syntax.ErrorUnset || n.Exp.Op == syntax.ErrorUnsetOrNull)
	case *syntax.FuncDecl, *syntax.ArithmExp, *syntax.ArithmCmd, *syntax.WhileClause:
		s.isUnclear = true
	}
	return !s.isUnclear
}

func (s *survey) visitCall(c *syntax.CallExpr) {
	if len(c.Args) == 0 {
		return
	}
	name, ok := literalWord(c.Args[0])
	switch {
	case !ok, slices.Contains(unclearCommands(), name):
		s.isUnclear = true
	case name == "exit":
		s.isUnclear = s.isUnclear || len(c.Args) != 2 || !isWordAmong(c.Args[1], []string{"0"})
	case name == "set":
		s.visitOptions(c.Args[1:])
	}
}

// visitOptions reads the options of set. Words behind them are arguments.
func (s *survey) visitOptions(options []*syntax.Word) {
	words := make([]string, 0, len(options))
	for _, word := range options {
		option, ok := literalWord(word)
		s.isUnclear = s.isUnclear || !ok
		words = append(words, option)
	}
	_, ok := s.readOptions(words, setOption)
	s.isUnclear = s.isUnclear || !ok
}

// isWordAmong reports whether a word is one of some texts.
func isWordAmong(w *syntax.Word, texts []string) bool {
	text, ok := literalWord(w)
	return ok && slices.Contains(texts, text)
}

// literalWord returns the text of a word. It is false for a word that the shell changes.
func literalWord(w *syntax.Word) (string, bool) {
	text := strings.Builder{}
	for _, part := range w.Parts {
		value, ok := literalPart(part)
		if !ok {
			return "", false
		}
		text.WriteString(value)
	}
	return text.String(), true
}

func literalPart(p syntax.WordPart) (string, bool) {
	switch p := p.(type) {
	case *syntax.Lit:
		return p.Value, !strings.ContainsAny(p.Value, `\*?[~`)
	case *syntax.SglQuoted:
		return p.Value, !p.Dollar
	case *syntax.DblQuoted:
		return literalQuoted(p)
	}
	return "", false
}

func literalQuoted(q *syntax.DblQuoted) (string, bool) {
	text := strings.Builder{}
	for _, part := range q.Parts {
		l, ok := part.(*syntax.Lit)
		if !ok || q.Dollar || strings.Contains(l.Value, `\`) {
			return "", false
		}
		text.WriteString(l.Value)
	}
	return text.String(), true
}

// isFileRedirect reports whether a redirection opens a file, which can fail. A here-document and a copy of another stream open none.
func isFileRedirect(r *syntax.Redirect) bool {
	if r.Hdoc != nil || r.Op == syntax.DplIn || r.Op == syntax.DplOut {
		return false
	}
	target, ok := literalWord(r.Word)
	return !ok || target != "/dev/null"
}
