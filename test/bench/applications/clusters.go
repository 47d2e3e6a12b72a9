package applications

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/test/bench/process"
	"github.com/intentplane/intentplane/test/bench/series"
	"github.com/intentplane/intentplane/test/bench/stage"
)

const (
	// manyClusters flap once in each flapInterval: half of the time each is ready.
	manyClusters = 300
	flapInterval = time.Second
	flapNs       = "flapping"

	// flapWarmup passes before something is measured, for flapMeasured. It is not a whole minute: a status is written once in a minute from
	// the first flap on, and a write at each end of the measured time would make four of three minutes.
	flapWarmup   = 90 * time.Second
	flapMeasured = 3 * time.Minute

	// flapLeast is which part of the flaps have to come about, or the machine is too slow for this figure.
	flapLeast = 0.9

	// composedClusters of them are WorkloadClusters: Crossplane reacts to each change of their status.
	composedClusters = 20

	makers = 16
)

// A fleet are clusters of which one object each comes and goes.
type fleet struct{ s *room }

func (f *fleet) figureSeries() *series.Series {
	return &series.Series{Base: f.openControlPlane, Parts: []series.Part{{Figures: []string{"cpu_percent", "writes"}, Measure: f.measureFlaps}}}
}

// openControlPlane starts a control plane of its own, as the remains of earlier figures would count.
func (f *fleet) openControlPlane(ctx context.Context, _ map[string]float64) error {
	if err := f.s.OpenNew(ctx); err != nil {
		return err
	}
	return f.createClusters(ctx)
}

// createClusters fills the control plane with clusters, and waits until all are ready.
func (f *fleet) createClusters(ctx context.Context) error {
	if err := f.s.CP.ApplyYAML(ctx, []byte(fleetKinds)); err != nil {
		return err
	}
	if err := f.s.CP.Client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: flapNs}}); err != nil {
		return errors.Wrap(err, "cannot create namespace")
	}
	limited, cancel := context.WithTimeout(ctx, stage.CrowdPatience)
	defer cancel()
	// Kinds are served a moment after they were applied.
	for f.s.CP.ApplyYAML(limited, clusterManifests(0)) != nil && limited.Err() == nil {
		_ = process.Wait(limited, time.Second)
	}
	if err := f.forEachCluster(limited, f.makeCluster); err != nil {
		return err
	}
	return f.awaitAllReady(limited)
}

// clusterManifests returns a cluster, and its watching object.
func clusterManifests(i int) []byte {
	watched := fleetManaged
	if i < composedClusters {
		watched = fleetComposed
	}
	return fmt.Appendf(nil, fleetCluster+watched, clusterName(i), flapNs)
}

func clusterName(i int) string { return fmt.Sprintf("c-%03d", i) }

// forEachCluster does something for all clusters, some at once.
func (f *fleet) forEachCluster(ctx context.Context, fn func(ctx context.Context, i int) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(makers)
	for i := range manyClusters {
		g.Go(func() error { return fn(ctx, i) })
	}
	return g.Wait()
}

func (f *fleet) makeCluster(ctx context.Context, i int) error {
	name := clusterName(i)
	if err := f.s.CP.ApplyYAML(ctx, clusterManifests(i)); err != nil {
		return err
	}
	kubeconfig, err := f.writeKubeconfig(name)
	if err != nil {
		return err
	}
	s := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: flapNs, Name: name + "-kubeconfig", Labels: map[string]string{"cluster.x-k8s.io/cluster-name": name}},
		Type:       "cluster.x-k8s.io/secret", Data: map[string][]byte{"value": kubeconfig},
	}
	if err := f.s.CP.Client.Create(ctx, s); err != nil {
		return errors.Wrap(err, "cannot create kubeconfig")
	}
	built := `{"status":{"phase":"Provisioned","initialization":{"infrastructureProvisioned":true,"controlPlaneInitialized":true}}}`
	if err := f.patchStatus(ctx, "cluster.x-k8s.io/v1beta2", "Cluster", name, built); err != nil {
		return err
	}
	return f.setInfrastructure(ctx, i, true)
}

// writeKubeconfig writes a kubeconfig of the control plane itself, under a name that makes it another one for each cluster.
func (f *fleet) writeKubeconfig(name string) ([]byte, error) {
	c, err := clientcmd.LoadFromFile(f.s.CP.Kubeconfig)
	if err != nil {
		return nil, errors.Wrap(err, "cannot read kubeconfig")
	}
	c.Contexts[name], c.CurrentContext = c.Contexts[c.CurrentContext], name
	b, err := clientcmd.Write(*c)
	return b, errors.Wrap(err, "cannot write kubeconfig")
}

// setInfrastructure writes the status of a cluster's infrastructure.
func (f *fleet) setInfrastructure(ctx context.Context, i int, well bool) error {
	status, message := "True", ""
	if !well {
		status, message = "False", "It is unavailable for a moment."
	}
	says := `{"status":{"initialization":{"provisioned":true},"conditions":[{"type":"Ready","status":%q,"reason":"Said","message":%q,"lastTransitionTime":"2026-11-01T00:00:00Z"}]}}`
	return f.patchStatus(ctx, "infrastructure.cluster.x-k8s.io/v1beta2", "FlappingCluster", clusterName(i), fmt.Sprintf(says, status, message))
}

func (f *fleet) patchStatus(ctx context.Context, apiVersion, kind, name, patch string) error {
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(schema.FromAPIVersionAndKind(apiVersion, kind))
	o.SetNamespace(flapNs)
	o.SetName(name)
	err := f.s.CP.Client.Status().Patch(ctx, o, client.RawPatch(types.MergePatchType, []byte(patch)))
	return errors.Wrapf(err, "cannot write status of %s %s", kind, name)
}

