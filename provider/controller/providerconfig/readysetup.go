package providerconfig

import (
	"context"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/provider/address"
	"github.com/intentplane/intentplane/provider/controller/setup"
	"github.com/intentplane/intentplane/provider/remote"
	"github.com/intentplane/intentplane/provider/repository"
	"github.com/intentplane/intentplane/provider/usage"
)

const (
	// readyWorkers is the number of configurations of a kind that may wait for a repository at once. A namespace has a quarter of them, and half while the
	// others have nothing to do.
	readyWorkers = 8

	// ownInterval is the interval at which a configuration without deliveries observes its repository. It is at least three intervals of the provider.
	ownInterval, ownIntervals = 30 * time.Minute, 3
)

// ReadyOptions of the controllers of condition Ready.
type ReadyOptions struct {
	// Repositories that deliveries go to. Required.
	Repositories *repository.Pool

	// Guard restricts the addresses of ProviderConfigs of namespaces. The zero Guard refuses the most.
	Guard address.Guard
}

// SetupReady adds a controller of condition Ready for each kind of configuration to the manager. It returns an error if one cannot be added.
func SetupReady(mgr ctrl.Manager, o controller.Options, g ReadyOptions) error {
	opener := remote.Opener{Kube: mgr.GetClient(), Pool: g.Repositories, Guard: g.Guard, Now: time.Now}
	for kind, fn := range configKinds() {
		name := strings.ToLower(kind) + "-ready"
		events, prefix := &setup.EventSource{}, name+"/"
		g.Repositories.WakeWith(prefix, events.Wake)
		r := &ReadyReconciler{
			kube: mgr.GetClient(), kind: kind, newConfig: fn, changes: newChangeLog(), now: time.Now,
			answers: &answerBook{opener: opener, kind: kind, prefix: prefix, maxAge: max(ownInterval, ownIntervals*o.PollInterval), now: time.Now, open: map[types.NamespacedName]openedConfig{}},
		}
		_, err := setup.AddController(mgr, o, setup.Controller{
			Name: name, Reconciler: errors.WithSilentRequeueOnConflict(r), Workers: readyWorkers, Events: events,
			Watch: func(b *builder.Builder) *builder.Builder {
				// Only the metadata of Secrets, not their data, is kept in memory.
				return b.For(fn(), builder.WithPredicates(predicate.GenerationChangedPredicate{})).
					WatchesMetadata(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(r.requestsForSecret(o.Logger.WithValues("controller", name))), builder.WithPredicates(predicate.ResourceVersionChangedPredicate{}))
			},
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// requestsForSecret returns a mapper from a Secret to the configurations of the kind that name it, whose credentials are read again.
func (r *ReadyReconciler) requestsForSecret(log logging.Logger) handler.MapFunc {
	return func(ctx context.Context, o client.Object) []reconcile.Request {
		configs, err := usage.ConfigsWithSecret(ctx, r.kube, client.ObjectKeyFromObject(o))
		if err != nil {
			log.Info("Cannot find the configurations that name a Secret", "error", err)
		}
		var out []reconcile.Request
		for _, c := range configs {
			if kindOfConfig(c) == r.kind {
				key := client.ObjectKeyFromObject(c)
				r.answers.forgetConfig(key)
				out = append(out, reconcile.Request{NamespacedName: key})
			}
		}
		return out
	}
}

// kindOfConfig returns the kind of a configuration.
func kindOfConfig(c client.Object) string {
	if _, ok := c.(*configv1alpha1.ClusterProviderConfig); ok {
		return policy.KindClusterProviderConfig
	}
	return policy.KindProviderConfig
}
