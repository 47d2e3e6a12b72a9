package v1alpha1

// Types of the conditions of an IntentDeployment, beside Crossplane's Ready and Synced. Each status has all of them. function/phase/conditions.go
// computes them.
const (
	// TypeValid reports whether the spec can be applied: parsed, compiled, rendered and within the limits.
	TypeValid = "Valid"

	// TypeSupported reports whether every set field has an effect in this version.
	TypeSupported = "Supported"

	// TypeSitesFound reports whether the Sites, the Blueprint and the configuration were found.
	TypeSitesFound = "SitesFound"

	// TypeDelivered reports whether every repository holds the desired trees of the revision.
	TypeDelivered = "Delivered"

	// TypeValidated reports whether the revision was judged and verified.
	TypeValidated = "Validated"

	// TypeRecorded reports whether every repository has recorded the events of the deployment.
	TypeRecorded = "Recorded"

	// TypeAvailable reports whether a revision runs.
	TypeAvailable = "Available"

	// TypeRolledBack reports whether the revision was rolled back.
	TypeRolledBack = "RolledBack"

	// TypeStalled reports whether the deployment makes no progress until a user acts.
	TypeStalled = "Stalled"

	// TypeReconciling reports whether the object is being reconciled.
	TypeReconciling = "Reconciling"
)