// awaitAllReady waits until all clusters are ready.
func (f *fleet) awaitAllReady(ctx context.Context) error {
	for {
		l := managedClusters()
		if err := f.s.CP.Client.List(ctx, l, client.InNamespace(flapNs)); err != nil {
			return errors.Wrap(err, "cannot list ManagedClusters")
		}
		n := 0
		for i := range l.Items {
			if readySince, _, _ := unstructured.NestedString(l.Items[i].Object, "status", "atProvider", "readySince"); readySince != "" {
				n++
			}
		}
		if n == manyClusters {
			return nil
		}
		if err := process.Wait(ctx, time.Second); err != nil {
			return errors.Wrapf(err, "%d of %d clusters are ready", n, manyClusters)
		}
	}
}

func managedClusters() *unstructured.UnstructuredList {
	l := &unstructured.UnstructuredList{}
	l.SetAPIVersion("cluster.intentplane.dev/v1alpha1")
	l.SetKind("ManagedClusterList")
	return l
}

// measureFlaps measures the cost while all clusters flap.
func (f *fleet) measureFlaps(ctx context.Context, figures map[string]float64) error {
	flapping, stop := context.WithCancel(ctx)
	defer stop()
	flaps, failed := &atomic.Int64{}, make(chan error, 1)
	go func() { failed <- f.flapUntilDone(flapping, flaps) }()
	if err := process.Wait(ctx, flapWarmup); err != nil {
		return err
	}
	baseline, err := process.CPUSeconds(f.s.CP.ProviderPID())
	if err != nil {
		return err
	}
	baselineFlaps := flaps.Load()
	writes, err := f.s.countWrites(ctx, managedClusters(), flapMeasured, client.InNamespace(flapNs))
	if err != nil {
		return err
	}
	final, err := process.CPUSeconds(f.s.CP.ProviderPID())
	if err != nil {
		return err
	}
	rate := float64(flaps.Load()-baselineFlaps) / flapMeasured.Seconds()
	stop()
	if err := <-failed; err != nil {
		return err
	}
	if want := flapLeast * manyClusters / flapInterval.Seconds(); rate < want {
		return errors.Errorf("only %.0f objects flapped in a second, and %.0f have to", rate, want)
	}
	if err := f.s.CheckBreakerClosed(ctx); err != nil {
		return err
	}
	figures["cpu_percent"], figures["writes"] = 100*(final-baseline)/flapMeasured.Seconds(), float64(writes)/manyClusters/flapMeasured.Minutes()
	return nil
}

// flapUntilDone turns all clusters once in each interval, until the context ends.
func (f *fleet) flapUntilDone(ctx context.Context, flaps *atomic.Int64) error {
	tick := time.NewTicker(flapInterval)
	defer tick.Stop()
	for well := false; ; well = !well {
		err := f.forEachCluster(ctx, func(ctx context.Context, i int) error {
			defer flaps.Add(1)
			return f.setInfrastructure(ctx, i, well)
		})
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// countWrites counts the writes of the objects of a list within a time.
func (s *room) countWrites(ctx context.Context, l *unstructured.UnstructuredList, window time.Duration, options ...client.ListOption) (int, error) {
	kind := l.GetKind()
	if err := s.CP.Client.List(ctx, l, options...); err != nil {
		return 0, errors.Wrapf(err, "cannot list %s", kind)
	}
	w, err := s.CP.Client.Watch(ctx, l, append(options, &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: l.GetResourceVersion()}})...)
	if err != nil {
		return 0, errors.Wrapf(err, "cannot watch %s", kind)
	}
	defer w.Stop()
	end := time.NewTimer(window)
	defer end.Stop()
	for n := 0; ; {
		select {
		case e, open := <-w.ResultChan():
			if !open {
				return 0, errors.Errorf("the watch of %s ended", kind)
			}
			if e.Type == watch.Modified {
				n++
			}
		case <-end.C:
			return n, nil
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

const fleetCluster = `
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: FlappingCluster
metadata: {name: %[1]s, namespace: %[2]s}
spec: {}
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: %[1]s, namespace: %[2]s}
spec:
  controlPlaneEndpoint: {host: 127.0.0.1, port: 6443}
  infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: FlappingCluster, name: %[1]s}
---
`

const fleetManaged = `
apiVersion: cluster.intentplane.dev/v1alpha1
kind: ManagedCluster
metadata: {name: %[1]s, namespace: %[2]s}
spec:
  forProvider: {cluster: {name: %[1]s}, type: Existing}
`

// fleetComposed has Crossplane make the same ManagedCluster.
const fleetComposed = `
apiVersion: claims.intentplane.dev/v1alpha1
kind: WorkloadCluster
metadata: {name: %[1]s, namespace: %[2]s}
spec: {type: Existing}
`

// fleetKinds are as small as they can be: Cluster API does not run here.
const fleetKinds = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: clusters.cluster.x-k8s.io}
spec:
  group: cluster.x-k8s.io
  scope: Namespaced
  names: {kind: Cluster, plural: clusters}
  versions:
    - {name: v1beta2, served: true, storage: true, subresources: {status: {}}, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: flappingclusters.infrastructure.cluster.x-k8s.io, labels: {cluster.x-k8s.io/v1beta2: v1beta2}}
spec:
  group: infrastructure.cluster.x-k8s.io
  scope: Namespaced
  names: {kind: FlappingCluster, plural: flappingclusters}
  versions:
    - {name: v1beta2, served: true, storage: true, subresources: {status: {}}, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
`
