package sentence

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// allowedMarks are the characters that a sentence may have beside letters, digits and white space of ASCII.
const allowedMarks = ".,;:/@_-+%="

// A span is a range of the text, in bytes.
type span struct{ start, end int }

// A token is a word, or a mark that ends one.
type token struct {
	span

	// text of the word, without quotes.
	text string

	// lower is the text in lower case: words of the grammar may be written in either, names may not. A quoted word is none of the grammar, and
	// has none.
	lower string

	// quoted says that the word stands in quotes, so that it is a name.
	quoted bool
}

// quotes are the characters that a name may stand between.
const quotes = "\"'"

// quotedName is a name between two quotes of one kind. Other marks of a sentence are not allowed in quotes.
var quotedName = regexp.MustCompile(`^(?:"([A-Za-z0-9][A-Za-z0-9._-]*)"|'([A-Za-z0-9][A-Za-z0-9._-]*)')$`)

// tokenizeText returns the words of a text and its commas, semicolons and periods.
func tokenizeText(text string) ([]token, *Fault) {
	if utf8.RuneCountInString(text) > MaxCharacters {
		return nil, &Fault{Message: fmt.Sprintf("has more than %d characters of plain language", MaxCharacters)}
	}
	if fault := findForeign(text); fault != nil {
		return nil, fault
	}
	var out []token
	for _, s := range wordSpans(text) {
		out = append(out, splitTrailingMarks(text, s)...)
	}
	return out, findMisquoted(out)
}

// findMisquoted returns a fault at quotes that do not stand around one name.
func findMisquoted(tokens []token) *Fault {
	for _, t := range tokens {
		if !t.quoted && strings.ContainsAny(t.text, quotes) {
			return &Fault{Offset: t.start, Length: t.end - t.start, Message: `has quotes that do not stand around one name, such as "edge1"`}
		}
	}
	return nil
}

// findForeign returns a fault at the first character that is not allowed in a sentence. Characters beyond ASCII may look like others.
func findForeign(text string) *Fault {
	for i, r := range text {
		if r < utf8.RuneSelf && (isASCIIWord(r) || strings.ContainsRune(allowedMarks+quotes, r) || strings.ContainsRune(" \t\r\n", r)) {
			continue
		}
		_, size := utf8.DecodeRuneInString(text[i:])
		return &Fault{Offset: i, Length: size, Message: foreignMessage(text[i:], r)}
	}
	return nil
}

func isASCIIWord(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
}

func foreignMessage(rest string, r rune) string {
	switch {
	case strings.HasPrefix(rest, "{{"), strings.HasPrefix(rest, "${"), r == '`':
		return "must not have templates: nothing is replaced in an intent"
	case unicode.In(r, unicode.Pi, unicode.Pf, unicode.Quotation_Mark):
		return fmt.Sprintf(`must not have the character %U: use the quotes of ASCII around a name, such as "edge1"`, r)
	case unicode.IsSpace(r):
		return fmt.Sprintf("must not have the character %U: use the space of ASCII", r)
	case r < utf8.RuneSelf:
		return fmt.Sprintf("must not have the character %q: plain language has none, and JSON begins with a brace", r)
	case unicode.IsLetter(r):
		return fmt.Sprintf("must not have the character %U: use the letters of ASCII, since others look like them", r)
	}
	return fmt.Sprintf("must not have the character %U: only characters of ASCII are allowed", r)
}

// wordSpans returns where the text between white space stands.
func wordSpans(text string) []span {
	var out []span
	start := -1
	for i := range len(text) + 1 {
		space := i == len(text) || strings.IndexByte(" \t\r\n", text[i]) >= 0
		if space && start >= 0 {
			out = append(out, span{start, i})
			start = -1
		}
		if !space && start < 0 {
			start = i
		}
	}
	return out
}

// splitTrailingMarks parts a word from the marks behind it.
func splitTrailingMarks(text string, s span) []token {
	end := s.start + len(strings.TrimRight(text[s.start:s.end], ",;."))
	var out []token
	if end > s.start {
		out = append(out, newTokenOfSpan(text, span{s.start, end}))
	}
	for i := end; i < s.end; i++ {
		out = append(out, newTokenOfSpan(text, span{i, i + 1}))
	}
	return out
}

func newTokenOfSpan(text string, s span) token {
	t := text[s.start:s.end]
	if found := quotedName.FindStringSubmatch(t); found != nil {
		return token{span: s, text: found[1] + found[2], quoted: true}
	}
	return token{span: s, text: t, lower: strings.ToLower(t)}
}
