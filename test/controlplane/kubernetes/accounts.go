package kubernetes

import (
	"context"
	"path/filepath"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// tokenLife is the time until the token of an account expires.
const tokenLife = 30 * 24 * time.Hour

// Account makes a service account, unless it exists, and returns the path of a kubeconfig with its own token. It returns an error if the API server refuses.
func (k *Cluster) Account(ctx context.Context, namespace, name string) (string, error) {
	path := k.AccountKubeconfig(namespace + "." + name)
	return path, k.CreateAccount(ctx, namespace, name, path)
}

// CreateAccount makes a service account, unless it exists, and a kubeconfig with its own token.
func (k *Cluster) CreateAccount(ctx context.Context, namespace, name, path string) error {
	sa := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	if err := client.IgnoreAlreadyExists(k.Client.Create(ctx, sa)); err != nil {
		return errors.Wrapf(err, "cannot create service account %s", name)
	}
	tr := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: new(int64(tokenLife.Seconds()))}}
	if err := k.Client.SubResource("token").Create(ctx, sa, tr); err != nil {
		return errors.Wrapf(err, "cannot create token of service account %s", name)
	}
	return k.writeKubeconfig(path, tr.Status.Token)
}

// AccountKubeconfig returns the path of the kubeconfig of a service account.
func (k *Cluster) AccountKubeconfig(name string) string {
	return filepath.Join(k.Dir, name+".kubeconfig")
}
