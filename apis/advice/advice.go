// Package advice has the remedy for each reason of an object of Intentplane: whether the reason resolves without an action, the actor, the action, and the
// event that unblocks the object. The command line and the documentation both read it, so that their advice is equal. The package is pure.
package advice

import (
	"maps"
	"slices"
	"sync"
)

// An Actor is the person or team that has to act.
type Actor string

// Actors.
const (
	// NoActor means that no person has to act.
	NoActor Actor = "None"

	// Author wrote the object: the team that deploys, or that requests a cluster.
	Author Actor = "Author"

	// PlatformTeam runs Intentplane, and owns Blueprints, Sites and configurations.
	PlatformTeam Actor = "PlatformTeam"

	// RepositoryOwner runs the Git server, or decides on the permission to push to the repository.
	RepositoryOwner Actor = "RepositoryOwner"

	// ClusterOwner runs the cluster of a Site, and the GitOps engine in it.
	ClusterOwner Actor = "ClusterOwner"
)

// Words returns the name of the actor in a sentence.
func (a Actor) Words() string {
	return map[Actor]string{
		NoActor: "no one", Author: "the author", PlatformTeam: "the platform team", RepositoryOwner: "the owner of the repository", ClusterOwner: "the owner of the cluster",
	}[a]
}

// Wake is the event that unblocks an object.
type Wake string

// Events that unblock an object.
const (
	// WakeNone is for a reason that needs no action, or that is final.
	WakeNone Wake = ""

	// WakeEdit is an edit of the object that the author wrote.
	WakeEdit Wake = "an edit of the spec"

	// WakeRequest is an edit, or a request of a user.
	WakeRequest Wake = "an edit of the spec, or a RolloutRequest"

	// WakePromote is a request that releases a step.
	WakePromote Wake = "a RolloutRequest: kubectl intent promote, or kubectl intent abort"

	// WakeCatalog is a change of an object of the catalog that the spec names.
	WakeCatalog Wake = "a change of the Site, the Blueprint or the configuration"

	// WakeSecret is a change of the Secret that the provider watches.
	WakeSecret Wake = "a change of the Secret or of the configuration"

	// WakeRetry is a retry of the provider.
	WakeRetry Wake = "a retry of the provider"

	// WakeWatch is the provider, which watches the objects that it waits for.
	WakeWatch Wake = "the provider, which watches the awaited objects"

	// WakeFunction is the function, which answers when an object that it composed changes.
	WakeFunction Wake = "a change of the composed objects"

	// WakeCall is the next call of the function.
	WakeCall Wake = "the next call of the function, within half a minute"

	// WakeCrossplane is the time at which Crossplane watches the composite again.
	WakeCrossplane Wake = "Crossplane, which watches it again after five minutes"

	// WakePrune is a request of a user that is made again.
	WakePrune Wake = "another PruneRequest"

	// WakeInstall is a part of the installation that runs again.
	WakeInstall Wake = "the repaired part of the installation"
)

// Advice is the remedy of a reason, and its actor.
type Advice struct {
	// EndsByItself is true for a reason that resolves without an action. It is false for a permanent reason, good or bad.
	EndsByItself bool

	// Actor has to act or, for a reason that resolves without an action, investigates it if it persists.
	Actor Actor

	// Do is the action of the actor, in one line.
	Do string

	// Wakes is the event that unblocks the object.
	Wakes Wake
}

// NeedsPerson is true for a reason that stays until a person acts.
func (a Advice) NeedsPerson() bool { return !a.EndsByItself && a.Actor != NoActor && a.Actor != "" }

// A Kind is an object kind, or a part of an object, with its own reasons.
type Kind string

