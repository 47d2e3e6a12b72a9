package plugin

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/diagnosis"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/samples"
	"github.com/intentplane/intentplane/test/controlplane/toolbox"
)

// TestDoctor breaks one part of an installation after another. Each is named with its fix, and alone, once the previous part is
// repaired.
func TestDoctor(t *testing.T) {
	s := newInstallation(t, "plugin-doctor")
	s.publishWithConfig(samples.Verified())
	root, err := toolbox.Root()
	s.requireNoError(err)
	if r, code := s.runDoctor(); code != 0 || r.Problems != 0 || len(r.Items) < 15 {
		t.Fatalf("An installation that is well has no problems: exit code %d, %d lines:\n%s", code, len(r.Items), r.problemLines())
	}
	out, code := s.runPlugin("version")
	s.expectOutput(out, "function        v0.1.1", "provider        v0.1.0", "configuration   v0.1.0", "crossplane      2.4.0")
	s.expectOutput(strings.Join(strings.Fields(out), " "), "renderer 2 of intentplane-function-intentplane")
	if code != 0 || strings.Contains(out, "not read") {
		t.Errorf("version: exit code %d:\n%s", code, out)
	}
	if r, code := s.runDoctor("--pre"); code != 0 || r.Problems != 0 {
		t.Errorf("doctor --pre: exit code %d:\n%s", code, r.problemLines())
	}
	for _, step := range []struct {
		reason        string
		breaks, mends func()
		says          string
	}{
		{
			reason: "A package that is not healthy is named.",
			breaks: func() { s.patchStatus("pkg.crossplane.io/v1", "Function", "intentplane-function-intentplane", sick) },
			mends:  s.installPackages,
			says: "packages: Function intentplane-function-intentplane: PackageUnhealthy: Healthy is False (Sick): cannot pull Fix: Repair the " +
				"package",
		},
		{
			reason: "A Site that no deployment uses is looked at, too.",
			breaks: func() {
				s.requireNoError(cp.ApplyYAML(s.Context(), []byte(`{apiVersion: catalog.intentplane.dev/v1alpha1, kind: Site, metadata: {name: unused},
					spec: {cluster: {kubeconfigSecretRef: {namespace: crossplane-system, name: unused}}, engine: {type: None}, repository: {path: clusters/unused}}}`)))
			},
			mends: func() {
				s.requireNoError(cp.Client.Create(s.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "crossplane-system", Name: "unused"}, StringData: map[string]string{"value": "kubeconfig"}}))
			},
			says: "sites: Site unused: : Secret crossplane-system/unused with key value does not exist, which spec.cluster.kubeconfigSecretRef " +
				"names. No deployment uses the Site yet. Fix: Make Secret crossplane-system/unused",
		},
		{
			reason: "A package of another minor version is named.",
			breaks: func() {
				s.patchStatus("pkg.crossplane.io/v1", "Provider", "intentplane-provider-intentplane", `{"spec":{"package":"ghcr.io/intentplane/provider-intentplane:v0.2.0"}}`)
			},
			mends: func() {
				s.patchStatus("pkg.crossplane.io/v1", "Provider", "intentplane-provider-intentplane", `{"spec":{"package":"ghcr.io/intentplane/provider-intentplane:v0.1.0"}}`)
			},
			says: "versions: Provider intentplane-provider-intentplane: : v0.2.0 is of another minor version",
		},
		{
			reason: "A right that the API server does not find is named.",
			breaks: func() {
				s.patchStatus("rbac.authorization.k8s.io/v1", "ClusterRole", "intentplane:provider", `{"rules":[{"apiGroups":["*"],"resources":["*"],"verbs":["get","list","watch"]}]}`)
			},
			mends: func() { s.requireNoError(cp.Apply(t.Context(), filepath.Join(root, "examples", "rbac"))) },
			says: "rights: ServiceAccount crossplane-system/provider-intentplane: : may not delete sites.catalog.intentplane.dev Fix: kubectl " +
				"apply -f examples/rbac/provider.yaml",
		},
		{
			reason: "A definition that is not established is named.",
			breaks: func() {
				s.patchStatus("apiextensions.crossplane.io/v1", "CompositeResourceDefinition", "intentdeployments.intentplane.dev", inactive)
			},
			mends: s.installPackages,
			says: "definitions: intentdeployments.intentplane.dev: DefinitionNotActive: Established is False (Terminating): being deleted Fix: " +
				"Activate the definition",
		},
		{
			reason: "A kind of the provider that is not active is named.", breaks: func() { s.recreateKind("gates.rollout.intentplane.dev", "Inactive") },
			mends: func() { s.recreateKind("gates.rollout.intentplane.dev", "Active") },
			says: "kinds: gates.rollout.intentplane.dev: DefinitionNotActive: The kind is not active: no ManagedResourceActivationPolicy names " +
				"it. Fix: Apply the policies of package/activation",
		},
		{
			reason: "A configuration whose password is wrong is named.", breaks: func() { s.publishWithConfig(samples.WrongPassword()) },
			mends: func() { s.publishWithConfig(samples.Verified()) },
			says: "configurations: ClusterProviderConfig doctor: AuthFailed: GitDelivery plugin-doctor/shop-fleet: git.example.org: 401 " +
				"Unauthorized Fix: Correct the credentials",
		},
	} {
		step.breaks()
		r, code := s.runDoctor()
		if code != 1 || !strings.Contains(r.problemLines(), step.says) {
			t.Errorf("\n%s\ndoctor: want %q, got exit code %d:\n%s", step.reason, step.says, code, r.problemLines())
		}
		step.mends()
		s.awaitNoProblems()
	}
}

