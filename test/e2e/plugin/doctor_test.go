package plugin

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/diagnosis"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/samples"
	"github.com/intentplane/intentplane/test/controlplane"
)

// config is the ClusterProviderConfig that the deployments of these tests use, and no other test's do.
const config = "doctor"

// install makes what Crossplane, the packages and a person make, and a configuration.
func (s *stage) install() {
	s.Helper()
	root, err := controlplane.Root()
	s.must(err)
	s.must(client.IgnoreAlreadyExists(cp.Client.Create(s.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "crossplane-system"}})))
	s.must(cp.Apply(s.Context(), filepath.Join(root, "examples", "rbac")))
	all, err := samples.Installation()
	s.must(err)
	for _, o := range all {
		s.audit(o)
		s.put(o)
	}
	s.configure(config)
}

// audit lets a policy deny nothing: the other tests of this API server write what Crossplane and the provider alone may.
func (s *stage) audit(o *unstructured.Unstructured) {
	s.Helper()
	if o.GetKind() == "ValidatingAdmissionPolicyBinding" {
		s.must(unstructured.SetNestedStringSlice(o.Object, []string{"Audit"}, "spec", "validationActions"))
	}
}

// configure makes a ClusterProviderConfig.
func (s *stage) configure(name string) {
	s.Helper()
	s.must(cp.ApplyYAML(s.Context(), fmt.Appendf(nil, `{apiVersion: config.intentplane.dev/v1alpha1, kind: ClusterProviderConfig, metadata: {name: %s},
		spec: {controlPlane: demo, git: {url: "https://git.example.org/fleet.git", branch: main, credentials: {type: Basic, secretRef: {namespace: crossplane-system, name: fleet-git}}}}}`, name)))
}

// put writes an object that is in no namespace of a test, with its status.
func (s *stage) put(o *unstructured.Unstructured) {
	s.Helper()
	is := o.DeepCopy()
	s.must(client.IgnoreAlreadyExists(cp.Client.Create(s.Context(), is)))
	if o.Object["status"] == nil {
		return
	}
	s.must(cp.Client.Get(s.Context(), client.ObjectKeyFromObject(o), is))
	is.Object["status"] = o.Object["status"]
	s.must(cp.Client.Status().Update(s.Context(), is))
}

// patch changes an object, and its status.
func (s *stage) patch(apiVersion, kind, name, change string) {
	s.Helper()
	o := &unstructured.Unstructured{}
	o.SetAPIVersion(apiVersion)
	o.SetKind(kind)
	o.SetName(name)
	p := client.RawPatch("application/merge-patch+json", []byte(change))
	if strings.HasPrefix(change, `{"status"`) {
		s.must(cp.Client.Status().Patch(s.Context(), o, p))
		return
	}
	s.must(cp.Client.Patch(s.Context(), o, p))
}

// newInstallation makes a namespace, and an installation that is well.
func newInstallation(t *testing.T, namespace string) *stage {
	t.Helper()
	s := &stage{T: t, namespace: namespace}
	s.must(cp.Client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}))
	s.install()
	return s
}

// showUsing shows a sample whose deployment uses the configuration of these tests.
func (s *stage) showUsing(sample *samples.Sample) {
	s.Helper()
	all, err := sample.Objects()
	s.must(err)
	for _, o := range all {
		if o.GetKind() == "GitDelivery" {
			s.must(unstructured.SetNestedField(o.Object, config, "spec", "providerConfigRef", "name"))
		}
		s.write(o)
	}
}

// A report is what doctor prints as JSON.
type report struct {
	Items    []diagnosis.Line `json:"items"`
	Problems int              `json:"problems"`
}

func (s *stage) doctor(args ...string) (report, int) {
	s.Helper()
	out, code := s.run(append([]string{"doctor", "-o", "json"}, args...)...)
	r := report{}
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		s.Fatalf("%v: %s", err, out)
	}
	return r, code
}

// problems returns each problem as one line.
func (r report) problems() string {
	var out []string
	for _, l := range r.Items {
		if l.Result == diagnosis.Problem {
			out = append(out, fmt.Sprintf("%s: %s: %s: %s Fix: %s", l.Check, l.Object, l.Reason, l.Message, l.Fix))
		}
	}
	return strings.Join(out, "\n")
}

