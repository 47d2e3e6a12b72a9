// Package advice says, for each reason that an object of Intentplane can give, whether it ends by itself, who has to act, what that person does, and
// what makes the object go on then. The command line and the documentation say the same, since both read it here. The package is pure.
package advice

import (
	"maps"
	"slices"
	"sync"
)

// An Actor is who has to act.
type Actor string

// Actors.
const (
	// NoActor means that no person has to act.
	NoActor Actor = "None"

	// Author is who wrote the object: the team that deploys, or that wants a cluster.
	Author Actor = "Author"

	// PlatformTeam is who runs Intentplane, and owns Blueprints, Sites and configurations.
	PlatformTeam Actor = "PlatformTeam"

	// RepositoryOwner is who runs the Git server, or decides what may be pushed to the repository.
	RepositoryOwner Actor = "RepositoryOwner"

	// ClusterOwner is who runs the cluster of a Site, and the GitOps engine in it.
	ClusterOwner Actor = "ClusterOwner"
)

// Words returns how a sentence calls the actor.
func (a Actor) Words() string {
	return map[Actor]string{
		NoActor: "no one", Author: "the author", PlatformTeam: "the platform team", RepositoryOwner: "the owner of the repository", ClusterOwner: "the owner of the cluster",
	}[a]
}

// Wake is what makes an object go on.
type Wake string

// What makes objects go on.
const (
	// WakeNone is of what is as it should be, or is over.
	WakeNone Wake = ""

	// WakeEdit is an edit of the object that the author wrote.
	WakeEdit Wake = "an edit of the spec"

	// WakeRequest is an edit, or a request of a user.
	WakeRequest Wake = "an edit of the spec, or a RolloutRequest"

	// WakePromote is a request that releases a step.
	WakePromote Wake = "a RolloutRequest: kubectl intent promote, or kubectl intent abort"

	// WakeCatalog is a change of what the spec names.
	WakeCatalog Wake = "a change of the Site, the Blueprint or the configuration"

	// WakeSecret is a change of the Secret that the provider watches.
	WakeSecret Wake = "a change of the Secret or of the configuration"

	// WakeRetry is the provider, which tries again by itself.
	WakeRetry Wake = "the provider, which tries again by itself"

	// WakeWatch is the provider, which watches what it waits for.
	WakeWatch Wake = "the provider, which watches what it waits for"

	// WakeFunction is the function, which answers when an object that it composed changes.
	WakeFunction Wake = "a change of the objects that were composed"

	// WakeCall is the function, which is called again by itself.
	WakeCall Wake = "the function, which looks again within half a minute"

	// WakeCrossplane is Crossplane, which watches again by itself.
	WakeCrossplane Wake = "Crossplane, which watches it again after five minutes"

	// WakePrune is a request of a user that is made again.
	WakePrune Wake = "another PruneRequest"

	// WakeInstall is a part of the installation that runs again.
	WakeInstall Wake = "the part of the installation that runs again"
)

// Advice is what to do about a reason.
type Advice struct {
	// EndsByItself says that the reason ends without a person. False of a reason that stays, be it good or bad.
	EndsByItself bool

	// Actor is who has to act or, where the reason ends by itself, who looks at it if it lasts.
	Actor Actor

	// Do is what the actor does, in one line.
	Do string

	// Wakes is what makes the object go on.
	Wakes Wake
}

// NeedsPerson is true for a reason that stays until a person acts.
func (a Advice) NeedsPerson() bool { return !a.EndsByItself && a.Actor != NoActor && a.Actor != "" }

// A Kind is what gives reasons: the kind of an object, or a part of one.
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

// reasonsOf returns the reasons of a kind itself, with the advice about each.
func reasonsOf(k Kind) map[string]Advice { return adviceByKind()[k] }

// repeatsReasonsOf says whose reasons a kind repeats beside its own ones.
func repeatsReasonsOf(k Kind) Kind {
	return map[Kind]Kind{Application: ImageBuild, ImageBuild: SiteHealth, Bundle: BundleState, WorkloadCluster: ManagedCluster, ManagedCluster: Cluster, SiteHealth: Site, Site: Cluster, ProviderConfig: GitDelivery}[k]
}

// For returns the advice about a reason of a kind, and false for a reason that is not known, as that of a newer version or of another program.
func For(k Kind, reason string) (Advice, bool) {
	for ; k != ""; k = repeatsReasonsOf(k) {
		if a, ok := reasonsOf(k)[reason]; ok {
			return a, true
		}
	}
	return Advice{}, false
}

// Reasons returns the reasons of a kind itself, sorted.
func Reasons(k Kind) []string { return slices.Sorted(maps.Keys(reasonsOf(k))) }

// good is of a reason that is as it should be.
func good() Advice { return Advice{Actor: NoActor, Do: "Nothing: this is as it should be."} }

// over is of a reason that says how something ended. No one has to act.
func over(do string) Advice { return Advice{Actor: NoActor, Do: do} }

// wait is of a reason that ends by itself.
func wait(w Wake, do string) Advice {
	return Advice{EndsByItself: true, Actor: NoActor, Do: do, Wakes: w}
}

// outage is of a reason that ends by itself, and that an actor looks at if it lasts.
func outage(a Actor, w Wake, do string) Advice {
	return Advice{EndsByItself: true, Actor: a, Do: do, Wakes: w}
}

// act is of a reason that stays until the actor does something.
func act(a Actor, w Wake, do string) Advice { return Advice{Actor: a, Do: do, Wakes: w} }
