package disruption

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

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

// TestDeleteLosesSecret takes the Secret away by force: it is held as long as it is needed.
func TestDeleteLosesSecret(t *testing.T) {
	t.Parallel()
	s := scene.New(t, cp, "edge1")
	srv := guarded(s, "correct horse")
	claim := s.Succeed(s.Claim("shop", intent(s, 1, "edge1")))
	before := filesOf(s, srv)
	lost := secret(s, "correct horse")
	s.Delete(lost)
	if s.Now(lost).GetDeletionTimestamp() == nil {
		t.Error("the Secret should wait for the claim")
	}
	s.Patch(lost, `{"metadata": {"finalizers": null}}`)
	s.Gone(lost)
	s.Delete(claim)
	takeWayOut(s, blocked(s, deliveryv1alpha1.ReasonCredentialsGone))
	gone(s, claim)
	if diff := cmp.Diff(before, filesOf(s, srv)); diff != "" {
		t.Errorf("the way out should leave the repository as it is: -want, +got:\n%s", diff)
	}
}

func filesOf(s *scene.Scene, srv *gitserver.Server) map[string]string {
	s.T.Helper()
	files, err := srv.Files(s.T.Context(), s.Namespace, "main")
	if err != nil {
		s.T.Fatal(err)
	}
	return files
}

// TestDeleteTogether deletes a claim and what it needs at once.
func TestDeleteTogether(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		args   func(s *scene.Scene, claim, config, secret *unstructured.Unstructured) []string
	}{
		"Config": {
			reason: "A claim and its ProviderConfig should end together.",
			args: func(s *scene.Scene, claim, config, _ *unstructured.Unstructured) []string {
				return []string{"-f", directory(s.T, claim, config)}
			},
		},
		"ConfigFirst": {
			reason: "The ProviderConfig should wait for the claim.",
			args: func(s *scene.Scene, claim, config, _ *unstructured.Unstructured) []string {
				return []string{"-f", directory(s.T, config, claim)}
			},
		},
		"Secret": {
			reason: "A claim, its ProviderConfig and its Secret should end together.",
			args: func(s *scene.Scene, claim, config, secret *unstructured.Unstructured) []string {
				return []string{"-f", directory(s.T, claim, config, secret)}
			},
		},
		"SecretFirst": {
			reason: "The order should not matter.",
			args: func(s *scene.Scene, claim, config, secret *unstructured.Unstructured) []string {
				return []string{"-f", directory(s.T, secret, config, claim)}
			},
		},
		"Namespace": {
			reason: "A namespace should end with all that is in it.",
			args: func(s *scene.Scene, _, _, _ *unstructured.Unstructured) []string {
				return []string{"namespace", s.Namespace}
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := scene.New(t, cp, "edge1")
			srv := guarded(s, "correct horse")
			claim, config := s.Claim("shop", intent(s, 1, "edge1")), withCredentials(s, srv)
			s.Succeed(claim)
			s.Run(append([]string{"delete", "--wait", "--timeout=50s"}, tc.args(s, claim, config, secret(s, "correct horse"))...)...)
			s.Gone(config)
			if diff := cmp.Diff(map[string]string{"README.md": "Not ours.\n"}, filesOf(s, srv)); diff != "" {
				t.Errorf("\n%s\nfiles: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
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