const (
	sick     = `{"status":{"conditions":[{"type":"Installed","status":"True","reason":"Active","lastTransitionTime":"2031-05-06T12:00:00Z"},{"type":"Healthy","status":"False","reason":"Sick","message":"cannot pull","lastTransitionTime":"2031-05-06T12:00:00Z"}]}}`
	inactive = `{"status":{"conditions":[{"type":"Established","status":"False","reason":"Terminating","message":"being deleted","lastTransitionTime":"2031-05-06T12:00:00Z"}]}}`
)

// TestDoctor breaks one part of an installation after another. Each is named with its fix, and alone, once the one before is repaired.
func TestDoctor(t *testing.T) {
	s := newInstallation(t, "plugin-doctor")
	s.showUsing(samples.Verified())
	root, err := controlplane.Root()
	s.must(err)
	if r, code := s.doctor(); code != 0 || r.Problems != 0 || len(r.Items) < 15 {
		t.Fatalf("An installation that is well has no problems: exit code %d, %d lines:\n%s", code, len(r.Items), r.problems())
	}
	out, code := s.run("version")
	s.expect(out, "function        v0.1.1", "provider        v0.1.0", "configuration   v0.1.0", "crossplane      2.4.0")
	if code != 0 || strings.Contains(out, "not read") {
		t.Errorf("version: exit code %d:\n%s", code, out)
	}
	if r, code := s.doctor("--pre"); code != 0 || r.Problems != 0 {
		t.Errorf("doctor --pre: exit code %d:\n%s", code, r.problems())
	}
	for _, step := range []struct {
		reason        string
		breaks, mends func()
		says          string
	}{
		{
			reason: "A package that is not healthy is named.", breaks: func() { s.patch("pkg.crossplane.io/v1", "Function", "intentplane-function-intentplane", sick) },
			mends: s.install, says: "packages: Function intentplane-function-intentplane: PackageUnhealthy: Healthy is False (Sick): cannot pull Fix: Repair the package",
		},
		{
			reason: "A package of another minor version is named.",
			breaks: func() {
				s.patch("pkg.crossplane.io/v1", "Provider", "intentplane-provider-intentplane", `{"spec":{"package":"ghcr.io/intentplane/provider-intentplane:v0.2.0"}}`)
			},
			mends: func() {
				s.patch("pkg.crossplane.io/v1", "Provider", "intentplane-provider-intentplane", `{"spec":{"package":"ghcr.io/intentplane/provider-intentplane:v0.1.0"}}`)
			},
			says: "versions: Provider intentplane-provider-intentplane: : v0.2.0 is of another minor version",
		},
		{
			reason: "A right that the API server does not find is named.",
			breaks: func() {
				s.patch("rbac.authorization.k8s.io/v1", "ClusterRole", "intentplane:provider", `{"rules":[{"apiGroups":["*"],"resources":["*"],"verbs":["get","list","watch"]}]}`)
			},
			mends: func() { s.must(cp.Apply(t.Context(), filepath.Join(root, "examples", "rbac"))) },
			says:  "rights: ServiceAccount crossplane-system/provider-intentplane: : may not delete sites.catalog.intentplane.dev Fix: kubectl apply -f examples/rbac/provider.yaml",
		},
		{
			reason: "A definition that is not established is named.",
			breaks: func() {
				s.patch("apiextensions.crossplane.io/v1", "CompositeResourceDefinition", "intentdeployments.intentplane.dev", inactive)
			},
			mends: s.install, says: "definitions: intentdeployments.intentplane.dev: DefinitionNotActive: Established is False (Terminating): being deleted Fix: Activate the definition",
		},
		{
			reason: "A kind of the provider that is not active is named.", breaks: func() { s.remakeKind("gates.rollout.intentplane.dev", "Inactive") },
			mends: func() { s.remakeKind("gates.rollout.intentplane.dev", "Active") },
			says:  "kinds: gates.rollout.intentplane.dev: DefinitionNotActive: The kind is not active: no ManagedResourceActivationPolicy names it. Fix: Apply the policies of package/activation",
		},
		{
			reason: "A configuration whose password is wrong is named.", breaks: func() { s.showUsing(samples.WrongPassword()) },
			mends: func() { s.showUsing(samples.Verified()) },
			says:  "configurations: ClusterProviderConfig doctor: AuthFailed: GitDelivery plugin-doctor/shop-fleet: git.example.org: 401 Unauthorized Fix: Correct the credentials",
		},
	} {
		step.breaks()
		r, code := s.doctor()
		if code != 1 || !strings.Contains(r.problems(), step.says) {
			t.Errorf("\n%s\ndoctor: want %q, got exit code %d:\n%s", step.reason, step.says, code, r.problems())
		}
		step.mends()
		s.awaitWell()
	}
}

