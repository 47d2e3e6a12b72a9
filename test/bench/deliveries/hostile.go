package deliveries

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/test/bench/process"
	"github.com/intentplane/intentplane/test/bench/stage"
	"github.com/intentplane/intentplane/test/hostile"
)

// clusterPatience is the time that the provider may take to report a hostile cluster.
const clusterPatience = 5 * time.Minute

// hostileSite is a Site whose cluster is hostile.
const hostileSite = `
apiVersion: catalog.intentplane.dev/v1alpha1
kind: Site
metadata: {name: %[1]s}
spec:
  cluster: {kubeconfigSecretRef: {namespace: %[2]s, name: %[1]s}}
  engine:
    type: Flux
    objectRef: {apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, namespace: flux-system, name: edge}
  repository: {path: clusters/%[1]s}
  allowedNamespaces: [%[2]s]
`

// hostilePeak is the additional memory of the provider while API servers of Sites send endless responses, until it has reported each of them.
func (s *room) hostilePeak(ctx context.Context) (float64, error) {
	if err := s.Open(ctx); err != nil {
		return 0, err
	}
	if err := s.SucceedInTime(ctx, "before-hostile", 1); err != nil {
		return 0, err
	}
	rest, err := s.ReadProcessMemory("VmRSS")
	if err != nil {
		return 0, err
	}
	// From here on the kernel counts the peak again.
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", s.CP.ProviderPID()), []byte("5"), 0); err != nil {
		return 0, errors.Wrap(err, "cannot reset the peak of the provider's memory")
	}
	clusters := map[string]*hostile.Cluster{
		"hostile-list": hostile.New(hostile.EndlessList, nil), "hostile-zipped": hostile.New(hostile.EndlessZippedList, nil), "hostile-event": hostile.New(nil, hostile.EndlessEvent),
	}
	for name, c := range clusters {
		defer c.Stop()
		if err := s.deliverToHostile(ctx, name, c); err != nil {
			return 0, err
		}
	}
	if err := s.awaitBlamed(ctx, len(clusters)); err != nil {
		return 0, err
	}
	peak, err := s.ReadProcessMemory("VmHWM")
	return peak - rest, err
}

// deliverToHostile delivers a claim to a hostile cluster.
func (s *room) deliverToHostile(ctx context.Context, name string, c *hostile.Cluster) error {
	kubeconfig, err := c.Kubeconfig()
	if err != nil {
		return errors.Wrap(err, "cannot write kubeconfig")
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Data: map[string][]byte{"value": kubeconfig}}
	if err := s.CP.Client.Create(ctx, secret); err != nil {
		return errors.Wrap(err, "cannot create kubeconfig")
	}
	if err := s.CP.ApplyYAML(ctx, fmt.Appendf(nil, hostileSite, name, namespace)); err != nil {
		return err
	}
	o := stage.NewClaim(name, 0)
	intent := fmt.Sprintf(`{"service": %q, "type": "web", "sites": [%q], "replicas": 2}`, name, name)
	if err := unstructured.SetNestedField(o.Object, intent, "spec", "intent"); err != nil {
		return errors.Wrap(err, "cannot write claim")
	}
	return s.CP.ApplyObject(ctx, o)
}

// awaitBlamed waits until so many SiteSyncs name the fault of a cluster.
func (s *room) awaitBlamed(ctx context.Context, want int) error {
	ctx, cancel := context.WithTimeout(ctx, clusterPatience)
	defer cancel()
	for {
		l := &unstructured.UnstructuredList{}
		l.SetAPIVersion("delivery.intentplane.dev/v1alpha1")
		l.SetKind("SiteSyncList")
		if err := s.CP.Client.List(ctx, l, client.InNamespace(namespace)); err != nil {
			return errors.Wrap(err, "cannot list SiteSyncs")
		}
		n := 0
		for _, o := range l.Items {
			sites, _, _ := unstructured.NestedSlice(o.Object, "status", "atProvider", "sites")
			if strings.Contains(fmt.Sprint(sites...), "the cluster sends ") {
				n++
			}
		}
		if n >= want {
			return nil
		}
		if err := process.Wait(ctx, time.Second); err != nil {
			return errors.Wrapf(err, "%d of %d hostile clusters are named", n, want)
		}
	}
}