// Reasons of the conditions of an IntentDeployment. A reason marked terminal stays until the spec, the catalog or the repository
// changes. function/phase/conditions.go sets them, and apis/advice/deployment.go has the advice for each: a new reason begins here.
const (
	// ReasonValid means that the spec can be compiled and delivered.
	ReasonValid = "Valid"

	// ReasonInvalidSpec means that a field of the spec is invalid; the message names it. Terminal.
	ReasonInvalidSpec = "InvalidSpec"

	// ReasonInvalidIntent means that the intent cannot be parsed. Terminal.
	ReasonInvalidIntent = "InvalidIntent"

	// ReasonNotSupportedByBlueprint means that the intent sets a value that the Blueprint does not read. Terminal.
	ReasonNotSupportedByBlueprint = "NotSupportedByBlueprint"

	// ReasonRenderFailed means that the Blueprint does not render. Terminal.
	ReasonRenderFailed = "RenderFailed"

	// ReasonRenderTimeout means that rendering took longer than compileConfig.renderTimeout. The function retries at each call.
	ReasonRenderTimeout = "RenderTimeout"

	// ReasonPolicyDenied means that a limit of a Site or the configuration forbids the deployment. Terminal.
	ReasonPolicyDenied = "PolicyDenied"

	// ReasonTooLarge means that the trees exceed the size of an object or of a response. Terminal.
	ReasonTooLarge = "TooLarge"

	// ReasonNotYetSupported means that a field is set that has no effect in this version.
	ReasonNotYetSupported = "NotYetSupported"

	// ReasonSupported means that every set field has an effect.
	ReasonSupported = "Supported"

	// ReasonFound means that the Sites, the Blueprint and the configuration were found.
	ReasonFound = "Found"

	// ReasonSiteMissing means that a Site was not found, or may not be used.
	ReasonSiteMissing = "SiteMissing"

	// ReasonBlueprintMissing means that no Blueprint was found.
	ReasonBlueprintMissing = "BlueprintMissing"

	// ReasonBlueprintAmbiguous means that more than one Blueprint was found.
	ReasonBlueprintAmbiguous = "BlueprintAmbiguous"

	// ReasonConfigMissing means that the repository's configuration was not found.
	ReasonConfigMissing = "ConfigMissing"

	// ReasonNoSite means that neither the intent nor the spec selects a Site.
	ReasonNoSite = "NoSite"

	// ReasonWaitingForCluster means that a Site's cluster is not ready.
	ReasonWaitingForCluster = "WaitingForCluster"

	// ReasonUnknown means that the state was not observed yet.
	ReasonUnknown = "Unknown"

	// ReasonNothingOrdered means that the ledger has no revision yet.
	ReasonNothingOrdered = "NothingOrdered"

	// ReasonDelivering means that the delivery is in progress.
	ReasonDelivering = "Delivering"

	// ReasonDelivered means that every repository holds the trees of the revision.
	ReasonDelivered = "Delivered"

	// ReasonRestoringDrift means that another commit changed delivered files, and that the provider restores them.
	ReasonRestoringDrift = "RestoringDrift"

	// ReasonDriftRestored means that every repository holds the trees of the revision, after the provider restored files that another commit had
	// changed. The reason stays until the desired trees change.
	ReasonDriftRestored = "DriftRestored"

	// ReasonSyncing means that every repository holds the trees of the revision, and that not every Site was proven to run its tree.
	ReasonSyncing = "Syncing"

	// ReasonLive means that every Site was proven to run the current revision.
	ReasonLive = "Live"

	// ReasonEarlierRevision means that the Sites run an earlier revision: until they run the current revision, or because the current revision was
	// rejected before it changed any directory.
	ReasonEarlierRevision = "EarlierRevision"

	// ReasonNotLive means that not every Site was proven to run the current revision, and that no other revision is proven to run.
	ReasonNotLive = "NotLive"

	// ReasonSyncNotObserved means that every repository holds the trees of the revision, and that no engine reports the running tree of a Site.
	// Terminal, if such a Site does not count as live.
	ReasonSyncNotObserved = "SyncNotObserved"

	// ReasonDeliveryBlocked means that a GitDelivery cannot continue. Its message has the cause.
	ReasonDeliveryBlocked = "DeliveryBlocked"

	// ReasonObjectConflict means that another claim delivers one of the objects to the same Site. The conflict ends when that claim, or its object, is
	// deleted.
	ReasonObjectConflict = "ObjectConflict"

	// ReasonProviderNotResponding means that the provider has not observed a change of the composed resources for five minutes. The reason ends with the
	// observation.
	ReasonProviderNotResponding = "ProviderNotResponding"

	// ReasonGatesOff means that spec.gatesConfig.enabled is false, so that no Gate measures.
	ReasonGatesOff = "GatesOff"

	// ReasonNoGates means that gates are enabled, and that the spec has neither thresholds nor checks.
	ReasonNoGates = "NoGates"

	// ReasonNoData means that the query of a metric returns no data, such as without requests to the service, and that the Gate waits for data.
	ReasonNoData = "NoData"

	// ReasonMetricsUnavailable means that the metrics backend is unavailable, so that the revision cannot be judged. As a reason of Stalled it means
	// that the outage has lasted longer than gatesConfig.metricsUnavailableTimeout, and that the revision keeps its step.
	ReasonMetricsUnavailable = "MetricsUnavailable"

	// ReasonRecorded means that the ledger has recorded the revision.
	ReasonRecorded = "Recorded"

	// ReasonNotRecorded means that the ledger has not recorded the revision yet, or that a repository has not reported yet which trees a rollback
	// changes.
	ReasonNotRecorded = "NotRecorded"

	// ReasonLedgerUnreachable means that the repository which holds the ledger of the deployment cannot be read or written: until then no revision is
	// started, judged or rolled back.
	ReasonLedgerUnreachable = "LedgerUnreachable"

	// ReasonDeliveryTimedOut means that errors of a repository lasted longer than deliveryConfig.deliveryTimeout. Terminal.
	ReasonDeliveryTimedOut = "DeliveryTimedOut"

	// ReasonDeliveryRefused means that a repository, or a limit, refused the revision. Terminal.
	ReasonDeliveryRefused = "DeliveryRefused"

	// ReasonSyncTimedOut means that a Site took longer than deliveryConfig.syncWaitTimeout to run the revision. Terminal.
	ReasonSyncTimedOut = "SyncTimedOut"

	// ReasonSyncFailed means that the engine of a Site tried the revision, and failed. Terminal.
	ReasonSyncFailed = "SyncFailed"

	// ReasonClusterTimedOut means that the cluster of a Site took longer than deliveryConfig.clusterWaitTimeout to become ready. Terminal.
	ReasonClusterTimedOut = "ClusterTimedOut"

	// ReasonFilesLost means that no object has the files that a move from or to tracks replaces. Terminal.
	ReasonFilesLost = "FilesLost"

	// ReasonGateFailed means that a Gate of the revision failed. Terminal.
	ReasonGateFailed = "GateFailed"

	// ReasonRequested means that a user ended the revision, by a RolloutRequest or an edit. Terminal.
	ReasonRequested = "Requested"

	// ReasonPassed means that the Gates of the revision passed.
	ReasonPassed = "Passed"

	// ReasonMeasuring means that every repository holds the trees of the revision, and that Gates judge the revision once it is live.
	ReasonMeasuring = "Measuring"

	// ReasonDeploymentFailed means that the revision was rejected, and that no other revision is proven to run.
	ReasonDeploymentFailed = "DeploymentFailed"

	// ReasonNotRolledBack means that the revision was not rejected.
	ReasonNotRolledBack = "NotRolledBack"

	// ReasonRollingBack means that an attempt of a rollback is in progress.
	ReasonRollingBack = "RollingBack"

	// ReasonRolledBack means that the Sites run an earlier revision again, and not the desired state of the spec. Terminal.
	ReasonRolledBack = "RolledBack"

	// ReasonRollbackOff means that rollbackConfig disables the rollback. Terminal.
	ReasonRollbackOff = "RollbackOff"

	// ReasonNoTarget means that no revision is a possible rollback target. Terminal.
	ReasonNoTarget = "NoTarget"

	// ReasonNothingToRestore means that every directory already holds the tree of the newest verified revision. Terminal.
	ReasonNothingToRestore = "NothingToRestore"

	// ReasonIrreversible means that the Blueprint marks a changed object as irreversible, so that a user has to request the rollback. Terminal.
	ReasonIrreversible = "Irreversible"

	// ReasonTooManyRollbacks means that rollbackConfig.maxPerHour other revisions were rejected within an hour. Terminal.
	ReasonTooManyRollbacks = "TooManyRollbacks"

	// ReasonAttemptsSpent means that all attempts of the rollback failed. Terminal, unless the Sites reach the target of an attempt later.
	ReasonAttemptsSpent = "AttemptsSpent"

	// ReasonProgressing means that the object is being reconciled.
	ReasonProgressing = "Progressing"

	// ReasonPaused means that a step of a canary is live, and that the pause behind it runs.
	ReasonPaused = "Paused"

	// ReasonAwaitingPromotion means that a step of a canary waits until a user releases the next step.
	ReasonAwaitingPromotion = "AwaitingPromotion"

	// ReasonHeld means that the Gate of a step came to no conclusion, and that a user has to release the step or abort the revision.
	ReasonHeld = "Held"

	// ReasonDraining means that pods lost their requests, and stay until their open requests have ended.
	ReasonDraining = "Draining"

	// ReasonIdle means that no change is in progress.
	ReasonIdle = "Idle"

	// ReasonSuspended means that spec.suspend defers new revisions and steps.
	ReasonSuspended = "Suspended"

	// ReasonDrifted means that an unmanaged commit changed delivered files.
	ReasonDrifted = "Drifted"
)
