// Package notification decides which outcomes of deployments are posted to the receivers of a configuration, what a record remembers of that, and
// posts them.
//
// What is owed follows from the transitions in the status of a deployment. The record follows the status: an outcome is written to it once a status
// showed it, and it is removed once a receiver has taken it. So each outcome is posted at least once, and each post of it has the same id.
package notification

import (
	"fmt"
	"slices"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
)

const (
	// settleTime is how long a rejected revision has to be Failed before that counts as its outcome: a rollback that begins by itself begins within
	// that time.
	settleTime = 30 * time.Second

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

// A Status is what is read of the status of a deployment.
type Status struct {
	xpv2.ConditionedStatus `json:",inline"`

	Phase        deploymentv1alpha1.Phase           `json:"phase"`
	Message      string                             `json:"message"`
	Revision     int64                              `json:"revision"`
	LiveRevision int64                              `json:"liveRevision"`
	Delivery     deploymentv1alpha1.DeliveryStatus  `json:"delivery"`
	Rollback     deploymentv1alpha1.RollbackStatus  `json:"rollback"`
	Requests     []deploymentv1alpha1.RequestStatus `json:"requests"`
	Transitions  []deploymentv1alpha1.Transition    `json:"transitions"`
}

// An Outcome is how a revision of a deployment ended. All of it is copied when a status shows it, so that each post of it is the same.
type Outcome struct {
	// Result of the revision: Succeeded, RolledBack or Failed.
	Result deploymentv1alpha1.Outcome `json:"result"`

	// Index of the transition that brought it.
	Index int64 `json:"index"`

	// Epoch of the ledger that the revision belongs to.
	Epoch int64 `json:"epoch"`

	// Revision that ended.
	Revision int64 `json:"revision"`

	// LiveRevision is the revision that runs at all Sites. 0 means none.
	LiveRevision int64 `json:"liveRevision,omitempty"`

	// At is when it ended.
	At metav1.Time `json:"at"`

	// IsFirst is true for the first revision of a deployment that was verified.
	IsFirst bool `json:"isFirst,omitempty"`

	// Reason of a rejection.
	Reason string `json:"reason,omitempty"`

	// Message for people.
	Message string `json:"message,omitempty"`

	// Commit that brought the revision to the branch.
	Commit string `json:"commit,omitempty"`

	// Request is the digest of the revision's request. It is for the log.
	Request string `json:"request,omitempty"`

	// Sites of the deployment, sorted, as many as a notification names.
	Sites []string `json:"sites,omitempty"`
}

// ID of an outcome: the same for each post of it, and for each transition that shows it.
func (o Outcome) ID(uid string) string {
	return fmt.Sprintf("%s.%d.%d.%s", uid, o.Epoch, o.Revision, o.Result)
}

// Outcomes returns those that a status shows, the oldest first, and how long one of them has to wait until it counts, or 0. Only the newest has
// what the status says beside its transitions. State is the ledger of the deployment as far as it is known.
func Outcomes(s *Status, state *ledger.State, now time.Time) ([]Outcome, time.Duration) {
	var out []Outcome
	for i, t := range s.Transitions {
		isLast := i == len(s.Transitions)-1
		result := resultOf(t, isLast, s)
		if result == "" {
			continue
		}
		if wait := settleTime - now.Sub(t.At.Time); result == deploymentv1alpha1.OutcomeFailed && wait > 0 {
			return out, wait
		}
		out = append(out, newOutcome(t, result, isLast, s, state))
	}
	return out, 0
}

// resultOf returns the outcome that a transition brings, or "".
func resultOf(t deploymentv1alpha1.Transition, isLast bool, s *Status) deploymentv1alpha1.Outcome {
	switch {
	case t.Revision == 0:
	case t.To == deploymentv1alpha1.PhaseSucceeded && t.From == deploymentv1alpha1.PhaseRollingBack:
		return deploymentv1alpha1.OutcomeRolledBack
	case t.To == deploymentv1alpha1.PhaseSucceeded && t.From == deploymentv1alpha1.PhaseValidating:
		return deploymentv1alpha1.OutcomeSucceeded
	case t.To == deploymentv1alpha1.PhaseFailed && isLast && s.isRejectedForGood():
		return deploymentv1alpha1.OutcomeFailed
	}
	return ""
}

// isRejectedForGood reports whether the revision was rejected, and stays so until a user acts. A spec that cannot be carried out is not that: then
// Stalled has another reason.
func (s *Status) isRejectedForGood() bool {
	c := s.GetCondition(deploymentv1alpha1.TypeStalled)
	return s.Phase == deploymentv1alpha1.PhaseFailed && s.Rollback.Reason != "" && c.Status == corev1.ConditionTrue &&
		slices.Contains([]string{s.Rollback.Reason, deploymentv1alpha1.ReasonIrreversible}, string(c.Reason))
}

func newOutcome(t deploymentv1alpha1.Transition, result deploymentv1alpha1.Outcome, isLast bool, s *Status, state *ledger.State) Outcome {
	o := Outcome{Result: result, Index: t.Index, Epoch: state.Epoch, Revision: t.Revision, At: t.At, Request: state.RequestDigest(t.Revision), Sites: sitesOf(s)}
	o.IsFirst = result == deploymentv1alpha1.OutcomeSucceeded && isFirstVerified(t.Revision, state)
	if isLast && t.To == s.Phase {
		o.Message, o.Commit, o.LiveRevision = s.Message, s.Delivery.GitCommit, s.LiveRevision
		o.Reason = s.Rollback.Reason
	}
	return o
}

// isFirstVerified reports whether no revision before this one was verified, as far as the ledger remembers.
func isFirstVerified(revision int64, state *ledger.State) bool {
	return state.Stable == 0 || state.Stable >= revision && !slices.ContainsFunc(state.History, func(p ledger.Past) bool {
		return p.Number < revision && p.Verdict != nil && p.Verdict.Result == ledger.VerdictVerified
	})
}

func sitesOf(s *Status) []string {
	var out []string
	for name := range s.Delivery.Sites {
		if len(name) <= maxSiteName {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out[:min(len(out), maxSites)]
}
