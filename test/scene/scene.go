// Package scene sets the stage for an end-to-end test on a control plane that others use too: a namespace, a Git repository, its
// configuration, Sites and a Blueprint of its own. Waiting is by watches, with a deadline.
package scene

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/controlplane/kubernetes"
	"github.com/intentplane/intentplane/test/controlplane/toolbox"
	"github.com/intentplane/intentplane/test/patience"
)

// Config is the name of a scene's ProviderConfig.
const Config = "repo"

// A Scene is the environment of one test.
type Scene struct {
	*controlplane.ControlPlane

	// T is the test.
	T *testing.T

	// Namespace, and the repository of the same name, belong to the test alone. So do cluster-scoped objects whose names
	// begin with it.
	Namespace string

	// Sites of the scene, by their full names.
	Sites []string
}

// New makes a scene with Sites of these short names. They are called <namespace>-<name>.
func New(t *testing.T, cp *controlplane.ControlPlane, sites ...string) *Scene {
	t.Helper()
	s := &Scene{ControlPlane: cp, T: t}
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "t-"}}
	s.Must(cp.Client.Create(t.Context(), ns))
	s.Namespace = ns.GetName()
	s.Must(cp.Git.CreateRepo(t.Context(), s.Namespace, map[string]string{"README.md": "Not ours.\n"}))
	s.Apply(s.ProviderConfig())
	s.Apply(s.Blueprint("1.0.0", "stable"))
	for _, name := range sites {
		s.AddSite(name)
	}
	t.Cleanup(s.explainFailure)
	return s
}

// Site is the full name of a Site.
func (s *Scene) Site(name string) string { return s.Namespace + "-" + name }

// Directory is where a claim's files for a Site lie.
func (s *Scene) Directory(site, claim string) string {
	return strings.Join([]string{"clusters", site, s.Namespace, claim}, "/")
}

// AddSite makes a Site that the scene's namespace may use.
func (s *Scene) AddSite(name string) {
	s.T.Helper()
	s.Apply(s.NewSite(name))
	s.Sites = append(s.Sites, s.Site(name))
}

// NewSite describes a Site that the scene's namespace may use.
func (s *Scene) NewSite(name string) *unstructured.Unstructured {
	return s.newUnstructured(catalogv1alpha1.GroupVersion.String(), "Site", "", s.Site(name), map[string]any{
		"cluster":           map[string]any{"controlPlane": map[string]any{}},
		"engine":            map[string]any{"type": "None", "unobservedIsLive": true},
		"repository":        map[string]any{"path": "clusters/" + name},
		"allowedNamespaces": []any{s.Namespace},
	})
}

// ProviderConfig describes the scene's own configuration of its repository.
func (s *Scene) ProviderConfig() *unstructured.Unstructured {
	return s.newUnstructured(configv1alpha1.GroupVersion.String(), "ProviderConfig", s.Namespace, Config, map[string]any{
		"controlPlane": "test",
		"git":          map[string]any{"url": s.Git.URL(s.Namespace), "interval": "10s"},
	})
}

// Blueprint describes the scene's own copy of the example's Blueprint.
func (s *Scene) Blueprint(version, channel string) *unstructured.Unstructured {
	s.T.Helper()
	root, err := toolbox.Root()
	s.Must(err)
	b, err := os.ReadFile(filepath.Join(root, "examples", "quickstart", "20-blueprint.yaml"))
	s.Must(err)
	objects, err := kubernetes.ParseYAML(b)
	s.Must(err)
	o := objects[0]
	o.SetName(s.BlueprintName() + "-" + version)
	o.SetLabels(map[string]string{catalogv1alpha1.LabelBlueprint: s.BlueprintName(), catalogv1alpha1.LabelChannel: channel})
	s.Must(unstructured.SetNestedField(o.Object, s.BlueprintName(), "spec", "blueprintName"))
	s.Must(unstructured.SetNestedField(o.Object, version, "spec", "version"))
	return o
}

// BlueprintName is the name of the scene's Blueprint.
func (s *Scene) BlueprintName() string { return s.Namespace + "-web" }

// Claim describes a claim with an intent, at the scene's repository and Blueprint. It is changed with Set.
func (s *Scene) Claim(name, intent string) *unstructured.Unstructured {
	return s.newDeployment("claims.intentplane.dev/v1alpha1", name, intent)
}

