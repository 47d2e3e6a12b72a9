package transport

import (
	"regexp"
	"strings"

	"github.com/intentplane/intentplane/apis/oneline"
	"github.com/intentplane/intentplane/provider/redaction"
)

// maxText is how many characters of a server's text are shown.
const maxText = 512

// CleanText returns a text of a server as one line without credentials.
func (c *Conn) CleanText(text string) string { return oneline.Clean(c.redactSecrets(text), maxText) }

// redactSecrets returns a text without our credentials and texts that look like other credentials.
func (c *Conn) redactSecrets(text string) string {
	if c.app != nil {
		if l := c.app.last.Load(); l != nil {
			text = l.redactor.Replace(text)
		}
	}
	return redaction.RedactPatterns(c.redactor.Replace(text))
}

// CleanLines joins the lines of a server's message into one line, without Git's
// progress reports, which the server overwrites.
func (c *Conn) CleanLines(text string) string {
	out := []string{}
	for line := range strings.SplitSeq(c.redactSecrets(text), "\n") {
		line = strings.TrimRight(line, "\r")
		line = strings.TrimSpace(line[strings.LastIndex(line, "\r")+1:])
		line = strings.TrimSpace(strings.TrimPrefix(line, "remote:"))
		if line != "" && !progressLine.MatchString(line) {
			out = append(out, line)
		}
	}
	return oneline.Clean(strings.Join(out, "; "), maxText)
}

// progressLine of Git, such as "Resolving deltas: 100% (3/3), done.".
var progressLine = regexp.MustCompile(`^[A-Z][a-z]+ [a-z]+: +[0-9]+%`)
