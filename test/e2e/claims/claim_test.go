package claims

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/intentplane/intentplane/test/scene"
)

func TestClaimBecomesCommit(t *testing.T) {
	t.Parallel()
	s := scene.New(t, cp, "edge1", "edge2")
	claim := s.Succeed(s.Claim("shop", intentWithReplicas(s, 2, "edge1", "edge2")))
	if diff := cmp.Diff("2/2", scene.Field(claim, "status", "delivery", "sitesReady")); diff != "" {
		t.Errorf("status.delivery.sitesReady: -want, +got:\n%s", diff)
	}
	commits := s.Commits()
	if len(commits) != 1 {
		t.Fatalf("want one commit, found %d", len(commits))
	}
	if diff := cmp.Diff(commits[0].ID, scene.Field(claim, "status", "delivery", "gitCommit")); diff != "" {
		t.Errorf("status.delivery.gitCommit: -want, +got:\n%s", diff)
	}
	want := []string{".intentplane", "configmap-shop.yaml", "deployment-shop.yaml", "kustomization.yaml", "service-shop.yaml"}
	for _, site := range []string{"edge1", "edge2"} {
		if diff := cmp.Diff(want, scene.Names(s.FilesBelow(s.Directory(site, "shop")))); diff != "" {
			t.Errorf("files of %s: -want, +got:\n%s", site, diff)
		}
	}
}

func TestAllSupported(t *testing.T) {
	t.Parallel()
	s := scene.New(t, cp, "edge1")
	observed := s.Succeed(s.Claim("shop", intentWithReplicas(s, 2, "edge1")))
	if !scene.Is(observed, "Supported", corev1.ConditionTrue, "Supported") {
		t.Errorf("Supported of a plain claim is %v", scene.Condition(observed, "Supported"))
	}
}
