package measured

import (
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/controller/setup"
)

const (
	name = "gate-measured"

	// workers is how many ConfigMaps are written at once. A namespace has half of them.
	workers = 4
)

// Setup adds the controller to a manager. It returns the Log of what Gates measure, and an error if the controller cannot be added.
func Setup(mgr ctrl.Manager, o controller.Options) (*Log, error) {
	events := &setup.EventSource{}
	r := &Reconciler{kube: mgr.GetClient(), live: mgr.GetAPIReader(), log: NewLog(events.Wake), now: time.Now, written: map[types.NamespacedName]written{}}
	options := o.ForControllerRuntime()
	options.MaxConcurrentReconciles = workers
	return r.log, errors.Wrapf(ctrl.NewControllerManagedBy(mgr).
		Named(name).
		WithOptions(options).
		For(&rolloutv1alpha1.Gate{}, builder.WithPredicates(verdictOrDeletion())).
		WatchesRawSource(events).
		Complete(setup.NewWorkerShares(errors.WithSilentRequeueOnConflict(r), workers, events.Wake)), "cannot add controller %s", name)
}

// verdictOrDeletion lets through Gates that are to be written for the last time, or forgotten. While a Gate measures, the Log wakes it.
func verdictOrDeletion() predicate.Predicate {
	hasVerdict := func(o client.Object) bool {
		g, ok := o.(*rolloutv1alpha1.Gate)
		return ok && g.Status.AtProvider.Verdict != ""
	}
	return predicate.Funcs{
		CreateFunc:  func(e event.CreateEvent) bool { return hasVerdict(e.Object) },
		UpdateFunc:  func(e event.UpdateEvent) bool { return hasVerdict(e.ObjectNew) },
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}
