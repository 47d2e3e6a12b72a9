// Package oneline makes one line of a text that a user wrote, so that it can stand where a line break would say something else: in a
// trailer of a commit, say. Pure.
package oneline

import (
	"strings"
	"unicode"
)

// Clean returns a text as one line: without control characters, characters that are not seen, separators of lines and bytes that are no
// UTF-8, each of which becomes a space, and with one space between words. It has at most so many characters, the last of which says that
// there was more. Most of 0 or less is no bound.
func Clean(text string, most int) string {
	text = strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || unicode.IsControl(r) || unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, " "))
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); most > 0 && len(runes) > most {
		return strings.TrimSpace(string(runes[:most-1])) + "…"
	}
	return text
}
