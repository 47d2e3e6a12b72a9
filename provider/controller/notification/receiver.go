package notification

import (
	"context"
	"net/url"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/provider/credentials"
	"github.com/intentplane/intentplane/provider/fetch"
	"github.com/intentplane/intentplane/provider/notification"
)

// errReceiverGone means that no configuration names the receiver of a notification any more.
var errReceiverGone = errors.New("the configuration does not name the receiver any more")

// hasReceivers reports whether any configuration has receivers. It returns an error if configurations cannot be listed.
func (r *Reconciler) hasReceivers(ctx context.Context) (bool, error) {
	shared := &configv1alpha1.ClusterProviderConfigList{}
	if err := r.kube.List(ctx, shared, client.UnsafeDisableDeepCopy); err != nil {
		return false, errors.Wrap(err, "cannot list ClusterProviderConfigs")
	}
	for i := range shared.Items {
		if len(shared.Items[i].Spec.Notifications) > 0 {
			return true, nil
		}
	}
	own := &configv1alpha1.ProviderConfigList{}
	if err := r.kube.List(ctx, own, client.UnsafeDisableDeepCopy); err != nil {
		return false, errors.Wrap(err, "cannot list ProviderConfigs")
	}
	for i := range own.Items {
		if len(own.Items[i].Spec.Notifications) > 0 {
			return true, nil
		}
	}
	return false, nil
}

// getConfig returns the spec of a configuration, or nil if it does not exist or deployments of a namespace may not use it. It returns an error if it
// cannot be read.
func (r *Reconciler) getConfig(ctx context.Context, c notification.Config, namespace string) (*configv1alpha1.ProviderConfigSpec, error) {
	spec, err := r.getConfigSpec(ctx, c)
	if err != nil {
		return nil, errors.Wrapf(client.IgnoreNotFound(err), "cannot get %s", c.Kind)
	}
	if policy.CheckConfig(c.Kind, spec, namespace) != nil {
		return nil, nil //nolint:nilerr,nilnil // A configuration that may not be used is as one that does not exist.
	}
	return spec, nil
}

func (r *Reconciler) getConfigSpec(ctx context.Context, c notification.Config) (*configv1alpha1.ProviderConfigSpec, error) {
	if c.Kind == policy.KindProviderConfig {
		o := &configv1alpha1.ProviderConfig{}
		err := r.kube.Get(ctx, client.ObjectKey{Namespace: c.Namespace, Name: c.Name}, o)
		return &o.Spec, err
	}
	o := &configv1alpha1.ClusterProviderConfig{}
	err := r.kube.Get(ctx, client.ObjectKey{Name: c.Name}, o)
	return &o.Spec, err
}

// A configError is a receiver that cannot be posted to until its configuration changes.
type configError struct {
	error
}

// receiverFor returns who a notification is posted to, and the host of that as the configuration says it. It returns errReceiverGone, a configError, or
// another error if the API server cannot be read. None of them holds a secret.
func (r *Reconciler) receiverFor(ctx context.Context, p *notification.Pending, key string) (*notification.Receiver, string, error) {
	spec, err := r.getConfig(ctx, p.Config, p.Deployment.Namespace)
	if err != nil {
		return nil, "", err
	}
	n := findReceiver(spec, key)
	if n == nil {
		return nil, "", errReceiverGone
	}
	named, err := url.Parse(n.URL)
	if err != nil {
		return nil, "", configError{errors.New("spec.notifications.url: it cannot be parsed")}
	}
	if err := policy.CheckNotificationHost(p.Config.Kind, r.hosts, n.URL); err != nil {
		return nil, named.Host, configError{errors.Wrap(err, "spec.notifications.url")}
	}
	out, err := r.readReceiver(ctx, p.Config, n, named)
	if out != nil {
		out.Format, out.ControlPlane = n.Format, spec.ControlPlane
	}
	return out, named.Host, err
}

func findReceiver(spec *configv1alpha1.ProviderConfigSpec, key string) *configv1alpha1.Notification {
	if spec == nil {
		return nil
	}
	for i := range spec.Notifications {
		if n := &spec.Notifications[i]; notification.ReceiverKey(n) == key {
			return n
		}
	}
	return nil
}

// readReceiver reads the Secrets of a receiver.
func (r *Reconciler) readReceiver(ctx context.Context, c notification.Config, n *configv1alpha1.Notification, named *url.URL) (*notification.Receiver, error) {
	held, err := credentials.ReadReceiver(ctx, r.live, credentials.Config{Kind: c.Kind, Namespace: c.Namespace}, n)
	if err != nil {
		return nil, classifyCredentialsError(err)
	}
	out := &notification.Receiver{URL: named, Key: fetch.Secret(held.Key), CABundle: held.CABundle}
	if held.Address == "" {
		return out, nil
	}
	// What the error of a parser says may hold the secret part.
	out.URL, err = url.Parse(strings.TrimSpace(string(held.Address)))
	if err != nil || out.URL.Scheme != named.Scheme || !strings.EqualFold(out.URL.Host, named.Host) || out.URL.User != nil {
		return nil, configError{errors.New("spec.notifications.secretRef: key address of the Secret must be an https address with the host of spec.notifications.url")}
	}
	return out, nil
}

func classifyCredentialsError(err error) error {
	var (
		gone    *credentials.GoneError
		invalid *credentials.InvalidError
	)
	if errors.As(err, &gone) || errors.As(err, &invalid) {
		return configError{err}
	}
	return err
}
