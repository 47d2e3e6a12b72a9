package plugin

import (
	"bytes"
	"context"
	"os/exec"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/test/patience"
)

// A stage is a namespace with one deployment.
type stage struct {
	*testing.T

	namespace string
}

// A sample has the objects that a control plane would.
type sample interface {
	Objects() ([]*unstructured.Unstructured, error)
}

// newPluginStage makes a namespace, and shows a sample in it.
func newPluginStage(t *testing.T, namespace string, s sample) *stage {
	t.Helper()
	created := &stage{T: t, namespace: namespace}
	created.requireNoError(cp.Client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}))
	created.publishSample(s)
	return created
}

func (s *stage) requireNoError(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// publishSample writes the objects of a sample, as function and provider would: the specs first, the statuses after them.
func (s *stage) publishSample(published sample) {
	s.Helper()
	all, err := published.Objects()
	s.requireNoError(err)
	for _, o := range all {
		s.writeStatus(o)
	}
}

func (s *stage) writeStatus(o *unstructured.Unstructured) {
	s.Helper()
	o.SetNamespace(s.namespace)
	if _, isComposed, _ := unstructured.NestedMap(o.Object, "spec", "forProvider", "claimRef"); isComposed {
		s.requireNoError(unstructured.SetNestedField(o.Object, s.namespace, "spec", "forProvider", "claimRef", "namespace"))
	}
	status := o.Object["status"]
	current := &unstructured.Unstructured{}
	current.SetGroupVersionKind(o.GroupVersionKind())
	err := cp.Client.Get(s.Context(), client.ObjectKeyFromObject(o), current)
	if client.IgnoreNotFound(err) != nil {
		s.Fatal(err)
	}
	if err != nil {
		current = o.DeepCopy()
		s.requireNoError(cp.Client.Create(s.Context(), current))
	}
	current.Object["status"] = withGeneration(status, current.GetGeneration())
	s.requireNoError(cp.Client.Status().Update(s.Context(), current))
}

// withGeneration lets conditions be of the generation that the API server gave.
func withGeneration(status any, generation int64) any {
	all, _, _ := unstructured.NestedSlice(map[string]any{"status": status}, "status", "conditions")
	for _, c := range all {
		if c, ok := c.(map[string]any); ok && c["observedGeneration"] != nil {
			c["observedGeneration"] = generation
		}
	}
	out, _ := status.(map[string]any)
	out["conditions"] = all
	return out
}

// pluginCommand starts the plugin.
func (s *stage) pluginCommand(ctx context.Context, args ...string) *exec.Cmd {
	s.Helper()
	path, err := pluginPath()
	s.requireNoError(err)
	return exec.CommandContext(ctx, path, append(args, "-n", s.namespace, "--kubeconfig", cp.Kubeconfig)...)
}

// runPlugin returns the output of the plugin, and its exit code.
func (s *stage) runPlugin(args ...string) (string, int) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), patience.Limit)
	defer cancel()
	out := &bytes.Buffer{}
	c := s.pluginCommand(ctx, args...)
	c.Stdout, c.Stderr = out, out
	if err := c.Run(); err != nil && c.ProcessState == nil {
		s.Fatal(err)
	}
	return out.String(), c.ProcessState.ExitCode()
}

// bindClusterRole gives a user a ClusterRole in the namespace.
func (s *stage) bindClusterRole(user, role string) {
	s.Helper()
	s.requireNoError(cp.Client.Create(s.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: user}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}},
	}))
}

// runUntilWithout runs the plugin until it succeeds and does not say something: the roles for people are aggregated a moment after the API server began.
func (s *stage) runUntilWithout(unwanted string, args ...string) string {
	s.Helper()
	for deadline := time.Now().Add(patience.Limit); ; {
		out, code := s.runPlugin(args...)
		if code == 0 && !strings.Contains(out, unwanted) || time.Now().After(deadline) {
			return out
		}
	}
}

func (s *stage) wantLacking(out, unwanted string) {
	s.Helper()
	if strings.Contains(out, unwanted) {
		s.Errorf("want no %q, got:\n%s", unwanted, out)
	}
}

func (s *stage) expectOutput(out string, says ...string) {
	s.Helper()
	for _, want := range says {
		if !strings.Contains(out, want) {
			s.Errorf("want %q, got:\n%s", want, out)
		}
	}
}

func shopDeployment(namespace string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetAPIVersion("intentplane.dev/v1alpha1")
	o.SetKind("IntentDeployment")
	o.SetNamespace(namespace)
	o.SetName("shop")
	return o
}
