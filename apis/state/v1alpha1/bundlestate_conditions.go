package v1alpha1

import xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

// Reasons of a BundleState's Ready condition, beside the reasons of a failed package: the reason of the first failed package counts.
const (
	// ReasonDeployed means that each package runs its requested spec.
	ReasonDeployed xpv2.ConditionReason = "Deployed"

	// ReasonDegraded means that each package was deployed, and that a package became unready.
	ReasonDegraded xpv2.ConditionReason = "Degraded"

	// ReasonDeploying means that packages are being deployed or removed, or wait for other packages.
	ReasonDeploying xpv2.ConditionReason = "Deploying"
)

// Reasons of a package that does not have status success.
const (
	// PackageReasonAwaitingDependency means that a dependency of the package does not run its requested spec yet.
	PackageReasonAwaitingDependency = "AwaitingDependency"

	// PackageReasonAwaitingDependents means that the package is removed after its dependents.
	PackageReasonAwaitingDependents = "AwaitingDependents"

	// PackageReasonAwaitingDeletion means that an object of its name is being deleted, and that the package is created after the deletion.
	PackageReasonAwaitingDeletion = "AwaitingDeletion"

	// PackageReasonInProgress means that the deployment of the package is being delivered, or is judged.
	PackageReasonInProgress = "InProgress"

	// PackageReasonSuspended means that the Bundle, or the package itself, is suspended.
	PackageReasonSuspended = "Suspended"

	// PackageReasonDisabled means that it is not enabled.
	PackageReasonDisabled = "Disabled"

	// PackageReasonMissing means that an existing package does not exist.
	PackageReasonMissing = "Missing"

	// PackageReasonNotReady means that the package was deployed, and became unready.
	PackageReasonNotReady = "NotReady"

	// PackageReasonNameTaken means that an object of its name exists that no bundle created. The provider does not write it.
	PackageReasonNameTaken = "NameTaken"

	// PackageReasonConflict means that another bundle of the namespace has a package of its name with another spec.
	PackageReasonConflict = "PackageConflict"

	// PackageReasonKindMissing means that its kind is not installed.
	PackageReasonKindMissing = "KindMissing"

	// PackageReasonRefused means that the API server refuses its spec.
	PackageReasonRefused = "Refused"

	// PackageReasonFailed means that its deployment failed.
	PackageReasonFailed = "DeploymentFailed"

	// PackageReasonRolledBack means that its revision was rolled back.
	PackageReasonRolledBack = "RolledBack"

	// PackageReasonUsedByBundle means that the provider does not remove the package, since another bundle waits for it, or the record of another bundle
	// names it.
	PackageReasonUsedByBundle = "UsedByBundle"

	// PackageReasonRemovalBlocked means that it is being deleted, and that its files cannot be removed.
	PackageReasonRemovalBlocked = "RemovalBlocked"

	// PackageReasonUnreferenced means that it left the bundle, and is still in the cluster.
	PackageReasonUnreferenced = "Unreferenced"
)
