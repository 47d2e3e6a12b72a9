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

// content is what one Secret holds.
type content struct {
	field string
	at    client.ObjectKey
	data  map[string][]byte
}

// open a Secret. It returns a GoneError or an InvalidError, and another one if the API server cannot be asked.
func (s secrets) open(ctx context.Context, field string, ref configv1alpha1.SecretReference) (content, error) {
	at, err := s.key(field, ref)
	if err != nil {
		return content{}, err
	}
	secret := &corev1.Secret{}
	err = s.reader.Get(ctx, at, secret)
	if kerrors.IsNotFound(err) {
		return content{}, &GoneError{Field: field, Detail: "Secret " + at.String() + " does not exist"}
	}
	if err != nil {
		return content{}, errors.Wrapf(err, "%s: cannot get Secret %s", field, at)
	}
	return content{field: field, at: at, data: secret.Data}, nil
}

// value of the first of these keys that there is. It returns a GoneError if there is none.
func (c content) value(keys ...string) ([]byte, error) {
	for _, key := range keys {
		if v := c.data[key]; len(v) > 0 {
			return v, nil
		}
	}
	return nil, &GoneError{Field: c.field, Detail: "Secret " + c.at.String() + " has no key " + strings.Join(keys, " or ")}
}

// texts of keys, all of which there must be. It returns a GoneError if one is missing.
func (c content) texts(keys ...string) ([]string, error) {
	out := []string{}
	for _, key := range keys {
		v, err := c.value(key)
		if err != nil {
			return nil, err
		}
		out = append(out, string(v))
	}
	return out, nil
}

// key is where the boundary between tenants is: a ProviderConfig reads Secrets of its own namespace, whatever it names.
func (s secrets) key(field string, ref configv1alpha1.SecretReference) (client.ObjectKey, error) {
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
