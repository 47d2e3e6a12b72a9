package credentials

import (
	"context"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
)

// secrets reads the Secrets of one configuration.
type secrets struct {
	reader client.Reader
	config Config
}

// secretContent is the data of one Secret.
type secretContent struct {
	field string
	at    client.ObjectKey
	data  map[string][]byte
}

// readAllowedSecret reads a Secret. It returns a GoneError or an InvalidError, and another error if the API server cannot be read.
func (s secrets) readAllowedSecret(ctx context.Context, field string, ref configv1alpha1.SecretReference) (secretContent, error) {
	key, err := s.allowedSecretKey(field, ref)
	if err != nil {
		return secretContent{}, err
	}
	secret := &corev1.Secret{}
	err = s.reader.Get(ctx, key, secret)
	if kerrors.IsNotFound(err) {
		return secretContent{}, &GoneError{Field: field, Detail: "Secret " + key.String() + " does not exist"}
	}
	if err != nil {
		return secretContent{}, errors.Wrapf(err, "%s: cannot get Secret %s", field, key)
	}
	return secretContent{field: field, at: key, data: secret.Data}, nil
}

// firstPresentValue returns the value of the first of these keys that exists. It returns a GoneError if none does.
func (c secretContent) firstPresentValue(keys ...string) ([]byte, error) {
	for _, key := range keys {
		if v := c.data[key]; len(v) > 0 {
			return v, nil
		}
	}
	return nil, &GoneError{Field: c.field, Detail: "Secret " + c.at.String() + " has no key " + strings.Join(keys, " or ")}
}

// requiredTexts returns the values of all these keys. It returns a GoneError if one is missing.
func (c secretContent) requiredTexts(keys ...string) ([]string, error) {
	out := []string{}
	for _, key := range keys {
		v, err := c.firstPresentValue(key)
		if err != nil {
			return nil, err
		}
		out = append(out, string(v))
	}
	return out, nil
}

// allowedSecretKey is the boundary between tenants: a ProviderConfig reads Secrets of its own namespace only, even if it names another one.
func (s secrets) allowedSecretKey(field string, ref configv1alpha1.SecretReference) (client.ObjectKey, error) {
	if s.config.Kind == policy.KindClusterProviderConfig {
		if ref.Namespace == "" {
			return client.ObjectKey{}, &InvalidError{Field: field + ".namespace", Detail: "is required in a ClusterProviderConfig"}
		}
		return client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, nil
	}
	if ref.Namespace != "" && ref.Namespace != s.config.Namespace {
		return client.ObjectKey{}, &InvalidError{Field: field + ".namespace", Detail: "a ProviderConfig reads Secrets of its own namespace only"}
	}
	return client.ObjectKey{Namespace: s.config.Namespace, Name: ref.Name}, nil
}
