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
	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/instant"
	"github.com/intentplane/intentplane/provider/remote"
	"github.com/intentplane/intentplane/provider/repository"
)

// An external is the repository of one GitDelivery, for one reconcile.
type external struct {
	*connector

	repo   sharedRepository
	config remote.Config
	// age is the maximum age of an observation of the repository.
	age time.Duration
	// clusterUID differs between clusters whose control planes have the same name.
	clusterUID string

	// readTrees are the files of trees that were read, by id. The files of an id never change.
	readTrees map[string]tree.Files
	// openOther opens the repository of another delivery. Nil in the queue of the own repository, which waits for no other repository.
	openOther func(ctx context.Context, d *v1alpha1.GitDelivery) (*external, error)

	// readyBefore is the Ready condition at the start of the reconcile.
	readyBefore xpv2.Condition

	// asRead is the delivery as the reconcile read it, if it has a mandate: its status is earlier evidence.
	asRead *v1alpha1.GitDelivery

	// claimGuard is the last answer about the claim in this reconcile.
	claimGuard guardReading

	// asked is the time of a user's open request for an observation. Zero if there is none.
	asked time.Time

	// underWay is the pending error of a delivery of an earlier reconcile. Until it ends, the reconcile observes and decides nothing.
	underWay error

	// facts and decision of Observe, for Update and Delete of the same reconcile.
	facts    facts
	decision decision
}

// A sharedRepository is a repository, shared by all its deliveries.
type sharedRepository interface {
	reader
	messageReader
	looker

	// Deliver carries out a delivery, in one batch with other deliveries.
	Deliver(ctx context.Context, d repository.Delivery) error
	// IsClosed reports whether the pool dropped the repository.
	IsClosed() bool
}

// A looker observes the repository.
type looker interface {
	// Look returns a snapshot of the repository that is not older than the given time.
	Look(ctx context.Context, key types.NamespacedName, notBefore time.Time) (*git.Snapshot, error)
	// LookAgain returns a snapshot of the repository that is not older than a user's request. It ignores an earlier snapshot, and an error in its backoff.
	LookAgain(ctx context.Context, key types.NamespacedName, notBefore time.Time) (*git.Snapshot, error)
	// HasLookedSince reports whether an observation that began since a time has ended.
	HasLookedSince(notBefore time.Time) bool
}

// A messageReader reads the messages of commits.
type messageReader interface {
	ReadMessages(ctx context.Context, s *git.Snapshot, words string) ([]git.Message, error)
}

// A reader reads files, commits and trees that a snapshot does not hold.
type reader interface {
	ReadFile(ctx context.Context, s *git.Snapshot, path string) ([]byte, bool, error)
	Contains(ctx context.Context, s *git.Snapshot, commit string) (bool, error)
	ReadTree(ctx context.Context, s *git.Snapshot, w git.WantedTree) (map[string][]byte, bool, error)
}

// Observe compares the observed repository with the desired trees. It writes nothing. A delivery exists until it is deleted, so that all writing happens
// in Update: the reconciler drops a status that Create sets.
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
	e.reportMandated(d, e.facts.ledger.recorded, e.facts.mandatedSince(d.Status.AtProvider.Ledger))
	e.fastPath.wakeAt(client.ObjectKeyFromObject(d), e.facts.nextLook())
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

// observeAndDecide observes the repository and decides. An observation of another delivery within the interval is good enough, but not for a deletion: the
// repository is not observed again after it.
func (e *external) observeAndDecide(ctx context.Context, d *v1alpha1.GitDelivery) error {
	notBefore := e.now()
	if !meta.WasDeleted(d) {
		notBefore = notBefore.Add(-e.age)
	}
	key := client.ObjectKeyFromObject(d)
	s, err := e.lookAtRepository(ctx, d, notBefore)
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

// failureReason returns the reason of a failure. An unreadable repository has an own reason for a delivery without a ledger in its status: the spec may be
// older than the delivered revision.
func (e *external) failureReason(d *v1alpha1.GitDelivery, err error) xpv2.ConditionReason {
	reason := readyReasonOf(err)
	if reason == v1alpha1.ReasonUnreachable && d.Status.AtProvider.Ledger == nil && !meta.WasDeleted(d) {
		return v1alpha1.ReasonMemoryUnknown
	}
	return reason
}

func (e *external) failureMessageOf(d *v1alpha1.GitDelivery, err error) string {
	if meta.WasDeleted(d) {
		return remote.MessageOf(err) + wayOut
	}
	return remote.MessageOf(err)
}

// statusTimestamp returns the current time in the precision of a status.
func (e *external) statusTimestamp() metav1.Time { return *instant.Timestamp(e.now()) }

// Disconnect closes no connections, because the next reconcile reuses them.
func (e *external) Disconnect(context.Context) error { return nil }
