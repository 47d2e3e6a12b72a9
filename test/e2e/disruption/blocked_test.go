package disruption

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/test/gitserver"
	"github.com/intentplane/intentplane/test/scene"
)

const (
	user        = "intentplane"
	credentials = "credentials"
)

// guarded lets a scene write to a server of its own, which wants a password.
func guarded(s *scene.Scene, password string) *gitserver.Server {
	s.T.Helper()
	srv, err := gitserver.New(s.T.Context(), s.T.TempDir(), gitserver.WithBasicAuth(user, password))
	if err != nil {
		s.T.Fatal(err)
	}
	s.T.Cleanup(srv.Close)
	if err := srv.CreateRepo(s.T.Context(), s.Namespace, map[string]string{"README.md": "Not ours.\n"}); err != nil {
		s.T.Fatal(err)
	}
	s.Apply(secret(s, password))
	s.Apply(withCredentials(s, srv))
	return srv
}

func secret(s *scene.Scene, password string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"stringData": map[string]any{"username": user, "password": password}}}
	o.SetAPIVersion("v1")
	o.SetKind("Secret")
	o.SetNamespace(s.Namespace)
	o.SetName(credentials)
	return o
}

func withCredentials(s *scene.Scene, srv *gitserver.Server) *unstructured.Unstructured {
	o := s.Set(s.ProviderConfig(), srv.URL(s.Namespace), "spec", "git", "url")
	return s.Set(o, map[string]any{"type": "Basic", "secretRef": map[string]any{"name": credentials}}, "spec", "git", "credentials")
}

// blocked waits until the deletion of the scene's GitDelivery is blocked for a reason, and says the way out.
func blocked(s *scene.Scene, want xpv2.ConditionReason) *deliveryv1alpha1.GitDelivery {
	s.T.Helper()
	return s.AwaitDelivery("blocked, with the way out: "+string(want), func(d *deliveryv1alpha1.GitDelivery) bool { return isBlocked(d, want) })
}

func isBlocked(d *deliveryv1alpha1.GitDelivery, want xpv2.ConditionReason) bool {
	c := d.Status.GetCondition(xpv2.TypeReady)
	return d.GetDeletionTimestamp() != nil && c.Reason == want && strings.Contains(c.Message, `spec.managementPolicies to ["Observe"]`)
}

// takeWayOut ends a deletion as the documentation says.
func takeWayOut(s *scene.Scene, d *deliveryv1alpha1.GitDelivery) {
	s.T.Helper()
	s.Run("patch", "gitdelivery", d.GetName(), "-n", s.Namespace, "--type", "merge", "-p", `{"spec":{"managementPolicies":["Observe"]}}`)
}

func TestDeleteSecretFirst(t *testing.T) {
	t.Parallel()
	s := scene.New(t, cp, "edge1")
	srv := guarded(s, "correct horse")
	claim := s.Succeed(s.Claim("shop", intent(s, 1, "edge1")))
	before, err := srv.Files(t.Context(), s.Namespace, "main")
	if err != nil {
		t.Fatal(err)
	}
	s.Run("delete", "secret", credentials, "-n", s.Namespace)
	s.Delete(claim)
	takeWayOut(s, blocked(s, deliveryv1alpha1.ReasonCredentialsGone))
	gone(s, claim)
	after, err := srv.Files(t.Context(), s.Namespace, "main")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("the way out should leave the repository as it is: -want, +got:\n%s", diff)
	}
}

func TestDeleteTogether(t *testing.T) {
	t.Parallel()
	s := scene.New(t, cp, "edge1")
	srv := guarded(s, "correct horse")
	claim, config := s.Claim("shop", intent(s, 1, "edge1")), withCredentials(s, srv)
	dir := directory(t, claim, config)
	s.Succeed(claim)
	s.Run("delete", "-f", dir, "--wait", "--timeout=50s")
	s.Gone(config)
	files, err := srv.Files(t.Context(), s.Namespace, "main")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"README.md": "Not ours.\n"}, files); diff != "" {
		t.Errorf("files: -want, +got:\n%s", diff)
	}
}

// TestDeleteWithSecret deletes also what the repository is reached with. The Secret is gone before anybody can use it to clean up, so the
// deletion says so, and ends by the way out.
func TestDeleteWithSecret(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		args   func(s *scene.Scene, dir string) []string
	}{
		"Directory": {
			reason: "A claim, its ProviderConfig and its Secret at once should end, or say what blocks.",
			args:   func(_ *scene.Scene, dir string) []string { return []string{"delete", "-f", dir, "--wait=false"} },
		},
		"Namespace": {
			reason: "A namespace with all of them should end, or say what blocks.",
			args: func(s *scene.Scene, _ string) []string {
				return []string{"delete", "namespace", s.Namespace, "--wait=false"}
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := scene.New(t, cp, "edge1")
			srv := guarded(s, "correct horse")
			claim, config := s.Claim("shop", intent(s, 1, "edge1")), withCredentials(s, srv)
			dir := directory(t, claim, config, secret(s, "correct horse"))
			s.Succeed(claim)
			s.Run(tc.args(s, dir)...)
			t.Log(tc.reason)
			if d := endsOrSays(s); d != nil {
				takeWayOut(s, d)
			}
			gone(s, claim)
			s.Gone(config)
		})
	}
}

// endsOrSays waits until the deletion ended, or says that credentials are gone and what the way out is.
func endsOrSays(s *scene.Scene) *deliveryv1alpha1.GitDelivery {
	s.T.Helper()
	var d *deliveryv1alpha1.GitDelivery
	s.Until("end of the deletion, or its reason", scene.Patience, func() bool {
		all := s.Deliveries()
		if len(all) == 1 && isBlocked(&all[0], deliveryv1alpha1.ReasonCredentialsGone) {
			d = &all[0]
		}
		return len(all) == 0 || d != nil
	})
	s.T.Logf("ended by itself: %t", d == nil)
	return d
}

// directory holds objects as files, in this order.
func directory(t *testing.T, objects ...*unstructured.Unstructured) string {
	t.Helper()
	dir := t.TempDir()
	for i, o := range objects {
		b, err := yaml.Marshal(o.Object)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.yaml", i)), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestDeleteRefused(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		status int
		want   xpv2.ConditionReason
	}{
		"NotFound":  {reason: "A repository that is gone should block, and say so.", status: http.StatusNotFound, want: deliveryv1alpha1.ReasonUnreachable},
		"Forbidden": {reason: "A repository that lets nobody in should block, and say so.", status: http.StatusForbidden, want: deliveryv1alpha1.ReasonAuthFailed},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := scene.New(t, cp, "edge1")
			claim := s.Succeed(s.Claim("shop", intent(s, 1, "edge1")))
			s.Git.Fail(s.Namespace, tc.status)
			s.Delete(claim)
			t.Log(tc.reason)
			d := blocked(s, tc.want)
			t.Log(d.Status.GetCondition(xpv2.TypeReady).Message)
			s.Now(claim)
			takeWayOut(s, d)
			gone(s, claim)
			wantCommits(s, 1)
		})
	}
}