// remakeKind makes a ManagedResourceDefinition again, in a state: one that is active stays active.
func (s *stage) remakeKind(name, state string) {
	s.Helper()
	all, err := samples.Installation()
	s.must(err)
	for _, o := range all {
		if o.GetKind() == "ManagedResourceDefinition" && o.GetName() == name {
			s.must(cp.Client.Delete(s.Context(), o.DeepCopy()))
			s.must(unstructured.SetNestedField(o.Object, state, "spec", "state"))
			s.put(o)
		}
	}
}

// awaitWell waits until nothing is a problem: the API server takes a moment to see rights.
func (s *stage) awaitWell() {
	s.Helper()
	for deadline := time.Now().Add(patience); ; {
		r, code := s.doctor()
		if code == 0 {
			return
		}
		if time.Now().After(deadline) {
			s.Fatalf("what was repaired stays a problem:\n%s", r.problems())
		}
	}
}

// TestDoctorOfMany looks at ten configurations and a hundred Sites, five of which cannot be reached.
func TestDoctorOfMany(t *testing.T) {
	s := newInstallation(t, "plugin-many")
	for i := range 10 {
		s.configure(fmt.Sprintf("many-%d", i))
		objects, err := samples.Verified().Objects()
		s.must(err)
		delivery, sync := objects[1], objects[2]
		delivery.SetName(fmt.Sprintf("many-%d", i))
		s.must(unstructured.SetNestedField(delivery.Object, delivery.GetName(), "spec", "providerConfigRef", "name"))
		s.write(delivery)
		sync.SetName(fmt.Sprintf("many-%d", i))
		s.seeSites(sync, i)
		s.write(sync)
	}
	began := time.Now()
	r, code := s.doctor()
	t.Logf("doctor_s %.2f", time.Since(began).Seconds())
	if code != 1 || r.Problems != 5 || strings.Count(r.problems(), "ClusterUnreachable") != 5 {
		t.Errorf("doctor: want 5 Sites that are not reached, got exit code %d:\n%s", code, r.problems())
	}
	for _, l := range r.Items {
		if strings.Contains(l.Object+l.Message, "many-") && l.Result == diagnosis.Unknown {
			t.Errorf("doctor: want an answer about each configuration and Site, got %+v", l)
		}
	}
}

// seeSites makes ten Sites, and lets a SiteSync say how they are. One is unreachable in each second SiteSync.
func (s *stage) seeSites(sync *unstructured.Unstructured, number int) {
	s.Helper()
	var seen []any
	for i := range 10 {
		name := fmt.Sprintf("many-%d-%d", number, i)
		s.must(cp.ApplyYAML(s.Context(), fmt.Appendf(nil, `{apiVersion: catalog.intentplane.dev/v1alpha1, kind: Site, metadata: {name: %s},
			spec: {cluster: {controlPlane: {}}, engine: {type: None, unobservedIsLive: true}, repository: {path: clusters/%[1]s}}}`, name)))
		site := map[string]any{"name": name, "state": "Live"}
		if i == 0 && number%2 == 0 {
			site["state"], site["reason"], site["message"] = "Syncing", "ClusterUnreachable", "no route to host"
		}
		seen = append(seen, site)
	}
	s.must(unstructured.SetNestedSlice(sync.Object, seen, "status", "atProvider", "sites"))
}
