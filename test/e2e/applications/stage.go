// Package applications shows, on a real control plane and a second cluster in which real Flux and the Deployment controller of Kubernetes
// run, the status of an Application while its pods come, go and fail. The tests play the nodes: they report the states of pods.
package applications

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/controlplane/kubernetes"
	"github.com/intentplane/intentplane/test/controlplane/toolbox"
	"github.com/intentplane/intentplane/test/load"
	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

// cp is the control plane of all tests of this package.
var cp *controlplane.ControlPlane

func runSuite(m *testing.M) int {
	var err error
	if judges, err = startJudgeServer(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer judges.closeServer()
	return scene.Main(m, &cp, configureStories, allowJudgeServer, enableWebhooks)
}

// configureStories installs Applications, and lets Crossplane react to more events of a composite than the 100 at once and one each second of its
// defaults: the stories of this package change something each second, where users do so each hour. The cost of one change is counted. The
// timers of Crossplane and of the provider are off, so that an Application which an event does not wake stays as it is.
func configureStories(o *controlplane.Options) {
	*o = o.WithApplications()
	o.CoreArgs = append(o.CoreArgs, "--circuit-breaker-burst=5000", "--poll-interval=24h")
	o.Provider.Args = append(o.Provider.Args, "--poll-interval=24h")
}

// edge is the other cluster of most tests, with Flux and the controllers that make pods of Deployments, and farEdge another such cluster.
var (
	edge    = sync.OnceValues(func() (*kubernetes.Cluster, error) { return startEdgeCluster("edge") })
	farEdge = sync.OnceValues(func() (*kubernetes.Cluster, error) { return startEdgeCluster("far-edge") })
)

func startEdgeCluster(name string) (*kubernetes.Cluster, error) {
	ctx := context.Background()
	k, err := cp.StartCluster(ctx, name)
	if err != nil {
		return nil, err
	}
	if err := k.StartFlux(ctx); err != nil {
		return nil, err
	}
	routes, err := toolbox.Path(ctx, "GATEWAY_API_CRDS")
	if err != nil {
		return nil, err
	}
	if err := k.Apply(ctx, routes); err != nil {
		return nil, err
	}
	return k, k.StartWorkloads()
}

const (
	claims     = "claims.intentplane.dev/v1alpha1"
	namespaced = "intentplane.dev/v1alpha1"
)

// inBothShapes runs a story on a stage with an Application of each shape, beside each other.
func inBothShapes[S any](t *testing.T, newStage func(t *testing.T, apiVersion string) S, story func(s S)) {
	t.Helper()
	for name, apiVersion := range map[string]string{"Claim": claims, "Namespaced": namespaced} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			story(newStage(t, apiVersion))
		})
	}
}

// A stage is a scene whose one Site is in another cluster, with an Application that the test makes.
type stage struct {
	*scene.Scene

	edge *kubernetes.Cluster
	app  *unstructured.Unstructured
}

// newAppStage makes a Site, to which Flux brings the repository, and describes an Application of a shape.
func newAppStage(t *testing.T, apiVersion string) *stage {
	t.Helper()
	k, err := edge()
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{Scene: scene.New(t, cp), edge: k}
	t.Cleanup(s.explainFailure)
	s.applyBlueprint("app-internal-1.0.0")
	s.addEdgeSite("edge1")
	s.app = s.newApplication(apiVersion)
	return s
}

// addEdgeSite makes a Site in the other cluster of the stage, to which Flux brings the repository.
func (s *stage) addEdgeSite(name string) {
	s.T.Helper()
	ctx, k, secret := s.T.Context(), s.edge, name+"-kubeconfig"
	b, err := os.ReadFile(k.Kubeconfig)
	s.requireNoError(err)
	s.requireNoError(s.Client.Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: secret}, Data: map[string][]byte{"value": b}}))
	site := s.Set(s.NewSite(name), map[string]any{"kubeconfigSecretRef": map[string]any{"namespace": s.Namespace, "name": secret}}, "spec", "cluster")
	s.Apply(s.Set(site, map[string]any{"type": "Flux", "objectRef": map[string]any{
		"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization", "namespace": kubernetes.FluxNamespace, "name": "{claimNamespace}",
	}}, "spec", "engine"))
	dir := s.Directory(name, "shop")
	_, err = s.Git.Commit(ctx, s.Namespace, "main", map[string]string{dir + "/placeholder": "An empty directory is none.\n"}, "A placeholder")
	s.requireNoError(err)
	s.requireNoError(k.Client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.Namespace}}))
	s.requireNoError(k.ApplyYAML(ctx, load.Kustomization(s.Namespace, s.Git.URL(s.Namespace), dir)))
}

