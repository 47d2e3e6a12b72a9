package prunerequest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/state/v1alpha1"
	"github.com/intentplane/intentplane/provider/delivery/message"
	"github.com/intentplane/intentplane/provider/delivery/placeholder"
	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/instant"
	"github.com/intentplane/intentplane/provider/prune"
	"github.com/intentplane/intentplane/provider/repository"
	"github.com/intentplane/intentplane/provider/state"
	"github.com/intentplane/intentplane/provider/trailers"
)

// turnTimeout is how long a plan may take in its turn in the queue of a repository, for which all deliveries to it wait.
const turnTimeout = 30 * time.Second

// maxDifferences is how many differences between two plans a message names.
const maxDifferences = 3

// makeRequestPlan makes the plan of a request, once.
func (r *Reconciler) makeRequestPlan(ctx context.Context, pr *v1alpha1.PruneRequest) error {
	if pr.Spec.Scope == v1alpha1.ScopeBundle {
		return r.planPackages(ctx, pr)
	}
	g, err := r.newGatherer(ctx, pr)
	if err != nil {
		return err
	}
	plannedAt := instant.Timestamp(r.now())
	s, err := g.opened.Repository.Look(ctx, repositoryQueueKey(pr), r.now())
	if err != nil {
		return err
	}
	if err := g.gatherCluster(ctx); err != nil {
		return err
	}
	p, err := g.planForSnapshot(ctx, s, plannedAt.Time)
	if err != nil {
		return err
	}
	return r.publishPlan(pr, &p.Plan, plannedAt.Time, s.Tip())
}

// maxFactsAge is how long a plan may wait in the queue of a repository. Older facts are gathered again.
const maxFactsAge = time.Minute

// outdatedInterval is the delay before the facts of an outdated plan are gathered again.
const outdatedInterval = 2 * time.Second

// errOutdated means that the repository or the objects changed while a plan waited for its turn. Its facts are gathered again.
var errOutdated = errors.New("the repository, or objects that may own a directory, changed while the plan waited for its turn")

// errCarriedOut means that a commit carried a plan out before.
var errCarriedOut = errors.New("a commit has carried the plan out")

// A changedError says that an approved plan has changed.
type changedError struct{ message string }

// Error describes the change.
func (e *changedError) Error() string { return e.message }

// A removal is the part of a reconcile that runs in the queue of the repository. It shares nothing with the reconcile, which may be gone when
// its turn comes.
type removal struct {
	*gatherer

	approval *v1alpha1.PruneApproval

	// commit that removed the directories, once it is planned, or was found.
	commit string
}

// removeDirectories removes the directories of an approved plan, in one commit. It returns when to try again.
func (r *Reconciler) removeDirectories(ctx context.Context, pr *v1alpha1.PruneRequest) (time.Duration, error) {
	g, err := r.newGatherer(ctx, pr)
	if err != nil {
		return 0, err
	}
	t := &removal{gatherer: g, approval: &v1alpha1.PruneApproval{}}
	if err := r.kube.Get(ctx, client.ObjectKey{Namespace: pr.GetNamespace(), Name: pr.Status.Result.Approval}, t.approval); client.IgnoreNotFound(err) != nil {
		return 0, errors.Wrap(err, "cannot get PruneApproval")
	}
	if err = t.prepareRemoval(ctx); err == nil {
		err = g.opened.Repository.Deliver(ctx, repository.Delivery{Object: repositoryQueueKey(pr), Version: string(pr.GetUID()), Plan: t.planRemoval})
	}
	changed := &changedError{}
	switch {
	case errors.Is(err, errCarriedOut):
	case errors.As(err, &changed):
		r.endWithoutRemoval(pr, v1alpha1.PhasePlanChanged, v1alpha1.ReasonPlanChanged, changed.message+" Nothing was removed: make another PruneRequest.")
		return 0, nil
	case errors.Is(err, errOutdated):
		setCondition(pr, r.now(), v1alpha1.TypeCompleted, corev1.ConditionFalse, v1alpha1.ReasonPruning, messagePending)
		return outdatedInterval, nil
	case err != nil:
		return 0, err
	}
	pr.Status.Phase = v1alpha1.PhaseDone
	pr.Status.Result.Commit, pr.Status.Result.Pruned = t.commit, pr.Status.Plan.Pruned
	setCondition(pr, r.now(), v1alpha1.TypeCompleted, corev1.ConditionTrue, v1alpha1.ReasonPruned,
		fmt.Sprintf("Commit %s removed %s.", t.commit, countDirectories(int(pr.Status.Plan.Pruned))))
	return 0, nil
}

