// Package notification decides which outcomes of deployments are posted to the receivers of a configuration, and posts them.
//
// Outcomes follow from the transitions in the status of a deployment. The only thing that is remembered is a mark for each receiver: the last
// outcome that was posted to it. The mark is written after the post. So each outcome is posted at least once, and each post of it has the
// same id.
package notification

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
)

const (
	// settleTime is how long a rejected revision has to be Failed before that counts as its outcome: a rollback that begins by itself begins within
	// that time.
	settleTime = 30 * time.Second

	// maxSkew is how far the clock of the function may be ahead of the provider's clock.
	maxSkew = 30 * time.Second

	// maxSites is how many Sites a notification names.
	maxSites = 50

	// maxSiteName is how many characters the name of a Site has at most. The schema of the status does not bound it.
	maxSiteName = 63
)

// A Deployment is the IntentDeployment that an outcome is about.
type Deployment struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace"`
	Name       string `json:"name"`
	UID        string `json:"uid"`
}

// A Status has the fields that are read from the status of a deployment.
type Status struct {
	Phase        deploymentv1alpha1.Phase          `json:"phase"`
	Message      string                            `json:"message"`
	LiveRevision int64                             `json:"liveRevision"`
	Delivery     deploymentv1alpha1.DeliveryStatus `json:"delivery"`
	Transitions  []deploymentv1alpha1.Transition   `json:"transitions"`
}

// An Outcome is how a revision of a deployment ended.
type Outcome struct {
	// Result of the revision: Succeeded, RolledBack or Failed.
	Result deploymentv1alpha1.Outcome

	// Index of the transition that brought it.
	Index int64

	// Epoch of the ledger that the revision belongs to.
	Epoch int64

	// Revision that ended.
	Revision int64

	// LiveRevision is the revision that runs at all Sites. 0 means none, or that it is not known.
	LiveRevision int64

	// At is when it ended.
	At metav1.Time

	// IsFirst is true for the first revision of a deployment that was verified.
	IsFirst bool

	// Reason of a rejection.
	Reason string

	// Message for people. It is there, as commit and Sites are, while the status of the deployment is about the outcome.
	Message string

	// Commit that brought the revision to the branch.
	Commit string

	// Request is the digest of the revision's request. It is for the log.
	Request string

	// Sites of the deployment, sorted, as many as a notification names.
	Sites []string
}

// A Notification is an outcome of a deployment, as receivers get it.
type Notification struct {
	Outcome

	// Deployment that the outcome is about.
	Deployment Deployment
}

// ID of a notification: the same for each post of it.
func (n *Notification) ID() string { return n.Deployment.UID + "." + n.identityKey() }

// identityKey identifies an outcome in its deployment: the same for each transition that shows it.
func (o Outcome) identityKey() string { return fmt.Sprintf("%d.%d.%s", o.Epoch, o.Revision, o.Result) }

// Outcomes returns the outcomes in the transitions of a status, each once, the oldest first, and how long one of them has to wait until it
// counts, or 0. State is the ledger of the deployment as far as it is known.
func Outcomes(s *Status, state *ledger.State, now time.Time) ([]Outcome, time.Duration) {
	var out []Outcome
	for i := range s.Transitions {
		result := s.transitionOutcome(i)
		if result == "" {
			continue
		}
		if wait := s.settleDelay(i, now); result == deploymentv1alpha1.OutcomeFailed && wait > 0 {
			return out, wait
		}
		o := s.newOutcome(i, result, state)
		if !slices.ContainsFunc(out, func(earlier Outcome) bool { return earlier.identityKey() == o.identityKey() }) {
			out = append(out, o)
		}
	}
	return out, 0
}

// settleDelay returns how long it takes until no rollback of the revision begins by itself after a transition, or 0. A later revision ends that at once. So
// does a time that is too far ahead to come from clocks which agree: otherwise no outcome would count until then.
func (s *Status) settleDelay(i int, now time.Time) time.Duration {
	t := s.Transitions[i]
	isFollowed := slices.ContainsFunc(s.Transitions[i+1:], func(later deploymentv1alpha1.Transition) bool { return later.Revision > t.Revision })
	wait := settleTime - now.Sub(t.At.Time)
	if isFollowed || wait < 0 || wait > settleTime+maxSkew {
		return 0
	}
	return wait
}

// transitionOutcome returns the outcome that a transition brings, or "".
func (s *Status) transitionOutcome(i int) deploymentv1alpha1.Outcome {
	t := s.Transitions[i]
	switch {
	case t.Revision == 0:
	case t.To == deploymentv1alpha1.PhaseSucceeded && t.From == deploymentv1alpha1.PhaseRollingBack:
		return deploymentv1alpha1.OutcomeRolledBack
	case t.To == deploymentv1alpha1.PhaseSucceeded && t.From == deploymentv1alpha1.PhaseValidating:
		return deploymentv1alpha1.OutcomeSucceeded
	case t.To == deploymentv1alpha1.PhaseFailed && t.Rejected != "" && !s.beginsRollback(i):
		return deploymentv1alpha1.OutcomeFailed
	}
	return ""
}

// beginsRollback reports whether a rollback of the revision followed a transition so soon that it began by itself.
func (s *Status) beginsRollback(i int) bool {
	t := s.Transitions[i]
	return slices.ContainsFunc(s.Transitions[i+1:], func(later deploymentv1alpha1.Transition) bool {
		return later.To == deploymentv1alpha1.PhaseRollingBack && later.Revision == t.Revision && later.At.Sub(t.At.Time) < settleTime
	})
}

func (s *Status) newOutcome(i int, result deploymentv1alpha1.Outcome, state *ledger.State) Outcome {
	t := s.Transitions[i]
	o := Outcome{
		Result: result, Index: t.Index, Epoch: cmp.Or(t.Epoch, state.Epoch), Revision: t.Revision, LiveRevision: t.Restored, At: t.At, Reason: t.Rejected,
		Request: state.RequestDigest(t.Revision),
	}
	o.IsFirst = result == deploymentv1alpha1.OutcomeSucceeded && isFirstVerified(t.Revision, state)
	if i < len(s.Transitions)-1 || t.To != s.Phase {
		return o
	}
	o.Message, o.Commit, o.Sites = s.Message, s.Delivery.GitCommit, deliveredSites(s)
	if o.LiveRevision == 0 {
		o.LiveRevision = s.LiveRevision
	}
	return o
}

// isFirstVerified reports whether no revision before this one was verified, as far as the ledger remembers.
func isFirstVerified(revision int64, state *ledger.State) bool {
	return state.Stable == 0 || state.Stable >= revision && !slices.ContainsFunc(state.History, func(p ledger.Past) bool {
		return p.Number < revision && p.Verdict != nil && p.Verdict.Result == ledger.VerdictVerified
	})
}

func deliveredSites(s *Status) []string {
	var out []string
	for name := range s.Delivery.Sites {
		if len(name) <= maxSiteName {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out[:min(len(out), maxSites)]
}
