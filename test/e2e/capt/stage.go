// Package capt shows, on a real API server and with the provider's real binary, the life of a ManagedCluster that CAPT (Cluster API Provider
// Terraform) builds. The writes of CAPT and the core of Cluster API are repeated as recorded; the environment may name their real controllers
// instead.
package capt

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/cluster/v1alpha1"
	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/controlplane/toolbox"
	"github.com/intentplane/intentplane/test/patience"
)

var (
	// cp is the API server of all tests of this package, with the provider.
	cp *controlplane.ControlPlane

	// kube acts as the administrator.
	kube client.WithWatch
)

func runSuite(m *testing.M) (int, error) {
	ctx := context.Background()
	core, err := toolbox.Path(ctx, "CLUSTERAPI_1_10_CRDS")
	if err != nil {
		return 1, err
	}
	terraform, err := toolbox.Path(ctx, "TERRAFORM_CRDS")
	if err != nil {
		return 1, err
	}
	cp, err = controlplane.StartAlone(ctx, core, filepath.Join(terraform, "tf.upbound.io_workspaces.yaml"), "manifests")
	if err != nil {
		return 1, err
	}
	if err := connectClient(); err != nil {
		return 1, errors.Join(err, cp.Stop())
	}
	if err := startRealControllers(ctx); err != nil {
		return 1, errors.Join(err, cp.Stop())
	}
	code := m.Run()
	return code, errors.Join(cp.Err(), cp.Stop())
}

func connectClient() error {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, catalogv1alpha1.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(s); err != nil {
			return errors.Wrap(err, "cannot make scheme")
		}
	}
	var err error
	kube, err = client.NewWithWatch(cp.Config, client.Options{Scheme: s})
	return errors.Wrap(err, "cannot make client")
}

// often is the time between two observations.
const often = 50 * time.Millisecond

// kindsByName returns the kind of a name, for the kinds of this package.
func kindsByName(kind string) schema.GroupVersionKind {
	groups := map[string]string{
		"Cluster": "cluster.x-k8s.io/v1beta1", "CAPTCluster": "infrastructure.cluster.x-k8s.io/v1beta1", "CAPTControlPlane": "controlplane.cluster.x-k8s.io/v1beta1",
		"WorkspaceTemplate": "infrastructure.cluster.x-k8s.io/v1beta1", "WorkspaceTemplateApply": "infrastructure.cluster.x-k8s.io/v1beta1",
		"Workspace": "tf.upbound.io/v1beta1", "Secret": "v1", "ClusterProviderConfig": "config.intentplane.dev/v1alpha1",
	}
	return schema.FromAPIVersionAndKind(groups[kind], kind)
}

// A stage is a namespace with one ManagedCluster and the templates that it may use. The cluster is called as the namespace, since
// CAPT's names have to be unique over all of them.
type stage struct {
	*testing.T

	// namespace, which is also the name of all.
	namespace string
}

func newCAPTStage(t *testing.T, name string) *stage {
	t.Helper()
	s := &stage{T: t, namespace: name}
	s.requireNoError(kube.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}))
	s.applyYAML("ClusterProviderConfig", fmt.Sprintf(`
metadata: {name: %[1]s}
spec:
  controlPlane: test
  git: {url: "https://git.invalid/x.git"}
  policy:
    allowedNamespaces: [%[1]s]
    workspaceTemplates: [{namespace: %[1]s, name: vpc}, {namespace: %[1]s, name: eks}]
    capt: {tagKeys: [team]}`, name))
	for _, template := range []string{"vpc", "eks"} {
		s.emptyTemplate(template)
	}
	return s
}

// emptyTemplate makes nothing: Terraform does not run here.
func (s *stage) emptyTemplate(name string) {
	s.Helper()
	s.applyYAML("WorkspaceTemplate", fmt.Sprintf("metadata: {name: %s}\nspec: {template: {spec: {forProvider: {source: Inline, module: ''}}}}", name))
}

func (s *stage) requireNoError(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// applyYAML applies an object, in the stage's namespace, as the administrator.
func (s *stage) applyYAML(kind, text string) {
	s.Helper()
	u := s.parseYAML(kind, text)
	s.requireNoError(cp.ApplyObject(s.Context(), u))
}

func (s *stage) parseYAML(kind, text string) *unstructured.Unstructured {
	s.Helper()
	u := s.namedObject(kind)
	s.requireNoError(yaml.Unmarshal([]byte(text), &u.Object))
	named := s.namedObject(kind, u.GetName())
	u.SetGroupVersionKind(named.GroupVersionKind())
	u.SetName(named.GetName())
	if u.GetNamespace() == "" {
		u.SetNamespace(named.GetNamespace())
	}
	return u
}

// namedObject is an object of the stage, which has the name of all unless another is given.
func (s *stage) namedObject(kind string, name ...string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(kindsByName(kind))
	u.SetName(s.namespace)
	if kind != "Workspace" && kind != "ClusterProviderConfig" {
		u.SetNamespace(s.namespace)
	}
	if len(name) > 0 && name[0] != "" {
		u.SetName(name[0])
	}
	return u
}

// makeManagedCluster makes the ManagedCluster, with a spec of its own if one is given.
func (s *stage) makeManagedCluster(changes ...func(*v1alpha1.ManagedClusterParameters)) {
	s.Helper()
	no := false
	mc := &v1alpha1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: s.namespace}}
	mc.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: "ClusterProviderConfig", Name: s.namespace}
	seconds := int32(1)
	mc.Spec.ForProvider.Cluster.Name = s.namespace
	mc.Spec.ForProvider.ClusterDescription = v1alpha1.ClusterDescription{
		Type: v1alpha1.TypeCAPT, Version: "v1.31.0", Labels: map[string]v1alpha1.LabelValue{"env": "prod"}, Readiness: v1alpha1.Readiness{StabilizationSeconds: &seconds},
		CAPT: &v1alpha1.CAPT{
			Region: "eu-west-1", VPC: v1alpha1.CAPTVPC{TemplateRef: &v1alpha1.TemplateReference{Name: "vpc"}},
			ControlPlane: v1alpha1.CAPTControlPlane{
				TemplateRef: v1alpha1.TemplateReference{Name: "eks"}, EndpointAccess: &v1alpha1.CAPTEndpointAccess{Private: &no}, Tags: map[string]v1alpha1.BoundedText{"team": "a"},
			},
		},
	}
	for _, change := range changes {
		change(&mc.Spec.ForProvider)
	}
	s.requireNoError(kube.Create(s.Context(), mc))
}

