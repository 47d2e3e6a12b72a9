package claims

import (
	"strings"
	"testing"

	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

// TestForgedVerdict shows that the owner of a namespace may abandon a delivery, but cannot forge its status, with the example's policy. Crossplane and the
// provider may write it.
func TestForgedVerdict(t *testing.T) {
	t.Parallel()
	s := scene.New(t, cp, "edge1")
	owner := s.Namespace + "-admin"
	s.Run("create", "rolebinding", "admin", "-n", s.Namespace, "--clusterrole=admin", "--user="+owner)
	o := s.Claim("shop", runIntent(s, 1, "edge1"))
	s.Succeed(o)
	name := s.Delivery().GetName()
	patch := func(patch string) string {
		ctx, cancel := s.Context()
		defer cancel()
		_, err := s.Kubectl(ctx, "patch", "gitdeliveries.delivery.intentplane.dev", name, "-n", s.Namespace, "--as="+owner, "--dry-run=server", "--type=merge", "-p", patch)
		if err == nil {
			return ""
		}
		return err.Error()
	}
	forged := `{"spec":{"forProvider":{"ledger":{"events":[{"judged":{"verdict":{"result":"Rejected","reason":"GateFailed","message":"x"}}}]}}}}`
	s.Until("the owner may patch", patience.Limit, func() bool { return patch(forged) == "" })
	bindPolicies(s)
	s.Until("the policy holds", patience.Limit, func() bool { return patch(forged) != "" })
	for name, tc := range map[string]struct{ patch, want string }{
		"Verdict":    {patch: forged, want: "spec.forProvider: is written by Crossplane alone"},
		"Mandate":    {patch: `{"spec":{"forProvider":{"mandate":{"may":["Reject"]}}}}`, want: "spec.forProvider: is written by Crossplane alone"},
		"Config":     {patch: `{"spec":{"providerConfigRef":{"kind":"ClusterProviderConfig","name":"other"}}}`, want: "spec: managementPolicies is all"},
		"Labels":     {patch: `{"metadata":{"labels":{"crossplane.io/composite":"other"}}}`, want: "metadata: labels and ownerReferences"},
		"Owners":     {patch: `{"metadata":{"ownerReferences":[]}}`, want: "metadata: labels and ownerReferences"},
		"GiveUp":     {patch: `{"spec":{"managementPolicies":["Observe"]}}`},
		"Finalizers": {patch: `{"metadata":{"finalizers":[]}}`},
		"Pause":      {patch: `{"metadata":{"annotations":{"crossplane.io/paused":"true"}}}`},
	} {
		if got := patch(tc.patch); tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
			t.Errorf("%s: want %q, got %q", name, tc.want, got)
		}
	}
	s.Succeed(s.Set(o, runIntent(s, 2, "edge1"), "spec", "intent"))
}
