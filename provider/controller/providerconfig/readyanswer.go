package providerconfig

import (
	"context"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/remote"
	"github.com/intentplane/intentplane/provider/repository"
)

const (
	// reopenInterval is the time after which credentials are read again, for changes without events.
	reopenInterval = 10 * time.Minute

	// minRetry and maxRetry bound the time until the next observation after a failure, without deliveries: it equals the duration of the failure.
	minRetry, maxRetry = time.Minute, 10 * time.Minute
)

// An opener opens the repository that a configuration names. It contacts no server.
type opener interface {
	Open(ctx context.Context, ref rolloutv1alpha1.ConfigReference, namespace string, anyone bool) (remote.Opened, error)
}

// An answeringRepository is a repository that all its users share.
type answeringRepository interface {
	// LastAnswer returns the results of the last requests to the repository.
	LastAnswer() repository.Answer
	// Look observes the repository, unless another observation is newer than a time.
	Look(ctx context.Context, key types.NamespacedName, notBefore time.Time) (*git.Snapshot, error)
	// IsClosed reports whether the pool dropped the repository.
	IsClosed() bool
}

// An answerBook has the repositories of the configurations of one kind. It is safe for concurrent use.
type answerBook struct {
	opener opener
	kind   string
	// prefix of the names by which repositories know the configurations.
	prefix string
	// maxAge of an answer. It is longer than the interval of every delivery, so that a look of our own means that none looks.
	maxAge time.Duration
	now    func() time.Time

	mu   sync.Mutex
	open map[types.NamespacedName]openedConfig
}

// An openedConfig is the repository of a configuration.
type openedConfig struct {
	repo       answeringRepository
	generation int64
	at         time.Time
}

func (b *answerBook) forgetConfig(key types.NamespacedName) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.open, key)
}

// repositoryVerdict returns the verdict on the last results of a configuration's repository. It returns an error if the API server is unavailable.
func (b *answerBook) repositoryVerdict(ctx context.Context, c client.Object) (verdict, error) {
	repo, err := b.repositoryOf(ctx, c)
	if err != nil {
		v := verdictOfError(err)
		if v.reason == deliveryv1alpha1.ReasonUnreachable {
			// No repository was contacted: the API server did not answer.
			return verdict{}, errors.Wrapf(err, "cannot open the repository of %s", b.kind)
		}
		return v, nil
	}
	a := repo.LastAnswer()
	if isObservationDue(a, b.now(), b.maxAge) {
		key := client.ObjectKeyFromObject(c)
		// How the look ended is in the answer. A running look has no result yet.
		_, _ = repo.Look(ctx, types.NamespacedName{Namespace: key.Namespace, Name: b.prefix + key.Name}, a.At.Add(time.Nanosecond))
		a = repo.LastAnswer()
	}
	return verdictOfAnswer(a, b.now(), b.maxAge), nil
}

// repositoryOf returns the repository of a configuration, with the credentials that it names now.
func (b *answerBook) repositoryOf(ctx context.Context, c client.Object) (answeringRepository, error) {
	key := client.ObjectKeyFromObject(c)
	b.mu.Lock()
	opened, ok := b.open[key]
	b.mu.Unlock()
	if ok && opened.generation == c.GetGeneration() && b.now().Sub(opened.at) < reopenInterval && !opened.repo.IsClosed() {
		return opened.repo, nil
	}
	o, err := b.opener.Open(ctx, rolloutv1alpha1.ConfigReference{Kind: b.kind, Name: key.Name}, key.Namespace, true)
	if err != nil {
		b.forgetConfig(key)
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open[key] = openedConfig{repo: o.Repository, generation: c.GetGeneration(), at: b.now()}
	return o.Repository, nil
}

// isObservationDue reports whether no delivery observes a repository, so that its configuration has to.
func isObservationDue(a repository.Answer, now time.Time, maxAge time.Duration) bool {
	if a.At.IsZero() {
		return true
	}
	wait := maxAge
	if a.Err != nil {
		wait = min(max(a.At.Sub(a.FailingSince), minRetry), maxRetry)
	}
	return now.Sub(a.At) >= wait
}

// verdictOfAnswer returns the verdict on the last answers. A push that failed for a reason which concerns all pushes counts for as long as an
// answer does: a delivery pushes again long before that.
func verdictOfAnswer(a repository.Answer, now time.Time, maxAge time.Duration) verdict {
	switch {
	case a.At.IsZero():
		return verdict{}
	case a.Err != nil:
		return verdictOfError(a.Err)
	case a.PushErr != nil && now.Sub(a.PushFailedAt) < maxAge:
		return verdictOfError(a.PushErr)
	}
	return verdict{reason: configv1alpha1.ReasonReachable}
}
