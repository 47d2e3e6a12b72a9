package terminal

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The output goes to a terminal, or to a CI system that executes lines with certain prefixes as commands. Text of other authors can neither
// steer the terminal nor forge lines for the CI.

// QuoteInvisible quotes invisible characters: control characters, characters that turn the direction of text, and bytes that are not text.
func QuoteInvisible(s string) string { return quoteRunes(s, "") }

// QuoteInvisibleInText is QuoteInvisible, but for tabs and ends of lines.
func QuoteInvisibleInText(s string) string { return quoteRunes(s, "\t\n") }

// QuoteLine is QuoteInvisible for the beginning of a line: it does not begin as a command of a CI does.
func QuoteLine(s string) string { return EscapeCommandOfCI(QuoteInvisible(s)) }

// QuoteLineOfText is QuoteLine, but for tabs.
func QuoteLineOfText(s string) string { return EscapeCommandOfCI(quoteRunes(s, "\t")) }

// PlainMessage is QuoteInvisible for a message of several lines. The lines after the first are indented, so that none of them reads as another message, and
// none begins as a command of a CI does.
func PlainMessage(s string) string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	for i, line := range lines[1:] {
		lines[i+1] = EscapeCommandOfCI("  " + quoteRunes(line, "\t"))
	}
	lines[0] = QuoteInvisible(lines[0])
	return strings.Join(lines, "\n")
}

func quoteRunes(s, allowed string) string {
	out := strings.Builder{}
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			_, _ = fmt.Fprintf(&out, `\x%02x`, s[0])
		case unicode.IsPrint(r), strings.ContainsRune(allowed, r):
			out.WriteRune(r)
		default:
			out.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		}
		s = s[n:]
	}
	return out.String()
}

// EscapeCommandOfCI escapes the beginning of a line that a CI would take for one of its own commands.
func EscapeCommandOfCI(s string) string {
	rest := strings.TrimLeftFunc(s, unicode.IsSpace)
	if strings.HasPrefix(rest, "::") || strings.HasPrefix(rest, "##") {
		return s[:len(s)-len(rest)] + `\` + rest
	}
	return s
}
