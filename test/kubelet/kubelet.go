// Package kubelet plays the node of a cluster that has none: for each pod that the controllers of Kubernetes make it runs an HTTP server in this
// process, at an address of its own, and reports the pod ready. It also writes the EndpointSlices of Services.
//
// It plays the part that a gateway sees of pods: when they begin to answer, when they are reported, and when they stop to answer.
package kubelet

import (
	"context"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Headers of each answer.
const (
	// HeaderPod has the name of the pod that answered.
	HeaderPod = "X-Pod"

	// HeaderTrack has the track of that pod.
	HeaderTrack = "X-Track"
)

// Annotations of pods that behave otherwise than Options say.
const (
	// AnnotationReadyAfter is how long the pod takes until it answers.
	AnnotationReadyAfter = "kubelet.intentplane.dev/ready-after"

	// AnnotationAnswers is how long the pod goes on to answer while it is being deleted.
	AnnotationAnswers = "kubelet.intentplane.dev/answers-after-deletion"
)

// DefaultAnswersAfterDeletion is how long a pod that is being deleted goes on to answer.
const DefaultAnswersAfterDeletion = time.Second

// Options say how pods behave.
type Options struct {
	// Network has the addresses of the pods. Each must be an address of this machine.
	Network netip.Prefix

	// ReadyAfter is how long a pod takes until it answers.
	ReadyAfter time.Duration

	// AnswersAfterDeletion is how long a pod answers that is being deleted. Zero means DefaultAnswersAfterDeletion.
	AnswersAfterDeletion time.Duration

	// Handler returns the handler of a pod's answers, after its headers are set. Without it each answer is 200.
	Handler func(*corev1.Pod) http.Handler
}

// A Kubelet plays the node of one cluster. It is safe for concurrent use.
type Kubelet struct {
	client client.Client
	o      Options

	mu      sync.Mutex
	last    netip.Addr
	servers map[types.UID]*server
	started map[types.NamespacedName]string
	failure error
}

// Start a Kubelet of a cluster, which plays until the context ends. It returns an error if this machine does not have the addresses of its network,
// or the cluster cannot be watched.
func Start(ctx context.Context, cfg *rest.Config, o Options) (*Kubelet, error) {
	if err := CheckNetwork(ctx, o.Network); err != nil {
		return nil, err
	}
	mgr, err := ctrl.NewManager(cfg, ctrl.Options{
		Scheme:                 clientgoscheme.Scheme,
		Logger:                 logr.Discard(),
		Metrics:                metricsserver.Options{BindAddress: "0"},
		HealthProbeBindAddress: "0",
		// One process may play several nodes.
		Controller: ctrlconfig.Controller{SkipNameValidation: new(true)},
	})
	if err != nil {
		return nil, errors.Wrap(err, "cannot make manager of pods")
	}
	k := &Kubelet{client: mgr.GetClient(), o: o, last: o.Network.Addr(), servers: map[types.UID]*server{}, started: map[types.NamespacedName]string{}}
	if k.o.AnswersAfterDeletion == 0 {
		k.o.AnswersAfterDeletion = DefaultAnswersAfterDeletion
	}
	if err := k.watchCluster(mgr); err != nil {
		return nil, errors.Wrap(err, "cannot watch pods and Services")
	}
	go func() {
		_ = mgr.Start(ctx) // A cluster that ends needs no pods.
		k.closeServers()
	}()
	return k, nil
}

func (k *Kubelet) watchCluster(mgr ctrl.Manager) error {
	if err := ctrl.NewControllerManagedBy(mgr).For(&corev1.Pod{}).Complete(k.recordFailure(k.reconcilePod)); err != nil {
		return err
	}
	return ctrl.NewControllerManagedBy(mgr).For(&corev1.Service{}).Owns(&discoveryv1.EndpointSlice{}).
		Watches(&corev1.Pod{}, handler.EnqueueRequestsFromMapFunc(k.servicesBeside)).
		Complete(k.recordFailure(k.reconcileService))
}

// recordFailure keeps the last error of a reconciler, which is called again.
func (k *Kubelet) recordFailure(f reconcile.Func) reconcile.Reconciler {
	return reconcile.Func(func(ctx context.Context, r reconcile.Request) (reconcile.Result, error) {
		out, err := f(ctx, r)
		if err != nil {
			k.mu.Lock()
			defer k.mu.Unlock()
			k.failure = err
		}
		return out, err
	})
}

// Failure returns the last error that kept a pod or a Service from its next state. It may have got there since. Nil means that there was none.
func (k *Kubelet) Failure() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.failure
}

// Started returns how many pods of each track answered so far in a namespace.
func (k *Kubelet) Started(namespace string) map[string]int {
	k.mu.Lock()
	defer k.mu.Unlock()
	out := map[string]int{}
	for pod, track := range k.started {
		if pod.Namespace == namespace {
			out[track]++
		}
	}
	return out
}

// nextAddress returns an address that no pod had before.
func (k *Kubelet) nextAddress() (netip.Addr, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.last = k.last.Next()
	if !k.o.Network.Contains(k.last) {
		return netip.Addr{}, errors.Errorf("cannot find an address for a pod: %s has no more", k.o.Network)
	}
	return k.last, nil
}

func (k *Kubelet) closeServers() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, s := range k.servers {
		s.closeListeners()
	}
}
