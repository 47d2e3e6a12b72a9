package mandate

import (
	"time"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/directories"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/step"
)

// Facts are a provider's observations about the home of a ledger.
type Facts struct {
	// Home is the delivery to the home repository, with its mandate. Its status was read from the API server, or is about to be written.
	Home *v1alpha1.GitDelivery

	// Gates and Syncs are possible evidence. Objects of another deployment are ignored.
	Gates []rolloutv1alpha1.Gate
	Syncs []v1alpha1.SiteSync

	// Followers are the deliveries of the same controller to other repositories.
	Followers []v1alpha1.GitDelivery

	// Self is the follower whose directories with tracks get trees. Delivered and Copy are about its repository then. Nil means the home.
	Self *v1alpha1.GitDelivery

	// Requests are the open RolloutRequests about the current revision that the provider may carry out, the oldest first.
	Requests []step.Request

	// IsGuardRead reports whether the claim was read past the cache. Before, the provider records no step and no verification.
	IsGuardRead bool

	// Guard is the hold of the claim: the reason to record no step and no verification. It is empty if the claim permits both.
	Guard v1alpha1.MandateHold

	// Tracker composes directories with tracks. If nil, a Tracker without a cache is used.
	Tracker *directories.Tracker

	// Unobserved are the Sites without an engine, and whether a delivered tree counts as live there. The value for a missing Site is false.
	Unobserved map[string]bool

	// Closed are the Sites that get no later tree: they are gone, may not be used, or have another directory by now.
	Closed map[string]bool

	// Applied is the applied position of the repository, and Delivered its directories, by their paths.
	Applied   ledger.Position
	Delivered map[string]v1alpha1.DeliveredTree

	// Copy is the state of the ledger in the record of a follower's repository. Nil for a home, and without a record.
	Copy *ledger.State

	// Now is the time of recorded events.
	Now time.Time
}
