package gitdelivery

import (
	"context"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/provider/controller/setup"
	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/repository"
)

// An external is the repository of one GitDelivery, for one reconcile.
type external struct {
	*connector

	repo   remote
	config config
	// age that a look may have.
	age time.Duration
	// clusterUID differs between clusters whose control planes have the same name.
	clusterUID string

	// readTrees are files of trees that were read. An id says what they are, for ever.
	readTrees map[string]tree.Files
	// openOther opens the repository of another delivery. Nil in the queue of this one's repository, which waits for no other.
	openOther func(ctx context.Context, d *v1alpha1.GitDelivery) (*external, error)

	// readyBefore is the Ready condition that the reconcile began with.
	readyBefore xpv2.Condition

	// asRead is the delivery as the reconcile read it, if it has a mandate: what its status says was proven before.
	asRead *v1alpha1.GitDelivery

	// asked is when a user asked for a look that this reconcile is the first one to answer. Zero if no user did.
	asked time.Time

	// underWay is the delivery of an earlier reconcile that has not ended. Until then nothing is observed or decided.
	underWay error

	// What Observe saw, for Update and Delete of the same reconcile.
	facts    facts
	decision decision
}

// A remote is a repository, shared with all who deliver to it.
type remote interface {
	reader
	messageReader
	looker

	// Deliver carries out a delivery together with those of others.
	Deliver(ctx context.Context, d repository.Delivery) error
	// IsClosed reports whether the pool dropped the repository.
	IsClosed() bool
}

// A looker looks at the repository.
type looker interface {
	// Look returns what the repository held at some time since the given one.
	Look(ctx context.Context, key types.NamespacedName, since time.Time) (*git.Snapshot, error)
	// LookAgain returns what the repository held at some time since a user asked, whatever was known before.
	LookAgain(ctx context.Context, key types.NamespacedName, asked time.Time) (*git.Snapshot, error)
	// HasLookedSince reports whether a look that began since a time has ended.
	HasLookedSince(asked time.Time) bool
}

// A messageReader reads the messages of commits.
type messageReader interface {
	ReadMessages(ctx context.Context, s *git.Snapshot, words string) ([]git.Message, error)
}

// A reader reads what a snapshot does not hold.
type reader interface {
	ReadFile(ctx context.Context, s *git.Snapshot, path string) ([]byte, bool, error)
	Contains(ctx context.Context, s *git.Snapshot, commit string) (bool, error)
	ReadTree(ctx context.Context, s *git.Snapshot, w git.WantedTree) (map[string][]byte, bool, error)
}

// Observe compares what is in the repository with what should be. It writes nothing. A delivery exists until it is deleted, so
// that all writing happens in Update: what Create puts into a status is lost.
func (e *external) Observe(ctx context.Context, d *v1alpha1.GitDelivery) (managed.ExternalObservation, error) {
	d.Status.SetObservedGeneration(d.GetGeneration())
	e.readyBefore, e.asRead = d.GetCondition(xpv2.TypeReady), copyHome(d)
	err := e.observeAndDecide(ctx, d)
	if repository.IsPending(err) {
		e.underWay = err
		e.keepReady(d)
		return managed.ExternalObservation{ResourceExists: true, ResourceUpToDate: repository.RetriedFailure(err) == nil}, nil
	}
	if err != nil {
		setReady(d, e.now(), e.failureReason(d, err), e.failureMessageOf(d, err))
		keepCondition(d, e.readyBefore)
		return managed.ExternalObservation{}, err
	}
	e.warnOfState(d)
	e.reportMandated(d, e.facts.mandatedSince(d.Status.AtProvider.Ledger))
	if meta.WasDeleted(d) {
		hasTwin, err := e.hasTwin(ctx, d)
		return managed.ExternalObservation{ResourceExists: e.facts.hasLeftovers() && !hasTwin, ResourceUpToDate: true}, err
	}
	if err := e.notifyOwner(ctx, d); err != nil {
		return managed.ExternalObservation{}, err
	}
	e.showDecision(d)
	return managed.ExternalObservation{ResourceExists: true, ResourceUpToDate: e.decision.action == actionNone}, nil
}

// observeAndDecide looks at the repository and decides. An observation of another delivery within the interval is good enough, but not for a deletion: the
// repository is not observed again after it.
func (e *external) observeAndDecide(ctx context.Context, d *v1alpha1.GitDelivery) error {
	since := e.now()
	if !meta.WasDeleted(d) {
		since = since.Add(-e.age)
	}
	key := client.ObjectKeyFromObject(d)
	s, err := e.lookAtRepository(ctx, d, since)
	if err != nil {
		return err
	}
	if err := e.evaluateSnapshot(ctx, d, s); err != nil {
		return err
	}
	if e.decision.action == actionNone && e.decision.reason == "" && e.facts.forged == "" && e.facts.rival == "" && !meta.WasDeleted(d) {
		e.fastPath.noteUnchanged(key, e.repo, e.age, s)
	}
	return nil
}

// evaluateSnapshot gathers the facts from a snapshot, and decides.
func (e *external) evaluateSnapshot(ctx context.Context, d *v1alpha1.GitDelivery, s *git.Snapshot) error {
	f, err := e.gatherFacts(ctx, d, s)
	if err != nil {
		return err
	}
	e.facts, e.decision = decideDelivery(f)
	return nil
}

// failureReason returns the reason of a failure. A repository that cannot be read matters more to who remembers nothing: whatever is
// ordered may be older than what was delivered.
func (e *external) failureReason(d *v1alpha1.GitDelivery, err error) xpv2.ConditionReason {
	reason := readyReasonOf(err)
	if reason == v1alpha1.ReasonUnreachable && d.Status.AtProvider.Ledger == nil && !meta.WasDeleted(d) {
		return v1alpha1.ReasonMemoryUnknown
	}
	return reason
}

func (e *external) failureMessageOf(d *v1alpha1.GitDelivery, err error) string {
	if meta.WasDeleted(d) {
		return failureMessage(err) + wayOut
	}
	return failureMessage(err)
}

// statusTimestamp has no more precision than a status can hold.
func (e *external) statusTimestamp() metav1.Time { return *setup.Timestamp(e.now()) }

// Disconnect leaves the connections to those who come next.
func (e *external) Disconnect(context.Context) error { return nil }
