package transport

import (
	"encoding/base64"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCleanText(t *testing.T) {
	const canary = "s3cr%t/канарейка"
	c := &Conn{redactor: newRedactor(Server{Auth: Basic{Username: "u", Password: canary}})}
	for _, spelling := range []string{canary, url.QueryEscape(canary), strings.ToLower(url.PathEscape(canary)), base64.RawURLEncoding.EncodeToString([]byte("u:" + canary))} {
		got := c.CleanText("remote said\x1b[31m:\n" + spelling + "\r\n" + strings.Repeat("x", 2000))
		if diff := cmp.Diff("remote said [31m: [redacted] ", got[:29]); diff != "" {
			t.Errorf("\nCredentials, escapes and line breaks are removed\nCleanText(...): -want, +got:\n%s", diff)
		}
		if len(got) > 600 {
			t.Errorf("\nText is bounded\nCleanText(...): %d bytes", len(got))
		}
	}
}

func TestCleanLines(t *testing.T) {
	c := &Conn{redactor: newRedactor(Server{Auth: Basic{Username: "u", Password: "s3cret"}})}
	full := &Transcript{}
	for range 300 {
		_, _ = full.Write([]byte("Resolving deltas: 10% (1/10)\n"))
	}
	_, _ = full.Write([]byte("s3cret"))
	cases := map[string]struct {
		reason string
		said   string
		want   string
	}{
		"Lines": {reason: "Lines become one, in their order.", said: "rule 7 says no\nask the owners\n", want: "rule 7 says no; ask the owners"},
		"Progress": {
			reason: "Git's progress reports say nothing about a refusal.",
			said:   "Resolving deltas:  50% (1/2)\rResolving deltas: 100% (2/2), done.\nno\n", want: "no",
		},
		"Prefix":   {reason: "The prefix that a client shows is left out.", said: "remote: error: GH006: Protected branch", want: "error: GH006: Protected branch"},
		"Controls": {reason: "Control characters and invisible characters cannot hide a text.", said: "a\x1b[2Jb\u202ec\x00d", want: "a [2Jb c d"},
		"Password": {reason: "A credential of ours is not repeated.", said: "bad: s3cret", want: "bad: [redacted]"},
		"UserInfo": {
			reason: "A URL loses the user and the password in it, whatever they are.",
			said:   "see https://joe:pw@git.example.org/a for help", want: "see https://[redacted]@git.example.org/a for help",
		},
		"Query": {
			reason: "A URL loses its query, which may hold a token.",
			said:   "see https://git.example.org/a?token=abc#x now", want: "see https://git.example.org/a now",
		},
		"Headers": {
			reason: "A header with a credential of any user loses its value before the lines are joined.",
			said:   "sent Authorization: Token a b\nremote: client_secret: c\nno",
			want:   "sent Authorization: [redacted]; client_secret: [redacted]; no",
		},
		"OddURL": {
			reason: "A password in a URL may have any marks.",
			said:   "see https://joe:p/w@a'b@git.example.org/a for help", want: "see https://[redacted]@git.example.org/a for help",
		},
		"Truncated": {reason: "A line that was not kept as a whole is left out, for it may end within a credential.", said: full.String(), want: ""},
		"Nothing":   {reason: "A server may say nothing.", said: "\n \r\n", want: ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, c.CleanLines(tc.said)); diff != "" {
				t.Errorf("\n%s\nCleanLines(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
