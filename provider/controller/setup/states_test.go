package setup

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/crossplane/crossplane-runtime/v2/pkg/statemetrics"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	kmeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
)

// newDeliveries returns GitDeliveries with 8 KiB of files each. Each second one is ready, and all are synced.
func newDeliveries(n int) *deliveryv1alpha1.GitDeliveryList {
	out := &deliveryv1alpha1.GitDeliveryList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}}
	for i := range n {
		d := deliveryv1alpha1.GitDelivery{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: fmt.Sprintf("shop-%d", i), ResourceVersion: "1"}}
		d.Spec.ForProvider.Trees = []deliveryv1alpha1.Tree{{Site: "edge1", Files: make([]byte, 8<<10)}}
		d.SetConditions(xpv2.ReconcileSuccess())
		if i%2 == 0 {
			d.SetConditions(xpv2.Available())
		}
		out.Items = append(out.Items, d)
	}
	return out
}

// newCachedClient returns a client that reads from the cache of a manager, which has some GitDeliveries. It contacts no server.
func newCachedClient(tb testing.TB, all *deliveryv1alpha1.GitDeliveryList) client.Client {
	tb.Helper()
	s := kruntime.NewScheme()
	if err := deliveryv1alpha1.AddToScheme(s); err != nil {
		tb.Fatal(err)
	}
	mapper := kmeta.NewDefaultRESTMapper([]schema.GroupVersion{deliveryv1alpha1.GroupVersion})
	mapper.Add(deliveryv1alpha1.GroupVersion.WithKind("GitDelivery"), kmeta.RESTScopeNamespace)
	source := &toolscache.ListWatch{
		ListFunc:  func(metav1.ListOptions) (kruntime.Object, error) { return all, nil },
		WatchFunc: func(metav1.ListOptions) (watch.Interface, error) { return watch.NewFake(), nil },
	}
	c, err := cache.New(&rest.Config{Host: "https://localhost"}, cache.Options{
		Scheme: s, Mapper: mapper, HTTPClient: http.DefaultClient,
		NewInformer: func(_ toolscache.ListerWatcher, o kruntime.Object, resync time.Duration, indexers toolscache.Indexers) toolscache.SharedIndexInformer {
			return toolscache.NewSharedIndexInformer(toolscache.ToListWatcherWithWatchListSemantics(source, noWatchList{}), o, resync, indexers)
		},
	})
	if err != nil {
		tb.Fatal(err)
	}
	go func() { _ = c.Start(tb.Context()) }()
	if _, err := c.GetInformer(tb.Context(), &deliveryv1alpha1.GitDelivery{}); err != nil || !c.WaitForCacheSync(tb.Context()) {
		tb.Fatalf("cannot fill the cache: %v", err)
	}
	out, err := client.New(&rest.Config{Host: "https://localhost"}, client.Options{Scheme: s, Mapper: mapper, HTTPClient: http.DefaultClient, Cache: &client.CacheOptions{Reader: c}})
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

// noWatchList says that the source of a cache lists, and then watches.
type noWatchList struct{}

// IsWatchListSemanticsUnSupported returns true.
func (noWatchList) IsWatchListSemanticsUnSupported() bool { return true }

// valuesOf returns the values of all metrics that a registry has.
func valuesOf(tb testing.TB, m prometheus.Collector) map[string]float64 {
	tb.Helper()
	r := prometheus.NewRegistry()
	r.MustRegister(m)
	all, err := r.Gather()
	if err != nil {
		tb.Fatal(err)
	}
	out := map[string]float64{}
	for _, f := range all {
		for _, metric := range f.GetMetric() {
			out[f.GetName()+" "+metric.GetLabel()[0].GetValue()] = metric.GetGauge().GetValue()
		}
	}
	return out
}

// TestCountStates counts the GitDeliveries of a cache as Crossplane's metrics do, and leaves the cache as it is.
func TestCountStates(t *testing.T) {
	kube, m := newCachedClient(t, newDeliveries(5)), statemetrics.NewMRStateMetrics()
	r := statemetrics.NewMRStateRecorder(withoutCopies{kube}, logging.NewNopLogger(), m, &deliveryv1alpha1.GitDeliveryList{}, time.Minute)
	if err := r.Record(t.Context()); err != nil {
		t.Fatal(err)
	}
	const gvk = " delivery.intentplane.dev/v1alpha1, Kind=GitDelivery"
	want := map[string]float64{
		"crossplane_managed_resource_exists" + gvk: 5, "crossplane_managed_resource_ready" + gvk: 3, "crossplane_managed_resource_synced" + gvk: 5,
	}
	if diff := cmp.Diff(want, valuesOf(t, m)); diff != "" {
		t.Errorf("Record(...): -want, +got:\n%s", diff)
	}
}

// recorderFunc is a recorder that a test plays.
type recorderFunc func() error

// Record calls the function.
func (f recorderFunc) Record(context.Context) error { return f() }

// TestCounterGoesOn counts at once and after each interval, also after an error, and ends without one.
func TestCounterGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		counted, ended := 0, make(chan error, 1)
		c := &stateCounter{interval: time.Minute, log: logging.NewNopLogger(), recorder: recorderFunc(func() error {
			counted++
			return errors.New("the cache is not filled")
		})}
		go func() { ended <- c.Start(ctx) }()
		<-time.After(150 * time.Second)
		synctest.Wait()
		cancel()
		if err := <-ended; err != nil || counted != 3 {
			t.Errorf("Start(...): counted %d times, want 3: %v", counted, err)
		}
	})
}

// BenchmarkCountStates counts 5,000 GitDeliveries once, which the provider does each minute. It reports the time and the
// memory as managed_metrics_5000_ms and managed_metrics_5000_mib.
func BenchmarkCountStates(b *testing.B) {
	const n = 5000
	kube, m := newCachedClient(b, newDeliveries(n)), statemetrics.NewMRStateMetrics()
	r := statemetrics.NewMRStateRecorder(withoutCopies{kube}, logging.NewNopLogger(), m, &deliveryv1alpha1.GitDeliveryList{}, time.Minute)
	baseline, final, times := runtime.MemStats{}, runtime.MemStats{}, 0
	runtime.ReadMemStats(&baseline)
	began := time.Now()
	for b.Loop() {
		if err := r.Record(b.Context()); err != nil {
			b.Fatal(err)
		}
		times++
	}
	took := time.Since(began)
	runtime.ReadMemStats(&final)
	b.ReportMetric(float64(took.Microseconds())/1000/float64(times), "managed_metrics_5000_ms")
	b.ReportMetric(float64(final.TotalAlloc-baseline.TotalAlloc)/float64(1<<20)/float64(times), "managed_metrics_5000_mib")
}
