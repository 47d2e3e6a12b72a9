package canary

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/gitserver"
	"github.com/intentplane/intentplane/test/scene"
)

// deploymentCatalog is what a deployment in tracks needs: a configuration that lets routes in, and its Site.
const deploymentCatalog = `
apiVersion: v1
kind: Namespace
metadata: {name: %[1]s}
---
apiVersion: config.intentplane.dev/v1alpha1
kind: ClusterProviderConfig
metadata: {name: %[1]s}
spec:
  controlPlane: test
  git: {url: "%[2]s", interval: 10s}
  policy:
    allowedKinds:
    - {group: "", kinds: [ConfigMap, Service]}
    - {group: apps, kinds: [Deployment]}
    - {group: policy, kinds: [PodDisruptionBudget]}
    - {group: gateway.networking.k8s.io, kinds: [HTTPRoute]}
---
apiVersion: catalog.intentplane.dev/v1alpha1
kind: Site
metadata: {name: %[1]s}
spec:
  cluster: {kubeconfigSecretRef: {namespace: %[1]s, name: edge, key: value}}
  engine: {type: Flux, objectRef: {apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, namespace: flux-system, name: "{claimNamespace}"}}
  repository: {path: %[3]s}
  allowedNamespaces: [%[1]s]
`

// deployment is a claim for a shop, whose revisions are images.
const deployment = `
apiVersion: claims.intentplane.dev/v1alpha1
kind: IntentDeployment
metadata: {name: web, namespace: %[1]s}
spec:
  intent: '{"service": "web", "type": "web-canary", "site": "%[1]s", "replicas": %[2]d, "image": "registry.example.org/web:%[3]d",
    "parameters": {"host": "%[1]s.example.org", "gateway": "%[4]s", "gateway-namespace": "%[5]s"}}'
  blueprint: {name: %[1]s}
  deliveryConfig:
    gitOpsRepo: {kind: ClusterProviderConfig, name: %[1]s}
    canary:
      drain: 5s
      steps: [{weight: 5}, {pause: {duration: 20s}}, {weight: 20}, {pause: {}}, {weight: 50}, {pause: {duration: 20s}}]
`

// A release is a shop that is delivered by the whole product: a claim, the function, the provider, Git and Flux.
type release struct {
	*shop
}

func newRelease(t *testing.T) *release {
	t.Helper()
	r := &release{newShopWithout(t)}
	r.createRepo("README.md", "What runs here.\n")
	r.must(cp.ApplyYAML(t.Context(), fmt.Appendf(nil, deploymentCatalog, r.namespace, cp.Git.URL(r.namespace), sitePath)))
	r.must(cp.Client.Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: r.namespace, Name: "edge"}, Data: map[string][]byte{"value": r.account()}}))
	r.must(cp.ApplyObject(t.Context(), r.blueprint()))
	t.Cleanup(r.explainRelease)
	return r
}

// blueprint is the one of the examples, under a name of the release's own.
func (r *release) blueprint() *unstructured.Unstructured {
	r.Helper()
	root, err := controlplane.Root()
	r.must(err)
	b, err := os.ReadFile(filepath.Join(root, "examples", "blueprints", "web-canary-1.0.0.yaml"))
	r.must(err)
	objects, err := controlplane.ParseYAML(b)
	r.must(err)
	o := objects[0]
	o.SetName(r.namespace + "-1.0.0")
	o.SetLabels(map[string]string{catalogv1alpha1.LabelBlueprint: r.namespace, catalogv1alpha1.LabelChannel: "stable"})
	r.must(unstructured.SetNestedField(o.Object, r.namespace, "spec", "blueprintName"))
	return o
}

// explainRelease shows where the deployment stood when a test failed.
func (r *release) explainRelease() {
	if !r.Failed() {
		return
	}
	for _, args := range [][]string{
		{"get", "intentdeployments.claims.intentplane.dev,gitdeliveries.delivery.intentplane.dev,sitesyncs.delivery.intentplane.dev,rolloutrequests.rollout.intentplane.dev", "-n", r.namespace, "-o", "yaml"},
		{"get", "events", "-n", r.namespace},
	} {
		out, err := cp.Kubectl(context.WithoutCancel(r.Context()), args...)
		r.Logf("kubectl %s\n%s%v", strings.Join(args, " "), out, err)
	}
	r.logBreaker()
}

// logBreaker shows how many events Crossplane's circuit breaker let pass, and whether it opened.
func (r *release) logBreaker() {
	m, err := cp.CoreMetrics(context.WithoutCancel(r.Context()))
	if err != nil {
		r.Log(err)
		return
	}
	r.Logf("events that the circuit breaker let pass: %v; it opened %v times", m.Sum("circuit_breaker_events_total", map[string]string{"result": "Allowed"}), m.Sum("circuit_breaker_opens_total", nil))
}

// asks for a revision of the shop.
func (r *release) asks(image int) {
	r.Helper()
	text := fmt.Appendf(nil, deployment, r.namespace, replicas, image, controlplane.GatewayName, controlplane.GatewayNamespace)
	r.must(cp.ApplyYAML(r.Context(), text))
}

