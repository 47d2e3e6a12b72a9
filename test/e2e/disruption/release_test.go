package disruption

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

// TestPackagesUpgrade upgrades all packages under live deployments. Crossplane makes a new revision of each, and nothing is delivered.
func TestPackagesUpgrade(t *testing.T) {
	s := scene.New(t, cp, "edge1")
	// Crossplane calls again after the TTL of the last response, so the function sets the TTL before the upgrade too.
	if err := cp.RestartFunction(t.Context(), "--ttl="+ttl.String()); err != nil {
		t.Fatal(err)
	}
	claim := s.Succeed(s.Claim("shop", intentWithReplicas(s, 2, "edge1")))
	composite := s.Succeed(s.Composite("other", intentOfService(s, "other", 1, "edge1")))
	wantCommits(s, 2)
	previous, files := packageRevisions(s), s.Files()
	if err := cp.PublishAll(t.Context(), release); err != nil {
		t.Fatal(err)
	}
	upgrade := []string{
		"provider.pkg.crossplane.io/intentplane-provider-intentplane", "function.pkg.crossplane.io/intentplane-function-intentplane",
		"configuration.pkg.crossplane.io/configuration-intentplane", "configuration.pkg.crossplane.io/configuration-intentplane-namespaced",
	}
	for _, name := range upgrade {
		_, pkg, _ := strings.Cut(name, "/")
		pkg = strings.TrimPrefix(pkg, "intentplane-")
		s.Run("patch", name, "--type=merge", "-p", fmt.Sprintf(`{"spec":{"package":"%s/%s:%s"}}`, controlplane.Repository, pkg, release))
	}
	s.Until("each package has a new revision that is active and healthy", patience.Limit, func() bool {
		news := slices.DeleteFunc(packageRevisions(s), func(r string) bool { return slices.Contains(previous, r) || !strings.HasSuffix(r, " Active True") })
		return len(news) == len(upgrade)
	})
	// The programs of the new packages start.
	cp.KillProvider()
	if err := cp.StartProvider(t.Context(), controlplane.Program{}); err != nil {
		t.Fatal(err)
	}
	if err := cp.RestartFunction(t.Context(), "--ttl="+ttl.String()); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := cp.RestartFunction(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	}()
	awaitFunctionCalls(s, len(functionLog(t)), 3)
	wantCommits(s, 2)
	if diff := cmp.Diff(files, s.Files()); diff != "" {
		t.Errorf("files: -before, +after:\n%s", diff)
	}
	for _, o := range []*unstructured.Unstructured{claim, composite} {
		if now := s.Now(o); scene.Number(now, "status", "revision") != 1 || scene.Field(now, "status", "phase") != "Succeeded" {
			t.Errorf("%s has status %v", o.GetName(), now.Object["status"])
		}
	}
	s.Succeed(s.Set(s.Claim("shop", intentWithReplicas(s, 3, "edge1")), intentWithReplicas(s, 3, "edge1"), "spec", "intent"))
	wantCommits(s, 3)
}
