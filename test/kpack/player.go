package kpack

import (
	"context"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const (
	// labelBuild names the Build of a pod.
	labelBuild = "kpack.io/build"

	// shortest is how long a Build takes at least: kpack orders Builds by the second in which they were made, and takes one of two of the same second
	// for the last one.
	shortest = time.Second
)

// A Play is the planned result of one pod of a Build. The zero Play succeeds.
type Play struct {
	// Fails names the step that ends with code 1, such as "detect", "build" or "export". Empty means that no step fails.
	Fails string

	// Message is the termination message of the failing step. The steps of the real lifecycle leave none, and kpack writes one instead.
	Message string

	// Evicted ends the pod in its step "build", as a node does that is out of memory.
	Evicted bool

	// Drained ends the pod in its step "build", as a kubelet does for "kubectl drain".
	Drained bool

	// Unschedulable leaves the pod without a node for ever.
	Unschedulable bool

	// Held keeps the pod in its step "build" until it is closed. Nil holds nothing.
	Held <-chan struct{}

	// Content is the content of the image. Empty means that it contains the commit, so that another commit has another digest.
	Content string
}

// A Player plays the node that runs the pods of Builds. It is safe for concurrent use.
type Player struct {
	client client.Client

	mu      sync.Mutex
	waiting map[string][]Play
	given   map[types.UID]Play
	failure error
}

// startPlayer plays the pods of a cluster until the context ends.
func startPlayer(ctx context.Context, cfg *rest.Config) (*Player, error) {
	mgr, err := ctrl.NewManager(cfg, ctrl.Options{
		Scheme:                 clientgoscheme.Scheme,
		Logger:                 logr.Discard(),
		Metrics:                metricsserver.Options{BindAddress: "0"},
		HealthProbeBindAddress: "0",
		// One process may run several control planes, one after another.
		Controller: ctrlconfig.Controller{SkipNameValidation: new(true)},
	})
	if err != nil {
		return nil, errors.Wrap(err, "cannot make manager of pods")
	}
	p := &Player{client: mgr.GetClient(), waiting: map[string][]Play{}, given: map[types.UID]Play{}}
	ofBuilds := predicate.NewPredicateFuncs(func(o client.Object) bool { return o.GetLabels()[labelBuild] != "" })
	if err := ctrl.NewControllerManagedBy(mgr).For(&corev1.Pod{}).WithEventFilter(ofBuilds).Complete(reconcile.Func(p.recordFailure)); err != nil {
		return nil, errors.Wrap(err, "cannot watch pods")
	}
	go func() { _ = mgr.Start(ctx) }() // A cluster that ends needs no pods.
	return p, nil
}

// Plan sets the results of the next pods of Builds in a namespace, in the order in which kpack makes them. Pods without a plan succeed.
func (p *Player) Plan(namespace string, plays ...Play) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting[namespace] = append(p.waiting[namespace], plays...)
}

// Failure returns the last error that kept a pod from its next state. It may have got there since. Nil means that there was none.
func (p *Player) Failure() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failure
}

// recordFailure keeps the last error. The pod is brought to its next state again.
func (p *Player) recordFailure(ctx context.Context, r reconcile.Request) (reconcile.Result, error) {
	out, err := p.advancePodState(ctx, r)
	if err != nil {
		p.setFailure(err)
	}
	return out, err
}

func (p *Player) setFailure(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failure = err
}

// advancePodState brings a pod to its next state: in its step "build", ended.
func (p *Player) advancePodState(ctx context.Context, r reconcile.Request) (reconcile.Result, error) {
	pod := &corev1.Pod{}
	if err := p.client.Get(ctx, r.NamespacedName, pod); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if pod.GetDeletionTimestamp() != nil || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
		return reconcile.Result{}, nil
	}
	play := p.plannedPlay(pod)
	if play.Unschedulable {
		return reconcile.Result{}, p.reportBuild(ctx, pod, unschedulableStatus())
	}
	if len(pod.Status.InitContainerStatuses) == 0 {
		return reconcile.Result{}, p.reportBuild(ctx, pod, runningStatus(pod))
	}
	if left := play.timeUntilEnd(pod); left > 0 {
		return reconcile.Result{RequeueAfter: left}, nil
	}
	return reconcile.Result{}, p.reportPodEnd(ctx, pod, play)
}

// plannedPlay returns the planned result of a pod from when it was first seen.
func (p *Player) plannedPlay(pod *corev1.Pod) Play {
	p.mu.Lock()
	defer p.mu.Unlock()
	play, ok := p.given[pod.GetUID()]
	if ok {
		return play
	}
	if next := p.waiting[pod.GetNamespace()]; len(next) > 0 {
		play, p.waiting[pod.GetNamespace()] = next[0], next[1:]
	}
	p.given[pod.GetUID()] = play
	return play
}

// timeUntilEnd returns when to look again whether a pod may end, or zero if it may.
func (y Play) timeUntilEnd(pod *corev1.Pod) time.Duration {
	select {
	case <-y.releaseChannel():
		return time.Until(pod.GetCreationTimestamp().Add(shortest))
	default:
		return look
	}
}

// releaseChannel is closed when the pod is held no more.
func (y Play) releaseChannel() <-chan struct{} {
	if y.Held != nil {
		return y.Held
	}
	free := make(chan struct{})
	close(free)
	return free
}

func (p *Player) reportPodEnd(ctx context.Context, pod *corev1.Pod, play Play) error {
	switch {
	case play.Evicted:
		return p.reportBuild(ctx, pod, evictedStatus(pod))
	case play.Drained:
		return p.reportBuild(ctx, pod, drainedStatus(pod))
	case play.Fails != "":
		return p.reportBuild(ctx, pod, failedStatus(pod, play))
	}
	message, err := p.exportImage(ctx, pod, play)
	if err != nil {
		return err
	}
	return p.reportBuild(ctx, pod, succeededStatus(pod, message))
}

// reportBuild writes the status of a pod. A pod that was changed meanwhile is brought to its next state again.
func (p *Player) reportBuild(ctx context.Context, pod *corev1.Pod, status corev1.PodStatus) error {
	pod.Status = status
	err := p.client.Status().Update(ctx, pod)
	if apierrors.IsConflict(err) {
		return nil
	}
	return errors.Wrapf(client.IgnoreNotFound(err), "cannot report pod %s", client.ObjectKeyFromObject(pod))
}
