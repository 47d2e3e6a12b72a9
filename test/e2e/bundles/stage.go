// Package bundles shows, on a real control plane, the packages and the records of Bundles.
package bundles

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/bundles/state"
	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

// cp is the control plane of all tests of this package.
var cp *controlplane.ControlPlane

// configureStories installs Bundles, and allows more events of a composite than the 100 at once and one each second of Crossplane's defaults: the stories of this
// package change something each second, where users do so each hour. The cost of one change is counted.
func configureStories(o *controlplane.Options) {
	*o = o.WithApplications()
	o.CoreArgs = append(o.CoreArgs, "--circuit-breaker-burst=5000")
}

const (
	claims     = "claims.intentplane.dev/v1alpha1"
	namespaced = "intentplane.dev/v1alpha1"
)

// A stage is a scene with one Site, and Bundles that the test makes.
type stage struct {
	*scene.Scene

	kube kubernetes.Interface
}

func newBundleStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{Scene: scene.New(t, cp, "edge1"), kube: clientAsUser(t, "")}
	t.Cleanup(s.explainFailure)
	return s
}

// explainFailure shows where the Bundles stood when a test failed.
func (s *stage) explainFailure() {
	if !s.T.Failed() {
		return
	}
	for _, args := range [][]string{
		{"get", "bundles.claims.intentplane.dev,bundles.intentplane.dev,bundlestates.state.intentplane.dev", "-n", s.Namespace, "-o", "yaml"},
		{"get", "events", "-n", s.Namespace},
	} {
		out, err := s.Kubectl(context.WithoutCancel(s.T.Context()), args...)
		s.T.Logf("kubectl %s\n%s%v", strings.Join(args, " "), out, err)
	}
}

// describeBundle describes a Bundle with packages.
func (s *stage) describeBundle(apiVersion, name, version string, packages ...map[string]any) *unstructured.Unstructured {
	all := make([]any, 0, len(packages))
	for _, p := range packages {
		all = append(all, p)
	}
	o := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"version": version, "packages": all}}}
	o.SetAPIVersion(apiVersion)
	o.SetKind("Bundle")
	o.SetNamespace(s.Namespace)
	o.SetName(name)
	return o
}

// describePackage describes a package of a version, which is a deployment with so many replicas at the Site, behind others.
func (s *stage) describePackage(name, version string, replicas int, needs ...any) map[string]any {
	return map[string]any{"name": name, "version": version, "deployment": s.specWithIntent(s.runIntent(name, replicas)), "dependsOn": append([]any{}, needs...)}
}

// brokenPackage describes a package whose deployment cannot be carried out.
func (s *stage) brokenPackage(name, version string, needs ...any) map[string]any {
	return map[string]any{"name": name, "version": version, "deployment": s.specWithIntent(s.runIntent(name, -1)), "dependsOn": append([]any{}, needs...)}
}

func (s *stage) runIntent(name string, replicas int) string {
	return fmt.Sprintf(`{"service": %q, "type": "web", "sites": [%q], "replicas": %d}`, name, s.Site("edge1"), replicas)
}

func (s *stage) specWithIntent(intent string) map[string]any {
	spec, _ := s.Composite("x", intent).Object["spec"].(map[string]any)
	return spec
}

// withPackageField sets fields of a package.
func withPackageField(p map[string]any, key string, value any) map[string]any {
	p[key] = value
	return p
}

// applyAndAwaitPhase applies a Bundle and waits until its status describes its version, and has a phase.
func (s *stage) applyAndAwaitPhase(o *unstructured.Unstructured, phase string) *unstructured.Unstructured {
	s.T.Helper()
	s.Apply(o.DeepCopy())
	version := scene.Field(o, "spec", "version")
	return s.Await(o, phase+" in version "+version, func(u *unstructured.Unstructured) bool {
		return scene.Field(u, "status", "phase") == phase && scene.Field(u, "status", "version") == version
	})
}

// awaitDeleted deletes a Bundle, and waits until its BundleState has removed its packages. A namespaced composite is deleted before that.
func (s *stage) awaitDeleted(o *unstructured.Unstructured) {
	s.T.Helper()
	s.Delete(o)
	s.Gone(o)
	s.Gone(s.describeState(o))
}

