package providerconfig

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/provider/remote"
)

const (
	// readInterval is the interval between two reads of a repository's last result, which need no request.
	readInterval = time.Minute

	// unknownInterval is the read interval before the repository has responded.
	unknownInterval = 5 * time.Second

	// jitter is the part of an interval by which it is longer, so that configurations that began together do not stay together.
	jitter = 0.1
)

// A ReadyReconciler writes condition Ready of the configurations of one kind: whether the provider reaches the repository. It reads how the last
// conversation of any object with the repository ended, and looks itself only where no delivery does.
type ReadyReconciler struct {
	kube      client.Client
	kind      string
	newConfig func() client.Object
	answers   *answerBook
	changes   *changeLog
	now       func() time.Time
}

// Reconcile one configuration. It returns an error if the API server is unavailable.
func (r *ReadyReconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	c := r.newConfig()
	err := r.kube.Get(ctx, req.NamespacedName, c)
	if kerrors.IsNotFound(err) || err == nil && meta.WasDeleted(c) {
		r.forgetConfig(req.NamespacedName)
		return reconcile.Result{}, nil
	}
	if err != nil {
		return reconcile.Result{}, errors.Wrapf(err, "cannot get %s", r.kind)
	}
	v, err := r.answers.repositoryVerdict(ctx, c)
	if err != nil {
		return reconcile.Result{}, err
	}
	wait, err := r.showVerdict(ctx, c, v)
	return reconcile.Result{RequeueAfter: wait + time.Duration(rand.Float64()*jitter*float64(wait))}, err //nolint:gosec // It spreads load, and keeps no secret.
}

func (r *ReadyReconciler) forgetConfig(key types.NamespacedName) {
	r.answers.forgetConfig(key)
	r.changes.forgetConfig(key)
}

// showVerdict writes the condition once it has differed for the required time. It returns the time of the next reconcile.
func (r *ReadyReconciler) showVerdict(ctx context.Context, c client.Object, v verdict) (time.Duration, error) {
	if v.reason == "" {
		return unknownInterval, nil
	}
	_, status := specAndStatus(c)
	key, published, want := client.ObjectKeyFromObject(c), status.GetCondition(xpv2.TypeReady), v.readyCondition(c.GetGeneration())
	if isVerdictShown(published, want) {
		r.changes.forgetConfig(key)
		return readInterval, nil
	}
	now := r.now()
	if wait := r.changes.changeStartTime(key, published, want, now).Add(patienceFor(published, want)).Sub(now); wait > 0 {
		return wait, nil
	}
	want.LastTransitionTime = metav1.NewTime(now)
	status.SetConditions(want)
	if err := r.kube.Status().Update(ctx, c); err != nil {
		return 0, errors.Wrapf(err, "cannot update status of %s", r.kind)
	}
	r.changes.forgetConfig(key)
	return readInterval, nil
}

// A verdict is the condition that follows from the last answers of a repository. Without a reason nothing is known.
type verdict struct {
	reason  xpv2.ConditionReason
	message string
}

// verdictOfError returns the verdict that an error gives, with the reason that a GitDelivery would give.
func verdictOfError(err error) verdict {
	return verdict{reason: remote.ReasonOf(err), message: remote.MessageOf(err)}
}

// readyCondition returns the condition with the verdict for a generation.
func (v verdict) readyCondition(generation int64) xpv2.Condition {
	c := xpv2.Condition{Type: xpv2.TypeReady, Status: corev1.ConditionFalse, Reason: v.reason, Message: v.message}
	if v.reason == configv1alpha1.ReasonReachable {
		c.Status = corev1.ConditionTrue
	}
	return c.WithObservedGeneration(generation)
}
