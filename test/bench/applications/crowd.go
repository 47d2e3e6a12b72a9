package applications

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/test/bench/process"
	"github.com/intentplane/intentplane/test/bench/series"
	"github.com/intentplane/intentplane/test/bench/stage"
	"github.com/intentplane/intentplane/test/controlplane/kubernetes"
)

const (
	// crowdApplications are built of crowdSources repositories, and run in as many namespaces of one other cluster.
	crowdApplications = 500
	crowdSources      = 10

	// crowdSite is the Site of all of them.
	crowdSite = "crowd"

	// crowdFlap is the interval at which each of their Deployments loses its last pod, or gets it back.
	crowdFlap = 5 * time.Second

	// crowdFlapLeast is the part of these changes that has to come about. Half of them are more than twice as many as the writes that are
	// counted in a minute.
	crowdFlapLeast = 0.5
)

// crowdImage is the image of all of them.
var crowdImage = "registry.example.org/crowd/app@sha256:" + strings.Repeat("1", 64)

// An applicationCrowd has many Applications' requests to the provider: an ImageBuild, which real kpack carries out, and a SiteHealth each.
type applicationCrowd struct {
	s *room

	edge *kubernetes.Cluster
}

func (c *applicationCrowd) figureSeries() *series.Series {
	return &series.Series{Base: c.openControlPlane, Parts: []series.Part{
		{Figures: []string{"cpu_percent", "looks", "writes"}, Measure: c.measureSteady},
		{Figures: []string{"flapping"}, Measure: c.measureFlapping},
	}}
}

// openControlPlane starts a control plane, and makes all Applications.
func (c *applicationCrowd) openControlPlane(ctx context.Context, _ map[string]float64) error {
	if _, err := c.s.openForApplications(ctx); err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, stage.CrowdPatience)
	defer cancel()
	return c.createCrowd(limited)
}

// createCrowd makes all of them, and waits until each has an image that serves.
func (c *applicationCrowd) createCrowd(ctx context.Context) error {
	var err error
	if c.edge, err = c.s.CP.StartCluster(ctx, crowdSite); err != nil {
		return err
	}
	if err := c.createCrowdPlaces(ctx); err != nil {
		return err
	}
	if err := forEachApplication(ctx, c.makeApplication); err != nil {
		return err
	}
	for _, kind := range crowdKinds() {
		if err := c.awaitAllReady(ctx, kind); err != nil {
			return err
		}
	}
	return nil
}

// createCrowdPlaces makes the Site, and the namespaces and repositories.
func (c *applicationCrowd) createCrowdPlaces(ctx context.Context) error {
	kubeconfig, err := os.ReadFile(c.edge.Kubeconfig)
	if err != nil {
		return errors.Wrap(err, "cannot read kubeconfig")
	}
	all := []any{}
	for i := range crowdSources {
		all = append(all, crowdNamespace(i))
		for _, kube := range []client.Client{c.s.CP.Client, c.edge.Client} {
			if err := kube.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: crowdNamespace(i)}}); err != nil {
				return errors.Wrap(err, "cannot create namespace")
			}
		}
		if err := c.s.CP.Git.CreateRepo(ctx, crowdNamespace(i), map[string]string{"main.txt": "1"}); err != nil {
			return err
		}
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: crowdNamespace(0), Name: crowdSite}, Data: map[string][]byte{"value": kubeconfig}}
	if err := c.s.CP.Client.Create(ctx, secret); err != nil {
		return errors.Wrap(err, "cannot create kubeconfig")
	}
	site := stage.NewObject("catalog.intentplane.dev/v1alpha1", "Site", "", crowdSite)
	site.Object["spec"] = map[string]any{
		"cluster": map[string]any{"kubeconfigSecretRef": map[string]any{"namespace": crowdNamespace(0), "name": crowdSite, "key": "value"}},
		"engine":  map[string]any{"type": "None"}, "repository": map[string]any{"path": "clusters/" + crowdSite}, "allowedNamespaces": all,
	}
	return c.s.CP.ApplyObject(ctx, site)
}

func crowdNamespace(i int) string { return fmt.Sprintf("crowd-%d", i%crowdSources) }

func crowdName(i int) string { return fmt.Sprintf("app-%03d", i) }

// crowdKinds are the kinds that the provider reports about.
func crowdKinds() []string {
	return []string{"build.intentplane.dev/v1alpha1 ImageBuild", "delivery.intentplane.dev/v1alpha1 SiteHealth"}
}

