package claims

import (
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

// TestForgedGate checks that only the provider can write a verdict, and that only Crossplane and the provider can create a Gate, once the
// example's policy is applied, whatever RBAC allows.
func TestForgedGate(t *testing.T) {
	t.Parallel()
	s := scene.New(t, cp, "edge1")
	user := s.Namespace + "-user"
	grantUserVerbs(s, user, "get,create,update,patch", "gates.rollout.intentplane.dev,gates.rollout.intentplane.dev/status")
	gate := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(`
apiVersion: rollout.intentplane.dev/v1alpha1
kind: Gate
metadata: {name: shop-1-0, annotations: {crossplane.io/paused: "true"}}
spec:
  forProvider:
    claimRef: {apiGroup: claims.intentplane.dev, kind: IntentDeployment, namespace: `+s.Namespace+`, name: shop}
    position: {epoch: 1, revision: 1, attempt: 0, step: 0, stage: 0}
    checks: [{name: errors, site: edge1, type: Prometheus, threshold: "<= 1", prometheus: {query: up}}]
`), &gate.Object); err != nil {
		t.Fatal(err)
	}
	gate.SetNamespace(s.Namespace)
	s.Apply(gate.DeepCopy())
	forgedFile := filepath.Join(t.TempDir(), "gate.yaml")
	gate.SetName("shop-2-0")
	writeYAMLFile(s, forgedFile, gate)
	verdict := []string{"patch", "gates.rollout.intentplane.dev", "shop-1-0", "--subresource=status", "--type=merge", "-p", `{"status":{"atProvider":{"verdict":"Passed"}}}`}
	s.Until("the user may write the verdict", patience.Limit, func() bool { return refusalOfDryRun(s, user, verdict...) == "" })
	bindPolicies(s)
	s.Until("the policy holds", patience.Limit, func() bool { return refusalOfDryRun(s, user, verdict...) != "" })
	unpause := []string{"patch", "gates.rollout.intentplane.dev", "shop-1-0", "--type=merge", "-p", `{"metadata":{"annotations":{"crossplane.io/paused":null}}}`}
	for name, tc := range map[string]struct {
		user string
		args []string
		want string
	}{
		"Verdict":           {user: user, args: verdict, want: "status: the verdict of a Gate is written by the provider alone"},
		"VerdictCrossplane": {user: serviceAccountOf("crossplane"), args: verdict, want: "status: the verdict of a Gate is written by the provider alone"},
		"VerdictProvider":   {user: serviceAccountOf(controlplane.ProviderServiceAccount), args: verdict},
		"Create":            {user: user, args: []string{"create", "-f", forgedFile}, want: "a Gate is written by Crossplane and the provider alone"},
		"CreateCrossplane":  {user: serviceAccountOf("crossplane"), args: []string{"create", "-f", forgedFile}},
		"Update":            {user: user, args: unpause, want: "a Gate is written by Crossplane and the provider alone"},
		"UpdateProvider":    {user: serviceAccountOf(controlplane.ProviderServiceAccount), args: unpause},
	} {
		if got := refusalOfDryRun(s, tc.user, tc.args...); tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
			t.Errorf("%s: want %q, got %q", name, tc.want, got)
		}
	}
}

// TestForgedEvidence checks that only the provider can write the status of a SiteSync and of a GitDelivery, and that only Crossplane and the provider
// can create a SiteSync, once the example's policy is applied, whatever RBAC allows.
func TestForgedEvidence(t *testing.T) {
	t.Parallel()
	s := scene.New(t, cp, "edge1")
	user := s.Namespace + "-user"
	const syncs, deliveries = "sitesyncs.delivery.intentplane.dev", "gitdeliveries.delivery.intentplane.dev"
	grantUserVerbs(s, user, "get,create,update,patch", syncs+","+syncs+"/status,"+deliveries+"/status")
	grantUserVerbs(s, user, "get", deliveries)
	s.Succeed(s.Claim("shop", intentWithReplicas(s, 1, "edge1")))
	delivery := s.Delivery().GetName()
	sync := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(`
apiVersion: delivery.intentplane.dev/v1alpha1
kind: SiteSync
metadata: {name: forged, annotations: {crossplane.io/paused: "true"}}
spec:
  forProvider:
    claimRef: {apiGroup: claims.intentplane.dev, kind: IntentDeployment, namespace: `+s.Namespace+`, name: shop}
    position: {epoch: 1, revision: 1, attempt: 0, step: 0, stage: 0}
`), &sync.Object); err != nil {
		t.Fatal(err)
	}
	sync.SetNamespace(s.Namespace)
	s.Apply(sync.DeepCopy())
	forgedFile := filepath.Join(t.TempDir(), "sync.yaml")
	sync.SetName("other")
	writeYAMLFile(s, forgedFile, sync)
	report := func(resource, name string) []string {
		return []string{"patch", resource, name, "--subresource=status", "--type=merge", "-p", `{"status":{"observedGeneration":7}}`}
	}
	provider := serviceAccountOf(controlplane.ProviderServiceAccount)
	s.Until("the user may write a report", patience.Limit, func() bool { return refusalOfDryRun(s, user, report(deliveries, delivery)...) == "" })
	bindPolicies(s)
	s.Until("the policy holds", patience.Limit, func() bool { return refusalOfDryRun(s, user, report(deliveries, delivery)...) != "" })
	const byProvider, byBoth = "status: only the provider writes the status of a GitDelivery or a SiteSync", "a SiteSync is written by Crossplane and the provider alone"
	for name, tc := range map[string]struct {
		user string
		args []string
		want string
	}{
		"Delivery":         {user: user, args: report(deliveries, delivery), want: byProvider},
		"DeliveryProvider": {user: provider, args: report(deliveries, delivery)},
		"Sync":             {user: user, args: report(syncs, "forged"), want: byProvider},
		"SyncCrossplane":   {user: serviceAccountOf("crossplane"), args: report(syncs, "forged"), want: byProvider},
		"SyncProvider":     {user: provider, args: report(syncs, "forged")},
		"Create":           {user: user, args: []string{"create", "-f", forgedFile}, want: byBoth},
		"CreateCrossplane": {user: serviceAccountOf("crossplane"), args: []string{"create", "-f", forgedFile}},
	} {
		if got := refusalOfDryRun(s, tc.user, tc.args...); tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
			t.Errorf("%s: want %q, got %q", name, tc.want, got)
		}
	}
}

