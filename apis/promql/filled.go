package promql

import "strings"

// sentinel stands for a service while its place in a query is looked for. No service has this name, and nothing of it is escaped.
const sentinel = "intentplane0service0sentinel0that0is0longer0than0any0name"

// FilledFor reports whether a text is the query with values for its placeholders: the values of v, and any service, because the author
// of the check chooses the service.
func (t *Template) FilledFor(text string, v Values) bool {
	v.Service = sentinel
	filledText, err := t.Fill(v)
	if err != nil {
		return false
	}
	begin, rest, found := strings.Cut(filledText, sentinel)
	if !found {
		return filledText == text
	}
	// The text after the service in the filled query equals the text after it here: up to the next service, or the end.
	after, _, _ := strings.Cut(rest, sentinel)
	tail, ok := strings.CutPrefix(text, begin)
	end := strings.Index(tail, after)
	if !ok || end <= 0 || after == "" {
		return false
	}
	v.Service = tail[:end]
	filled, err := t.Fill(v)
	return err == nil && filled == text
}
