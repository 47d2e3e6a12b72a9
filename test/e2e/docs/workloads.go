package docs

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"testing"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/intentplane/intentplane/test/controlplane"
)

// revisionAnnotation holds the revision of a Deployment, and of its ReplicaSets.
const revisionAnnotation = "deployment.kubernetes.io/revision"

// workloads plays the Deployment controller and the node for a namespace of the control plane's cluster. The real controller would also run the Deployments of
// Crossplane's packages, which the control plane runs as processes. Pods of an image that a registry has are available, and pods of others are not.
type workloads struct {
	client client.Client
	images map[string]bool
}

// playWorkloads plays the workloads of a namespace until the test ends.
func playWorkloads(t *testing.T, cp *controlplane.ControlPlane, namespace string, images ...string) {
	t.Helper()
	mgr, err := ctrl.NewManager(cp.Config, ctrl.Options{
		Scheme: cp.Client.Scheme(), Logger: logr.Discard(), HealthProbeBindAddress: "0",
		Cache:      cache.Options{DefaultNamespaces: map[string]cache.Config{namespace: {}}},
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Controller: ctrlconfig.Controller{SkipNameValidation: new(true)},
	})
	if err != nil {
		t.Fatal(err)
	}
	w := workloads{client: cp.Client, images: map[string]bool{}}
	for _, image := range images {
		w.images[image] = true
	}
	if err := ctrl.NewControllerManagedBy(mgr).For(&appsv1.Deployment{}).Complete(w); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(t.Context()) }()
	t.Cleanup(func() {
		if err := <-ended; err != nil {
			t.Errorf("cannot play the workloads: %v", err)
		}
	})
}

// Reconcile plays one Deployment. It returns an error, and is called again, when the API server refuses a write.
func (w workloads) Reconcile(ctx context.Context, r reconcile.Request) (reconcile.Result, error) {
	d := &appsv1.Deployment{}
	if err := w.client.Get(ctx, r.NamespacedName, d); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	image := d.Spec.Template.Spec.Containers[0].Image
	set, err := w.runReplicaSet(ctx, d, image)
	if err != nil {
		return reconcile.Result{}, err
	}
	if !w.images[image] {
		if err := w.failImagePull(ctx, set); err != nil {
			return reconcile.Result{}, err
		}
	}
	return reconcile.Result{}, w.reportDeployment(ctx, d, set)
}

// runReplicaSet makes the ReplicaSet of an image, and reports how many of its pods are available.
func (w workloads) runReplicaSet(ctx context.Context, d *appsv1.Deployment, image string) (*appsv1.ReplicaSet, error) {
	hash := fmt.Sprintf("%x", sha256.Sum256([]byte(image)))[:10]
	set := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: d.GetNamespace(), Name: d.GetName() + "-" + hash}}
	_, err := controllerutil.CreateOrUpdate(ctx, w.client, set, func() error {
		labels := maps.Clone(d.Spec.Template.Labels)
		labels[appsv1.DefaultDeploymentUniqueLabelKey] = hash
		set.Labels, set.Annotations = labels, map[string]string{revisionAnnotation: hash}
		set.Spec.Replicas, set.Spec.Selector = d.Spec.Replicas, &metav1.LabelSelector{MatchLabels: labels}
		d.Spec.Template.DeepCopyInto(&set.Spec.Template)
		set.Spec.Template.Labels = labels
		return controllerutil.SetControllerReference(d, set, w.client.Scheme())
	})
	if err != nil {
		return nil, fmt.Errorf("cannot write ReplicaSet: %w", err)
	}
	set.Status = appsv1.ReplicaSetStatus{ObservedGeneration: set.GetGeneration(), Replicas: *set.Spec.Replicas}
	if w.images[image] {
		set.Status.ReadyReplicas, set.Status.AvailableReplicas = *set.Spec.Replicas, *set.Spec.Replicas
	}
	return set, w.client.Status().Update(ctx, set)
}

// failImagePull makes a pod of a ReplicaSet whose image cannot be pulled.
func (w workloads) failImagePull(ctx context.Context, set *appsv1.ReplicaSet) error {
	meta := metav1.ObjectMeta{Namespace: set.GetNamespace(), Name: set.GetName() + "-a", Labels: set.Spec.Template.Labels}
	p := &corev1.Pod{ObjectMeta: meta, Spec: set.Spec.Template.Spec}
	if err := w.client.Create(ctx, p); client.IgnoreAlreadyExists(err) != nil {
		return fmt.Errorf("cannot create pod: %w", err)
	}
	if err := w.client.Get(ctx, client.ObjectKeyFromObject(p), p); err != nil {
		return fmt.Errorf("cannot get pod: %w", err)
	}
	c := p.Spec.Containers[0]
	waits := &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: "Back-off pulling image " + c.Image}
	p.Status = corev1.PodStatus{Phase: corev1.PodPending, ContainerStatuses: []corev1.ContainerStatus{
		{Name: c.Name, Image: c.Image, State: corev1.ContainerState{Waiting: waits}},
	}}
	return w.client.Status().Update(ctx, p)
}

// reportDeployment names the present ReplicaSet in a Deployment, and reports its status. The pods of the previous image stay while those of the present image
// are not available.
func (w workloads) reportDeployment(ctx context.Context, d *appsv1.Deployment, set *appsv1.ReplicaSet) error {
	original := d.DeepCopy()
	metav1.SetMetaDataAnnotation(&d.ObjectMeta, revisionAnnotation, set.Annotations[revisionAnnotation])
	if err := w.client.Patch(ctx, d, client.MergeFrom(original)); err != nil {
		return fmt.Errorf("cannot patch Deployment: %w", err)
	}
	pods := *d.Spec.Replicas
	d.Status = appsv1.DeploymentStatus{
		ObservedGeneration: d.GetGeneration(), Replicas: pods, UpdatedReplicas: set.Status.AvailableReplicas, ReadyReplicas: pods, AvailableReplicas: pods,
	}
	return w.client.Status().Update(ctx, d)
}
