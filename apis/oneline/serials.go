package oneline

import (
	"regexp"
	"slices"
	"strings"
)

// DiffersInSerialsOnly is true for messages that differ in nothing but the numbers of requests, times and ids that a server puts into its words: each try would
// write another message otherwise, and requeue all readers of the object.
func DiffersInSerialsOnly(a, b string) bool {
	return slices.EqualFunc(strings.Fields(a), strings.Fields(b), func(a, b string) bool {
		return a == b || isSerialWord(a) && isSerialWord(b)
	})
}

// serials are the shapes of what is another one each time: the number of a request, a commit or another id of at least seven hexadecimal
// digits, a UUID (RFC 9562), and a date or a time (RFC 3339). The names of Sites, hosts and rules, and addresses, have none of these shapes.
var serials = regexp.MustCompile(`^(` + strings.Join([]string{
	`[0-9a-f]{7,}`,
	`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`,
	`([0-9]{4}[-/][0-9]{2}[-/][0-9]{2})?[tT]?([0-9]{2}:[0-9]{2}:[0-9]{2}([.,][0-9]+)?)?([zZ]|[+-][0-9]{2}:?[0-9]{2})?`,
}, "|") + `)$`)

// isSerialWord reports whether a word, without the punctuation around it, has the shape of a serial, and a digit.
func isSerialWord(word string) bool {
	word = strings.ToLower(strings.Trim(word, `()[]{}<>"'.,;:#`))
	return strings.ContainsAny(word, "0123456789") && serials.MatchString(word)
}
