package projection

import "strings"

// Sentences joins parts of a message, so that each part ends before the next part begins. Empty parts are left out, and the last part
// stays as it is. Behind a part of several lines, such as a text with its mistake marked, the next part has a line of its own.
func Sentences(parts ...string) string {
	out := ""
	for _, part := range parts {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		if out != "" {
			out = endSentence(out)
		}
		out += part
	}
	return out
}

// endSentence returns a text to which another sentence can be added.
func endSentence(text string) string {
	if strings.Contains(text, "\n") {
		return text + "\n"
	}
	return Sentence(text) + " "
}

// Sentence returns a text with a full stop at its end, unless it is empty or ends already.
func Sentence(text string) string {
	if text == "" || strings.HasSuffix(text, ".") || strings.HasSuffix(text, "…") || strings.HasSuffix(text, "?") {
		return text
	}
	return text + "."
}