// TestApprovalByEdit has a user who may edit a deployment, and may not create RolloutRequests: once the example's policy is applied, the user
// cannot approve by an edit. Other edits continue.
func TestApprovalByEdit(t *testing.T) { //nolint:tparallel // Its cases edit one object.
	t.Parallel()
	s := scene.New(t, cp, "edge1", "edge2")
	editor, approver := s.Namespace+"-editor", s.Namespace+"-approver"
	const claims = "intentdeployments.claims.intentplane.dev"
	for _, user := range []string{editor, approver} {
		grantUserVerbs(s, user, "get,update,patch", claims)
	}
	grantUserVerbs(s, approver, "create", "rolloutrequests.rollout.intentplane.dev")
	o := s.Claim("shop", intentWithReplicas(s, 1, "edge1"))
	s.Set(o, "Manual", "spec", "blueprint", "updatePolicy")
	s.Set(o, []any{map[string]any{"name": "first", "sites": []any{"edge1"}}}, "spec", "deliveryConfig", "waves")
	s.Apply(o)
	patch := func(user, patch string) string {
		return refusalOfDryRun(s, user, "patch", claims, "shop", "--type=merge", "-p", patch)
	}
	const automatic = `{"spec":{"blueprint":{"updatePolicy":"Automatic"}}}`
	s.Until("the editor may edit", patience.Limit, func() bool { return patch(editor, automatic) == "" && patch(approver, automatic) == "" })
	bindPolicies(s)
	s.Until("the policy holds", patience.Limit, func() bool { return patch(editor, automatic) != "" })
	for name, tc := range map[string]struct{ patch, want string }{
		"CVE-2026-27111-Automatic": {patch: automatic, want: "spec.blueprint: who may create RolloutRequests"},
		"Channel":                  {patch: `{"spec":{"blueprint":{"channel":"edge"}}}`, want: "spec.blueprint: who may create RolloutRequests"},
		"NoGates":                  {patch: `{"spec":{"gatesConfig":{"enabled":false}}}`, want: "spec.gatesConfig: who may create RolloutRequests"},
		"NoWaves":                  {patch: `{"spec":{"deliveryConfig":{"waves":null}}}`, want: "spec.deliveryConfig.waves: who may create RolloutRequests"},
		"Canary": {
			patch: `{"spec":{"deliveryConfig":{"canary":{"enabled":false}}}}`, want: "spec.deliveryConfig.canary: who may create RolloutRequests",
		},
		"Suspend": {patch: `{"spec":{"suspend":true}}`},
		"Label":   {patch: `{"metadata":{"labels":{"a":"b"}}}`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := patch(editor, tc.patch); tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
				t.Errorf("want %q, got %q", tc.want, got)
			}
			if got := patch(approver, tc.patch); got != "" {
				t.Errorf("a user with the right to approve is refused: %q", got)
			}
		})
	}
	t.Run("CVE-2026-27112-Batch", func(t *testing.T) {
		got := refusalOfDryRun(s, editor, "apply", "--server-side", "--force-conflicts", "--validate=false", "-f", writeBatchScript(s, o))
		for _, want := range []string{"spec.blueprint: who may create RolloutRequests", `cannot patch resource "rolloutrequests"`} {
			if !strings.Contains(got, want) {
				t.Errorf("each object of a batch is judged by itself: want %q, got %q", want, got)
			}
		}
	})
}

// TestForgedVerdict shows that the owner of a namespace may abandon a delivery, but cannot forge its status, with the example's policy. Crossplane and the
// provider may write it.
func TestForgedVerdict(t *testing.T) {
	t.Parallel()
	s := scene.New(t, cp, "edge1")
	owner := s.Namespace + "-admin"
	s.Run("create", "rolebinding", "admin", "-n", s.Namespace, "--clusterrole=admin", "--user="+owner)
	o := s.Claim("shop", intentWithReplicas(s, 1, "edge1"))
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
	s.Succeed(s.Set(o, intentWithReplicas(s, 2, "edge1"), "spec", "intent"))
}
