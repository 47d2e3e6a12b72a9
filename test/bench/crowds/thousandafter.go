package crowds

import (
	"context"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/test/bench/process"
	"github.com/intentplane/intentplane/test/bench/stage"
	"github.com/intentplane/intentplane/test/controlplane"
)

const (
	// downtime is the duration of the provider's downtime.
	downtime = 10 * time.Minute
	// editedMeanwhile deployments are edited while the provider is down.
	editedMeanwhile = 100

	// resyncTime is the time without changes in which Crossplane and the provider reconcile each of many deployments again.
	resyncTime = 10 * time.Minute

	// lookEvery is the interval at which the metrics of a component under load are read.
	lookEvery = 200 * time.Millisecond
)

// measureRestart kills function and provider, starts them again, and waits until the provider has reconciled each delivery.
func (y *thousand) measureRestart(ctx context.Context, figures map[string]float64) error {
	deliveries, err := y.countDeliveries(ctx)
	if err != nil {
		return err
	}
	began := time.Now()
	y.s.CP.KillProvider()
	if err := y.s.CP.RestartFunction(ctx); err != nil {
		return err
	}
	if err := y.s.CP.StartProvider(ctx, controlplane.Program{}); err != nil {
		return err
	}
	if err := y.awaitReconciled(ctx, deliveries); err != nil {
		return err
	}
	figures["restart"] = time.Since(began).Seconds()
	return nil
}

// countDeliveries returns the number of GitDeliveries.
func (y *thousand) countDeliveries(ctx context.Context) (float64, error) {
	l := &unstructured.UnstructuredList{}
	l.SetGroupVersionKind(deliveryv1alpha1.GroupVersion.WithKind("GitDeliveryList"))
	err := y.s.CP.Client.List(ctx, l, client.InNamespace(namespace))
	return float64(len(l.Items)), errors.Wrap(err, "cannot list deliveries")
}

// awaitReconciled waits until the provider has reconciled as many deliveries as there are since it started, and has none left to work on.
func (y *thousand) awaitReconciled(ctx context.Context, deliveries float64) error {
	name := strings.ToLower(managed.ControllerName(deliveryv1alpha1.GroupVersion.WithKind("GitDelivery").GroupKind().String()))
	done := 0.0
	for {
		m, err := y.s.CP.ProviderMetrics(ctx)
		if err == nil {
			done = m.Sum("controller_runtime_reconcile_total", map[string]string{"controller": name})
			left := m.Sum("workqueue_depth", map[string]string{"name": name}) + m.Sum("controller_runtime_active_workers", map[string]string{"controller": name})
			if done >= deliveries && left == 0 {
				return nil
			}
		}
		if process.Wait(ctx, lookEvery) != nil {
			return errors.Errorf("the provider reconciled %g of %g deliveries: %v", done, deliveries, err)
		}
	}
}

// measureSiteChange labels the Site that all deployments name, which changes no file, and waits until the function has answered for each of them.
func (y *thousand) measureSiteChange(ctx context.Context, figures map[string]float64) error {
	baseline, err := y.countAnswers(ctx)
	if err != nil {
		return err
	}
	site := &unstructured.Unstructured{}
	site.SetAPIVersion("catalog.intentplane.dev/v1alpha1")
	site.SetKind("Site")
	site.SetName(stage.NameOfSite(0))
	began := time.Now()
	if err := y.s.CP.Client.Patch(ctx, site, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"bench.intentplane.dev/changed":"true"}}}`))); err != nil {
		return errors.Wrap(err, "cannot label the Site")
	}
	for answers := baseline; answers < baseline+manyDeployments; {
		if answers, err = y.countAnswers(ctx); err != nil {
			return err
		}
		if err := process.Wait(ctx, lookEvery); err != nil {
			return errors.Wrapf(err, "the function answered for %g deployments", answers-baseline)
		}
	}
	figures["site"] = time.Since(began).Seconds()
	_, err = y.s.AwaitSettled(ctx)
	return err
}

// countAnswers returns the number of the function's responses.
func (y *thousand) countAnswers(ctx context.Context) (float64, error) {
	m, err := y.s.CP.FunctionMetrics(ctx)
	return m.Sum("intentplane_function_answers_total", nil), err
}

// measureResync waits for a time without changes in which each deployment is reconciled again, and reads the processor time of all components, in percent of
// one processor.
func (y *thousand) measureResync(ctx context.Context, figures map[string]float64) error {
	baseline, err := readProcessorTimes(y.s.CP)
	if err != nil {
		return err
	}
	if err := process.Wait(ctx, resyncTime); err != nil {
		return err
	}
	final, err := readProcessorTimes(y.s.CP)
	for name := range final {
		figures["resync"] += 100 * (final[name] - baseline[name]) / resyncTime.Seconds()
	}
	return err
}

// measureDowntime edits some deployments while the provider is down, and waits until each of them is verified after it has started again. It returns an error if a
// deployment has another revision than its edit asks for.
func (y *thousand) measureDowntime(ctx context.Context, figures map[string]float64) error {
	all, err := y.listRevisions(ctx)
	if err != nil {
		return err
	}
	y.s.CP.KillProvider()
	edited := map[string]int64{}
	for i := range editedMeanwhile {
		edited[deploymentName(i)] = all[deploymentName(i)]
		if err := y.editReplicas(ctx, deploymentName(i), 4); err != nil {
			return err
		}
	}
	if err := process.Wait(ctx, downtime); err != nil {
		return err
	}
	began := time.Now()
	if err := y.s.CP.StartProvider(ctx, controlplane.Program{}); err != nil {
		return err
	}
	if err := y.awaitRevisions(ctx, edited); err != nil {
		return err
	}
	took := time.Since(began).Seconds()
	if err := y.checkRevisions(ctx, all); err != nil {
		return err
	}
	figures["down"] = took
	return nil
}

// checkRevisions returns an error if one of the edited deployments did not get just one revision more than it had, or another one got any.
func (y *thousand) checkRevisions(ctx context.Context, previous map[string]int64) error {
	current, err := y.listRevisions(ctx)
	if err != nil {
		return err
	}
	want := map[string]int64{}
	for i := range editedMeanwhile {
		want[deploymentName(i)] = 1
	}
	for name, previousRevision := range previous {
		if current[name] != previousRevision+want[name] {
			return errors.Errorf("deployment %s has revision %d after %d", name, current[name], previousRevision)
		}
	}
	return nil
}
