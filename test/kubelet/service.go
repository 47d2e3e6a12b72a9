package kubelet

import (
	"cmp"
	"context"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// servicesBeside returns the Services of a pod's namespace, one of which may select it.
func (k *Kubelet) servicesBeside(ctx context.Context, pod client.Object) []reconcile.Request {
	all := &corev1.ServiceList{}
	if err := k.client.List(ctx, all, client.InNamespace(pod.GetNamespace())); err != nil {
		return nil
	}
	out := []reconcile.Request{}
	for i := range all.Items {
		out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&all.Items[i])})
	}
	return out
}

// reconcileService writes the EndpointSlice of a Service with a selector. It is there without pods too, as Kubernetes' own controller leaves one: a
// gateway that finds none takes the Service for missing.
func (k *Kubelet) reconcileService(ctx context.Context, r reconcile.Request) (reconcile.Result, error) {
	s := &corev1.Service{}
	if err := k.client.Get(ctx, r.NamespacedName, s); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if len(s.Spec.Selector) == 0 || s.GetDeletionTimestamp() != nil {
		return reconcile.Result{}, nil
	}
	pods, err := k.podsOfService(ctx, s)
	if err != nil {
		return reconcile.Result{}, err
	}
	e := &discoveryv1.EndpointSlice{ObjectMeta: metav1.ObjectMeta{Namespace: s.GetNamespace(), Name: s.GetName()}}
	err = k.client.Get(ctx, client.ObjectKeyFromObject(e), e)
	if client.IgnoreNotFound(err) != nil {
		return reconcile.Result{}, errors.Wrap(err, "cannot get EndpointSlice")
	}
	original := e.DeepCopy()
	if err := k.fillEndpointSlice(e, s, pods); err != nil {
		return reconcile.Result{}, err
	}
	return reconcile.Result{}, k.writeEndpointSlice(ctx, original, e)
}

func (k *Kubelet) writeEndpointSlice(ctx context.Context, original, updated *discoveryv1.EndpointSlice) error {
	if updated.GetUID() == "" {
		return errors.Wrap(client.IgnoreAlreadyExists(k.client.Create(ctx, updated)), "cannot create EndpointSlice")
	}
	if equality.Semantic.DeepEqual(original, updated) {
		return nil
	}
	return errors.Wrap(ignoreOutdated(k.client.Update(ctx, updated)), "cannot update EndpointSlice")
}

// podsOfService returns the pods with an address that a Service selects, by their names.
func (k *Kubelet) podsOfService(ctx context.Context, s *corev1.Service) ([]corev1.Pod, error) {
	all := &corev1.PodList{}
	if err := k.client.List(ctx, all, client.InNamespace(s.GetNamespace()), client.MatchingLabelsSelector{Selector: labels.SelectorFromSet(s.Spec.Selector)}); err != nil {
		return nil, errors.Wrap(err, "cannot list pods")
	}
	out := slices.DeleteFunc(all.Items, func(p corev1.Pod) bool { return p.Status.PodIP == "" })
	slices.SortFunc(out, func(a, b corev1.Pod) int { return cmp.Compare(a.GetName(), b.GetName()) })
	return out, nil
}

// fillEndpointSlice sets the same fields as Kubernetes' own controller. The name of a port is set also where it is empty, and so is the readiness of
// each endpoint.
func (k *Kubelet) fillEndpointSlice(e *discoveryv1.EndpointSlice, s *corev1.Service, pods []corev1.Pod) error {
	e.Labels = map[string]string{discoveryv1.LabelServiceName: s.GetName(), discoveryv1.LabelManagedBy: "kubelet.intentplane.dev"}
	e.AddressType = discoveryv1.AddressTypeIPv4
	e.Ports, e.Endpoints = nil, nil
	for _, port := range s.Spec.Ports {
		e.Ports = append(e.Ports, discoveryv1.EndpointPort{Name: new(port.Name), Port: new(portOffset + targetPortNumber(port, pods)), Protocol: new(port.Protocol)})
	}
	for i := range pods {
		e.Endpoints = append(e.Endpoints, endpointOfPod(&pods[i]))
	}
	return errors.Wrap(controllerutil.SetControllerReference(s, e, k.client.Scheme()), "cannot own EndpointSlice")
}

func endpointOfPod(p *corev1.Pod) discoveryv1.Endpoint {
	ending, ready := p.GetDeletionTimestamp() != nil, isPodReady(p)
	return discoveryv1.Endpoint{
		Addresses:  []string{p.Status.PodIP},
		Conditions: discoveryv1.EndpointConditions{Ready: new(ready && !ending), Serving: new(ready), Terminating: new(ending)},
		NodeName:   new(node),
		TargetRef:  &corev1.ObjectReference{Kind: "Pod", Namespace: p.GetNamespace(), Name: p.GetName(), UID: p.GetUID()},
	}
}

// targetPortNumber returns the number of a port in the pods. All pods of a Service are taken to have the same names of ports.
func targetPortNumber(port corev1.ServicePort, pods []corev1.Pod) int32 {
	if port.TargetPort.Type == intstr.Int {
		return cmp.Or(port.TargetPort.IntVal, port.Port)
	}
	for i := range pods {
		for _, c := range pods[i].Spec.Containers {
			for _, named := range c.Ports {
				if named.Name == port.TargetPort.StrVal {
					return named.ContainerPort
				}
			}
		}
	}
	return port.Port
}
