package application

// Reasons of what is built, and of what is missing before. No composite gives them yet.
const (
	// ReasonMissing means that something is missing that the Application needs. Its message says what.
	ReasonMissing = "Missing"

	// ReasonResolved means that the commit is known.
	ReasonResolved = "Resolved"

	// ReasonWaiting means that the build waits: for its commit, a builder, or a build that runs.
	ReasonWaiting = "Waiting"

	// ReasonBuilding means that the image is being built.
	ReasonBuilding = "Building"

	// ReasonBuilt means that the image of the commit that is asked for was built.
	ReasonBuilt = "Built"

	// ReasonBuildFailed means that the build of the commit that is asked for failed. Terminal.
	ReasonBuildFailed = "BuildFailed"

	// ReasonRebuildFailed means that the commit that is asked for was built, and that a later build of it failed.
	ReasonRebuildFailed = "RebuildFailed"

	// ReasonNoImage means that what is asked for has no image yet that could be deployed.
	ReasonNoImage = "NoImage"
)
