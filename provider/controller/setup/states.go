package setup

import (
	"context"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	"github.com/crossplane/crossplane-runtime/v2/pkg/statemetrics"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/provider/listing"
)

// A stateRecorder records the number of managed resources of a kind.
type stateRecorder interface {
	Record(ctx context.Context) error
}

// A stateCounter runs Crossplane's recorder periodically, which counts the managed resources of one kind.
type stateCounter struct {
	recorder stateRecorder
	interval time.Duration
	log      logging.Logger
}

// CountStates adds a runnable to a manager that counts the managed resources of a kind for Crossplane's metrics: the numbers of all, of ready and of synced
// resources. It returns an error if that cannot be added. Without options for metrics nothing is counted.
func CountStates(mgr ctrl.Manager, o controller.Options, list resource.ManagedList) error {
	m := o.MetricOptions
	if m == nil || m.MRStateMetrics == nil {
		return nil
	}
	r := statemetrics.NewMRStateRecorder(withoutCopies{mgr.GetClient()}, o.Logger, m.MRStateMetrics, list, m.PollStateMetricInterval)
	return errors.Wrap(mgr.Add(&stateCounter{recorder: r, interval: m.PollStateMetricInterval, log: o.Logger}), "cannot count managed resources")
}

// Start counts at once and after each interval, until the context ends. It returns nil: a failed count is repeated an interval later. The
// recorder's own Start would end the provider with the first error.
func (c *stateCounter) Start(ctx context.Context) error {
	ticker := time.NewTicker(c.interval)
	defer ticker.Stop()
	for {
		if err := c.recorder.Record(ctx); err != nil && ctx.Err() == nil {
			c.log.Info("Cannot count managed resources", "error", err)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// withoutCopies is a client whose lists share their content with the cache. Who lists with it only reads: copies of five thousand GitDeliveries, with all
// their trees, would take hundreds of MiB in each interval.
type withoutCopies struct {
	client.Client
}

// List objects, without a copy of the cached objects.
func (c withoutCopies) List(ctx context.Context, l client.ObjectList, o ...client.ListOption) error {
	return listing.Cached(ctx, c.Client, l, o...)
}
