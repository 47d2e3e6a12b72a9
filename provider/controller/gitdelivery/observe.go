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
	"github.com/intentplane/intentplane/provider/controller/gitdelivery/fastpath"
	"github.com/intentplane/intentplane/provider/controller/gitdelivery/observation"
	"github.com/intentplane/intentplane/provider/delivery/condition"
	"github.com/intentplane/intentplane/provider/delivery/decision"
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

	// gatherer of the facts about the delivery.
	gatherer *observation.Gatherer

	// readyBefore is the Ready condition at the start of the reconcile.
	readyBefore xpv2.Condition

	// asked is the time of a user's open request for an observation. Zero if there is none.
	asked time.Time

	// underWay is the pending error of a delivery of an earlier reconcile. Until it ends, the reconcile observes and decides nothing.
	underWay error

	// facts and decision of Observe, for Update and Delete of the same reconcile.
	facts    decision.Facts
	decision decision.Decision
}

// A sharedRepository is a repository, shared by all its deliveries.
type sharedRepository interface {
	observation.Repository
	looker

	// Deliver carries out a delivery, in one batch with other deliveries.
	Deliver(ctx context.Context, d repository.Delivery) error
	// IsClosed reports whether the pool dropped the repository.
	IsClosed() bool
}

// A looker observes the repository for users.
type looker interface {
	// LookAgain returns a snapshot of the repository that is not older than a user's request. It ignores an earlier snapshot, and an error in its backoff.
	LookAgain(ctx context.Context, key types.NamespacedName, notBefore time.Time) (*git.Snapshot, error)
	// HasLookedSince reports whether an observation that began since a time has ended.
	HasLookedSince(notBefore time.Time) bool
}

// Observe compares the observed repository with the desired trees. It writes nothing. A delivery exists until it is deleted, so that all writing happens
// in Update: the reconciler drops a status that Create sets.
func (e *external) Observe(ctx context.Context, d *v1alpha1.GitDelivery) (managed.ExternalObservation, error) {
	d.Status.SetObservedGeneration(d.GetGeneration())
	e.readyBefore, e.gatherer.AsRead = d.GetCondition(xpv2.TypeReady), copyHome(d)
	err := e.observeAndDecide(ctx, d)
	if repository.IsPending(err) {
		e.underWay = err
		condition.KeepReady(d, e.readyBefore, e.now())
		return managed.ExternalObservation{ResourceExists: true, ResourceUpToDate: repository.RetriedFailure(err) == nil}, nil
	}
	if err != nil {
		condition.SetReady(d, e.now(), e.failureReason(d, err), e.failureMessageOf(d, err))
		condition.KeepWording(d, e.readyBefore)
		return managed.ExternalObservation{}, err
	}
	e.warnOfState(d)
	e.reportMandated(d, e.facts.Ledger.Recorded, e.facts.MandatedSince(d.Status.AtProvider.Ledger))
	e.fastPath.WakeAt(client.ObjectKeyFromObject(d), e.facts.NextLook())
	if meta.WasDeleted(d) {
		hasTwin, err := e.hasTwin(ctx, d)
		return managed.ExternalObservation{ResourceExists: e.facts.HasLeftovers() && !hasTwin, ResourceUpToDate: true}, err
	}
	if err := e.notifyOwner(ctx, d); err != nil {
		return managed.ExternalObservation{}, err
	}
	e.showDecision(d)
	return managed.ExternalObservation{ResourceExists: true, ResourceUpToDate: e.decision.Action == decision.ActionNone}, nil
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
	if e.decision.Action == decision.ActionNone && e.decision.Reason == "" && e.facts.Forged == "" && e.facts.Rival == "" && !meta.WasDeleted(d) {
		e.fastPath.NoteUnchanged(key, e.repo, e.age, s)
	}
	return nil
}

// evaluateSnapshot gathers the facts from a snapshot, and decides.
func (e *external) evaluateSnapshot(ctx context.Context, d *v1alpha1.GitDelivery, s *git.Snapshot) error {
	f, err := e.gatherer.Gather(ctx, d, s)
	if err != nil {
		return err
	}
	e.facts, e.decision = decision.Decide(f)
	return nil
}

// failureReason returns the reason of a failure. An unreadable repository has an own reason for a delivery without a ledger in its status: the spec may be
// older than the delivered revision.
func (e *external) failureReason(d *v1alpha1.GitDelivery, err error) xpv2.ConditionReason {
	reason := condition.ReasonOf(err)
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

// wayOut is the action for a user if a deletion cannot reach the repository.
const wayOut = `. To end the deletion and leave the repository as it is, set spec.managementPolicies to ["Observe"]`

// copyHome returns a copy of a delivery with a deep copy of its status, if the delivery has a mandate. Later changes of the original status do not affect
// the copy.
func copyHome(d *v1alpha1.GitDelivery) *v1alpha1.GitDelivery {
	if d.Spec.ForProvider.Mandate == nil {
		return nil
	}
	out := *d
	d.Status.DeepCopyInto(&out.Status)
	return &out
}

// lookAtRepository observes the repository. After a user's request it ignores earlier observations.
func (e *external) lookAtRepository(ctx context.Context, d *v1alpha1.GitDelivery, notBefore time.Time) (*git.Snapshot, error) {
	key := client.ObjectKeyFromObject(d)
	e.asked = e.fastPath.NoteRequest(d)
	if e.asked.IsZero() {
		return e.repo.Look(ctx, key, notBefore)
	}
	if notBefore.Before(e.asked) {
		notBefore = e.asked
	}
	s, err := e.repo.LookAgain(ctx, key, notBefore)
	if e.repo.HasLookedSince(e.asked) {
		fastpath.AnswerRequest(d)
	}
	return s, err
}
