package state

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDecodeOwner(t *testing.T) {
	ours, err := EncodeOwner("uid-1")
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason  string
		content string
		want    string
		err     string
	}{
		"Ours":    {reason: "A decoded marker has the encoded owner.", content: string(ours), want: "uid-1"},
		"Empty":   {reason: "An empty file names no owner.", content: "", err: "cannot decode owner of state: it is malformed"},
		"NoUID":   {reason: "An empty uid is not an owner.", content: `{"version":1}`, err: "cannot decode owner of state: it is malformed"},
		"Version": {reason: "A newer form of the owner is refused.", content: `{"version":2,"clusterUID":"x"}`, err: "cannot decode owner of state: it is malformed"},
		"Longest": {
			reason:  "A UID may be as long as the API allows.",
			content: `{"version":1,"clusterUID":"` + strings.Repeat("x", 64) + `"}`, want: strings.Repeat("x", 64),
		},
		"Long": {
			reason: "A UID over the limit is refused, since messages name it.", content: `{"version":1,"clusterUID":"` + strings.Repeat("x", 65) + `"}`,
			err: "cannot decode owner of state: it is malformed",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := DecodeOwner([]byte(tc.content))
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nDecodeOwner(...): -want, +got:\n%s", tc.reason, diff)
			}
			message := ""
			if err != nil {
				message = err.Error()
			}
			if diff := cmp.Diff(tc.err, message); diff != "" {
				t.Errorf("\n%s\nDecodeOwner(...): -want error, +got error:\n%s", tc.reason, diff)
			}
		})
	}
}
