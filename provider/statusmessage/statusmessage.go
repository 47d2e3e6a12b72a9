// Package statusmessage makes messages of statuses from texts that engines, controllers and users wrote. It is pure.
package statusmessage

import (
	"strings"
	"unicode"
)

// maxBytes is the greatest size of a message.
const maxBytes = 512

// Sanitize returns an untrusted text as one line without control characters, cut to maxBytes.
func Sanitize(text string) string {
	if text = OneLine(text); len(text) > maxBytes {
		text = strings.ToValidUTF8(text[:maxBytes], "") + "…"
	}
	return text
}

// OneLine returns an untrusted text as one line without control characters, of any length.
func OneLine(text string) string {
	text = strings.Map(blankInvisible, strings.ToValidUTF8(text, "?"))
	return strings.Join(strings.Fields(text), " ")
}

// blankInvisible replaces an invisible character by a blank.
func blankInvisible(r rune) rune {
	if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
		return ' '
	}
	return r
}
