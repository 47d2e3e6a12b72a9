package transport

import (
	"regexp"
	"strings"
	"unicode"
)

// CleanText makes text of a server fit to be shown, without a credential of ours.
func (c *Conn) CleanText(text string) string {
	if c.app != nil {
		if l := c.app.last.Load(); l != nil {
			text = l.redactor.Replace(text)
		}
	}
	return redactSecrets(c.redactor, text)
}

// CleanLines joins the lines of a server's message into one line, without Git's
// progress reports, which the server overwrites.
func (c *Conn) CleanLines(text string) string {
	out := []string{}
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimRight(line, "\r")
		line = strings.TrimSpace(line[strings.LastIndex(line, "\r")+1:])
		line = strings.TrimSpace(strings.TrimPrefix(line, "remote:"))
		if line != "" && !progressLine.MatchString(line) {
			out = append(out, line)
		}
	}
	return c.CleanText(strings.Join(out, "; "))
}

var (
	// progressLine of Git, such as "Resolving deltas: 100% (3/3), done.".
	progressLine = regexp.MustCompile(`^[A-Z][a-z]+ [a-z]+: +[0-9]+%`)

	// userinfo of a URL, which may hold a password, and the text after its
	// path, which may hold a token.
	userinfo = regexp.MustCompile(`(?i)([a-z][a-z0-9+.-]*://)[^/?#\s]*@`)
	query    = regexp.MustCompile(`(?i)([a-z][a-z0-9+.-]*://[^?#\s]*)[?#]\S+`)
)

// redactURLs removes the parts of URLs that may hold a credential of any user.
func redactURLs(text string) string {
	text = userinfo.ReplaceAllString(text, "${1}"+redacted+"@")
	return query.ReplaceAllString(text, "${1}")
}

// redactSecrets makes text of a server fit to be shown: no credential, no control
// character, one line, not long.
func redactSecrets(redactor *strings.Replacer, text string) string {
	const most = 512
	text = strings.ToValidUTF8(redactURLs(redactor.Replace(text)), "?")
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return ' '
		}
		return r
	}, text)
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}
