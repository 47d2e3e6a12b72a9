package v1alpha1

// Types of the conditions of an Application, beside Crossplane's Ready and Synced. Each status has all of them.
const (
	// TypeValid reports whether the spec is valid and can be applied.
	TypeValid = "Valid"

	// TypeSourceResolved reports whether the commit of the requested revision is known. An image needs no commit.
	TypeSourceResolved = "SourceResolved"

	// TypeBuilt reports whether the current spec has an image.
	TypeBuilt = "Built"

	// TypeDeployed reports whether the deployment of the image was verified.
	TypeDeployed = "Deployed"

	// TypeAvailable reports whether each Site has a pod that serves, of this image or of an earlier image.
	TypeAvailable = "Available"

	// TypeRouted reports whether each Gateway accepted the route.
	TypeRouted = "Routed"

	// TypeStalled reports whether the Application makes no progress until a user acts.
	TypeStalled = "Stalled"

	// TypeReconciling reports whether the object is being reconciled.
	TypeReconciling = "Reconciling"
)

// Reasons of the conditions of an Application, beside the reasons of its ImageBuild and of the Sites in its SiteHealth, which it repeats.
const (
	// ReasonValid means that the spec is valid and can be compiled.
	ReasonValid = "Valid"

	// ReasonInvalidSpec means that a field of the spec is invalid; the message names it. Terminal.
	ReasonInvalidSpec = "InvalidSpec"

	// ReasonNameTaken means that an object of the Application's name exists that does not belong to it. Nothing was written. Terminal.
	ReasonNameTaken = "NameTaken"

	// ReasonAwaitingDeletion means that an object of the Application's name that does not belong to it is being deleted.
	ReasonAwaitingDeletion = "AwaitingDeletion"

	// ReasonNotRequired means that the step is not needed: the spec names an image, or requests no route.
	ReasonNotRequired = "NotRequired"

	// ReasonMissing means that an object that the Application needs is missing. The message names it.
	ReasonMissing = "Missing"

	// ReasonResolved means that the commit is known.
	ReasonResolved = "Resolved"

	// ReasonWaiting means that the build waits: for its commit, for kpack, or for a build that runs. A built image without a record waits for its approval.
	ReasonWaiting = "Waiting"

	// ReasonBuilding means that the image is being built.
	ReasonBuilding = "Building"

	// ReasonBuilt means that the image of the requested commit was built.
	ReasonBuilt = "Built"

	// ReasonBuildFailed means that the build of the requested commit failed. Terminal.
	ReasonBuildFailed = "BuildFailed"

	// ReasonBuildDisrupted means that the build of the wanted commit failed for another cause than its source, and that no retry is left. Terminal.
	ReasonBuildDisrupted = "BuildDisrupted"

	// ReasonRebuildFailed means that the requested commit was built, and that a later build of it failed.
	ReasonRebuildFailed = "RebuildFailed"

	// ReasonNoImage means that the current spec has no image yet that could be deployed.
	ReasonNoImage = "NoImage"

	// ReasonHeldBack means that spec.deploy.suspend, or a newer version of the function, holds back the current spec.
	ReasonHeldBack = "HeldBack"

	// ReasonDeployed means that the deployment of the image was verified.
	ReasonDeployed = "Deployed"

	// ReasonDeploying means that the image is being delivered, or is judged.
	ReasonDeploying = "Deploying"

	// ReasonDeploymentFailed means that the deployment of the image failed. Terminal.
	ReasonDeploymentFailed = "DeploymentFailed"

	// ReasonRolledBack means that the revision with the image was rolled back. Terminal.
	ReasonRolledBack = "RolledBack"

	// ReasonServing means that each Site has an available pod of the image.
	ReasonServing = "Serving"

	// ReasonEarlierImage means that each Site has available pods, at some of them of an earlier image, while this one is not delivered everywhere.
	ReasonEarlierImage = "EarlierImage"

	// ReasonNotDelivered means that the image is not delivered yet, and that no earlier image serves, or that no deployment of the spec has succeeded yet.
	ReasonNotDelivered = "NotDelivered"

	// ReasonNotObserved means that the state is unknown, because it cannot be observed.
	ReasonNotObserved = "NotObserved"

	// ReasonAccepted means that each Gateway accepted the route.
	ReasonAccepted = "Accepted"

	// ReasonProgressing means that the object is being reconciled.
	ReasonProgressing = "Progressing"

	// ReasonIdle means that no change is in progress.
	ReasonIdle = "Idle"
)
