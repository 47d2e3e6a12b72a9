package disruption

import (
	"net/http"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

// TestDeleteLosesSecret takes the Secret away by force: it is held as long as it is needed.
func TestDeleteLosesSecret(t *testing.T) {
	t.Parallel()
	s := scene.New(t, cp, "edge1")
	srv := guardServer(s, "correct horse")
	claim := s.Succeed(s.Claim("shop", intentWithReplicas(s, 1, "edge1")))
	previous := filesOfClaim(s, srv)
	secret := s.BasicAuthSecret("correct horse")
	s.Delete(secret)
	if s.Now(secret).GetDeletionTimestamp() == nil {
		t.Error("the Secret should wait for the claim")
	}
	s.Patch(secret, `{"metadata": {"finalizers": null}}`)
	s.Gone(secret)
	s.Delete(claim)
	setObserveOnly(s, awaitBlocked(s, deliveryv1alpha1.ReasonCredentialsGone))
	awaitDeletion(s, claim)
	if diff := cmp.Diff(previous, filesOfClaim(s, srv)); diff != "" {
		t.Errorf("the way out should leave the repository as it is: -want, +got:\n%s", diff)
	}
}

// TestDeleteTogether deletes a claim and its dependencies at once.
func TestDeleteTogether(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		args   func(s *scene.Scene, claim, config, secret *unstructured.Unstructured) []string
	}{
		"Config": {
			reason: "A claim and its ProviderConfig should end together.",
			args: func(s *scene.Scene, claim, config, _ *unstructured.Unstructured) []string {
				return []string{"-f", directoryOf(s.T, claim, config)}
			},
		},
		"ConfigFirst": {
			reason: "The ProviderConfig should wait for the claim.",
			args: func(s *scene.Scene, claim, config, _ *unstructured.Unstructured) []string {
				return []string{"-f", directoryOf(s.T, config, claim)}
			},
		},
		"Secret": {
			reason: "A claim, its ProviderConfig and its Secret should end together.",
			args: func(s *scene.Scene, claim, config, secret *unstructured.Unstructured) []string {
				return []string{"-f", directoryOf(s.T, claim, config, secret)}
			},
		},
		"SecretFirst": {
			reason: "The order should not matter.",
			args: func(s *scene.Scene, claim, config, secret *unstructured.Unstructured) []string {
				return []string{"-f", directoryOf(s.T, secret, config, claim)}
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
			srv := guardServer(s, "correct horse")
			claim, config := s.Claim("shop", intentWithReplicas(s, 1, "edge1")), s.GuardedConfig(srv)
			s.Succeed(claim)
			s.Run(append([]string{"delete", "--wait", "--timeout=" + patience.Limit.String()}, tc.args(s, claim, config, s.BasicAuthSecret("correct horse"))...)...)
			s.Gone(config)
			if diff := cmp.Diff(map[string]string{"README.md": "Not ours.\n"}, filesOfClaim(s, srv)); diff != "" {
				t.Errorf("\n%s\nfiles: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestDeleteRefused(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		status int
		want   xpv2.ConditionReason
	}{
		"NotFound": {reason: "A repository that is gone should block, and say so.", status: http.StatusNotFound, want: deliveryv1alpha1.ReasonUnreachable},
		"Forbidden": {
			reason: "A repository that refuses each user should block, and the condition should name it.",
			status: http.StatusForbidden, want: deliveryv1alpha1.ReasonAuthFailed,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := scene.New(t, cp, "edge1")
			claim := s.Succeed(s.Claim("shop", intentWithReplicas(s, 1, "edge1")))
			s.Git.Fail(s.Namespace, tc.status)
			s.Delete(claim)
			t.Log(tc.reason)
			d := awaitBlocked(s, tc.want)
			t.Log(d.Status.GetCondition(xpv2.TypeReady).Message)
			s.Now(claim)
			setObserveOnly(s, d)
			awaitDeletion(s, claim)
			wantCommits(s, 1)
		})
	}
}