func (s *stage) namespacedName() types.NamespacedName {
	return types.NamespacedName{Namespace: s.namespace, Name: s.namespace}
}

// changeManagedCluster changes the ManagedCluster, however often another writer is faster.
func (s *stage) changeManagedCluster(fn func(*v1alpha1.ManagedCluster)) {
	s.Helper()
	mc := &v1alpha1.ManagedCluster{}
	s.requireNoError(kube.Get(s.Context(), s.namespacedName(), mc))
	original := mc.DeepCopy()
	fn(mc)
	s.requireNoError(kube.Patch(s.Context(), mc, client.MergeFrom(original)))
}

// awaitManagedCluster waits until the ManagedCluster meets a condition, and describes its last state when it never does.
func (s *stage) awaitManagedCluster(description string, condition func(*v1alpha1.ManagedCluster) bool) *v1alpha1.ManagedCluster {
	s.Helper()
	mc := &v1alpha1.ManagedCluster{}
	s.pollUntilTrue(description, func(ctx context.Context) (bool, error) {
		err := kube.Get(ctx, s.namespacedName(), mc)
		return err == nil && condition(mc), client.IgnoreNotFound(err)
	}, func() string { return describeObject(mc) })
	return mc
}

func (s *stage) pollUntilTrue(description string, condition wait.ConditionWithContextFunc, instead func() string) {
	s.Helper()
	if err := wait.PollUntilContextTimeout(s.Context(), often, patience.Limit, true, condition); err != nil {
		s.Fatalf("%s: %v; instead:\n%s\nthe provider's log ends with:\n%s", description, err, instead(), providerLog())
	}
}

func describeObject(mc *v1alpha1.ManagedCluster) string {
	b, err := yaml.Marshal(mc.Status)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

func providerLog() string {
	b, err := os.ReadFile(cp.LogFile("provider"))
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	return strings.Join(lines[max(0, len(lines)-20):], "\n")
}

// awaitReadyReason waits until the Ready condition has this reason.
func (s *stage) awaitReadyReason(reason xpv2.ConditionReason) *v1alpha1.ManagedCluster {
	s.Helper()
	return s.awaitManagedCluster("Ready has reason "+string(reason), func(mc *v1alpha1.ManagedCluster) bool {
		c := mc.GetCondition(xpv2.TypeReady)
		return c.Reason == reason && c.ObservedGeneration == mc.GetGeneration()
	})
}

// awaitCondition waits until a condition has a status and a reason, and returns its message.
func (s *stage) awaitCondition(conditionType xpv2.ConditionType, status corev1.ConditionStatus, reason xpv2.ConditionReason) string {
	s.Helper()
	mc := s.awaitManagedCluster(fmt.Sprintf("%s is %s, %s", conditionType, status, reason), func(mc *v1alpha1.ManagedCluster) bool {
		c := mc.GetCondition(conditionType)
		return c.Status == status && c.Reason == reason
	})
	return mc.GetCondition(conditionType).Message
}

// liveObject returns an object from the API server. The name is the namespace's unless it is given; it is nil if there is none.
func (s *stage) liveObject(kind string, name ...string) *unstructured.Unstructured {
	s.Helper()
	u := s.namedObject(kind, name...)
	err := kube.Get(s.Context(), client.ObjectKeyFromObject(u), u)
	s.requireNoError(client.IgnoreNotFound(err))
	if err != nil {
		return nil
	}
	return u
}

// awaitObject waits for an object.
func (s *stage) awaitObject(kind string, name ...string) *unstructured.Unstructured {
	s.Helper()
	var u *unstructured.Unstructured
	s.pollUntilTrue(kind+" is there", func(context.Context) (bool, error) {
		u = s.liveObject(kind, name...)
		return u != nil, nil
	}, nothingElse)
	return u
}

// awaitVanished waits until an object is gone.
func (s *stage) awaitVanished(kind string, name ...string) {
	s.Helper()
	s.pollUntilTrue(kind+" is gone", func(context.Context) (bool, error) { return s.liveObject(kind, name...) == nil, nil }, nothingElse)
}

// conditionOf is one in the form of Kubernetes.
func conditionOf(conditionType, status, reason, message string) map[string]any {
	return map[string]any{"type": conditionType, "status": status, "reason": reason, "message": message, "lastTransitionTime": time.Now().UTC().Format(time.RFC3339)}
}
