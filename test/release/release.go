package release

import (
	"context"
	"fmt"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/gitserver"
	"github.com/intentplane/intentplane/test/load"
	"github.com/intentplane/intentplane/test/traffic"
)

const (
	// Claim is the name of the deployment, and of its service.
	Claim = "web"

	// Replicas of a track at full size.
	Replicas = 3

	// Drain is how long pods stay after their last request, as text. It is longer than the gateway takes to follow.
	Drain = "5s"
)

// A Place is where one Site of a release is.
type Place struct {
	// Cluster of the Site.
	Cluster *Cluster

	// Repository of the Site, by its number. The first one is the claim's own.
	Repository int
}

// A Site is a Site of a release.
type Site struct {
	*Cluster

	// Name of the Site, and of the Kustomization that applies the content of the repository to it.
	Name string

	// Namespace of the shop in the cluster.
	Namespace string

	// Repository and Directory of the shop's files.
	Repository, Directory string

	// Target that users send their requests to.
	Target traffic.Target
}

// Started returns how many pods of each track ever answered at the Site.
func (s *Site) Started() map[string]int { return s.Kubelet.Started(s.Namespace) }

// Options say how a release is measured.
type Options struct {
	// Prometheus that measures all Sites, if it is set.
	Prometheus string

	// Metrics of the Blueprint.
	Metrics []any
}

// A Release is a shop at some Sites, which a claim delivers.
type Release struct {
	// Namespace of the claim, and the prefix of all that is cluster-scoped.
	Namespace string

	// Sites in the order of their places.
	Sites []*Site

	cp     *controlplane.ControlPlane
	pushes *pushes
}

const namespaced = `
apiVersion: v1
kind: Namespace
metadata: {name: %[1]s}
`

// New makes the Sites of a release, their repositories, and a Blueprint. It returns an error if one of them cannot be made.
func New(ctx context.Context, cp *controlplane.ControlPlane, namespace string, o Options, places ...Place) (*Release, error) {
	r := &Release{Namespace: namespace, cp: cp, pushes: newPushes(cp.Git)}
	if err := cp.ApplyYAML(ctx, fmt.Appendf(nil, namespaced, namespace)); err != nil {
		return nil, err
	}
	for i, p := range places {
		if err := r.addRepository(ctx, p.Repository); err != nil {
			return nil, err
		}
		if err := r.addReleaseSite(ctx, i, p, o.Prometheus); err != nil {
			return nil, err
		}
	}
	return r, r.applyBlueprints(ctx, o.Metrics)
}

const config = `
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
`

func (r *Release) repositoryName(n int) string {
	if n == 0 {
		return r.Namespace
	}
	return fmt.Sprintf("%s-repo%d", r.Namespace, n)
}

// addRepository makes a repository and its configuration, once.
func (r *Release) addRepository(ctx context.Context, n int) error {
	name := r.repositoryName(n)
	if r.pushes.isRepoFollowed(name) {
		return nil
	}
	if err := r.cp.Git.CreateRepo(ctx, name, map[string]string{"README.md": "What runs here.\n"}); err != nil {
		return err
	}
	r.pushes.followRepository(ctx, name)
	return r.cp.ApplyYAML(ctx, fmt.Appendf(nil, config, name, r.cp.Git.URL(name)))
}

const site = `
apiVersion: catalog.intentplane.dev/v1alpha1
kind: Site
metadata: {name: %[1]s, labels: {shop: %[2]s}}
spec:
  cluster: {kubeconfigSecretRef: {namespace: %[2]s, name: %[1]s, key: value}}
  engine: {type: Flux, objectRef: {apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, namespace: flux-system, name: "{site}"}}
  repository: {path: %[1]s, providerConfigRef: {name: %[3]s}}
  allowedNamespaces: [%[2]s]
  targetNamespaces: {allowed: [%[4]s]}
  parameters: {host: %[5]s, namespace: %[4]s}
`

func (r *Release) addReleaseSite(ctx context.Context, i int, p Place, prometheus string) error {
	s := &Site{Cluster: p.Cluster, Name: fmt.Sprintf("%s-%d", r.Namespace, i), Namespace: r.Namespace, Repository: r.repositoryName(p.Repository)}
	if i > 0 { // No two Sites of a cluster have objects of the same name.
		s.Namespace = s.Name
	}
	s.Directory = strings.Join([]string{s.Name, r.Namespace, Claim}, "/")
	s.Target = traffic.Target{URL: p.Cluster.Gateway.URL, Host: s.Name + ".example.org"}
	if err := r.prepareCluster(ctx, s); err != nil {
		return err
	}
	text := fmt.Sprintf(site, s.Name, r.Namespace, s.Repository, s.Namespace, s.Target.Host)
	if prometheus != "" {
		text += fmt.Sprintf("  metrics: {prometheus: {address: %q}}\n", prometheus)
	}
	r.Sites = append(r.Sites, s)
	return r.cp.ApplyYAML(ctx, []byte(text))
}

// prepareCluster gives a Site its namespace, lets Flux apply the content of the repository, and gives the provider an account.
func (r *Release) prepareCluster(ctx context.Context, s *Site) error {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.Namespace}}
	if err := client.IgnoreAlreadyExists(s.Client.Create(ctx, ns)); err != nil {
		return errors.Wrap(err, "cannot create namespace at the Site")
	}
	if err := s.ApplyYAML(ctx, load.Kustomization(s.Name, r.cp.Git.URL(s.Repository), s.Directory)); err != nil {
		return err
	}
	kubeconfig, err := s.Account(ctx)
	if err != nil {
		return err
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: r.Namespace, Name: s.Name}, Data: map[string][]byte{"value": kubeconfig}}
	return errors.Wrap(r.cp.Client.Create(ctx, secret), "cannot create Secret")
}

// StateRef is where the provider keeps the state of a repository.
const StateRef = "refs/intentplane/test/state"

// Repositories are the repositories of the Sites, the claim's own first.
func (r *Release) Repositories() []string { return r.pushes.names }

// Branch that is delivered to.
const Branch = gitserver.Branch