// claim as it is now.
func (r *release) claim() *unstructured.Unstructured {
	r.Helper()
	o := r.object("claims.intentplane.dev/v1alpha1", "IntentDeployment", r.namespace, claim)
	r.must(cp.Client.Get(r.Context(), client.ObjectKeyFromObject(o), o))
	return o
}

// reachesState waits until a revision is in a state, at a weight.
func (r *release) reachesState(revision int64, state string, weight int64) {
	r.Helper()
	r.await(fmt.Sprintf("revision %d is %s at %d percent", revision, state, weight), func() bool {
		o := r.claim()
		return scene.Number(o, "status", "revision") == revision && scene.Field(o, "status", "canary", "state") == state && scene.Number(o, "status", "canary", "weight") == weight
	})
}

// ends waits until a revision has an outcome, and its canary is at rest. One that was rolled back is not Ready: the Sites do not run what is asked for.
func (r *release) ends(revision int64, outcome string) {
	r.Helper()
	r.await(fmt.Sprintf("revision %d ends as %s", revision, outcome), func() bool {
		o := r.claim()
		isReady := outcome == "RolledBack" || scene.Condition(o, "Ready").Status == corev1.ConditionTrue
		return scene.Number(o, "status", "revision") == revision && scene.Field(o, "status", "outcome") == outcome && scene.Field(o, "status", "canary", "state") == "" && isReady
	})
}

// tracksInGit are the folders of the directory in the repository.
func (r *release) tracksInGit() []string {
	r.Helper()
	files, err := cp.Git.Files(r.Context(), r.namespace, gitserver.Branch)
	r.must(err)
	found := []string{}
	for _, name := range []string{track.Blue, track.Green} {
		for file := range files {
			if strings.HasPrefix(file, r.directory()+"/"+name+"/") {
				found = append(found, name)
				break
			}
		}
	}
	return found
}

// sharesAt counts requests once the gateway divides them by a weight, and compares the share of a track with it.
func (r *release) sharesAt(name string, weight float64) {
	r.Helper()
	r.await(fmt.Sprintf("the gateway gives track %s %v percent", name, weight), func() bool {
		return math.Abs(r.target.Send(r.Context(), 200, atOnce).Share(name)-weight) < 10
	})
	got := r.target.Send(r.Context(), 2_000, atOnce)
	if off := math.Abs(got.Share(name) - weight); off > 2 {
		r.Errorf("want a share of %v percent at track %s, got %s", weight, name, got)
	}
}

// plugin runs kubectl-intent about the claim.
func (r *release) plugin(args ...string) string {
	r.Helper()
	root, err := controlplane.Root()
	r.must(err)
	args = append(args, claim, "--namespace", r.namespace, "--kubeconfig", cp.Kubeconfig)
	out, err := exec.CommandContext(r.Context(), filepath.Join(root, "_output", "bin", "kubectl-intent"), args...).CombinedOutput()
	if err != nil {
		r.Fatalf("kubectl intent %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// TestDeployment delivers three revisions by a claim, while users send requests: the second one goes through its weights to the end, and the third one
// is given up at 20 percent, and rolled back. No request fails.
func TestDeployment(t *testing.T) {
	t.Parallel()
	r := newRelease(t)
	r.asks(1)
	r.ends(1, "Succeeded")
	r.await("the first revision answers", func() bool { return len(r.target.Send(t.Context(), 1, 1).Failed()) == 0 })
	users := r.target.Start(t.Context(), perSecond)

	r.logBreaker()
	r.asks(2)
	r.reachesState(2, "AwaitingPromotion", 20)
	r.sharesAt(track.Green, 20)
	r.logBreaker()
	if said := r.plugin("promote", "--wait"); !strings.Contains(said, "Taken: ") {
		t.Errorf("promote --wait says %q", said)
	}
	r.ends(2, "Succeeded")
	if diff := cmp.Diff([]string{track.Green}, r.tracksInGit()); diff != "" {
		t.Errorf("a revision that was verified is alone: -want, +got:\n%s", diff)
	}
	r.sharesAt(track.Green, 100)

	r.logBreaker()
	r.asks(3)
	r.reachesState(3, "AwaitingPromotion", 20)
	r.sharesAt(track.Blue, 20)
	r.logBreaker()
	r.plugin("abort", "--wait")
	r.ends(3, "RolledBack")
	r.sharesAt(track.Blue, 0)
	if diff := cmp.Diff([]string{track.Green}, r.tracksInGit()); diff != "" {
		t.Errorf("the stable revision is alone after a rollback: -want, +got:\n%s", diff)
	}

	r.logBreaker()
	got := users.Stop()
	if len(got.Failed()) > 0 {
		t.Errorf("requests fail: %s", got)
	}
	// Blue is the first revision at full size, and the pods that the third one needs for half of the requests.
	if diff := cmp.Diff(map[string]int{track.Blue: replicas + 2, track.Green: replicas}, r.started()); diff != "" {
		t.Errorf("each pod is made once: pods that answered: -want, +got:\n%s", diff)
	}
	t.Log(got)
}