// TestDoctorOfPolicies removes a policy, and applies it again. An installation works without it, so that it is advice and no problem.
func TestDoctorOfPolicies(t *testing.T) {
	s := newInstallation(t, "plugin-policies")
	policy := &admissionregistrationv1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: "gates.rollout.intentplane.dev"}}
	const says = "policies: gates.rollout.intentplane.dev: : The policy is not applied, or not bound. Fix: kubectl apply -k examples/policies"
	if r, code := s.runDoctor(); code != 0 || strings.Contains(r.linesWithResult(diagnosis.Advice), "policies:") {
		t.Errorf("A policy that is applied needs no advice: exit code %d:\n%s", code, r.linesWithResult(diagnosis.Advice))
	}
	s.requireNoError(cp.Client.Delete(t.Context(), policy))
	if r, code := s.runDoctor(); code != 0 || !strings.Contains(r.linesWithResult(diagnosis.Advice), says) {
		t.Errorf("A policy that was removed is named with its fix: want %q, got exit code %d:\n%s", says, code, r.linesWithResult(diagnosis.Advice))
	}
	s.installPackages()
	if r, _ := s.runDoctor(); strings.Contains(r.linesWithResult(diagnosis.Advice), "policies:") {
		t.Errorf("A policy that was applied again needs no advice:\n%s", r.linesWithResult(diagnosis.Advice))
	}
}

// TestDoctorOfMany looks at ten configurations and a hundred Sites, five of which cannot be reached.
func TestDoctorOfMany(t *testing.T) {
	s := newInstallation(t, "plugin-many")
	for i := range 10 {
		s.applyConfig(fmt.Sprintf("many-%d", i))
		objects, err := samples.Verified().Objects()
		s.requireNoError(err)
		delivery, sync := objects[1], objects[2]
		delivery.SetName(fmt.Sprintf("many-%d", i))
		s.requireNoError(unstructured.SetNestedField(delivery.Object, delivery.GetName(), "spec", "providerConfigRef", "name"))
		s.writeStatus(delivery)
		sync.SetName(fmt.Sprintf("many-%d", i))
		s.publishSites(sync, i)
		s.writeStatus(sync)
	}
	began := time.Now()
	r, code := s.runDoctor()
	t.Logf("doctor_s %.2f", time.Since(began).Seconds())
	if code != 1 || r.Problems != 5 || strings.Count(r.problemLines(), "ClusterUnreachable") != 5 {
		t.Errorf("doctor: want 5 Sites that are not reached, got exit code %d:\n%s", code, r.problemLines())
	}
	for _, l := range r.Items {
		if strings.Contains(l.Object+l.Message, "many-") && l.Result == diagnosis.Unknown {
			t.Errorf("doctor: want an answer about each configuration and Site, got %+v", l)
		}
	}
}

// TestStuckBeneath lists an unhealthy package among the stuck objects, for an administrator; a user with the role edit sees the unread kinds.
func TestStuckBeneath(t *testing.T) {
	s := newInstallation(t, "plugin-stuck")
	s.bindClusterRole("ann", "edit")
	s.publishWithConfig(samples.Verified())
	out, _ := s.runPlugin("status", "--stuck")
	s.expectOutput(out, "Nothing needs a person.")
	s.patchStatus("pkg.crossplane.io/v1", "Provider", "intentplane-provider-intentplane", sick)
	out, _ = s.runPlugin("status", "--stuck", "-o", "name")
	s.expectOutput(out, "provider.pkg.crossplane.io/intentplane-provider-intentplane")
	out = s.runUntilWithout("intentdeployments", "status", "--stuck", "--as", "ann")
	s.expectOutput(out, "Nothing needs a person.", "providers.pkg.crossplane.io")
	s.installPackages()
}
