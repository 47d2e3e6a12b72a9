// Package redaction removes credentials from texts of servers before users see the texts. Pure.
package redaction

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// Mark stands in the place of a credential.
const Mark = "[redacted]"

// BasicPairs returns the user name and password of basic authentication in the encodings of base64. Without a user name and password there are none.
func BasicPairs(username, password string) []string {
	if username == "" && password == "" {
		return nil
	}
	pair := []byte(username + ":" + password)
	return []string{
		base64.StdEncoding.EncodeToString(pair), base64.RawStdEncoding.EncodeToString(pair),
		base64.URLEncoding.EncodeToString(pair), base64.RawURLEncoding.EncodeToString(pair),
	}
}

// NewReplacer returns a replacer that puts Mark in the place of known secrets, in each spelling in which a server may repeat them.
func NewReplacer(secrets ...string) *strings.Replacer {
	spellings := []string{}
	for _, secret := range secrets {
		spellings = append(spellings, spellingsOf(secret)...)
	}
	// The longest spelling is first, so that no rest of it remains behind a shorter one.
	slices.SortFunc(spellings, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	pairs := []string{}
	for _, spelling := range slices.Compact(spellings) {
		pairs = append(pairs, spelling, Mark)
	}
	return strings.NewReplacer(pairs...)
}

// escapedByte is a byte in the encoding of URLs.
var escapedByte = regexp.MustCompile(`%[0-9A-F]{2}`)

// spellingsOf returns the spellings of a secret: plain, in URLs with hexadecimal digits of both cases, in pages, and in JSON.
func spellingsOf(secret string) []string {
	if secret == "" {
		return nil
	}
	out := []string{secret}
	for _, escaped := range []string{url.QueryEscape(secret), url.PathEscape(secret), strings.ReplaceAll(url.QueryEscape(secret), "+", "%20")} {
		out = append(out, escaped, escapedByte.ReplaceAllStringFunc(escaped, strings.ToLower))
	}
	page := html.EscapeString(secret)
	named := strings.NewReplacer("&#34;", "&quot;", "&#39;", "&apos;").Replace(page)
	numbered := strings.NewReplacer("&#34;", "&quot;", "&#39;", "&#x27;").Replace(page)
	mixed := strings.NewReplacer("&#34;", "&quot;").Replace(page)
	escaped := escapeJSON(secret)
	plain := strings.NewReplacer(`\u0026`, "&", `\u003c`, "<", `\u003e`, ">").Replace(escaped)
	return append(out, page, named, numbered, mixed, escaped, plain)
}

// escapeJSON returns a text as it stands in a string of JSON. A text always has such a form.
func escapeJSON(text string) string {
	quoted, err := json.Marshal(text)
	if err != nil {
		return text
	}
	return string(quoted[1 : len(quoted)-1])
}

const (
	// secretNames are the names of values that are credentials, and of cookies with sessions.
	secretNames = `[\w.-]*(?:password|passwd|passphrase|passcode|pwd|token|secret|credential|signature|session|sessid|cookie|jwt|connection[-_]?string|` +
		`(?:api|access|private|account|shared)[-_]?key)[\w.-]*|[\w-]+[-_]pass|(?:[\w.-]*[-_.])?(?:sid|sig|auths?|creds)`

	// separator is between a name and its value, in a header, a form, a URL, JSON, or a program. An index or a key may stand before it.
	separator = `(?:\[[^\[\]\s]*\])*(?:["'\\\]]|%5d|%22)*[ \t]*(?::=|=>|[:=]|%3a|%3d)[ \t]*`
)

var (
	// userinfo of a URL ends at the last "@" before white space: a password that is not escaped may have each of the marks that end a host.
	userinfo = regexp.MustCompile(`(?i)([a-z][a-z0-9+.-]*://)\S*@`)

	// query is the rest of a URL after its path. It may have a token.
	query = regexp.MustCompile(`(?i)([a-z][a-z0-9+.-]*://[^?#\s]*)[?#]\S+`)

	// header is a header whose value has a credential: all of its line.
	header = regexp.MustCompile(`(?i)([\w-]*(?:authorization|cookie)[\w-]*` + separator + `)[^\r\n]*`)

	// named is the name of a credential with its separator, or as the option of a program.
	named = regexp.MustCompile(`(?i)\b(` + secretNames + `)(` + separator + `)|--(` + secretNames + `)([ \t]+)`)

	// element is an element of XML with the name of a credential.
	element = regexp.MustCompile(`(?i)(<(?:\w+:)?(?:` + secretNames + `)(?:\s[^<>]*)?>)[^<]+`)

	// userOption is the option of a program with a user and a password, as curl has it.
	userOption = regexp.MustCompile(`((?:^|\s)(?:-u|--user|--proxy-user)[ =]?)[^\s:/]+:[^\s/]\S*`)

	// shaped is a credential with a shape of its own: tokens of Git servers, clouds and other services, JSON Web Tokens (RFC 7519), and private keys in PEM,
	// also without their end.
	shaped = regexp.MustCompile(`\b(?:gh[a-z]_|github_pat_|gl(?:agent|cbt|dt|ffct|ft|imt|oas|pat|ptt|rt|soat)-|ATBB|ATCTT|npm_|hvs\.|AIza|ya29\.)[\w-]{16,}|` +
		`\bxox[a-z]-[\w-]{10,}|\bA[KS]IA[0-9A-Z]{16}\b|\beyJ[\w-]+\.[\w-]+\.[\w-]*|` +
		`(?s:-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|$))`)

	// schemed is a credential after a scheme of authentication. The words after a scheme in a sentence are none.
	schemed = regexp.MustCompile(`(?i)\b((?:bearer|basic)\s+(?:auth|authentication|authorization|tokens?|credentials?|access)[.,:;!?]?(?:\s|$))|` +
		`\b((?:bearer|basic)\s+)[^\s"',;]+`)
)

// RedactPatterns returns a text without parts that look like credentials of any user: users and queries in URLs, headers, values with the name of
// a credential, and tokens and keys with a known shape. The text still has its lines, since the value of a header ends with its line.
func RedactPatterns(text string) string {
	text = userinfo.ReplaceAllString(text, "${1}"+Mark+"@")
	text = query.ReplaceAllString(text, "${1}")
	text = shaped.ReplaceAllString(text, Mark)
	text = header.ReplaceAllString(text, "${1}"+Mark)
	text = element.ReplaceAllString(text, "${1}"+Mark)
	text = userOption.ReplaceAllString(text, "${1}"+Mark)
	text = redactNamed(text)
	return schemed.ReplaceAllStringFunc(text, redactScheme)
}

// redactNamed returns a text without the values of credentials that have their names before them.
func redactNamed(text string) string {
	out := strings.Builder{}
	for found := named.FindStringSubmatchIndex(text); found != nil; found = named.FindStringSubmatchIndex(text) {
		out.WriteString(text[:found[1]])
		name, separatorText := matchedGroup(text, found, 1), matchedGroup(text, found, 2)
		if name == "" {
			name, separatorText = matchedGroup(text, found, 3), matchedGroup(text, found, 4)
		}
		text = text[found[1]:]
		n := valueLength(text)
		if n == 0 || isProse(name, separatorText, text) {
			continue
		}
		out.WriteString(Mark)
		text = text[n:]
	}
	return out.String() + text
}

// matchedGroup returns the text of a group, or "" if the group did not match.
func matchedGroup(text string, found []int, group int) string {
	if found[2*group] < 0 {
		return ""
	}
	return text[found[2*group]:found[2*group+1]]
}

// redactScheme returns a match of schemed without its credential.
func redactScheme(match string) string {
	parts := schemed.FindStringSubmatch(match)
	if parts[2] == "" {
		return match
	}
	return parts[2] + Mark
}
