package cluster

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/samples"
	"github.com/intentplane/intentplane/test/apiserver"
)

// serveBundle returns a cluster that has a Bundle whose package is deployed, and its server.
func serveBundle(t *testing.T) (*Cluster, *apiserver.Server) {
	t.Helper()
	c, s := serveSample(t)
	objects, err := samples.InProgress(samples.WrongPassword()).Objects()
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range objects {
		create(t, s, o)
	}
	return c, s
}

func TestReadBundle(t *testing.T) {
	cases := map[string]struct {
		reason, denied string
		cause          string
		unread         []cause.Unread
	}{
		"All": {reason: "The package in the way is read with its composed resources.", cause: "GitDelivery shop-fleet"},
		"Denied": {
			reason: "A forbidden package is named, and the Bundle's own status is shown.",
			denied: "intentdeployments", cause: "package shop", unread: []cause.Unread{{Object: "intentdeployments.intentplane.dev", Reason: "the user may not read them"}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, s := serveBundle(t)
			if tc.denied != "" {
				deny(s, tc.denied, kerrors.NewForbidden(schema.GroupResource{Resource: tc.denied}, "", nil))
			}
			found, err := c.Subject(t.Context(), "bundles.intentplane.dev/platform")
			if err != nil || len(found.Bundles) != 1 || found.Bundles[0].State == nil {
				t.Fatalf("\n%s\nSubject(...): %+v, %v", tc.reason, found, err)
			}
			f := cause.FindForBundle(found.Bundles[0], samples.Now())
			if diff := cmp.Diff(tc.unread, f.Unread); diff != "" || f.Cause().Object != tc.cause {
				t.Errorf("\n%s\nthe cause is %q, want %q; unread: -want, +got:\n%s", tc.reason, f.Cause().Object, tc.cause, diff)
			}
		})
	}
}

// TestBundle finds a Bundle where no deployment has its name.
func TestBundle(t *testing.T) {
	c, s := serveBundle(t)
	for name, isFound := range map[string]bool{"platform": true, "bundles/platform": true, "intentdeployments/platform": false, "shop": false, "bundles/shop": false} {
		if b, err := c.Bundle(t.Context(), name); err != nil || (b != nil) != isFound {
			t.Errorf("Bundle(%q): found is %t, %v, want %t", name, b != nil, err, isFound)
		}
	}
	deny(s, "bundles", kerrors.NewForbidden(schema.GroupResource{Resource: "bundles"}, "", nil))
	if _, err := c.Subject(t.Context(), "platform"); err == nil || !strings.Contains(err.Error(), "not read: bundles.claims.intentplane.dev: the user may not read them") {
		t.Errorf("Subject(...): want an error that names the unread kind, got %v", err)
	}
}
