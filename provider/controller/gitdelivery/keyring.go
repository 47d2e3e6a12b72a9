package gitdelivery

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/provider/credentials"
)

// remembered is how long credentials are, after their Secret was read. It is longer than the longest interval after which a
// configuration's Secret is read again.
const remembered = 15 * time.Minute

// A keyring remembers, in memory only, the credentials that were read last. Whoever deletes a claim, its configuration and its
// Secret at once wants the repository to be cleaned up, and the Secret is gone before anybody can do that. The zero value
// remembers nothing.
type keyring struct {
	mu   sync.Mutex
	keys []key
}

// A key is what the Secrets of a configuration held.
type key struct {
	of    credentials.Config
	creds credentials.Credentials
	read  time.Time
}

// read the credentials of a configuration. With deleted, those that were read before serve where the Secret has gone since: they
// remove what a deleted claim left, and nothing else is done with them. It returns an error if there are none.
func (k *keyring) read(ctx context.Context, r client.Reader, c credentials.Config, deleted bool, now time.Time) (credentials.Credentials, error) {
	creds, err := credentials.Read(ctx, r, c)
	if err == nil {
		k.keep(c, creds, now)
		return creds, nil
	}
	var gone *credentials.GoneError
	if last, ok := k.last(c, now); ok && deleted && errors.As(err, &gone) {
		return last, nil
	}
	return credentials.Credentials{}, err
}

// keep credentials, and forget what is old.
func (k *keyring) keep(c credentials.Config, creds credentials.Credentials, now time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.keys = slices.DeleteFunc(k.keys, func(old key) bool { return !old.fresh(now) || old.opens(c) })
	k.keys = append(k.keys, key{of: c, creds: creds, read: now})
}

// last credentials of a configuration that has not changed since.
func (k *keyring) last(c credentials.Config, now time.Time) (credentials.Credentials, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, key := range k.keys {
		if key.opens(c) && key.fresh(now) {
			return key.creds, true
		}
	}
	return credentials.Credentials{}, false
}

func (k key) opens(c credentials.Config) bool { return equality.Semantic.DeepEqual(k.of, c) }

func (k key) fresh(now time.Time) bool { return now.Before(k.read.Add(remembered)) }
