package plugin

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/diagnosis"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/samples"
	"github.com/intentplane/intentplane/test/controlplane/toolbox"
	"github.com/intentplane/intentplane/test/patience"
)

// config is the ClusterProviderConfig that the deployments of these tests use, and no other test's do.
const config = "doctor"

// installPackages makes the objects of Crossplane, of the packages and of a person, and a configuration.
func (s *stage) installPackages() {
	s.Helper()
	root, err := toolbox.Root()
	s.requireNoError(err)
	s.requireNoError(client.IgnoreAlreadyExists(cp.Client.Create(s.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "crossplane-system"}})))
	s.requireNoError(cp.Apply(s.Context(), filepath.Join(root, "examples", "rbac")))
	all, err := samples.Installation()
	s.requireNoError(err)
	for _, o := range all {
		s.letPolicyAudit(o)
		s.writeClusterObject(o)
	}
	s.applyConfig(config)
}

// letPolicyAudit lets a policy deny nothing: the other tests of this API server write fields that only Crossplane and the provider may write.
func (s *stage) letPolicyAudit(o *unstructured.Unstructured) {
	s.Helper()
	if o.GetKind() == "ValidatingAdmissionPolicyBinding" {
		s.requireNoError(unstructured.SetNestedStringSlice(o.Object, []string{"Audit"}, "spec", "validationActions"))
	}
}

// applyConfig makes a ClusterProviderConfig.
func (s *stage) applyConfig(name string) {
	s.Helper()
	s.requireNoError(cp.ApplyYAML(s.Context(), fmt.Appendf(nil, `{apiVersion: config.intentplane.dev/v1alpha1, kind: ClusterProviderConfig, metadata: {name: %s},
		spec: {controlPlane: demo, git: {url: "https://git.example.org/fleet.git", branch: main, credentials: {type: Basic, secretRef: {namespace: crossplane-system, name: fleet-git}}}}}`, name)))
}

// writeClusterObject writes an object that is in no namespace of a test, with its status.
func (s *stage) writeClusterObject(o *unstructured.Unstructured) {
	s.Helper()
	current := o.DeepCopy()
	s.requireNoError(client.IgnoreAlreadyExists(cp.Client.Create(s.Context(), current)))
	if o.Object["status"] == nil {
		return
	}
	s.requireNoError(cp.Client.Get(s.Context(), client.ObjectKeyFromObject(o), current))
	current.Object["status"] = o.Object["status"]
	s.requireNoError(cp.Client.Status().Update(s.Context(), current))
}

// patchStatus changes an object, and its status.
func (s *stage) patchStatus(apiVersion, kind, name, change string) {
	s.Helper()
	o := &unstructured.Unstructured{}
	o.SetAPIVersion(apiVersion)
	o.SetKind(kind)
	o.SetName(name)
	p := client.RawPatch("application/merge-patch+json", []byte(change))
	if strings.HasPrefix(change, `{"status"`) {
		s.requireNoError(cp.Client.Status().Patch(s.Context(), o, p))
		return
	}
	s.requireNoError(cp.Client.Patch(s.Context(), o, p))
}

// newInstallation makes a namespace, and an installation that is well.
func newInstallation(t *testing.T, namespace string) *stage {
	t.Helper()
	s := &stage{T: t, namespace: namespace}
	s.requireNoError(cp.Client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}))
	s.installPackages()
	return s
}

// publishWithConfig shows a sample whose deployment uses the configuration of these tests.
func (s *stage) publishWithConfig(sample *samples.Sample) {
	s.Helper()
	all, err := sample.Objects()
	s.requireNoError(err)
	for _, o := range all {
		if o.GetKind() == "GitDelivery" {
			s.requireNoError(unstructured.SetNestedField(o.Object, config, "spec", "providerConfigRef", "name"))
		}
		s.writeStatus(o)
	}
}

// A report is the JSON output of doctor.
type report struct {
	Items    []diagnosis.Line `json:"items"`
	Problems int              `json:"problems"`
}

func (s *stage) runDoctor(args ...string) (report, int) {
	s.Helper()
	out, code := s.runPlugin(append([]string{"doctor", "-o", "json"}, args...)...)
	r := report{}
	s.requireNoError(errors.Wrap(json.Unmarshal([]byte(out), &r), out))
	return r, code
}

// problemLines returns each problem as one line.
func (r report) problemLines() string { return r.linesWithResult(diagnosis.Problem) }

// linesWithResult returns the lines with a result, each as one line.
func (r report) linesWithResult(result diagnosis.Result) string {
	var out []string
	for _, l := range r.Items {
		if l.Result == result {
			out = append(out, fmt.Sprintf("%s: %s: %s: %s Fix: %s", l.Check, l.Object, l.Reason, l.Message, l.Fix))
		}
	}
	return strings.Join(out, "\n")
}

const (
	sick     = `{"status":{"conditions":[{"type":"Installed","status":"True","reason":"Active","lastTransitionTime":"2031-05-06T12:00:00Z"},{"type":"Healthy","status":"False","reason":"Sick","message":"cannot pull","lastTransitionTime":"2031-05-06T12:00:00Z"}]}}`
	inactive = `{"status":{"conditions":[{"type":"Established","status":"False","reason":"Terminating","message":"being deleted","lastTransitionTime":"2031-05-06T12:00:00Z"}]}}`
)

// recreateKind makes a ManagedResourceDefinition again, in a state: an active definition stays active.
func (s *stage) recreateKind(name, state string) {
	s.Helper()
	all, err := samples.Installation()
	s.requireNoError(err)
	for _, o := range all {
		if o.GetKind() == "ManagedResourceDefinition" && o.GetName() == name {
			s.requireNoError(cp.Client.Delete(s.Context(), o.DeepCopy()))
			s.requireNoError(unstructured.SetNestedField(o.Object, state, "spec", "state"))
			s.writeClusterObject(o)
		}
	}
}

// awaitNoProblems waits until nothing is a problem: the API server takes a moment to see rights.
func (s *stage) awaitNoProblems() {
	s.Helper()
	for deadline := time.Now().Add(patience.Limit); ; {
		r, code := s.runDoctor()
		if code == 0 {
			return
		}
		if time.Now().After(deadline) {
			s.Fatalf("a repaired object stays a problem:\n%s", r.problemLines())
		}
	}
}

// publishSites makes ten Sites, and lets a SiteSync say how they are. One is unreachable in each second SiteSync.
func (s *stage) publishSites(sync *unstructured.Unstructured, number int) {
	s.Helper()
	var observed []any
	for i := range 10 {
		name := fmt.Sprintf("many-%d-%d", number, i)
		s.requireNoError(cp.ApplyYAML(s.Context(), fmt.Appendf(nil, `{apiVersion: catalog.intentplane.dev/v1alpha1, kind: Site, metadata: {name: %s},
			spec: {cluster: {controlPlane: {}}, engine: {type: None, unobservedIsLive: true}, repository: {path: clusters/%[1]s}}}`, name)))
		site := map[string]any{"name": name, "state": "Live"}
		if i == 0 && number%2 == 0 {
			site["state"], site["reason"], site["message"] = "Syncing", "ClusterUnreachable", "no route to host"
		}
		observed = append(observed, site)
	}
	s.requireNoError(unstructured.SetNestedSlice(sync.Object, observed, "status", "atProvider", "sites"))
}
