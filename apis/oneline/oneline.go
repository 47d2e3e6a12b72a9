// Package oneline makes one line of a text that a user or a server wrote, for places where a line break would have another meaning, such as a
// trailer of a commit, cuts a text, and reports whether a text is UTF-8, and whether two lines differ in more than ids of requests. Pure.
package oneline

import (
	"strings"
	"unicode"
)

// Clean returns a text as one line: without control characters, invisible characters, separators of lines and bytes that are not
// UTF-8, each of which becomes a space, and with one space between words. It has at most so many characters, the last of which is an ellipsis if
// the text was cut. With a limit of 0 or less the text is not bounded.
func Clean(text string, limit int) string {
	text = strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || unicode.IsControl(r) || unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, " "))
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); limit > 0 && len(runes) > limit {
		return strings.TrimSpace(string(runes[:limit-1])) + "…"
	}
	return text
}

// Cut cuts a text to so many characters, as the API server counts them.
func Cut(text string, limit int) string {
	if r := []rune(text); len(r) > limit {
		return string(r[:limit])
	}
	return text
}
