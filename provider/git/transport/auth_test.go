package transport_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/provider/git/transport"
	"github.com/intentplane/intentplane/test/gitserver"
)

func TestAuth(t *testing.T) {
	cases := map[string]struct {
		reason string
		auth   transport.Auth
		want   failure.Class
	}{
		"Basic":     {reason: "The right password is accepted by the server.", auth: transport.Basic{Username: "user", Password: canary}},
		"Bearer":    {reason: "The right token is accepted by the server.", auth: transport.Bearer{Token: canary}},
		"Anonymous": {reason: "Anonymous access is refused as a missing credential.", want: failure.ClassAuth},
		"WrongPassword": {
			reason: "A wrong password is refused as a credential.",
			auth:   transport.Basic{Username: "user", Password: canary + "x"}, want: failure.ClassAuth,
		},
		"WrongToken": {reason: "A wrong token is refused as a credential.", auth: transport.Bearer{Token: canary + "x"}, want: failure.ClassAuth},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := serve(t, map[string]string{"a": "b"}, gitserver.WithBasicAuth("user", canary), gitserver.WithBearerToken(canary))
			c := client(t, s, func(r *git.Remote) { r.Auth = tc.auth })
			snapshot, err := c.Look(context.Background(), nil)
			if diff := cmp.Diff(tc.want, failure.ClassOf(err)); diff != "" {
				t.Fatalf("\n%s\nLook(): -want, +got:\n%s\n%v", tc.reason, diff, err)
			}
			checkNoCredential(t, err)
			if err == nil {
				push(t, c, plan(t, snapshot, delivery(1)))
			}
			if text := fmt.Sprintf("%v %+v %#v", c.Remote(), c.Remote(), c.Remote()); strings.Contains(text, canary) {
				t.Errorf("\nA remote that is printed shows no credential\n%s", text)
			}
		})
	}
}
