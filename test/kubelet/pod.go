package kubelet

import (
	"context"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/intentplane/intentplane/apis/track"
)

// node is the name of the node that is played.
const node = "played"

// reconcilePod brings a pod to its next state: bound, running, ready, ended. It returns an error, and is called again, when the API server refuses.
func (k *Kubelet) reconcilePod(ctx context.Context, r reconcile.Request) (reconcile.Result, error) {
	p := &corev1.Pod{}
	if err := k.client.Get(ctx, r.NamespacedName, p); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if p.GetDeletionTimestamp() != nil {
		return k.terminatePod(ctx, p)
	}
	if p.Spec.NodeName == "" {
		return reconcile.Result{}, k.bindPodToNode(ctx, p)
	}
	s, err := k.serverOfPod(p)
	if err != nil {
		return reconcile.Result{}, err
	}
	if left := annotatedDuration(p, AnnotationReadyAfter, k.o.ReadyAfter) - time.Since(s.began); left > 0 {
		return reconcile.Result{RequeueAfter: left}, k.reportStatus(ctx, p, s, false)
	}
	if err := s.listenOnPorts(); err != nil {
		return reconcile.Result{}, err
	}
	k.rememberStarted(p)
	return reconcile.Result{}, k.reportStatus(ctx, p, s, true)
}

func (k *Kubelet) bindPodToNode(ctx context.Context, p *corev1.Pod) error {
	b := &corev1.Binding{Target: corev1.ObjectReference{Kind: "Node", Name: node}}
	err := k.client.SubResource("binding").Create(ctx, p, b)
	return errors.Wrapf(ignoreOutdated(err), "cannot bind pod %s", client.ObjectKeyFromObject(p))
}

// terminatePod lets a pod answer a little longer, then ends its server, and removes the pod.
func (k *Kubelet) terminatePod(ctx context.Context, p *corev1.Pod) (reconcile.Result, error) {
	k.mu.Lock()
	s := k.servers[p.GetUID()]
	k.mu.Unlock()
	if s != nil {
		if left := s.timeUntilEnd(annotatedDuration(p, AnnotationAnswers, k.o.AnswersAfterDeletion)); left > 0 {
			return reconcile.Result{RequeueAfter: left}, nil
		}
		s.closeListeners()
	}
	uid := p.GetUID()
	err := k.client.Delete(ctx, p, client.GracePeriodSeconds(0), client.Preconditions{UID: &uid})
	return reconcile.Result{}, errors.Wrapf(ignoreOutdated(err), "cannot remove pod %s", client.ObjectKeyFromObject(p))
}

// annotatedDuration returns the duration in an annotation of a pod, or else a default.
func annotatedDuration(p *corev1.Pod, annotation string, otherwise time.Duration) time.Duration {
	if d, err := time.ParseDuration(p.GetAnnotations()[annotation]); err == nil {
		return d
	}
	return otherwise
}

// serverOfPod returns the server of a pod, which gets an address when it is first asked for.
func (k *Kubelet) serverOfPod(p *corev1.Pod) (*server, error) {
	k.mu.Lock()
	s := k.servers[p.GetUID()]
	k.mu.Unlock()
	if s != nil {
		return s, nil
	}
	address, err := k.nextAddress()
	if err != nil {
		return nil, err
	}
	s = k.newPodServer(p, address)
	k.mu.Lock()
	k.servers[p.GetUID()] = s
	k.mu.Unlock()
	return s, nil
}

func (k *Kubelet) rememberStarted(p *corev1.Pod) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.started[client.ObjectKeyFromObject(p)] = p.GetLabels()[track.LabelTrack]
}

// ignoreOutdated leaves out errors of a pod that is gone or was changed meanwhile, of which the watch reports next.
func ignoreOutdated(err error) error {
	if apierrors.IsConflict(err) {
		return nil
	}
	return client.IgnoreNotFound(err)
}
