package kubelet

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// reportStatus writes a kubelet's status of a pod that runs, and is ready or not yet.
func (k *Kubelet) reportStatus(ctx context.Context, p *corev1.Pod, s *server, ready bool) error {
	if p.Status.PodIP == s.address.String() && isPodReady(p) == ready {
		return nil
	}
	began := metav1.NewTime(s.began)
	p.Status.Phase, p.Status.StartTime = corev1.PodRunning, &began
	p.Status.PodIP, p.Status.PodIPs = s.address.String(), []corev1.PodIP{{IP: s.address.String()}}
	p.Status.Conditions = []corev1.PodCondition{
		newCondition(corev1.PodScheduled, true), newCondition(corev1.PodInitialized, true),
		newCondition(corev1.ContainersReady, ready), newCondition(corev1.PodReady, ready),
	}
	p.Status.ContainerStatuses = nil
	for _, c := range p.Spec.Containers {
		p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, corev1.ContainerStatus{
			Name: c.Name, Image: c.Image, ImageID: c.Image, Ready: ready, Started: new(true),
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: began}},
		})
	}
	return errors.Wrapf(ignoreOutdated(k.client.Status().Update(ctx, p)), "cannot report on pod %s", client.ObjectKeyFromObject(p))
}

func newCondition(kind corev1.PodConditionType, isTrue bool) corev1.PodCondition {
	status := corev1.ConditionFalse
	if isTrue {
		status = corev1.ConditionTrue
	}
	return corev1.PodCondition{Type: kind, Status: status, LastTransitionTime: metav1.Now()}
}

// isPodReady returns whether a pod was reported ready.
func isPodReady(p *corev1.Pod) bool {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}
