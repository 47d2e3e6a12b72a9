package v1alpha1

// Types of the conditions of a Bundle, beside Crossplane's Ready and Synced. Each status has all of them.
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
	// ReasonValid means that the spec is valid and can be compiled.
	ReasonValid = "Valid"

	// ReasonInvalidSpec means that a field of the spec is invalid; the message names it. Terminal.
	ReasonInvalidSpec = "InvalidSpec"

	// ReasonDeployed means that each package runs its current spec.
	ReasonDeployed = "Deployed"

	// ReasonDegraded means that each package was deployed, and that a package became unready.
	ReasonDegraded = "Degraded"

	// ReasonDeploying means that packages are being deployed or removed, or wait for other packages.
	ReasonDeploying = "Deploying"

	// ReasonHeldBack means that spec.suspend holds back the current spec.
	ReasonHeldBack = "HeldBack"

	// ReasonRecorded means that the record equals the deployed state.
	ReasonRecorded = "Recorded"

	// ReasonNotRecorded means that the record cannot be written. The deployment continues.
	ReasonNotRecorded = "NotRecorded"

	// ReasonNotObserved means that the state is unknown, because it cannot be observed.
	ReasonNotObserved = "NotObserved"

	// ReasonProgressing means that the object is being reconciled.
	ReasonProgressing = "Progressing"

	// ReasonIdle means that no change is in progress.
	ReasonIdle = "Idle"
)