// Kinds.
const (
	IntentDeployment Kind = "IntentDeployment"
	Application      Kind = "Application"
	Bundle           Kind = "Bundle"
	BundleState      Kind = "BundleState"
	WorkloadCluster  Kind = "WorkloadCluster"
	GitDelivery      Kind = "GitDelivery"
	SiteSync         Kind = "SiteSync"
	SiteHealth       Kind = "SiteHealth"
	ImageBuild       Kind = "ImageBuild"
	Gate             Kind = "Gate"
	ManagedCluster   Kind = "ManagedCluster"
	RolloutRequest   Kind = "RolloutRequest"
	ProviderConfig   Kind = "ProviderConfig"
	PruneRequest     Kind = "PruneRequest"
	PruneApproval    Kind = "PruneApproval"

	// Site is one Site in the status of a SiteSync.
	Site Kind = "Site"

	// Cluster is the cluster of a Site, or of a ManagedCluster.
	Cluster Kind = "Cluster"
)

// Kinds returns all kinds.
func Kinds() []Kind {
	return []Kind{IntentDeployment, Application, Bundle, BundleState, WorkloadCluster, GitDelivery, SiteSync, SiteHealth, ImageBuild, Gate, ManagedCluster, RolloutRequest, ProviderConfig, PruneRequest, PruneApproval, Site, Cluster, Installation}
}

// adviceByKind has the advice about each reason of each kind. Nothing changes it.
var adviceByKind = sync.OnceValue(func() map[Kind]map[string]Advice { //nolint:gochecknoglobals // It is made once: a list of objects needs it for each of them.
	return map[Kind]map[string]Advice{
		IntentDeployment: deploymentReasons(),
		Application:      applicationReasons(),
		Bundle:           bundleReasons(),
		BundleState:      bundleStateReasons(),
		WorkloadCluster:  workloadClusterReasons(),
		GitDelivery:      deliveryReasons(),
		SiteSync:         syncReasons(),
		SiteHealth:       healthReasons(),
		ImageBuild:       buildReasons(),
		Gate:             gateReasons(),
		ManagedCluster:   managedClusterReasons(),
		RolloutRequest:   requestReasons(),
		ProviderConfig:   configReasons(),
		PruneRequest:     pruneReasons(),
		PruneApproval:    pruneApprovalReasons(),
		Site:             siteReasons(),
		Cluster:          clusterReasons(),
		Installation:     installationReasons(),
	}
})

// reasonsOfKind returns the reasons of a kind itself, with the advice about each.
func reasonsOfKind(k Kind) map[string]Advice { return adviceByKind()[k] }

// repeatsReasonsOf returns the kind whose reasons a kind has in addition to its own.
func repeatsReasonsOf(k Kind) Kind {
	return map[Kind]Kind{Application: ImageBuild, ImageBuild: SiteHealth, Bundle: BundleState, WorkloadCluster: ManagedCluster, ManagedCluster: Cluster, SiteHealth: Site, Site: Cluster, ProviderConfig: GitDelivery}[k]
}

// For returns the advice about a reason of a kind, and false for a reason that is not known, as that of a newer version or of another program.
func For(k Kind, reason string) (Advice, bool) {
	for ; k != ""; k = repeatsReasonsOf(k) {
		if a, ok := reasonsOfKind(k)[reason]; ok {
			return a, true
		}
	}
	return Advice{}, false
}

// Reasons returns the reasons of a kind itself, sorted.
func Reasons(k Kind) []string { return slices.Sorted(maps.Keys(reasonsOfKind(k))) }

// noActionAdvice returns the advice for a reason that needs no action.
func noActionAdvice() Advice { return Advice{Actor: NoActor, Do: "Nothing: no action is required."} }

// finalAdvice returns the advice for a final result. No person has to act.
func finalAdvice(do string) Advice { return Advice{Actor: NoActor, Do: do} }

// waitingAdvice returns the advice for a reason that resolves without an action.
func waitingAdvice(w Wake, do string) Advice {
	return Advice{EndsByItself: true, Actor: NoActor, Do: do, Wakes: w}
}

// outageAdvice returns the advice for a reason that resolves without an action, and that an actor investigates if it persists.
func outageAdvice(a Actor, w Wake, do string) Advice {
	return Advice{EndsByItself: true, Actor: a, Do: do, Wakes: w}
}

// actionAdvice returns the advice for a reason that stays until the actor acts.
func actionAdvice(a Actor, w Wake, do string) Advice { return Advice{Actor: a, Do: do, Wakes: w} }