func forEachApplication(ctx context.Context, fn func(ctx context.Context, i int) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(makers)
	for i := range crowdApplications {
		g.Go(func() error { return fn(ctx, i) })
	}
	return g.Wait()
}

// makeApplication makes the provider's objects for one of them, and its workload.
func (c *applicationCrowd) makeApplication(ctx context.Context, i int) error {
	name, namespace := crowdName(i), crowdNamespace(i)
	if err := c.edge.ApplyYAML(ctx, fmt.Appendf(nil, crowdWorkload, name, namespace, crowdImage)); err != nil {
		return err
	}
	d := stage.NewObject("apps/v1", "Deployment", namespace, name)
	if err := c.edge.Client.Get(ctx, client.ObjectKeyFromObject(d), d); err != nil {
		return errors.Wrap(err, "cannot get Deployment")
	}
	set := stage.NewObject("apps/v1", "ReplicaSet", namespace, name)
	owner := fmt.Sprintf(`{"metadata":{"ownerReferences":[{"apiVersion":"apps/v1","kind":"Deployment","name":%q,"uid":%q,"controller":true}]}}`, name, d.GetUID())
	if err := c.edge.Client.Patch(ctx, set, client.RawPatch(types.MergePatchType, []byte(owner))); err != nil {
		return errors.Wrap(err, "cannot patch ReplicaSet")
	}
	status := fmt.Sprintf(`{"status":{"observedGeneration":%d,"replicas":1,"updatedReplicas":1}}`, d.GetGeneration())
	if err := c.edge.Client.Status().Patch(ctx, d, client.RawPatch(types.MergePatchType, []byte(status))); err != nil {
		return errors.Wrap(err, "cannot report Deployment")
	}
	if err := c.reportAvailable(ctx, i, 1); err != nil {
		return err
	}
	return c.s.CP.ApplyYAML(ctx, fmt.Appendf(nil, crowdManaged, name, namespace, crowdImage, c.s.CP.Git.URL(namespace), crowdSite))
}

// reportAvailable writes the number of available pods of one of them.
func (c *applicationCrowd) reportAvailable(ctx context.Context, i, available int) error {
	set := stage.NewObject("apps/v1", "ReplicaSet", crowdNamespace(i), crowdName(i))
	patch := fmt.Sprintf(`{"status":{"replicas":1,"readyReplicas":%d,"availableReplicas":%d}}`, available, available)
	return errors.Wrap(c.edge.Client.Status().Patch(ctx, set, client.RawPatch(types.MergePatchType, []byte(patch))), "cannot report ReplicaSet")
}

// awaitAllReady waits until all objects of a kind are ready.
func (c *applicationCrowd) awaitAllReady(ctx context.Context, kind string) error {
	for {
		l, n := stage.ListOfKind(kind), 0
		if err := c.s.CP.Client.List(ctx, l); err != nil {
			return errors.Wrapf(err, "cannot list %s", kind)
		}
		for i := range l.Items {
			if stage.ConditionOf(&l.Items[i], "Ready") == corev1.ConditionTrue {
				n++
			}
		}
		if n == crowdApplications {
			return nil
		}
		if err := errors.Join(c.s.CP.Err(), process.Wait(ctx, 2*time.Second)); err != nil {
			return errors.Wrapf(err, "%d of %d %s are ready", n, crowdApplications, kind)
		}
	}
}

// measureSteady measures their cost while nothing happens.
func (c *applicationCrowd) measureSteady(ctx context.Context, figures map[string]float64) error {
	if err := process.Wait(ctx, stage.SteadyInterval); err != nil {
		return err
	}
	looks, err := c.countObservations(ctx)
	if err != nil {
		return err
	}
	cpu, err := process.CPUSeconds(c.s.CP.ProviderPID())
	if err != nil {
		return err
	}
	window := stage.SteadyIntervals * stage.SteadyInterval
	writes, err := c.countWrites(ctx, window, crowdKinds()...)
	if err != nil {
		return err
	}
	spent, err := process.CPUSeconds(c.s.CP.ProviderPID())
	if err != nil {
		return err
	}
	endLooks, err := c.countObservations(ctx)
	if err != nil {
		return err
	}
	figures["writes"], figures["cpu_percent"], figures["looks"] = writes, 100*(spent-cpu)/window.Seconds(), (endLooks-looks)/stage.SteadyIntervals
	fmt.Fprintf(os.Stderr, "%d Applications, while nothing happens: %v\n", crowdApplications, figures)
	return nil
}

