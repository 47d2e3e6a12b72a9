package gitserver

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// requestText sends a request, a POST if it has a body, and returns the status and the text of the answer.
func requestText(t *testing.T, url, body, protocol string) (status int, text string) {
	t.Helper()
	method := http.MethodGet
	if body != "" {
		method = http.MethodPost
	}
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Git-Protocol", protocol)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(answer)
}

// TestFailedProcess has git processes that fail before they write anything, and processes that succeed.
func TestFailedProcess(t *testing.T) {
	const advertisement = "info/refs?service=git-upload-pack"
	cases := map[string]struct {
		reason               string
		path, body, protocol string
		isBroken             bool
		status               int
		prefix               string
	}{
		"Advertisement":  {reason: "An advertisement that git cannot make is an error.", path: advertisement, isBroken: true, status: 500},
		"SecondProtocol": {reason: "Capabilities that git cannot list are an error.", path: advertisement, protocol: "version=2", isBroken: true, status: 500},
		"Fetch":          {reason: "A fetch that git cannot serve is an error.", path: "git-upload-pack", body: "0000", isBroken: true, status: 500},
		"Push":           {reason: "A push that git cannot serve is an error.", path: "git-receive-pack", body: "0000", isBroken: true, status: 500},
		"Refs":           {reason: "An advertisement begins with its service.", path: advertisement, status: 200, prefix: "001e# service=git-upload-pack\n0000"},
		"Capabilities":   {reason: "Capabilities begin with their version.", path: advertisement, protocol: "version=2", status: 200, prefix: "000eversion 2\n"},
		"Probe":          {reason: "A probe before a push has an empty answer.", path: "git-receive-pack", body: "0000", status: 200},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := start(t)
			if tc.isBroken {
				if err := os.WriteFile(filepath.Join(s.Path("team/fleet"), "config"), []byte("[broken"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			status, text := requestText(t, s.URL("team/fleet")+"/"+tc.path, tc.body, tc.protocol)
			if status != tc.status || !strings.HasPrefix(text, tc.prefix) {
				t.Errorf("\n%s\nGot status %d, and %q", tc.reason, status, text)
			}
		})
	}
}