// Composite describes a namespaced composite with an intent, as Claim does.
func (s *Scene) Composite(name, intent string) *unstructured.Unstructured {
	return s.newDeployment("intentplane.dev/v1alpha1", name, intent)
}

func (s *Scene) newDeployment(apiVersion, name, intent string) *unstructured.Unstructured {
	return s.newUnstructured(apiVersion, "IntentDeployment", s.Namespace, name, map[string]any{
		"intent":         intent,
		"blueprint":      map[string]any{"name": s.BlueprintName()},
		"deliveryConfig": map[string]any{"gitOpsRepo": map[string]any{"kind": "ProviderConfig", "name": Config}},
	})
}

// Set changes one field of an object that was described.
func (s *Scene) Set(o *unstructured.Unstructured, value any, fields ...string) *unstructured.Unstructured {
	s.T.Helper()
	s.Must(unstructured.SetNestedField(o.Object, value, fields...))
	return o
}

func (s *Scene) newUnstructured(apiVersion, kind, namespace, name string, spec map[string]any) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	o.SetAPIVersion(apiVersion)
	o.SetKind(kind)
	o.SetNamespace(namespace)
	o.SetName(name)
	return o
}

// Context ends with the test, or at the limit of a wait.
func (s *Scene) Context() (context.Context, context.CancelFunc) {
	return context.WithTimeout(s.T.Context(), patience.Limit)
}

// ProjectFile reads a file of the project, such as an example.
func (s *Scene) ProjectFile(path ...string) []byte {
	s.T.Helper()
	root, err := toolbox.Root()
	s.Must(err)
	b, err := os.ReadFile(filepath.Join(append([]string{root}, path...)...))
	s.Must(err)
	return b
}

// Must ends the test if a step of it failed.
func (s *Scene) Must(err error) {
	s.T.Helper()
	if err != nil {
		s.T.Fatal(err)
	}
}

// UntilValue reads a value until it is as it should be, and returns it.
func UntilValue[T any](s *Scene, description string, read func() T, condition func(T) bool) T {
	s.T.Helper()
	var last T
	s.Until(description, patience.Limit, func() bool {
		last = read()
		return condition(last)
	})
	return last
}

// WantEqual fails the test unless something is as wanted. The first argument describes it.
func (s *Scene) WantEqual(description string, want, got any, options ...cmp.Option) {
	s.T.Helper()
	if diff := cmp.Diff(want, got, options...); diff != "" {
		s.T.Errorf("%s: -want, +got:\n%s", description, diff)
	}
}

// explainFailure shows where everything stood when a test failed.
func (s *Scene) explainFailure() {
	if !s.T.Failed() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience.Limit)
	defer cancel()
	for _, args := range [][]string{
		{"get", "intentdeployments.claims.intentplane.dev,intentdeployments.intentplane.dev", "-n", s.Namespace, "-o", "yaml"},
		{"get", "xintentdeployments.claims.intentplane.dev", "-l", "crossplane.io/claim-namespace=" + s.Namespace, "-o", "jsonpath={range .items[*]}{.metadata.name}{\"\\n\"}{.status}{\"\\n\"}{end}"},
		{"get", "gitdeliveries.delivery.intentplane.dev", "-n", s.Namespace, "-o", "jsonpath={range .items[*]}{.metadata.name}{\"\\n\"}{.spec.forProvider.ledger}{.spec.forProvider.position}{\"\\n\"}{.status}{\"\\n\"}{end}"},
		{"get", "workloadclusters.claims.intentplane.dev,workloadclusters.intentplane.dev,managedclusters.cluster.intentplane.dev", "-n", s.Namespace, "-o", "yaml"},
		{"get", "events", "-n", s.Namespace},
	} {
		out, err := s.Kubectl(ctx, args...)
		s.T.Logf("kubectl %s\n%s%v", strings.Join(args, " "), out, err)
	}
}

// Case runs a part of the test on the same scene. Parts run one after another.
func (s *Scene) Case(name string, fn func(s *Scene)) {
	s.T.Helper()
	s.T.Run(name, func(t *testing.T) {
		part := *s
		part.T = t
		fn(&part)
	})
}
