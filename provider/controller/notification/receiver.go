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
	"github.com/intentplane/intentplane/provider/listing"
	"github.com/intentplane/intentplane/provider/notification"
)

// withReceivers is the key of the configurations with receivers.
const withReceivers = "true"

// receiversIndex finds the configurations with receivers, by the kind of an object. A tenant may write any number of configurations, and each event of a
// deployment looks for one with receivers.
func receiversIndex(config client.Object) listing.Index {
	return listing.NewIndex(config, "intentplane.notification.receivers", func(o client.Object) []string {
		count := 0
		switch c := o.(type) {
		case *configv1alpha1.ProviderConfig:
			count = len(c.Spec.Notifications)
		case *configv1alpha1.ClusterProviderConfig:
			count = len(c.Spec.Notifications)
		}
		if count == 0 {
			return nil
		}
		return []string{withReceivers}
	})
}

// indexes are the indexes of the configurations of both kinds.
func indexes() []listing.Index {
	return []listing.Index{receiversIndex(&configv1alpha1.ProviderConfig{}), receiversIndex(&configv1alpha1.ClusterProviderConfig{})}
}

// hasReceivers reports whether a configuration that deployments of a namespace may name has receivers. It returns an error if configurations cannot be listed.
func (r *Reconciler) hasReceivers(ctx context.Context, namespace string) (bool, error) {
	for _, scope := range []string{"", namespace} {
		if present, err := r.presentReceivers(ctx, scope, client.Limit(1)); err != nil || len(present) > 0 {
			return len(present) > 0, err
		}
	}
	return false, nil
}

// presentReceivers returns the receivers of the ProviderConfigs of a namespace, or of all ClusterProviderConfigs where it is empty. It returns an error if they cannot be
// listed.
func (r *Reconciler) presentReceivers(ctx context.Context, namespace string, options ...client.ListOption) ([]notification.ReceiverID, error) {
	var out []notification.ReceiverID
	options = append(options, client.InNamespace(namespace))
	if namespace == "" {
		l := &configv1alpha1.ClusterProviderConfigList{}
		err := receiversIndex(&configv1alpha1.ClusterProviderConfig{}).List(ctx, r.kube, l, withReceivers, options...)
		for i := range l.Items {
			c := notification.Config{Kind: policy.KindClusterProviderConfig, Name: l.Items[i].Name}
			out = append(out, c.Receivers(l.Items[i].Spec.Notifications)...)
		}
		return out, errors.Wrap(err, "cannot list ClusterProviderConfigs")
	}
	l := &configv1alpha1.ProviderConfigList{}
	err := receiversIndex(&configv1alpha1.ProviderConfig{}).List(ctx, r.kube, l, withReceivers, options...)
	for i := range l.Items {
		c := notification.Config{Kind: policy.KindProviderConfig, Namespace: namespace, Name: l.Items[i].Name}
		out = append(out, c.Receivers(l.Items[i].Spec.Notifications)...)
	}
	return out, errors.Wrap(err, "cannot list ProviderConfigs")
}

// getAllowedConfig returns the spec of a configuration, or nil if it does not exist or deployments of a namespace may not use it. It returns an error if it
// cannot be read.
func (r *Reconciler) getAllowedConfig(ctx context.Context, c notification.Config, namespace string) (*configv1alpha1.ProviderConfigSpec, error) {
	spec, err := r.getConfigSpec(ctx, c)
	if err != nil {
		return nil, errors.Wrapf(client.IgnoreNotFound(err), "cannot get %s", c.Kind)
	}
	if policy.CheckConfig(c.Kind, spec, namespace) != nil {
		return nil, nil //nolint:nilerr,nilnil // A forbidden configuration counts as missing.
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

// receiverFor returns the receiver of a notification, and its host in the configuration. It returns a configError, or another error if the API server cannot be
// read. None of them holds a secret.
func (r *Reconciler) receiverFor(ctx context.Context, t *turn) (*notification.Receiver, string, error) {
	n := t.receiver
	named, err := url.Parse(n.URL)
	if err != nil {
		return nil, "", configError{errors.New("spec.notifications.url: it cannot be parsed")}
	}
	if err := policy.CheckNotificationHost(t.config.Kind, r.hosts, n.URL); err != nil {
		return nil, named.Host, configError{errors.Wrap(err, "spec.notifications.url")}
	}
	out, err := r.readReceiver(ctx, t.config, n, named)
	if out != nil {
		out.Format, out.ControlPlane = n.Format, t.controlPlane
	}
	return out, named.Host, err
}

// readReceiver reads the Secrets of a receiver.
func (r *Reconciler) readReceiver(ctx context.Context, c notification.Config, n *configv1alpha1.Notification, named *url.URL) (*notification.Receiver, error) {
	content, err := credentials.ReadReceiver(ctx, r.live, credentials.Config{Kind: c.Kind, Namespace: c.Namespace}, n)
	if err != nil {
		return nil, classifyCredentialsError(err)
	}
	out := &notification.Receiver{URL: named, Key: fetch.Secret(content.Key), CABundle: content.CABundle}
	if content.Address == "" {
		return out, nil
	}
	// The message of a parser may hold the secret part.
	out.URL, err = url.Parse(strings.TrimSpace(string(content.Address)))
	if err != nil || out.URL.Scheme != named.Scheme || !strings.EqualFold(out.URL.Host, named.Host) || out.URL.User != nil {
		return nil, configError{errors.New("spec.notifications.secretRef: key address of the Secret must be an https address with the host of spec.notifications.url")}
	}
	return out, nil
}

func classifyCredentialsError(err error) error {
	var (
		goneError *credentials.GoneError
		invalid   *credentials.InvalidError
	)
	if errors.As(err, &goneError) || errors.As(err, &invalid) {
		return configError{err}
	}
	return err
}