// prepareRemoval gathers all facts before the plan waits in the queue of the repository, if that answers. In its turn the plan asks no server. It returns a
// *changedError for a plan that differs from the approved plan by now, or errCarriedOut if a commit of ours is the reason.
func (t *removal) prepareRemoval(ctx context.Context) error {
	s, err := t.opened.Repository.Look(ctx, repositoryQueueKey(t.request), t.now())
	if err != nil {
		return nil //nolint:nilerr // The queue waits for the repository, and reports why it does not answer. The facts are gathered once it does.
	}
	if err := t.gatherCluster(ctx); err != nil {
		return err
	}
	fresh, err := t.planForSnapshot(ctx, s, t.request.Status.Plan.At.Time)
	if err != nil || t.isPlanApproved(fresh) {
		return err
	}
	if t.commit, err = t.findPruneCommit(ctx, s); err != nil {
		return err
	}
	if t.commit != "" {
		return errCarriedOut
	}
	return &changedError{message: explainChange(t.request.Status.Plan, &fresh.Plan)}
}

// isPlanApproved reports whether a plan is equal to the approved plan.
func (t *removal) isPlanApproved(fresh *draftedPlan) bool {
	published, began := t.request.Status.Plan, t.request.Status.Result.StartedAt.Time
	return prune.Confirm(published.Digest, published.Digest, published.At.Time, &fresh.Plan, began) == prune.AnswerGo
}

// planRemoval adds the removal to a draft, if the plan is still equal to the approved plan. It asks no server, since all deliveries to the repository wait for
// it. A plan that differs is prepared again.
func (t *removal) planRemoval(ctx context.Context, draft *git.Draft) error {
	ctx, cancel := context.WithTimeout(ctx, turnTimeout)
	defer cancel()
	if t.cluster == nil {
		return errOutdated
	}
	t.commit, t.isInTurn = "", true
	fresh, err := t.planForSnapshot(ctx, draft.Snapshot(), t.request.Status.Plan.At.Time)
	if err != nil {
		return err
	}
	if !t.isPlanApproved(fresh) {
		return errOutdated
	}
	if outdated, err := t.areFactsOutdated(ctx, fresh.Pruned()); err != nil || outdated {
		return cmp.Or(err, errOutdated)
	}
	c, err := t.newRemovalChange(fresh)
	if err != nil {
		return err
	}
	if err := t.addPlaceholders(ctx, draft.Snapshot(), fresh, &c); err != nil {
		return err
	}
	t.commit, err = draft.Commit(ctx, c)
	return err
}

// findPruneCommit returns the commit in the branch that carried the request out, or nothing.
func (t *removal) findPruneCommit(ctx context.Context, s *git.Snapshot) (string, error) {
	all, err := t.opened.Repository.ReadMessages(ctx, s, trailers.Prune+": ")
	if err != nil {
		return "", err
	}
	for _, m := range all {
		if message.Trailer(m, trailers.Prune) == string(t.request.GetUID()) {
			return m.ID, nil
		}
	}
	return "", nil
}

// explainChange says in which items two plans differ.
func explainChange(published *v1alpha1.PrunePlan, fresh *prune.Plan) string {
	if fresh.Refusal != "" {
		return fmt.Sprintf("The plan is refused by now, %s: %s.", fresh.Refusal, fresh.Message)
	}
	now, differ := map[string]prune.Item{}, []string{}
	for _, i := range fresh.Items {
		now[i.Path] = i
	}
	for _, item := range published.Items {
		i, isThere := now[item.Path]
		isPruned := item.Verdict == string(prune.VerdictPrune)
		switch {
		case isPruned && !isThere:
			differ = append(differ, item.Path+" is gone")
		case isPruned && i.Verdict == prune.VerdictKeep:
			differ = append(differ, fmt.Sprintf("%s is kept, %s: %s", item.Path, i.Reason, i.Message))
		case isPruned && i.Tree != item.Tree:
			differ = append(differ, item.Path+" has other files")
		case !isPruned && isThere && i.Verdict == prune.VerdictPrune:
			differ = append(differ, item.Path+" would go, too")
		}
	}
	return joinDifferences(differ, fresh.Digest)
}

