package canary

import (
	"fmt"
	"maps"
	"net/netip"
	"os/exec"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/provider/gatewayapi"
	"github.com/intentplane/intentplane/provider/workload"
	"github.com/intentplane/intentplane/test/controlplane/kubernetes"
	"github.com/intentplane/intentplane/test/kubelet"
	"github.com/intentplane/intentplane/test/load"
	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/release"
	"github.com/intentplane/intentplane/test/scene"
	"github.com/intentplane/intentplane/test/traffic"
)

const (
	// sitePath is the directory of the Site in the repository.
	sitePath = "site"

	// claim is the name of the deployment that the shop would be.
	claim = "web"

	// replicas of a track at full size.
	replicas = 3

	requestedAt = "reconcile.fluxcd.io/requestedAt"

	// look is how often a test polls a condition.
	look = 20 * time.Millisecond
)

const plainWorkload = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: %[1]s, labels: {intentplane.dev/workload: main}}
spec:
  replicas: %[3]d
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}, annotations: {revision: "%[2]d"}}
    spec:
      containers: [{name: web, image: "registry.example.org/web:%[2]d", ports: [{name: http, containerPort: 8080}]}]
`

const service = `apiVersion: v1
kind: Service
metadata: {name: web, namespace: %[1]s}
spec: {selector: {app: web}, ports: [{port: 80, targetPort: http}]}
`

const route = `apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: web, namespace: %[1]s}
spec:
  hostnames: [%[1]s.example.org]
  parentRefs: [{name: %[3]s, namespace: %[2]s}]
  rules: [{backendRefs: [{name: web, port: 80}]}]
`

// A shop is a workload in two tracks: its files in Git, its objects at the Site, and its users.
type shop struct {
	*testing.T

	*release.Cluster

	namespace string
	target    traffic.Target
}

// newServingShop makes a shop whose first revision serves in track blue.
func newServingShop(t *testing.T) *shop {
	t.Helper()
	s := newEmptyShop(t)
	s.commitFiles(s.filesOfSoleTrack(track.Blue, 1))
	s.pollUntilTrue("the first revision answers", func() bool { return len(s.target.Send(t.Context(), 1, 1).Failed()) == 0 })
	return s
}

// newEmptyShop makes a shop in whose repository the directory has nothing yet.
func newEmptyShop(t *testing.T) *shop {
	t.Helper()
	s := newShopWithout(t)
	s.createSiteRepo(s.directoryOf()+"/placeholder", "An empty directory is none.\n")
	return s
}

// createSiteRepo makes the repository, with one file, and lets Flux bring the directory to the Site.
func (s *shop) createSiteRepo(file, text string) {
	s.Helper()
	s.requireNoError(cp.Git.CreateRepo(s.Context(), s.namespace, map[string]string{file: text}))
	s.requireNoError(s.ApplyYAML(s.Context(), load.Kustomization(s.namespace, cp.Git.URL(s.namespace), s.directoryOf())))
}

// newShopWithout makes a shop without a repository.
func newShopWithout(t *testing.T) *shop {
	t.Helper()
	cluster := requireCluster(t, edge)
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "shop-"}}
	s := &shop{T: t, Cluster: cluster}
	s.requireNoError(cluster.Client.Create(t.Context(), ns))
	s.namespace = ns.GetName()
	t.Cleanup(s.explainFailure)
	s.target = traffic.Target{URL: cluster.Gateway.URL, Host: s.namespace + ".example.org"}
	return s
}

// requireCluster returns a cluster. Its pods have addresses of their own, for which the suite needs a network of its own.
func requireCluster(t *testing.T, start func() (*release.Cluster, error)) *release.Cluster {
	t.Helper()
	if err := kubelet.CheckNetwork(t.Context(), netip.MustParsePrefix("10.200.0.0/20")); err != nil {
		t.Fatalf("%s: run the suite by make test, or with -exec=\"$PWD/test/e2e/own-network.sh\"", err)
	}
	c, err := start()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// directoryOf is the directory of the repository that Flux brings to the Site.
func (s *shop) directoryOf() string { return strings.Join([]string{sitePath, s.namespace, claim}, "/") }

// explainFailure shows the objects at the Site when a test failed.
func (s *shop) explainFailure() {
	if !s.Failed() {
		return
	}
	for _, args := range [][]string{
		{"get", "deployments,replicasets,pods,services,endpointslices", "-n", s.namespace, "-o", "wide"},
		{"get", "httproutes", "-n", s.namespace, "-o", "yaml"},
		{"get", "gitrepositories,kustomizations", "-n", kubernetes.FluxNamespace, s.namespace},
	} {
		cmd := exec.Command(cp.KubectlPath(), append([]string{"--kubeconfig", s.Kubeconfig}, args...)...)
		out, err := cmd.CombinedOutput()
		s.Logf("kubectl %s\n%s%v", strings.Join(args, " "), out, err)
	}
	s.Logf("the last failure of the kubelet: %v\nthe gateway: %s", s.Kubelet.Failure(), s.Gateway.LastLog())
}

func (s *shop) requireNoError(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *shop) pollUntilTrue(description string, condition func() bool) {
	s.Helper()
	for end := time.Now().Add(patience.Limit); !condition(); time.Sleep(look) {
		if time.Now().After(end) {
			s.Fatalf("waited %s in vain: %s", patience.Limit, description)
		}
	}
}

// renderedFiles are the files of a revision as a Blueprint would be rendered.
func (s *shop) renderedFiles(revision int) tree.Files {
	return tree.Files{
		"deployment-web.yaml": fmt.Appendf(nil, plainWorkload, s.namespace, revision, replicas),
		"service-web.yaml":    fmt.Appendf(nil, service, s.namespace),
		"httproute-web.yaml":  fmt.Appendf(nil, route, s.namespace, kubernetes.GatewayNamespace, kubernetes.GatewayName),
	}
}

// filesOfSoleTrack is the directory in which a revision has a track, and nothing is beside it.
func (s *shop) filesOfSoleTrack(name string, revision int) tree.Files {
	s.Helper()
	parts, err := track.Split(s.renderedFiles(revision), nil)
	s.requireNoError(err)
	files, err := parts.Files(name, track.Layout{Kustomizations: true})
	s.requireNoError(err)
	return s.filesInState(files, track.State{Serving: name, Alone: true})
}

// filesBeside is the directory in which the next revision has the other track than the serving revision, and nothing of the requests yet.
func (s *shop) filesBeside(serving string, stable, next int, ahead int) tree.Files {
	s.Helper()
	files := s.filesOfSoleTrack(track.Other(serving), next)
	for name, b := range s.filesOfSoleTrack(serving, stable) {
		if strings.HasPrefix(name, serving+"/") {
			files[name] = b
		}
	}
	return s.filesInState(files, track.State{Serving: serving, Ahead: ahead})
}

func (s *shop) filesInState(files tree.Files, target track.State) tree.Files {
	s.Helper()
	out, err := track.At(files, target)
	s.requireNoError(err)
	return out
}

// commitFiles commits files as the content of a directory, and waits until Flux has applied it.
func (s *shop) commitFiles(files tree.Files) {
	s.Helper()
	texts := map[string]string{}
	for name, b := range files {
		texts[name] = string(b)
	}
	id, err := cp.Git.Replace(s.Context(), s.namespace, "main", s.directoryOf(), texts, "The next step")
	s.requireNoError(err)
	source := s.newUnstructured("source.toolkit.fluxcd.io/v1", "GitRepository", kubernetes.FluxNamespace, s.namespace)
	s.requireNoError(s.Client.Patch(s.Context(), source, client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%q}}}`, requestedAt, id))))
	s.pollUntilTrue("Flux applies "+id, func() bool {
		k := s.findSiteObject(schema.GroupVersionKind{Group: "kustomize.toolkit.fluxcd.io", Version: "v1", Kind: "Kustomization"}, kubernetes.FluxNamespace, s.namespace)
		return scene.Field(k, "status", "lastAppliedRevision") == "main@sha1:"+id
	})
}

