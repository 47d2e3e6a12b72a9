package redaction

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRedactPatterns(t *testing.T) {
	cases := map[string]struct{ reason, text, want string }{
		"AccessToken": {
			reason: "The name of a credential may begin with other words.",
			text:   "access_token=abc refresh_token=abc", want: "access_token=[redacted] refresh_token=[redacted]",
		},
		"ClientSecret": {
			reason: "A header and YAML have a colon after the name.",
			text:   "client_secret: abc", want: "client_secret: [redacted]",
		},
		"Database": {
			reason: "The password of a database is a password.",
			text:   "db_password=abc db_pass=abc", want: "db_password=[redacted] db_pass=[redacted]",
		},
		"SecretKey": {reason: "The name of a credential may end with other words.", text: "secretKey=abc", want: "secretKey=[redacted]"},
		"Keys": {
			reason: "Keys of clouds are credentials.",
			text:   "api-key: a accessKey=b AWS_ACCESS_KEY_ID=c", want: "api-key: [redacted] accessKey=[redacted] AWS_ACCESS_KEY_ID=[redacted]",
		},
		"Cookie": {
			reason: "The value of a cookie's header ends with the line.",
			text:   "Cookie: session=abc; a=b\nno", want: "Cookie: [redacted]\nno",
		},
		"SetCookie": {reason: "A server sets a cookie.", text: "Set-Cookie: sid=abc; Path=/", want: "Set-Cookie: [redacted]"},
		"Sessions": {
			reason: "Sessions have their own names in each language.",
			text:   "JSESSIONID=abc PHPSESSID=b sid=c connect.sid=d",
			want:   "JSESSIONID=[redacted] PHPSESSID=[redacted] sid=[redacted] connect.sid=[redacted]",
		},
		"Short": {
			reason: "Short names of passwords and signatures are names.",
			text:   "pwd=abc sig=b", want: "pwd=[redacted] sig=[redacted]",
		},
		"Token": {
			reason: "An unknown scheme of a header is cut with its credential.",
			text:   "Authorization: Token abc", want: "Authorization: [redacted]",
		},
		"AWS": {
			reason: "The credential of a header may be several words.",
			text:   "Authorization: AWS4-HMAC-SHA256 Credential=a, Signature=b\r\nnext", want: "Authorization: [redacted]\r\nnext",
		},
		"Proxy": {
			reason: "The header of a proxy is a header.",
			text:   "Proxy-Authorization: Negotiate abc", want: "Proxy-Authorization: [redacted]",
		},
		"Quoted": {
			reason: "A value in quotes is cut with all of its words.",
			text:   `password="a b" 'token': 'c d' x`, want: `password=[redacted] 'token': [redacted] x`,
		},
		"Escaped": {
			reason: "JSON within JSON has escapes before its quotes.",
			text:   `{\"password\":\"a b\",\"n\":1}`, want: `{\"password\":[redacted],\"n\":1}`,
		},
		"EscapedQuote": {
			reason: "A quote with an escape does not end a value.",
			text:   `{"password": "a\" b", "n": 1}`, want: `{"password": [redacted], "n": 1}`,
		},
		"OpenQuote": {
			reason: "A value without its last quote ends with the line.",
			text:   "password=\"a b\nno", want: "password=[redacted]\nno",
		},
		"Marks": {reason: "A value without quotes ends at white space.", text: "password=a'b,c;d no", want: "password=[redacted] no"},
		"Program": {
			reason: "Programs have other marks between a name and its value.",
			text:   `"password"=>"a b" token := x`, want: `"password"=>[redacted] token := [redacted]`,
		},
		"Form": {
			reason: "A form may be escaped.",
			text:   "user%5Bpassword%5D=abc client_secret%3Dabc", want: "user%5Bpassword%5D=[redacted] client_secret%3D[redacted]",
		},
		"Scheme": {
			reason: "A credential may stand after its scheme.",
			text:   "Bearer abc; basic YTpi", want: "Bearer [redacted]; basic [redacted]",
		},
		"SchemeOfToken": {reason: "A scheme between a name and its value is no value.", text: "token: Bearer abc", want: "token: [redacted]"},
		"BearerToken":   {reason: "A name may begin with the word of a scheme.", text: "Bearer token: abc", want: "Bearer token: [redacted]"},
		"BearerWord": {
			reason: "A credential may begin with a word of sentences.",
			text:   "Bearer auth-abc basic access.x bearer token", want: "Bearer [redacted] basic [redacted] bearer token",
		},
		"Both": {
			reason: "A header takes the rest of its line with it.",
			text:   "upstream sent Authorization: Bearer abc; access_token=x", want: "upstream sent Authorization: [redacted]",
		},
		"URL": {
			reason: "A URL loses its user and query.",
			text:   "see https://joe:pw@git.example.org/a?token=abc#x now", want: "see https://[redacted]@git.example.org/a now",
		},
		"Slash": {reason: "A password in a URL may have a slash.", text: "https://u:pa/ss@h/", want: "https://[redacted]@h/"},
		"Query": {reason: "A password in a URL may have a question mark.", text: "https://u:p?a#b@h/", want: "https://[redacted]@h/"},
		"At":    {reason: "A password in a URL may have an at sign.", text: "https://u:p@ss@h/", want: "https://[redacted]@h/"},
		"Quote": {reason: "A password in a URL may have a quote.", text: "https://u:p'w@h/", want: "https://[redacted]@h/"},
		"Shapes": {
			reason: "A token may have a known beginning.",
			text:   "found ghp_" + strings.Repeat("a", 36) + " and glpat-" + strings.Repeat("b", 20) + ".",
			want:   "found [redacted] and [redacted].",
		},
		"JWT": {
			reason: "A JSON Web Token has three parts.",
			text:   "got eyJhbGciOiJub25lIn0.eyJzdWIiOiJhIn0.x-y!", want: "got [redacted]!",
		},
		"Key": {
			reason: "A private key is cut with all of its lines.",
			text:   "a\n-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----\nb", want: "a\n[redacted]\nb",
		},
		"OpenKey": {
			reason: "A private key without its end is cut up to the end of the text.",
			text:   "a -----BEGIN PRIVATE KEY-----\nabc\ndef", want: "a [redacted]",
		},
		"List": {
			reason: "Each element of a list is a value.",
			text:   `{"tokens": ["a", "b]c"], "n": 1}`, want: `{"tokens": [redacted], "n": 1}`,
		},
		"ListOfLines": {
			reason: "A list may have several lines.",
			text:   "\"passwords\": [\n  \"a\",\n  \"b\"\n],\n\"n\": 1", want: "\"passwords\": [redacted],\n\"n\": 1",
		},
		"ListOfProgram": {reason: "A program prints lists without quotes.", text: "tokens=[a b c] n=1", want: "tokens=[redacted] n=1"},
		"ListOfBytes":   {reason: "A program prints bytes as numbers.", text: "Password:[97 98] n:1", want: "Password:[redacted] n:1"},
		"ListOpen": {
			reason: "A list without its end is cut up to the end of the text.",
			text:   `tokens: ["a", "b`,
			want:   "tokens: [redacted]",
		},
		"ListEscaped": {
			reason: "A list may stand in JSON within JSON.",
			text:   `{\"tokens\":[\"a\",\"b]c\"],\"n\":1}`, want: `{\"tokens\":[redacted],\"n\":1}`,
		},
		"ListOfLists": {reason: "A list may hold lists.", text: `secrets: [[a, b], [c]], n: 1`, want: `secrets: [redacted], n: 1`},
		"Tuple":       {reason: "A list may have parentheses.", text: "passwords=('a', 'b') n", want: "passwords=[redacted] n"},
		"Object": {
			reason: "An object with the name of a credential is one.",
			text:   `{"credential": {"user": "joe", "value": {"a": "b"}}, "n": 1}`, want: `{"credential": [redacted], "n": 1}`,
		},
		"Element": {
			reason: "An element of a list may be named.",
			text:   "tokens[0]=abc secret['key']=def n",
			want:   "tokens[0]=[redacted] secret['key']=[redacted] n",
		},
		"YAMLList": {
			reason: "A list of YAML has a line for each element.",
			text:   "tokens:\n- a\n- b\nn: 1", want: "tokens:[redacted]\nn: 1",
		},
		"YAMLText": {
			reason: "A text of YAML may stand below its name.",
			text:   "password: |\n  a b\n  c\nn: 1",
			want:   "password: [redacted]\nn: 1",
		},
		"DockerAuth": {
			reason: "The credential of a registry has a name that is no other word.",
			text:   `{"auths": {"registry.example.org": {"auth": "dTpw"}}} and "auth": "dTpw", x`, want: `{"auths": [redacted]} and "auth": [redacted], x`,
		},
		"NPMAuth": {
			reason: "So has the credential of a registry of npm.",
			text:   "//registry.example.org/:_auth=dTpw= and _authToken=abc", want: "//registry.example.org/:_auth=[redacted] and _authToken=[redacted]",
		},
		"YAMLAuth": {reason: "Without quotes it has other characters than small letters.", text: "auth: dTpw x", want: "auth: [redacted] x"},
		"AuthWords": {
			reason: "Sentences about authentication stay.",
			text:   "auth: access denied; auth: user is unknown, oauth: no", want: "auth: access denied; auth: user is unknown, oauth: no",
		},
		"Option": {
			reason: "The option of a program has its value as the next word.",
			text:   "run --password abc --token 'b c' -v",
			want:   "run --password [redacted] --token [redacted] -v",
		},
		"OptionFlag": {
			reason: "An option before another option has no value.",
			text:   "--password --verbose, and --token is required",
			want:   "--password --verbose, and --token is required",
		},
		"CurlUser": {
			reason: "The option of curl has a user and a password.",
			text:   "curl -u joe:pw https://h; git push -u origin a:b",
			want:   "curl -u [redacted] https://h; git push -u origin a:b",
		},
		"XML": {
			reason: "An element of XML has a value.",
			text:   "<a><db:password type='x'>abc</db:password><n>1</n></a>",
			want:   "<a><db:password type='x'>[redacted]</db:password><n>1</n></a>",
		},
		"Rest": {reason: "A value may go on behind its quotes.", text: `password="a"b, n`, want: `password=[redacted], n`},
		"OtherShapes": {
			reason: "Clouds and other services have tokens with known beginnings.",
			text:   "xoxb-1234567890-abc AKIAABCDEFGHIJKLMNOP glrt-" + strings.Repeat("a", 20) + " glob-" + strings.Repeat("a", 20),
			want:   "[redacted] [redacted] [redacted] glob-" + strings.Repeat("a", 20),
		},
		"ProseNot": {reason: "The rest of a sentence is no value.", text: "token: not valid", want: "token: not valid"},
		"Prose": {
			reason: "A sentence may go on with many words.",
			text: "invalid token: is expired. password: must be set; session: The server closed it, credential: access denied, " +
				"signature: verification failed, private-key: unknown; secrets: found in a.txt, token: see the page",
			want: "invalid token: is expired. password: must be set; session: The server closed it, credential: access denied, " +
				"signature: verification failed, private-key: unknown; secrets: found in a.txt, token: see the page",
		},
		"ProseEnd": {reason: "A sentence may end with its word.", text: "token: expired", want: "token: expired"},
		"ProseLike": {
			reason: "A value may begin as a word of a sentence.",
			text:   "token: not-a-word password: nothing token: access",
			want:   "token: [redacted] password: [redacted] token: [redacted]",
		},
		"ProseValue": {
			reason: "A word of a sentence is a value in quotes, and without a space.",
			text:   `token: "not valid" password=not token:not`,
			want:   "token: [redacted] password=[redacted] token:[redacted]",
		},
		"Mail": {
			reason: "An address of mail is not a part of a URL before it.",
			text:   "see https://h/a or ask a@b", want: "see https://h/a or ask a@b",
		},
		"Words": {
			reason: "Sentences about credentials stay.",
			text:   "HTTP Basic: Access denied. Basic authentication is off, the token is not valid; signal: killed",
			want:   "HTTP Basic: Access denied. Basic authentication is off, the token is not valid; signal: killed",
		},
		"Rules": {
			reason: "Rules of servers stay.",
			text:   "GH006: Protected branch update failed: inside: no; design: yes; pass: 3",
			want:   "GH006: Protected branch update failed: inside: no; design: yes; pass: 3",
		},
		"Again": {
			reason: "A redacted text stays.",
			text:   "Authorization: [redacted]\ntoken=[redacted] https://[redacted]@h/",
			want:   "Authorization: [redacted]\ntoken=[redacted] https://[redacted]@h/",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, RedactPatterns(tc.text)); diff != "" {
				t.Errorf("\n%s\nRedactPatterns(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestNewReplacer(t *testing.T) {
	cases := map[string]struct {
		reason  string
		secrets []string
		text    string
		want    string
	}{
		"Plain": {
			reason:  "A secret is replaced wherever it stands.",
			secrets: []string{"c4n4ry"}, text: "c4n4ry,xc4n4ryx", want: "[redacted],x[redacted]x",
		},
		"URL": {
			reason:  "Servers escape in capital and in small letters.",
			secrets: []string{"a+/ b"}, text: "a%2B%2F+b a%2b%2f+b a%2B%2F%20b a+%2f%20b", want: "[redacted] [redacted] [redacted] [redacted]",
		},
		"Page": {
			reason:  "Pages escape marks in several forms.",
			secrets: []string{`a&<"'`}, text: "a&amp;&lt;&#34;&#39; a&amp;&lt;&quot;&apos; a&amp;&lt;&quot;&#x27; a&amp;&lt;&quot;&#39;",
			want: "[redacted] [redacted] [redacted] [redacted]",
		},
		"JSON": {
			reason:  "JSON escapes quotes, and in some programs the marks of pages.",
			secrets: []string{`"a"&"`}, text: `\"a\"\u0026\" \"a\"&\"`, want: "[redacted] [redacted]",
		},
		"Pair": {
			reason:  "A pair may have lost its padding.",
			secrets: BasicPairs("u", "p?>~~"), text: "dTpwPz5+fg== dTpwPz5+fg dTpwPz5-fg== dTpwPz5-fg dTpwPz5%2bfg%3d%3d",
			want: "[redacted] [redacted] [redacted] [redacted] [redacted]",
		},
		"Within": {
			reason:  "A secret within another leaves no rest of it.",
			secrets: []string{"abc", "abcdef"}, text: "abcdef abc", want: "[redacted] [redacted]",
		},
		"Nothing": {reason: "An empty secret replaces nothing.", secrets: []string{""}, text: "abc", want: "abc"},
		"NoPair":  {reason: "No user and no password are no pair.", secrets: BasicPairs("", ""), text: "Og==", want: "Og=="},
		"Nonascii": {
			reason:  "A secret may have any letters.",
			secrets: []string{"пароль"}, text: "%d0%bf%d0%b0%d1%80%d0%be%d0%bb%d1%8c", want: "[redacted]",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, NewReplacer(tc.secrets...).Replace(tc.text)); diff != "" {
				t.Errorf("\n%s\nReplace(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestRedactPatternsOfLongText redacts a text of a hostile server whose words never end.
func TestRedactPatternsOfLongText(t *testing.T) {
	for _, word := range []string{"a", "https://", "token", "-", "'", "cookie:\n", "\\\""} {
		text := strings.Repeat(word, 16<<10/len(word))
		if got := RedactPatterns(text); len(got) > 8*len(text) {
			t.Errorf("\nA redacted text is bounded\nRedactPatterns(%q...): %d bytes", word, len(got))
		}
	}
}
