package v1alpha1

// Types of the conditions of a Bundle, beside Crossplane's Ready and Synced. All are always there.
const (
	// TypeValid reports whether the spec is valid and can be applied.
	TypeValid = "Valid"

	// TypeDeployed reports whether each package runs its current spec.
	TypeDeployed = "Deployed"

	// TypeRecorded reports whether the record equals the deployed state. No other step waits for it.
	TypeRecorded = "Recorded"

	// TypeStalled reports whether the Bundle makes no progress until a user acts.
	TypeStalled = "Stalled"

	// TypeReconciling reports whether the object is being reconciled.
	TypeReconciling = "Reconciling"
)

// Reasons of the conditions of a Bundle, beside the reasons of a package in its BundleState, which it repeats.
const (
	// ReasonValid means that the spec is valid and can be carried out.
	ReasonValid = "Valid"

	// ReasonInvalidSpec means that a field of the spec is wrong. Terminal.
	ReasonInvalidSpec = "InvalidSpec"

	// ReasonDeployed means that each package runs its current spec.
	ReasonDeployed = "Deployed"

	// ReasonDegraded means that each package was deployed, and that one is not ready any more.
	ReasonDegraded = "Degraded"

	// ReasonDeploying means that packages are deployed or removed, or wait for others.
	ReasonDeploying = "Deploying"

	// ReasonHeldBack means that spec.suspend holds back the current spec.
	ReasonHeldBack = "HeldBack"

	// ReasonRecorded means that the record equals the deployed state.
	ReasonRecorded = "Recorded"

	// ReasonNotRecorded means that the record cannot be written. The deployment continues.
	ReasonNotRecorded = "NotRecorded"

	// ReasonNotObserved means that it is not known.
	ReasonNotObserved = "NotObserved"

	// ReasonProgressing means that the object is being reconciled.
	ReasonProgressing = "Progressing"

	// ReasonIdle means that there is nothing to do.
	ReasonIdle = "Idle"
)