func (s *shop) newUnstructured(apiVersion, kind, namespace, name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetAPIVersion(apiVersion)
	o.SetKind(kind)
	o.SetNamespace(namespace)
	o.SetName(name)
	return o
}

// findSiteObject returns an object at the Site. It returns nil if it is not there.
func (s *shop) findSiteObject(kind schema.GroupVersionKind, namespace, name string) *unstructured.Unstructured {
	s.Helper()
	o := s.newUnstructured(kind.GroupVersion().String(), kind.Kind, namespace, name)
	err := s.Client.Get(s.Context(), client.ObjectKeyFromObject(o), o)
	s.requireNoError(client.IgnoreNotFound(err))
	if err != nil {
		return nil
	}
	return o
}

// whyNotProven returns why the Site does not prove a directory, as the provider would report it, or "".
func (s *shop) whyNotProven(files tree.Files) string {
	s.Helper()
	routes, err := track.Routes(files)
	s.requireNoError(err)
	for _, r := range routes {
		found := s.findSiteObject(schema.GroupVersionKind{Group: track.GatewayGroup, Version: "v1", Kind: r.Kind}, r.Namespace, r.Name)
		if reason, message := gatewayapi.RouteReason(r, found); reason != "" {
			return reason + ": " + message
		}
	}
	for _, name := range []string{track.Blue, track.Green} {
		if _, ok := files[name+"/deployment-web-"+name+".yaml"]; !ok {
			continue
		}
		found := s.findSiteObject(schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}, s.namespace, "web-"+name)
		if reason, message := workload.TrackReason(workload.TrackDeployment{Namespace: s.namespace, Name: "web-" + name}, found); reason != "" {
			return reason + ": " + message
		}
	}
	return ""
}

// awaitReached commits a directory, and waits until the Site proves it.
func (s *shop) awaitReached(files tree.Files) {
	s.Helper()
	s.commitFiles(files)
	s.pollUntilTrue("the Site proves the directory", func() bool { return s.whyNotProven(files) == "" })
}

// awaitDrained waits until a track has got no request for a while, as the design's drain does.
func (s *shop) awaitDrained() {
	s.Helper()
	time.Sleep(drain)
}

// startedPods returns how many pods of each track ever answered.
func (s *shop) startedPods() map[string]int { return maps.Clone(s.Kubelet.Started(s.namespace)) }