// applyBlueprint applies a Blueprint of the examples, which all tests share.
func (s *stage) applyBlueprint(name string) {
	s.T.Helper()
	b := s.ProjectFile("examples", "blueprints", name+".yaml")
	objects, err := kubernetes.ParseYAML(b)
	s.requireNoError(err)
	s.Apply(objects[0])
}

func (s *stage) newApplication(apiVersion string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"image": imageByNumber(1),
		"deploy": map[string]any{
			"sites":          []any{s.Site("edge1")},
			"deliveryConfig": map[string]any{"adopt": true, "gitOpsRepo": map[string]any{"kind": "ProviderConfig", "name": scene.Config}},
		},
	}}}
	o.SetAPIVersion(apiVersion)
	o.SetKind("Application")
	o.SetNamespace(s.Namespace)
	o.SetName("shop")
	return o
}

// imageByNumber returns an image by its number.
func imageByNumber(n int) string {
	return "registry.example.org/team/shop@sha256:" + strings.Repeat(string(rune('0'+n)), 64)
}

func (s *stage) requireNoError(err error) {
	s.T.Helper()
	s.Must(err)
}

// explainFailure shows where the Application stood when a test failed.
func (s *stage) explainFailure() {
	if !s.T.Failed() {
		return
	}
	for _, args := range [][]string{
		{"get", "applications.claims.intentplane.dev,applications.intentplane.dev,sitehealths.delivery.intentplane.dev", "-n", s.Namespace, "-o", "yaml"},
		{"get", "xapplications.claims.intentplane.dev", "-l", "crossplane.io/claim-namespace=" + s.Namespace, "-o", "yaml"},
	} {
		out, err := s.Kubectl(context.WithoutCancel(s.T.Context()), args...)
		s.T.Logf("kubectl %s\n%s%v", strings.Join(args, " "), out, err)
	}
}

// awaitReached waits until the Application has a phase for an image.
func (s *stage) awaitReached(phase string, image int) *unstructured.Unstructured {
	s.T.Helper()
	return s.Await(s.app, phase+" with image "+imageByNumber(image), func(u *unstructured.Unstructured) bool { return hasReachedPhase(u, phase, image) })
}

// hasReachedPhase reports whether an Application has a phase for an image.
func hasReachedPhase(u *unstructured.Unstructured, phase string, image int) bool {
	return scene.Field(u, "status", "phase") == phase && scene.Field(u, "status", "image") == imageByNumber(image)
}

// awaitCondition waits until a condition of the Application has a status and a reason.
func (s *stage) awaitCondition(typ, status, reason string) *unstructured.Unstructured {
	s.T.Helper()
	return s.Await(s.app, typ+"="+status+"/"+reason, func(u *unstructured.Unstructured) bool {
		return scene.Is(u, typ, corev1.ConditionStatus(status), reason)
	})
}

// awaitDeployed waits until the deployment of an image was verified, and no pod of it serves.
func (s *stage) awaitDeployed(image int) {
	s.T.Helper()
	s.Await(s.app, "deployed", func(u *unstructured.Unstructured) bool {
		return scene.Is(u, "Deployed", corev1.ConditionTrue, "Deployed") && scene.Field(u, "status", "image") == imageByNumber(image) && scene.Field(u, "status", "phase") == "Deploying"
	})
}

// podsServingImage returns the pods of an image at the Site that are not being deleted.
func (s *stage) podsServingImage(image int) []corev1.Pod {
	s.T.Helper()
	return s.podsOfImage(imageByNumber(image))
}

func (s *stage) podsOfImage(image string) []corev1.Pod {
	s.T.Helper()
	l, out := &corev1.PodList{}, []corev1.Pod{}
	s.requireNoError(s.edge.Client.List(s.T.Context(), l, client.InNamespace(s.Namespace)))
	for _, p := range l.Items {
		if p.Spec.Containers[0].Image == image && p.GetDeletionTimestamp() == nil {
			out = append(out, p)
		}
	}
	return out
}

// reportPodsOfImage reports a change of the pods of an image, once there are some.
func (s *stage) reportPodsOfImage(image int, change func(*corev1.PodStatus)) {
	s.T.Helper()
	s.reportPodsByRef(imageByNumber(image), change)
}

