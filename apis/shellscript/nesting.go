package shellscript

import "strings"

// maxNesting is the greatest number of signs and words in a parsed text that may nest commands or expressions. The parser calls itself for each level, up to
// twenty functions deep for a parenthesis in a computation, so that the 128 KiB of a script could take hundreds of MiB of stack.
const maxNesting = 1000

const (
	// commandSigns may begin a command, or the next command, within another one.
	commandSigns = "({`|&"

	// operatorSigns may begin an operand within a computation.
	operatorSigns = "!~+-*/%^<>=?:,["
)

// commandWords may begin a command within another one. A text has at least as many of them as it has such commands.
func commandWords() []string { return []string{"if", "while", "until", "for", "case"} }

// mayNestDeeply reports whether a text has so many signs and words of nesting that it is not parsed. Quoted signs count, too.
func mayNestDeeply(text string) bool {
	signs, count := commandSigns, 0
	if strings.Contains(text, "$((") {
		signs += operatorSigns
	}
	for _, sign := range signs {
		count += strings.Count(text, string(sign))
	}
	for _, word := range commandWords() {
		count += strings.Count(text, word)
	}
	return count > maxNesting
}
