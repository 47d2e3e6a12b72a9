package claims

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/scene"
)

func TestBrokenEditLosesNothing(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		kind   string
		breaks func(s *scene.Scene, o *unstructured.Unstructured)
		// in is the phase of the failure, and why its reason.
		in, why string
	}{
		"InvalidIntent": {
			reason: "A typing error takes nothing away, and not the namespaced ProviderConfig either.",
			kind:   "ProviderConfig",
			breaks: func(s *scene.Scene, o *unstructured.Unstructured) { s.Set(o, `{"service": "shop",`, "spec", "intent") },
			in:     "Compiling", why: "InvalidIntent",
		},
		"ClusterProviderConfig": {
			reason: "The same with the other kind of configuration.",
			kind:   "ClusterProviderConfig",
			breaks: func(s *scene.Scene, o *unstructured.Unstructured) {
				s.Set(o, `{"service": "shop", "replica": 3}`, "spec", "intent")
			},
			in: "Compiling", why: "InvalidIntent",
		},
		"UnknownParameter": {
			reason: "A Blueprint that fails to render removes no files.",
			kind:   "ProviderConfig",
			breaks: func(s *scene.Scene, o *unstructured.Unstructured) {
				s.Set(o, `{"service": "shop", "sites": ["`+s.Site("edge1")+`"], "parameters": {"greting": "Hi"}}`, "spec", "intent")
			},
			in: "Rendering", why: "RenderFailed",
		},
		"BadQuery": {
			reason: "A Blueprint with invalid queries is refused.",
			kind:   "ProviderConfig",
			breaks: func(s *scene.Scene, o *unstructured.Unstructured) {
				bad := []any{map[string]any{"name": "up", "query": "up > {{service}}", "direction": "AtLeast"}}
				s.Apply(s.Set(s.Blueprint("1.1.0", "next"), bad, "spec", "metrics"))
				s.Set(o, "1.1.0", "spec", "blueprint", "version")
			},
			in: "Compiling", why: "InvalidSpec",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := scene.New(t, cp, "edge1", "edge2")
			s.Apply(s.ClusterProviderConfig())
			claim := s.Claim("shop", intentWithReplicas(s, 2, "edge1", "edge2"))
			if tc.kind == "ClusterProviderConfig" {
				s.Set(claim, map[string]any{"kind": tc.kind, "name": s.Namespace}, "spec", "deliveryConfig", "gitOpsRepo")
			}
			s.Succeed(claim)
			tip := s.AwaitCommits(1)[0].ID
			// Fields that another user set: one of the spec, which changes its generation, and of the metadata.
			s.Patch(s.Raw(), `{"spec": {"forProvider": {"claimRef": {"uid": "by-hand"}}}, "metadata": {"labels": {"team": "blue"}, "annotations": {"note": "keep"}}}`)
			previous, composed := s.Raw(), composedRefs(s, claim)

			broken := claim.DeepCopy()
			tc.breaks(s, broken)
			observed := s.Fail(broken)
			wantFailedClaim(t, tc.reason, observed, tc.in, tc.why)
			if diff := cmp.Diff(composed, composedRefs(s, claim)); diff != "" {
				t.Errorf("\n%s\nresources of the composite: -want, +got:\n%s", tc.reason, diff)
			}
			wantUnchanged(t, "the edit that breaks", previous, s.Raw())
			if diff := cmp.Diff(tip, s.AwaitCommits(1)[0].ID); diff != "" {
				t.Errorf("\n%s\ntip of the branch: -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tip, scene.Field(observed, "status", "delivery", "gitCommit")); diff != "" {
				t.Errorf("\n%s\nstatus.delivery.gitCommit: -want, +got:\n%s", tc.reason, diff)
			}

			s.Succeed(claim)
			wantUnchanged(t, "the old intent again", previous, s.Raw())
			s.AwaitCommits(1)

			s.Fail(broken)
			last := s.Succeed(s.Set(claim, intentWithReplicas(s, 3, "edge1", "edge2"), "spec", "intent"))
			s.AwaitCommits(2)
			if diff := cmp.Diff(int64(2), scene.Number(last, "status", "revision")); diff != "" {
				t.Errorf("\n%s\nstatus.revision after a new intent: -want, +got:\n%s", tc.reason, diff)
			}
			if got := scene.Field(s.Raw(), "spec", "forProvider", "claimRef", "uid"); got != "by-hand" {
				t.Errorf("\n%s\nthe field of another user is %q", tc.reason, got)
			}
		})
	}
}

// TestHookRefuses has a hook of the Git server refuse an edit, and reads on the claim the output of the hook, and the refused
// refs.
func TestHookRefuses(t *testing.T) {
	t.Parallel()
	s := scene.New(t, cp, "edge1")
	s.Succeed(s.Claim("shop", intentWithReplicas(s, 2, "edge1")))
	hook := filepath.Join(s.Git.Path(s.Namespace), "hooks", "pre-receive")
	if err := os.MkdirAll(filepath.Dir(hook), 0o755); err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\necho 'change freeze until Monday, see https://joe:hunter2@rules.example.org/freeze' >&2\nexit 1\n"
	if err := os.WriteFile(hook, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	observed := s.Reach(s.Claim("shop", intentWithReplicas(s, 3, "edge1")), "refused by the hook", func(u *unstructured.Unstructured) bool {
		return strings.Contains(scene.Field(u, "status", "message"), "change freeze until Monday")
	})
	message := scene.Field(observed, "status", "message")
	for _, want := range []string{"refs/intentplane/test/state", "pre-receive hook declined", "https://[redacted]@rules.example.org/freeze"} {
		if !strings.Contains(message, want) {
			t.Errorf("status.message: want %q in it, got %q", want, message)
		}
	}
	if strings.Contains(message, "hunter2") {
		t.Errorf("status.message repeats a password: %q", message)
	}
}
