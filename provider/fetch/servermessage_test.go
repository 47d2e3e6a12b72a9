package fetch

import (
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWords(t *testing.T) {
	cases := map[string]struct {
		reason string
		status int
		body   string
		with   Credentials
		want   string
	}{
		"Nothing":   {reason: "Without a body the message is the status.", status: 502, want: "status 502 Bad Gateway"},
		"OddStatus": {reason: "A status without a name is a number.", status: 599, want: "status 599"},
		"Good":      {reason: "The status 200 is omitted.", status: 200, body: "hello", want: "hello"},
		"Text": {
			reason: "A text is repeated as one line.",
			status: 503, body: "no healthy\r\n\r\n  upstream\n", want: "status 503 Service Unavailable: no healthy upstream",
		},
		"Colour": {reason: "Control characters are left out.", status: 500, body: "\x1b[31mbad\x00\u202e", want: "status 500 Internal Server Error: [31mbad"},
		"Page": {
			reason: "The title of a page is repeated.",
			status: 200, body: "<!DOCTYPE html>\n<html><head><title class=\"a\">Sign in\n to SSO</title></head><body>secret</body></html>",
			want: "an HTML page: Sign in to SSO",
		},
		"Untitled": {reason: "A page without a title is called an HTML page.", status: 200, body: "<html><body>secret</body></html>", want: "an HTML page"},
		"XML": {
			reason: "The body of XML is left out, as the body of a page is.",
			status: 403, body: "<?xml version=\"1.0\"?><Error>secret</Error>", want: "status 403 Forbidden",
		},
		"Error": {
			reason: "The error of Prometheus is its text.",
			status: 503, body: `{"status":"error","errorType":"unavailable","error":"starting"}`, want: "status 503 Service Unavailable: starting",
		},
		"Message": {
			reason: "The message of Grafana is its text.",
			status: 401, body: `{"message":"Invalid API key","messageId":"x"}`, want: "status 401 Unauthorized: Invalid API key",
		},
		"Detail": {
			reason: "The detail of a problem (RFC 9457) is its text.",
			status: 429, body: `{"title":"x","detail":"slow down"}`, want: "status 429 Too Many Requests: slow down",
		},
		"Nested": {
			reason: "A message may be within the error, as clouds have it.",
			status: 403, body: `{"error":{"code":403,"message":"no access"}}`, want: "status 403 Forbidden: no access",
		},
		"Capital": {
			reason: "The name of a message may have a capital letter.", status: 403, body: `{"Message":"User is not authorized"}`,
			want: "status 403 Forbidden: User is not authorized",
		},
		"OAuth": {
			reason: "The description of an error (RFC 6749) says more than its code.",
			status: 401, body: `{"error":"invalid_grant","error_description":"the account is locked"}`, want: "status 401 Unauthorized: the account is locked",
		},
		"Errors": {
			reason: "An error may be the first in a list of errors.", status: 400, body: `{"errors":[{"code":1,"message":"no such tenant"},{"message":"x"}]}`,
			want: "status 400 Bad Request: no such tenant",
		},
		"ErrorTexts": {
			reason: "A list of errors may hold texts.", status: 400, body: `{"errors":["no such tenant"]}`, want: "status 400 Bad Request: no such tenant",
		},
		"Reason": {
			reason: "The message of an error may be its reason.",
			status: 401, body: `{"error":{"type":"security_exception","reason":"missing credentials"},"status":401}`,
			want: "status 401 Unauthorized: missing credentials",
		},
		"Title": {
			reason: "A problem may have a title alone.", status: 503, body: `{"type":"about:blank","title":"maintenance"}`,
			want: "status 503 Service Unavailable: maintenance",
		},
		"Deep": {
			reason: "A message that is too deep is not searched.", status: 500, body: `{"error":{"error":{"error":{"message":"x"}}}}`,
			want: "status 500 Internal Server Error",
		},
		"OddMessage": {
			reason: "A message that is not a text is omitted.",
			status: 500, body: `{"message":{"a":1},"errors":[],"error":5}`, want: "status 500 Internal Server Error",
		},
		"Data": {
			reason: "JSON without a message may be data, and is omitted.",
			status: 500, body: `{"orders":{"failed":1},"customer":"ada"}`, want: "status 500 Internal Server Error",
		},
		"List":   {reason: "A list is data.", status: 500, body: `["ada"]`, want: "status 500 Internal Server Error"},
		"Broken": {reason: "JSON that breaks off is left out.", status: 500, body: `{"error":"ad`, want: "status 500 Internal Server Error"},
		"Binary": {reason: "Bytes that are not text are left out.", status: 500, body: "\x89PNG\xff", want: "status 500 Internal Server Error"},
		"Brace": {
			reason: "A brace in a password leaves nothing of it.",
			status: 400, body: `bad body {"password":"hun}ter2"}`, want: "status 400 Bad Request: bad body …",
		},
		"BraceURL": {
			reason: "A brace in the password of a URL leaves nothing of it.",
			status: 502, body: "dial https://u:pa{ss@h/x", want: "status 502 Bad Gateway: dial https://h",
		},
		"Token": {
			reason: "The token of the request is left out.",
			status: 401, body: "token c4n4ry+/ is unknown, Bearer c4n4ry%2B%2F", with: Credentials{Token: "c4n4ry+/"},
			want: "status 401 Unauthorized: token [redacted] is unknown, Bearer [redacted]",
		},
		"Pair": {
			reason: "The user and the password of the request are left out.",
			status: 401, body: "dTpw refused, p wrong", with: Credentials{Username: "u", Password: "p"},
			want: "status 401 Unauthorized: [redacted] refused, [redacted] wrong",
		},
		"Others": {
			reason: "Credentials of others are left out.",
			status: 502, body: "upstream: Authorization: Basic YTpi, api_key=abc password='x'",
			want: "status 502 Bad Gateway: upstream: Authorization: [redacted]",
		},
		"Named": {
			reason: "Credentials of others have names in many forms.",
			status: 502, body: "client_secret: abc, password='x y' Bearer abc",
			want: "status 502 Bad Gateway: client_secret: [redacted] password=[redacted] Bearer [redacted]",
		},
		"Lines": {
			reason: "A header of a secret ends with its line.",
			status: 502, body: "sent\nCookie: a=b; c=d\nto the store", want: "status 502 Bad Gateway: sent Cookie: [redacted] to the store",
		},
		"OddURL": {
			reason: "A password in a URL may have any marks.",
			status: 502, body: `dial https://u:p/a?b@c'd@store:9090/api: refused`,
			want: "status 502 Bad Gateway: dial https://store:9090 refused",
		},
		"CutURL": {
			reason: "A URL that is cut before its host is left out.",
			status: 502, body: "dial" + strings.Repeat(" ", maxCleaned-20) + "https://u:c4n4ry@store:9090/",
			want: "status 502 Bad Gateway: dial …",
		},
		"Escaped": {
			reason: "A title has the characters of a page.",
			status: 200, body: "<html><title>p&amp;w&#x2f; is a wrong &lt;password&gt;</title>", with: Credentials{Token: "p&w/"},
			want: "an HTML page: [redacted] is a wrong <password>",
		},
		"SmallLetter": {
			reason: "A server may escape the token in small letters.",
			status: 401, body: "c4n4ry%2b", with: Credentials{Token: "c4n4ry+"}, want: "status 401 Unauthorized: [redacted]",
		},
		"NoPadding": {
			reason: "A server may cut the padding of the pair.",
			status: 401, body: "dTpwdw refused", with: Credentials{Username: "u", Password: "pw"},
			want: "status 401 Unauthorized: [redacted] refused",
		},
		"URL": {
			reason: "The host of a URL is repeated.",
			status: 502, body: `dial https://u:p@store:9090/api/v1/read?token=x: refused`,
			want: "status 502 Bad Gateway: dial https://store:9090 refused",
		},
		"Series": {
			reason: "Labels of series may belong to another tenant.",
			status: 500, body: `duplicate series {namespace="team-b", le={a}} and {pod="x`,
			want: "status 500 Internal Server Error: duplicate series … and …",
		},
		"Long": {
			reason: "A long text is cut.",
			status: 500, body: strings.Repeat("ä", 5000), want: "status 500 Internal Server Error: " + strings.Repeat("ä", 199) + "…",
		},
		"Braces": {
			reason: "Braces within each other cost little.",
			status: 500, body: "a" + strings.Repeat("{", 1<<20), want: "status 500 Internal Server Error: a…",
		},
		"CutAtSecret": {
			reason: "A credential at the end of the searched text is left out.",
			status: 500, body: strings.Repeat("a ", maxCleaned/2-1) + "c4n4ry", with: Credentials{Token: "c4n4ry"},
			want: "status 500 Internal Server Error: " + strings.TrimSpace(strings.Repeat("a ", 100)[:199]) + "…",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := Answer{Status: tc.status, Body: []byte(tc.body)}.Words(tc.with)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nWords(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestRedirectIsNamed names the target server of a redirect, without the path.
func TestRedirectIsNamed(t *testing.T) {
	cases := map[string]struct{ reason, location, want string }{
		"Elsewhere": {
			reason:   "The user finds the server that wants a sign-in.",
			location: "https://u:p@login.example.org/oauth?state=c4n4ry", want: ProblemRedirect + ": it leads to https://login.example.org",
		},
		"Here":   {reason: "Another path of the same server may be a secret.", location: "/c4n4ry", want: ProblemRedirect},
		"Absent": {reason: "A redirect without a target names no server.", want: ProblemRedirect},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://prometheus.example.org/api", nil)
			if err != nil {
				t.Fatal(err)
			}
			header := http.Header{}
			if tc.location != "" {
				header.Set("Location", tc.location)
			}
			got := redirectError(&http.Response{StatusCode: http.StatusFound, Header: header, Request: request})
			if diff := cmp.Diff(tc.want, got.Error()); diff != "" {
				t.Errorf("\n%s\nredirectError(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestWordsAreBounded reads the message of JSON whose values take far more memory than their text.
func TestWordsAreBounded(t *testing.T) {
	fields := strings.Builder{}
	for n := 0; fields.Len() < MaxBytes-100; n++ {
		_, _ = fmt.Fprintf(&fields, `,"%x":0`, n)
	}
	cases := map[string]struct{ reason, body string }{
		"Fields": {reason: "An object of many fields has no message.", body: `{"message":"x"` + fields.String() + `}`},
		"Errors": {reason: "A list of many errors has no message.", body: `{"errors":["x"` + strings.Repeat(",0", MaxBytes/2-100) + `]}`},
		"Nested": {reason: "Many errors within an error have no message.", body: `{"error":{"errors":["x"` + strings.Repeat(",0", MaxBytes/2-100) + `]}}`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var baseline, final runtime.MemStats
			runtime.ReadMemStats(&baseline)
			got := Answer{Status: http.StatusInternalServerError, Body: []byte(tc.body)}.Words(Credentials{})
			runtime.ReadMemStats(&final)
			if want := "status 500 Internal Server Error"; got != want {
				t.Errorf("\n%s\nWords(...): want %q, got %q", tc.reason, want, got)
			}
			if took := final.TotalAlloc - baseline.TotalAlloc; took > answerBytes {
				t.Errorf("\n%s\nThe account pays for %d bytes, and %d bytes of JSON took %d.", tc.reason, answerBytes, len(tc.body), took)
			}
		})
	}
}
