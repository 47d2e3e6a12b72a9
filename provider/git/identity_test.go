package git

import (
	"strings"
	"testing"

	"github.com/intentplane/intentplane/provider/git/transport"
)

func TestIdentity(t *testing.T) {
	base := Remote{URL: "https://example.org/a", Branch: "main", StateRef: stateRef, Auth: transport.Basic{Username: "u", Password: "p"}}
	cases := map[string]struct {
		reason string
		change func(r *Remote)
	}{
		"Branch":   {reason: "Another branch has another identity.", change: func(r *Remote) { r.Branch = "other" }},
		"Password": {reason: "A new password has another identity.", change: func(r *Remote) { r.Auth = transport.Basic{Username: "u", Password: "q"} }},
		"Kind":     {reason: "Another type of credentials has another identity.", change: func(r *Remote) { r.Auth = transport.Bearer{Token: "p"} }},
		"CA":       {reason: "Other trusted certificates have another identity.", change: func(r *Remote) { r.CABundle = []byte("x") }},
		"None":     {reason: "Anonymous access has another identity.", change: func(r *Remote) { r.Auth = nil }},
	}
	want, err := base.Identity()
	if repeated, _ := base.Identity(); repeated != want || err != nil || strings.Contains(want, "p\"") {
		t.Errorf("\nThe same remote is the same\nIdentity(): %s, %s, %v", want, repeated, err)
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := base
			tc.change(&r)
			if got, err := r.Identity(); got == want || err != nil {
				t.Errorf("\n%s\nIdentity(): the same, %v", tc.reason, err)
			}
		})
	}
}
