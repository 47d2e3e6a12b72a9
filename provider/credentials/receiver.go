package credentials

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/provider/git/transport"
)

// Fields of a configuration that name the Secrets of receivers of notifications.
const (
	fieldReceiver   = "spec.notifications.secretRef"
	fieldReceiverCA = "spec.notifications.caBundleSecretRef"
)

// keyAddress is the key of an address with a secret part, such as a token in its path.
const keyAddress = "address"

// A Receiver is the content of the Secrets of a receiver of notifications.
type Receiver struct {
	// Key that bodies are signed with. Empty means that they are not signed.
	Key transport.Secret

	// Address of the receiver. Empty means the address in the configuration.
	Address transport.Secret

	// CABundle has the trusted certificate authorities. Empty means those of the system.
	CABundle []byte
}

// ReadReceiver reads the Secrets of one receiver. It uses only kind and namespace of the configuration. It returns a GoneError, an InvalidError, or the error
// of the API server.
func ReadReceiver(ctx context.Context, r client.Reader, c Config, n *configv1alpha1.Notification) (Receiver, error) {
	s, out := secrets{reader: r, config: c}, Receiver{}
	if n.SecretRef != nil {
		keyContent, err := s.readAllowedSecret(ctx, fieldReceiver, *n.SecretRef)
		if err != nil {
			return Receiver{}, err
		}
		if _, err := keyContent.firstPresentValue(keyToken, keyAddress); err != nil {
			return Receiver{}, err
		}
		out.Key, out.Address = transport.Secret(keyContent.data[keyToken]), transport.Secret(keyContent.data[keyAddress])
	}
	if n.CABundleSecretRef == nil {
		return out, nil
	}
	caContent, err := s.readAllowedSecret(ctx, fieldReceiverCA, n.CABundleSecretRef.SecretReference)
	if err != nil {
		return Receiver{}, err
	}
	out.CABundle, err = caContent.firstPresentValue(n.CABundleSecretRef.Key)
	return out, err
}
