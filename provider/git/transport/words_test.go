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
	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/provider/git/transport"
)

// TestServerWords shows the words of an answer that is an error, and not a page for browsers.
func TestServerWords(t *testing.T) {
	cases := map[string]struct{ reason, body, want string }{
		"Text":   {reason: "The words of the server reach the user.", body: "TF401041: Clients must support multi-ack.\r\n", want: "TF401041: Clients must support multi-ack."},
		"Status": {reason: "A text that repeats the status is left out.", body: "400 Bad Request\n"},
		"Page":   {reason: "A page for browsers is left out.", body: "\n<!DOCTYPE html><html><body>Bad request</body></html>"},
		"Lines":  {reason: "Several lines become one.", body: "a\n\n  b\x1b[2J\n", want: "a; b [2J"},
		"Long":   {reason: "A text that is cut ends with a whole word.", body: "a " + strings.Repeat("b", 2000), want: "a"},
		"Word":   {reason: "A word that is cut is left out.", body: strings.Repeat("b", 2000)},
		"Secret": {reason: "A URL in the words loses its credentials.", body: "see https://u:p@git.example.org/x?token=t", want: "see https://[redacted]@git.example.org/x"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusBadRequest)
				_, _ = io.WriteString(w, tc.body)
			}))
			t.Cleanup(h.Close)
			c, err := git.NewClient(git.Remote{URL: h.URL + "/shop.git", Branch: "main", StateRef: "refs/intentplane/state"}, transport.NewBudget())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(c.Close)
			_, err = c.Look(t.Context(), nil)
			e := &failure.Error{}
			if !errors.As(err, &e) || e.Detail != "cannot read the repository: the server answered Bad Request" {
				t.Fatalf("\n%s\nLook(...): %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, e.Remote); diff != "" {
				t.Errorf("\n%s\nwords: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
