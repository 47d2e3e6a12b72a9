package credentials

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/provider/fetch"
)

// Fields of a configuration, or a Site, that name Secrets for a Prometheus server.
const (
	fieldMetrics   = "spec.metrics.prometheus.secretRef"
	fieldMetricsCA = "spec.metrics.prometheus.caBundleSecretRef"
)

// ReadMetrics reads the Secrets that a configuration names for a Prometheus server: one with the key token, or with username and password,
// and one with the certificates to trust. Only kind and namespace of the configuration are used. It returns a GoneError or an InvalidError,
// and another error if the API server cannot be read.
func ReadMetrics(ctx context.Context, r client.Reader, c Config, p configv1alpha1.Prometheus) (fetch.Credentials, error) {
	s, out := secrets{reader: r, config: c}, fetch.Credentials{}
	if p.SecretRef != nil {
		tokenContent, err := s.readAllowedSecret(ctx, fieldMetrics, *p.SecretRef)
		if err != nil {
			return fetch.Credentials{}, err
		}
		if out, err = metricsCredentials(tokenContent); err != nil {
			return fetch.Credentials{}, err
		}
	}
	if p.CABundleSecretRef == nil {
		return out, nil
	}
	caContent, err := s.readAllowedSecret(ctx, fieldMetricsCA, p.CABundleSecretRef.SecretReference)
	if err != nil {
		return fetch.Credentials{}, err
	}
	out.CABundle, err = caContent.firstPresentValue(p.CABundleSecretRef.Key)
	return out, err
}

// MetricsSecrets returns the Secrets that are named for a Prometheus server, whether they exist or not.
func MetricsSecrets(c Config, p configv1alpha1.Prometheus) []client.ObjectKey {
	s, refs := secrets{config: c}, []configv1alpha1.SecretReference{}
	if p.SecretRef != nil {
		refs = append(refs, *p.SecretRef)
	}
	if p.CABundleSecretRef != nil {
		refs = append(refs, p.CABundleSecretRef.SecretReference)
	}
	out := []client.ObjectKey{}
	for _, r := range refs {
		if key, err := s.allowedSecretKey("", r); err == nil {
			out = append(out, key)
		}
	}
	return out
}

func metricsCredentials(content secretContent) (fetch.Credentials, error) {
	if token := content.data[keyToken]; len(token) > 0 {
		return fetch.Credentials{Token: fetch.Secret(token)}, nil
	}
	if len(content.data[keyUsername]) == 0 {
		return fetch.Credentials{}, &GoneError{Field: content.field, Detail: "Secret " + content.at.String() + " has no key " + keyToken + ", and no keys " + keyUsername + " and " + keyPassword}
	}
	v, err := content.requiredTexts(keyUsername, keyPassword)
	if err != nil {
		return fetch.Credentials{}, err
	}
	return fetch.Credentials{Username: v[0], Password: fetch.Secret(v[1])}, nil
}
