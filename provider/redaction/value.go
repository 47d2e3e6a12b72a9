package redaction

import (
	"regexp"
	"strings"
	"unicode"
)

var (
	// valueScheme is the scheme of a header before a value.
	valueScheme = regexp.MustCompile(`^(?i:bearer|basic|token|digest|negotiate|apikey)\s+`)

	// valueScalar is a value in quotes, with or without an escape before them, with the rest of a word behind them, or a word.
	valueScalar = regexp.MustCompile(`^(?:\\+["'][^"'\r\n]*["']?|(?:"(?:[^"\\\r\n]|\\.)*"?|'(?:[^'\\\r\n]|\\.)*'?)[\w+/=-]*|\S+)`)

	// valueLines is a value of YAML on lines of its own: a text, a list, or fields that stand further right.
	valueLines = regexp.MustCompile(`^(?:[|>][-+0-9]*)?[ \t]*(?:\r?\n(?:[ \t]+\S|-[ \t])[^\r\n]*)+`)
)

// valueLength returns how many bytes at the beginning of a text are the value of a credential, or 0 for a text that begins with no value.
func valueLength(text string) int {
	if n := len(valueLines.FindString(text)); n > 0 {
		return n
	}
	begin := len(valueScheme.FindString(text))
	if begin < len(text) && strings.IndexByte("[{(", text[begin]) >= 0 {
		return begin + bracketLength(text[begin:])
	}
	if n := len(valueScalar.FindString(text[begin:])); n > 0 {
		return begin + n
	}
	return len(valueScalar.FindString(text))
}

// wordBehind is the rest of a word behind a bracket.
var wordBehind = regexp.MustCompile(`^[\w+/=-]*`)

// bracketLength returns the length of a list or an object at the beginning of a text, of JSON or as a program prints it. Without its end it is all of the text.
func bracketLength(text string) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '[', '{', '(':
			depth++
		case ']', '}', ')':
			if depth--; depth == 0 {
				return i + 1 + len(wordBehind.FindString(text[i+1:]))
			}
		case '"', '\'':
			i += quotedLength(text, i) - 1
		}
	}
	return len(text)
}

// quotedLength returns the length of the text in quotes that begins at an index, and 1 for an apostrophe of a word.
func quotedLength(text string, begin int) int {
	quote, previous := text[begin], text[begin-1]
	if quote == '\'' && (unicode.IsLetter(rune(previous)) || unicode.IsDigit(rune(previous))) {
		return 1
	}
	for i := begin + 1; i < len(text); i++ {
		switch {
		case text[i] == quote:
			return i + 1 - begin
		case text[i] == '\\' && previous != '\\':
			i++ // In JSON within JSON, an escape is before the last quote.
		}
	}
	return len(text) - begin
}

var (
	// proseSeparator is a colon in a sentence.
	proseSeparator = regexp.MustCompile(`^(?::[ \t]+|[ \t]+)$`)

	// proseWords begin the rest of a sentence about a credential.
	proseWords = regexp.MustCompile(`^(?i:(?:` +
		`already|an|and|are|bad|by|can|can't|cannot|check|contact|could|detected|did|disabled|does|empty|error|expired|failed|` +
		`for|forbidden|found|from|had|has|have|if|in|incorrect|invalid|is|isn't|it|malformed|may|missing|must|never|no|none|not|` +
		`null|only|or|please|provide|rejected|required|revoked|see|set|should|the|this|to|too|unable|unauthorised|unauthorized|` +
		`unexpected|unknown|unsupported|use|was|were|when|will|with|would|wrong|you|your` +
		`)|(?:access|authentication|authorization|login|permission|request|sign-in|signature|user|validation|verification)\s+` +
		`(?:cannot|could|denied|disabled|error|expired|failed|has|invalid|is|mismatch|missing|not|rejected|required|unknown|was))(?:[\s.,;:!?)]|$)`)

	// authWord is a word of a sentence behind "auth:", where a credential has other characters than small letters.
	authWord = regexp.MustCompile(`^[a-z]+(?:[\s.,;:!?)]|$)`)
)

// isProse reports whether a text behind a name and a separator goes on with a sentence, as "token: not valid" does, or with another option, and has no value.
func isProse(name, separatorText, text string) bool {
	if !proseSeparator.MatchString(separatorText) {
		return false
	}
	if strings.TrimSpace(separatorText) == "" && strings.HasPrefix(text, "-") {
		return true
	}
	isAuth := strings.HasSuffix(strings.ToLower(name), "auth")
	return proseWords.MatchString(text) || isAuth && authWord.MatchString(text)
}