// joinDifferences names the items in which two plans differ, or the digest of the new plan.
func joinDifferences(differ []string, digest string) string {
	if len(differ) == 0 {
		return fmt.Sprintf("The plan has digest %s by now.", digest)
	}
	text := strings.Join(differ[:min(len(differ), maxDifferences)], "; ")
	if remaining := len(differ) - maxDifferences; remaining > 0 {
		text += fmt.Sprintf("; and %d more", remaining)
	}
	return "The plan changed: " + text + "."
}

// newRemovalChange returns the change of the branch and of the state.
func (t *removal) newRemovalChange(p *draftedPlan) (git.Change, error) {
	c, author := t.opened.Config, t.opened.Config.Git.Author
	lines := [][2]string{{trailers.Prune, string(t.request.GetUID())}, {trailers.PruneRequest, t.request.GetNamespace() + "/" + t.request.GetName()}}
	if approver := t.approval.Spec.ApprovedBy; approver != "" {
		lines = append(lines, [2]string{trailers.ApprovedBy, approver})
	}
	out := git.Change{
		Message: message.Removal("Prune "+countDirectories(len(p.Pruned())), c.ControlPlane, t.opened.ClusterUID, lines...),
		Author:  git.Author{Name: author.Name, Email: author.Email}, When: t.request.Status.Result.StartedAt.Time,
		State: map[string][]byte{}, Retain: map[string]git.Trees{},
	}
	for _, i := range p.Pruned() {
		out.Remove = append(out.Remove, i.Path)
	}
	for _, r := range p.records {
		if err := t.forgetDirectories(&out, r); err != nil {
			return git.Change{}, err
		}
	}
	var err error
	out.State[state.OwnerPath], err = state.EncodeOwner(t.opened.ClusterUID)
	return out, err
}

// forgetDirectories takes the directories that a change removes out of a record. A record without directories is closed, in the same way as
// the record of a deleted delivery.
func (t *removal) forgetDirectories(c *git.Change, r record) error {
	left := slices.DeleteFunc(slices.Clone(r.Trees), func(candidate state.Tree) bool {
		return candidate.Branch == t.opened.Config.Git.Branch && slices.Contains(c.Remove, candidate.Path)
	})
	if len(left) == len(r.Trees) {
		return nil
	}
	r.ClusterUID = t.opened.ClusterUID
	if len(left) == 0 {
		return t.closeRecord(c, r)
	}
	r.Trees = left
	content, err := r.Encode()
	c.State[state.RecordPath(r.Claim)] = content
	return err
}

// closeRecord leaves a closed ledger in the home, and the numbers of the record elsewhere, so that a claim of the name does not use them
// again. A ledger that was closed, or moved to another home, stays unchanged.
func (t *removal) closeRecord(c *git.Change, r record) error {
	c.Retain[state.TreesPath(r.Claim)] = nil
	if r.ledger != nil && !r.ledger.State.IsClosed && r.ledger.State.Successor == "" {
		return t.closeLedger(c, r)
	}
	content, err := r.Tombstone().Encode()
	c.State[state.RecordPath(r.Claim)] = content
	return err
}

// closeLedger appends to the ledger of a record that the deployment was deleted.
func (t *removal) closeLedger(c *git.Change, r record) error {
	closed, startedAt := ledger.Event{Closed: &ledger.Closed{}}, t.request.Status.Result.StartedAt
	next, err := ledger.Append(r.ledger.State, startedAt.Time, closed)
	if err != nil {
		return errors.Wrapf(err, "cannot close the ledger of %s", r.Claim)
	}
	closed.At = &startedAt
	file := *r.ledger
	file.ClusterUID = t.opened.ClusterUID
	content, err := file.Append(next, []ledger.Event{closed}).Encode()
	c.State[state.LedgerPath(r.Claim)], c.State[state.RecordPath(r.Claim)] = content, nil
	return err
}

// addPlaceholders keeps the directories of Sites that an engine reads.
func (t *removal) addPlaceholders(ctx context.Context, s *git.Snapshot, p *draftedPlan, c *git.Change) error {
	read := map[string]bool{}
	for _, i := range p.Pruned() {
		read[i.Path] = t.cluster.engines[i.Site]
	}
	return placeholder.Keep(ctx, s, c, func(dir string) bool { return read[dir] })
}
