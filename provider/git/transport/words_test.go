package transport_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/git/budget"
	"github.com/intentplane/intentplane/provider/git/failure"
)

// TestServerWords shows the words of an answer that is an error, and not a page for browsers.
func TestServerWords(t *testing.T) {
	const (
		bad       = "the server answered Bad Request"
		forbidden = "these credentials may not read it"
	)
	cases := map[string]struct {
		reason             string
		status             int
		body, detail, want string
	}{
		"Text": {
			reason: "The words of the server reach the user.",
			status: 400, detail: bad, body: "TF401041: Clients must support multi-ack.\r\n", want: "TF401041: Clients must support multi-ack.",
		},
		"Status": {reason: "A text that repeats the status is left out.", status: 400, detail: bad, body: "400 Bad Request\n"},
		"Ending": {
			reason: "A text that ends with the name of the status says more.",
			status: 400, detail: bad, body: "rule 7: Bad Request", want: "rule 7: Bad Request",
		},
		"Page": {
			reason: "A page for browsers is left out.",
			status: 400, detail: bad, body: "\n<!DOCTYPE html><html><body>Bad request</body></html>",
		},
		"Lines": {reason: "Several lines become one.", status: 400, detail: bad, body: "a\n\n  b\x1b[2J\n", want: "a; b [2J"},
		"Long": {
			reason: "A text that is cut ends with a whole word.",
			status: 400, detail: bad, body: "a " + strings.Repeat("b", 2000), want: "a",
		},
		"Word": {reason: "A word that is cut is left out.", status: 400, detail: bad, body: strings.Repeat("b", 2000)},
		"Secret": {
			reason: "A URL in the words loses its credentials.",
			status: 400, detail: bad, body: "see https://u:p@git.example.org/x?token=t", want: "see https://[redacted]@git.example.org/x",
		},
		"Unauthorized": {
			reason: "Words about wrong credentials reach the user.",
			status: 401, detail: "the credentials were not accepted", body: "your token: abc has expired",
			want: "your token: [redacted] has expired",
		},
		"Forbidden": {
			reason: "Words about a missing permission reach the user.",
			status: 403, detail: forbidden, body: "remote: sign the agreement first\n", want: "sign the agreement first",
		},
		"NotFound": {
			reason: "Words about a missing repository reach the user.",
			status: 404, detail: "it does not exist, or these credentials may not see it", body: "it moved: see /new",
			want: "it moved: see /new",
		},
		"NameAlone": {reason: "The name of the status says no more than the status.", status: 403, detail: forbidden, body: "Forbidden\n"},
		"NoBody":    {reason: "An answer may have no words.", status: 403, detail: forbidden},
		"Odd": {
			reason: "A status without a name is a number, and its words reach the user.",
			status: 520, detail: "the server answered status 520", body: "origin is down", want: "origin is down",
		},
		"OddAlone": {
			reason: "The number of a status says no more than the status.",
			status: 520, detail: "the server answered status 520", body: "520\n",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(tc.status)
				_, _ = io.WriteString(w, tc.body)
			}))
			t.Cleanup(h.Close)
			c, err := git.NewClient(git.Remote{URL: h.URL + "/shop.git", Branch: "main", StateRef: "refs/intentplane/state"}, budget.New())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(c.Close)
			_, err = c.Look(t.Context(), nil)
			e := &failure.Error{}
			if !errors.As(err, &e) || e.Detail != "cannot read the repository: "+tc.detail {
				t.Fatalf("\n%s\nLook(...): %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, e.Remote); diff != "" {
				t.Errorf("\n%s\nwords: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
