package load

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/digest"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/test/controlplane/kubernetes"
)

// A Fleet is a place with many Sites, all in one other cluster, in which real Flux has a Kustomization for each of them.
type Fleet struct {
	// Sites by their names.
	Sites []string

	load  *Load
	place string
	edge  *kubernetes.Cluster
}

const fleetKustomization = `
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: %[1]s, namespace: flux-system}
spec: {interval: 1h, retryInterval: 5s, prune: true, suspend: true, path: "./%[2]s", sourceRef: {kind: GitRepository, name: %[3]s}}
`

const fleetSource = `
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: %[1]s, namespace: flux-system}
spec: {interval: 1h, url: "%[2]s", ref: {branch: main}}
`

// NewFleet makes a place with so many Sites, whose engines are suspended. A Prometheus server measures all of them, unless its
// address is empty. It returns an error if something cannot be made, or Flux does not start.
func (l *Load) NewFleet(ctx context.Context, place string, n int, prometheus string) (*Fleet, error) {
	if err := l.cp.Git.CreateRepo(ctx, place, map[string]string{"README.md": "What runs here.\n"}); err != nil {
		return nil, err
	}
	f := &Fleet{load: l, place: place}
	for i := range n {
		f.Sites = append(f.Sites, fmt.Sprintf("%s-%d", place, i))
	}
	if err := f.startCluster(ctx); err != nil {
		return nil, err
	}
	kubeconfig, err := os.ReadFile(f.edge.Kubeconfig)
	if err != nil {
		return nil, errors.Wrap(err, "cannot read kubeconfig")
	}
	objects := []client.Object{
		newNamespace(place), l.newProviderConfig(place, "10s"),
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: place, Name: secret}, Data: map[string][]byte{secretKey: kubeconfig}},
	}
	for _, name := range f.Sites {
		objects = append(objects, f.newFleetSite(name, prometheus))
	}
	return f, l.createObjects(ctx, objects...)
}

// startCluster starts the single cluster of the Sites, with Flux in it.
func (f *Fleet) startCluster(ctx context.Context) error {
	var err error
	if f.edge, err = f.load.cp.StartCluster(ctx, f.place); err != nil {
		return err
	}
	if err := f.edge.StartFlux(ctx); err != nil {
		return err
	}
	if err := f.edge.Client.Create(ctx, newNamespace(f.place)); err != nil {
		return errors.Wrap(err, "cannot create namespace at the Sites")
	}
	objects := strings.Builder{}
	fmt.Fprintf(&objects, fleetSource, f.place, f.load.cp.Git.URL(f.place))
	for _, name := range f.Sites {
		fmt.Fprintf(&objects, "---"+fleetKustomization, name, siteDirectory(name), f.place)
	}
	return f.edge.ApplyYAML(ctx, []byte(objects.String()))
}

func (f *Fleet) newFleetSite(name, prometheus string) *catalogv1alpha1.Site {
	siteCluster := catalogv1alpha1.SiteCluster{KubeconfigSecretRef: &catalogv1alpha1.NamespacedSecretKeySelector{Namespace: f.place, Name: secret, Key: secretKey}}
	engine := FluxEngine()
	engine.ObjectRef.Name = "{site}"
	s := newPlaceSite(name, siteCluster, engine)
	s.Spec.AllowedNamespaces = []string{f.place}
	if prometheus != "" {
		s.Spec.Metrics = &catalogv1alpha1.SiteMetrics{Prometheus: &catalogv1alpha1.PrometheusEndpoint{Address: prometheus}}
	}
	return s
}

// Suspend the engine of a Site, or let it go on. It returns an error if the cluster does not take that.
func (f *Fleet) Suspend(ctx context.Context, name string, yes bool) error {
	k := newKustomization(name)
	err := f.edge.Client.Patch(ctx, k, client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec":{"suspend":%t}}`, yes)))
	return errors.Wrapf(err, "cannot patch Kustomization %q", name)
}

func newKustomization(name string) *unstructured.Unstructured {
	k := &unstructured.Unstructured{}
	k.SetAPIVersion("kustomize.toolkit.fluxcd.io/v1")
	k.SetKind("Kustomization")
	k.SetNamespace(kubernetes.FluxNamespace)
	k.SetName(name)
	return k
}

// Claim describes a deployment to all Sites of the Fleet, with checks if there are any.
func (f *Fleet) Claim(name string, replicas int, checks ...any) *unstructured.Unstructured {
	return newDeployment(f.place, name, f.Sites, replicas, checks)
}

// Claim describes a deployment to the single Site of a place.
func Claim(place, name string, replicas int, checks ...any) *unstructured.Unstructured {
	return newDeployment(place, name, []string{place}, replicas, checks)
}

func newDeployment(place, name string, sites []string, replicas int, checks []any) *unstructured.Unstructured {
	text := fmt.Sprintf(`{"service": %q, "type": "web", "sites": ["%s"], "replicas": %d}`, name, strings.Join(sites, `", "`), replicas)
	spec := map[string]any{
		"intent":         text,
		"deliveryConfig": map[string]any{"gitOpsRepo": map[string]any{"kind": policy.KindProviderConfig, "name": Config}},
	}
	if len(checks) > 0 {
		spec["gatesConfig"] = map[string]any{"checks": checks}
	}
	o := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	o.SetAPIVersion("claims.intentplane.dev/v1alpha1")
	o.SetKind("IntentDeployment")
	o.SetNamespace(place)
	o.SetName(name)
	return o
}

// Digest is the digest by which a deployment's status says that it speaks of this spec. It returns an error if there is none.
func Digest(o *unstructured.Unstructured) (string, error) {
	d := struct {
		Spec deploymentv1alpha1.IntentDeploymentSpec `json:"spec"`
	}{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &d); err != nil {
		return "", errors.Wrap(err, "cannot read deployment")
	}
	return digest.Spec(&d.Spec)
}

// Measured makes a place like Place, where deliveries count as live, and which a Prometheus server measures. It returns an error if one of
// its objects cannot be made.
func (l *Load) Measured(ctx context.Context, name, interval, prometheus string) error {
	if err := l.Place(ctx, name, interval); err != nil {
		return err
	}
	patch := fmt.Sprintf(`{"spec":{"engine":{"unobservedIsLive":true},"metrics":{"prometheus":{"address":%q}}}}`, prometheus)
	s := &catalogv1alpha1.Site{ObjectMeta: metav1.ObjectMeta{Name: name}}
	return errors.Wrap(l.kube.Patch(ctx, s, client.RawPatch(types.MergePatchType, []byte(patch))), "cannot patch Site")
}