// countObservations returns the number of the provider's observations of repositories with source.
func (c *applicationCrowd) countObservations(ctx context.Context) (float64, error) {
	m, err := c.s.CP.ProviderMetrics(ctx)
	if err != nil {
		return 0, err
	}
	n := m.Sum("intentplane_source_looks_total", nil)
	if n == 0 {
		return 0, errors.New("the provider counts no looks at repositories")
	}
	return n, nil
}

// countWrites counts the writes of objects of some kinds within a time.
func (c *applicationCrowd) countWrites(ctx context.Context, window time.Duration, kinds ...string) (float64, error) {
	n := &atomic.Int64{}
	g, ctx := errgroup.WithContext(ctx)
	for _, kind := range kinds {
		g.Go(func() error {
			writes, err := c.s.countWrites(ctx, stage.ListOfKind(kind), window)
			n.Add(int64(writes))
			return err
		})
	}
	err := g.Wait()
	return float64(n.Load()), err
}

// measureFlapping measures the rate of writes of each SiteHealth while its Deployment flaps, after the first minute.
func (c *applicationCrowd) measureFlapping(ctx context.Context, figures map[string]float64) error {
	flapping, stop := context.WithCancel(ctx)
	defer stop()
	rounds, failed := &atomic.Int64{}, make(chan error, 1)
	go func() { failed <- c.flapUntilDone(flapping, rounds) }()
	if err := process.Wait(ctx, flapWarmup); err != nil {
		return err
	}
	baseline := rounds.Load()
	writes, err := c.countWrites(ctx, flapMeasured, "delivery.intentplane.dev/v1alpha1 SiteHealth")
	if err != nil {
		return err
	}
	flapped := float64(rounds.Load() - baseline)
	stop()
	if err := <-failed; err != nil {
		return err
	}
	if want := crowdFlapLeast * float64(flapMeasured/crowdFlap); flapped < want {
		return errors.Errorf("the Deployments flapped %.0f times, and have to %.0f times", flapped, want)
	}
	figures["flapping"] = writes / crowdApplications / flapMeasured.Minutes()
	return nil
}

// flapUntilDone turns all Deployments once in each interval, until the context ends.
func (c *applicationCrowd) flapUntilDone(ctx context.Context, rounds *atomic.Int64) error {
	tick := time.NewTicker(crowdFlap)
	defer tick.Stop()
	for available := 0; ; available = 1 - available {
		err := forEachApplication(ctx, func(ctx context.Context, i int) error { return c.reportAvailable(ctx, i, available) })
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		rounds.Add(1)
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// crowdWorkload is a Deployment and its ReplicaSet, as the controllers of Kubernetes would make it: none runs in that cluster, so that each change is the test's.
const crowdWorkload = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: %[1]s, namespace: %[2]s, annotations: {deployment.kubernetes.io/revision: "1"}, labels: {intentplane.dev/claim: %[1]s, intentplane.dev/workload: main}}
spec:
  replicas: 1
  selector: {matchLabels: {app: %[1]s}}
  template:
    metadata: {labels: {app: %[1]s}}
    spec: {containers: [{name: app, image: "%[3]s"}]}
---
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: %[1]s, namespace: %[2]s, annotations: {deployment.kubernetes.io/revision: "1"}, labels: {app: %[1]s}}
spec:
  replicas: 1
  selector: {matchLabels: {app: %[1]s}}
  template:
    metadata: {labels: {app: %[1]s}}
    spec: {containers: [{name: app, image: "%[3]s"}]}
`

// crowdManaged has the composed objects of an Application, without its deployment.
const crowdManaged = `
apiVersion: build.intentplane.dev/v1alpha1
kind: ImageBuild
metadata: {name: %[1]s, namespace: %[2]s}
spec:
  providerConfigRef: {kind: ClusterProviderConfig, name: default}
  forProvider:
    claimRef: {apiGroup: intentplane.dev, kind: Application, namespace: %[2]s, name: %[1]s}
    source: {git: {url: "%[4]s", revision: main}, interval: 1m}
---
apiVersion: delivery.intentplane.dev/v1alpha1
kind: SiteHealth
metadata: {name: %[1]s, namespace: %[2]s}
spec:
  forProvider:
    claimRef: {apiGroup: intentplane.dev, kind: IntentDeployment, namespace: %[2]s, name: %[1]s}
    image: "%[3]s"
    sites: [{name: %[5]s}]
`
