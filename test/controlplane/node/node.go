// Package node runs the pods of Crossplane's Deployments as processes of this machine.
package node

import (
	"context"
	"path/filepath"
	"sync"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/intentplane/intentplane/test/controlplane/process"
)

// Options are the cluster of a node, and the means to run its pods.
type Options struct {
	// Namespace of the Deployments.
	Namespace string

	// Config and Client act as the administrator of the cluster.
	Config *rest.Config
	Client client.Client

	// CreateAccount makes a service account, unless it exists, and a kubeconfig with its own token.
	CreateAccount func(ctx context.Context, namespace, name, kubeconfig string) error

	// Runner starts the programs of pods.
	Runner *process.Runner

	// Dir holds the files of pods, each below pods/<name>.
	Dir string

	// Failed is called with the reason when the node cannot go on.
	Failed context.CancelCauseFunc
}

// A Node runs the pods of Crossplane's Deployments, as processes: it pulls their images with their pull secrets, acts as their service
// accounts, mounts their Secrets, and reports when they are ready. It does so for one namespace, and one pod per Deployment.
type Node struct {
	o Options

	mu   sync.Mutex
	pods map[types.NamespacedName]*pod
}

// New returns a node without pods.
func New(o Options) *Node {
	return &Node{o: o, pods: map[types.NamespacedName]*pod{}}
}

// Start watches Deployments until life ends. It returns an error if it cannot watch them.
func (n *Node) Start(life context.Context) error {
	mgr, err := ctrl.NewManager(n.o.Config, ctrl.Options{
		Scheme:                 n.o.Client.Scheme(),
		Logger:                 logr.Discard(),
		Cache:                  cache.Options{DefaultNamespaces: map[string]cache.Config{n.o.Namespace: {}}},
		Metrics:                metricsserver.Options{BindAddress: "0"},
		HealthProbeBindAddress: "0",
		// One process may run several control planes, one after another.
		Controller: ctrlconfig.Controller{SkipNameValidation: new(true)},
	})
	if err != nil {
		return errors.Wrap(err, "cannot make manager of Deployments")
	}
	if err := ctrl.NewControllerManagedBy(mgr).For(&appsv1.Deployment{}).Complete(n); err != nil {
		return errors.Wrap(err, "cannot watch Deployments")
	}
	go func() {
		if err := mgr.Start(life); err != nil {
			n.o.Failed(errors.Wrap(err, "cannot go on watching Deployments"))
		}
	}()
	return nil
}

// Reconcile runs one Deployment. It returns an error, and is called again, when its pod does not get ready.
func (n *Node) Reconcile(ctx context.Context, r reconcile.Request) (reconcile.Result, error) {
	d := &appsv1.Deployment{}
	if err := n.o.Client.Get(ctx, r.NamespacedName, d); err != nil {
		n.removePod(r.NamespacedName)
		return reconcile.Result{}, errors.Wrap(client.IgnoreNotFound(err), "cannot get Deployment")
	}
	if d.GetDeletionTimestamp() != nil {
		n.removePod(r.NamespacedName)
		return reconcile.Result{}, nil
	}
	err := n.runDeployment(ctx, d)
	return reconcile.Result{}, errors.Join(err, n.reportStatus(ctx, d, err))
}

// runDeployment makes the pod of a Deployment match its template.
func (n *Node) runDeployment(ctx context.Context, d *appsv1.Deployment) error {
	key := client.ObjectKeyFromObject(d)
	if desiredPodCount(d) == 0 {
		n.removePod(key)
		return nil
	}
	if p := n.runningPod(key); p != nil && p.process.IsAlive() && equality.Semantic.DeepEqual(p.template, d.Spec.Template) {
		return nil
	}
	n.removePod(key)
	p, err := n.startPod(ctx, d)
	if err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.pods[key] = p
	return nil
}

func (n *Node) runningPod(key types.NamespacedName) *pod {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.pods[key]
}

func (n *Node) removePod(key types.NamespacedName) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if p := n.pods[key]; p != nil {
		p.process.Kill()
		delete(n.pods, key)
	}
}

// desiredPodCount returns the number of pods for a Deployment: one, unless its replicas are 0.
func desiredPodCount(d *appsv1.Deployment) int32 {
	if d.Spec.Replicas != nil && *d.Spec.Replicas == 0 {
		return 0
	}
	return 1
}

// reportStatus writes the status that a Deployment has with its pod ready, or with the failure.
func (n *Node) reportStatus(ctx context.Context, d *appsv1.Deployment, failure error) error {
	original := d.DeepCopy()
	available := appsv1.DeploymentCondition{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue, Reason: "MinimumReplicasAvailable"}
	running := desiredPodCount(d)
	if failure != nil {
		running = 0
		available.Status, available.Reason, available.Message = corev1.ConditionFalse, "MinimumReplicasUnavailable", failure.Error()
	}
	d.Status = appsv1.DeploymentStatus{
		ObservedGeneration: d.GetGeneration(),
		Replicas:           running, UpdatedReplicas: running, ReadyReplicas: running, AvailableReplicas: running,
		Conditions: []appsv1.DeploymentCondition{available},
	}
	if equality.Semantic.DeepEqual(original.Status, d.Status) {
		return nil
	}
	return errors.Wrap(n.o.Client.Status().Update(ctx, d), "cannot update status of Deployment")
}

// hostPortOfService returns the port on loopback behind the named port of a Service in Crossplane's namespace. It returns an error if no pod serves it.
func (n *Node) hostPortOfService(ctx context.Context, service string, port int32) (int, error) {
	s := &corev1.Service{}
	if err := n.o.Client.Get(ctx, types.NamespacedName{Namespace: n.o.Namespace, Name: service}, s); err != nil {
		return 0, errors.Wrapf(err, "cannot get Service %s", service)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, p := range n.pods {
		if mapped, ok := p.ports[port]; ok && selectsPod(s, p.template.Labels) && p.process.IsAlive() {
			return mapped, nil
		}
	}
	return 0, errors.Errorf("cannot find a pod of Service %s that listens on port %d", service, port)
}

// selectsPod returns whether a Service has the pods with these labels behind it. A Service without a selector has none.
func selectsPod(s *corev1.Service, podLabels map[string]string) bool {
	return len(s.Spec.Selector) > 0 && labels.SelectorFromSet(s.Spec.Selector).Matches(labels.Set(podLabels))
}

func (n *Node) podDirectory(d *appsv1.Deployment) string {
	return filepath.Join(n.o.Dir, "pods", d.GetName())
}
