package fetch

import (
	"cmp"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/intentplane/intentplane/apis/oneline"
	"github.com/intentplane/intentplane/provider/redaction"
)

const (
	// maxWords is the limit of a repeated message of a server, in characters.
	maxWords = 200

	// maxCleaned is the limit of the text in which labels and addresses are searched, in bytes.
	maxCleaned = 4 << 10
)

// Words returns the server's message to users in an answer without a result: its status, unless the status is 200, and the message of JSON, the title of
// a page or a plain text. The message is one line without the credentials of the request, without labels of series, and with only the scheme and host of URLs.
func (a Answer) Words(k Credentials) string {
	parts := []string{}
	if a.Status != http.StatusOK {
		parts = append(parts, strings.TrimSpace(fmt.Sprintf("status %d %s", a.Status, http.StatusText(a.Status))))
	}
	if message := CleanWords(messageOfBody(a.Body), k); message != "" {
		parts = append(parts, message)
	}
	return strings.Join(parts, ": ")
}

// WithWords appends the words of a server to a problem. Empty words change nothing.
func WithWords(problem, words string) string { return strings.TrimSuffix(problem+": "+words, ": ") }

// pageStart and pageTitle are the beginning and the title of an HTML page.
var (
	pageStart = regexp.MustCompile(`(?i)^<(!doctype\s+)?html`)
	pageTitle = regexp.MustCompile(`(?is)<title[^>]*>([^<]*)</title>`)
)

// messageOfBody returns the message to users in a body. The text is empty for JSON without a message, and for bytes that are not text.
func messageOfBody(body []byte) string {
	text := strings.TrimSpace(string(body))
	switch {
	case text == "" || !utf8.ValidString(text):
		return ""
	case strings.HasPrefix(text, "<"):
		return messageOfPage(text)
	case strings.HasPrefix(text, "{"), strings.HasPrefix(text, "["):
		return messageOfJSON(body)
	}
	return text
}

// messageOfPage returns the title of an HTML page. It is empty for XML.
func messageOfPage(text string) string {
	if !pageStart.MatchString(text) {
		return ""
	}
	title := pageTitle.FindStringSubmatch(text)
	if title == nil {
		return "an HTML page"
	}
	return WithWords("an HTML page", strings.TrimSpace(html.UnescapeString(title[1])))
}

// messageFields are the fields in which servers have the message of an error, the most detailed first.
func messageFields() []string {
	return []string{"error_description", "message", "detail", "msg", "reason", "error", "title"}
}

const (
	// maxNestedMessages is the limit of nested objects around a message, such as error and the first of errors.
	maxNestedMessages = 3

	// maxMessageJSON is the limit of JSON in which a message is searched, in bytes. Each value of JSON takes some dozens of bytes in memory, and the account of the
	// answer pays for three times its text.
	maxMessageJSON = 64 << 10
)

// messageOfJSON returns the message of an error from the usual fields. The text is empty for longer JSON.
func messageOfJSON(body []byte) string {
	if len(body) > maxMessageJSON {
		return ""
	}
	return nestedMessage(body, maxNestedMessages)
}

// nestedMessage returns the message of an object, or of the error or the first of the errors in it. Names of fields may have capital letters.
func nestedMessage(body []byte, depth int) string {
	fields := map[string]json.RawMessage{}
	if depth == 0 || json.Unmarshal(body, &fields) != nil {
		return ""
	}
	byName := make(map[string]json.RawMessage, len(fields))
	for name, value := range fields {
		byName[strings.ToLower(name)] = value
	}
	for _, name := range messageFields() {
		text := ""
		if json.Unmarshal(byName[name], &text) == nil && text != "" {
			return text
		}
	}
	all := []json.RawMessage{}
	if json.Unmarshal(byName["errors"], &all) == nil && len(all) > 0 {
		text := ""
		_ = json.Unmarshal(all[0], &text) // An object has its message in a field.
		return cmp.Or(text, nestedMessage(all[0], depth-1))
	}
	return nestedMessage(byName["error"], depth-1)
}

var (
	// addressInText is a URL without credentials: its scheme and host, and all that follows.
	addressInText = regexp.MustCompile(`(?i)([a-z][a-z0-9+.-]*://)(?:\[redacted\]@)?([^/\s?#"'<>)]*)[^\s"'<>)]*`)

	// cutAddress is a URL at the end of a text that was cut, perhaps before the end of its user and password.
	cutAddress = regexp.MustCompile(`(?i)[a-z][a-z0-9+.-]*://\S*$`)
)

// CleanWords returns a text of a server as one line of at most 200 characters, without the credentials of the request and texts that look like other
// credentials.
func CleanWords(text string, k Credentials) string {
	text = redactCredentials(strings.ToValidUTF8(text, ""), k)
	if len(text) > maxCleaned {
		text = cutAddress.ReplaceAllString(strings.ToValidUTF8(text[:maxCleaned], ""), "…")
	}
	text = redaction.RedactPatterns(text) // Before the sets of labels: a brace may be a part of a credential.
	text = removeLabelSets(text)
	text = addressInText.ReplaceAllString(text, "${1}${2}")
	return oneline.Clean(text, maxWords)
}

// removeLabelSets removes sets of labels, which may belong to another tenant, from a text. A server may have cut the last set.
func removeLabelSets(text string) string {
	out, depth := strings.Builder{}, 0
	for _, r := range text {
		switch {
		case r == '{':
			if depth++; depth == 1 {
				out.WriteRune('…')
			}
		case r == '}' && depth > 0:
			depth--
		case depth == 0:
			out.WriteRune(r)
		}
	}
	return out.String()
}

// redactCredentials replaces the credentials of a request in each form in which a server can repeat them.
func redactCredentials(text string, k Credentials) string {
	secrets := []string{string(k.Token), string(k.Password)}
	if k.Username != "" {
		secrets = append(secrets, redaction.BasicPairs(k.Username, string(k.Password))...)
	}
	return redaction.NewReplacer(secrets...).Replace(text)
}