// reportPodsByRef does the same for an image by its reference. It lists the pods again if a controller changed or deleted one of them meanwhile.
func (s *stage) reportPodsByRef(image string, change func(*corev1.PodStatus)) {
	s.T.Helper()
	s.Until("a report on the pods of "+image, patience.Limit, func() bool {
		pods := s.podsOfImage(image)
		return len(pods) > 0 && !slices.ContainsFunc(pods, func(p corev1.Pod) bool { return !s.updatePodStatus(&p, change) })
	})
}

// updatePodStatus reports a change of a pod. It returns false for a pod that changed since it was read, or that was deleted.
func (s *stage) updatePodStatus(p *corev1.Pod, change func(*corev1.PodStatus)) bool {
	s.T.Helper()
	change(&p.Status)
	err := s.edge.Client.Status().Update(s.T.Context(), p)
	if kerrors.IsConflict(err) || kerrors.IsNotFound(err) {
		return false
	}
	s.requireNoError(err)
	return true
}

// readyPodsUntil lets the pods of an image be ready until a condition is true, also pods that a controller makes meanwhile: pods of an earlier delivery of the
// image may still be there.
func (s *stage) readyPodsUntil(description, image string, condition func() bool) {
	s.T.Helper()
	s.Until(description, patience.Limit, func() bool {
		s.readyPendingPods(image)
		return condition()
	})
}

// readyPendingPods lets the pods of an image be ready that are not, as far as they still exist.
func (s *stage) readyPendingPods(image string) {
	s.T.Helper()
	for _, p := range s.podsOfImage(image) {
		if p.Status.Phase != corev1.PodRunning {
			s.updatePodStatus(&p, readyStatus(corev1.ConditionTrue))
		}
	}
}

// awaitImageAgain waits until the Application runs an image that it ran before.
func (s *stage) awaitImageAgain(image int) {
	s.T.Helper()
	s.readyPodsUntil("Running again with image "+imageByNumber(image), imageByNumber(image), func() bool { return hasReachedPhase(s.Now(s.app), "Running", image) })
}

// reportPodsReady lets the pods of an image be ready, and reportPodsUnready lets them be so no more.
func (s *stage) reportPodsReady(image int) {
	s.T.Helper()
	s.reportPodsOfImage(image, readyStatus(corev1.ConditionTrue))
}

func (s *stage) reportPodsUnready(image int) {
	s.T.Helper()
	s.reportPodsOfImage(image, readyStatus(corev1.ConditionFalse))
}

func readyStatus(status corev1.ConditionStatus) func(*corev1.PodStatus) {
	return func(p *corev1.PodStatus) {
		p.Phase = corev1.PodRunning
		p.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: status, LastTransitionTime: metav1.NewTime(time.Now())}}
	}
}

// crashContainers lets the containers of an image end again and again.
func (s *stage) crashContainers(image int) {
	s.T.Helper()
	s.reportCrashLoop(imageByNumber(image))
}

func (s *stage) reportCrashLoop(image string) {
	s.T.Helper()
	s.reportPodsByRef(image, func(p *corev1.PodStatus) {
		readyStatus(corev1.ConditionFalse)(p)
		p.ContainerStatuses = []corev1.ContainerStatus{{
			Name: "app", RestartCount: 4, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff", Message: "back-off 1m20s restarting failed container"}},
			LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 3, Reason: "Error"}},
		}}
	})
}

// editApplication merges a change into the Application.
func (s *stage) editApplication(patch string) { s.T.Helper(); s.Patch(s.app, patch) }

// phasesSince returns the phases of the Application from a transition on.
func phasesSince(u *unstructured.Unstructured, from int64) []string {
	out := []string{}
	all, _, _ := unstructured.NestedSlice(u.Object, "status", "transitions")
	for _, t := range all {
		step, ok := t.(map[string]any)
		if index, _ := step["index"].(int64); ok && index >= from {
			target, _ := step["to"].(string)
			out = append(out, target)
		}
	}
	return out
}

// nextTransition returns the index that the next transition has.
func nextTransition(u *unstructured.Unstructured) int64 {
	all, _, _ := unstructured.NestedSlice(u.Object, "status", "transitions")
	last, _ := all[len(all)-1].(map[string]any)
	index, _ := last["index"].(int64)
	return index + 1
}

// composedBehind describes the object of a kind that the Application composes.
func (s *stage) composedBehind(apiVersion, kind string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetAPIVersion(apiVersion)
	o.SetKind(kind)
	o.SetNamespace(s.Namespace)
	o.SetName("shop")
	return o
}