// describeState describes the BundleState of a Bundle.
func (s *stage) describeState(o *unstructured.Unstructured) *unstructured.Unstructured {
	out := &unstructured.Unstructured{}
	out.SetAPIVersion("state.intentplane.dev/v1alpha1")
	out.SetKind("BundleState")
	out.SetNamespace(s.Namespace)
	out.SetName(bundleRecordName(o))
	return out
}

// bundleRecordName returns the name of a Bundle's record, and of its BundleState.
func bundleRecordName(o *unstructured.Unstructured) string {
	if o.GetAPIVersion() == namespaced {
		return o.GetName() + ".ns"
	}
	return o.GetName()
}

// objectOfPackage describes the object of a package.
func (s *stage) objectOfPackage(name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetAPIVersion(namespaced)
	o.SetKind("IntentDeployment")
	o.SetNamespace(s.Namespace)
	o.SetName(name)
	return o
}

// objectExists reports whether the object of a package exists.
func (s *stage) objectExists(name string) bool {
	s.T.Helper()
	o := s.objectOfPackage(name)
	err := s.Client.Get(s.T.Context(), client.ObjectKeyFromObject(o), o)
	s.Must(client.IgnoreNotFound(err))
	return err == nil
}

// statusesOfPackages returns the statuses of packages in the status of a Bundle.
func statusesOfPackages(u *unstructured.Unstructured) map[string]string {
	return packageStatuses(u, "packages")
}

// packageStatuses returns the statuses of packages in a list of an object's status.
func packageStatuses(u *unstructured.Unstructured, path ...string) map[string]string {
	out := map[string]string{}
	all, _, _ := unstructured.NestedSlice(u.Object, append([]string{"status"}, path...)...)
	for _, p := range all {
		if p, ok := p.(map[string]any); ok {
			out[fmt.Sprint(p["name"])] = strings.TrimSuffix(fmt.Sprintf("%v %v", p["status"], p["reason"]), " <nil>")
		}
	}
	return out
}

// awaitMessage waits until the status of a Bundle has a message of a package.
func (s *stage) awaitMessage(o *unstructured.Unstructured, name, want string) *unstructured.Unstructured {
	s.T.Helper()
	return s.Await(o, name+" "+want, func(u *unstructured.Unstructured) bool { return statusesOfPackages(u)[name] == want })
}

// recordsClient returns the records of the namespace.
func (s *stage) recordsClient() *state.Client {
	s.T.Helper()
	c, err := state.NewClient(s.kube, state.Options{Namespace: s.Namespace, Writer: "test"})
	s.Must(err)
	return c
}

// awaitRecorded waits until the record of a bundle has a status, and each package "name status version".
func (s *stage) awaitRecorded(bundle string, want state.Status, packages ...string) {
	s.T.Helper()
	s.Until(fmt.Sprintf("record %s is %s: %v", bundle, want, packages), patience.Limit, func() bool {
		r, err := s.recordsClient().GetBundleState(s.T.Context(), bundle)
		if err != nil || r.Status != want || len(r.PkgStatuses) != len(packages) {
			return false
		}
		for i, p := range r.PkgStatuses {
			if strings.TrimSpace(fmt.Sprintf("%s %s %s", p.Name, p.Status, p.Version)) != packages[i] {
				return false
			}
		}
		return true
	})
}

// awaitNoRecord waits until a bundle has no record.
func (s *stage) awaitNoRecord(bundle string) {
	s.T.Helper()
	s.Until("the record is gone", patience.Limit, func() bool {
		_, err := s.kube.CoreV1().Secrets(s.Namespace).Get(s.T.Context(), state.Prefix+bundle, metav1.GetOptions{})
		return kerrors.IsNotFound(err)
	})
}

// secretOfRecord returns the Secret that holds a record.
func (s *stage) secretOfRecord(bundle string) *corev1.Secret {
	s.T.Helper()
	out, err := s.kube.CoreV1().Secrets(s.Namespace).Get(s.T.Context(), state.Prefix+bundle, metav1.GetOptions{})
	s.Must(err)
	return out
}

// hasPackageFiles reports whether the repository has the directory of a package.
func (s *stage) hasPackageFiles(name string) bool {
	s.T.Helper()
	return len(s.FilesBelow(s.Directory("edge1", name))) > 0
}
