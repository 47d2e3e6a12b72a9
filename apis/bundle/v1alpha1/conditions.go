package v1alpha1

// Types of the conditions of a Bundle, beside Crossplane's Ready and Synced. All are always there.
const (
	// TypeValid says whether what was asked for can be carried out.
	TypeValid = "Valid"

	// TypeDeployed says whether each package runs what is asked for.
	TypeDeployed = "Deployed"

	// TypeRecorded says whether the record says what is deployed. Nothing waits for it.
	TypeRecorded = "Recorded"

	// TypeStalled says whether the Bundle makes no progress until a user acts.
	TypeStalled = "Stalled"

	// TypeReconciling says whether work goes on.
	TypeReconciling = "Reconciling"
)

// Reasons of the conditions of a Bundle, beside those of a package in its BundleState, which it repeats.
const (
	// ReasonValid means that what was asked for can be carried out.
	ReasonValid = "Valid"

	// ReasonInvalidSpec means that a field of the spec is wrong. Terminal.
	ReasonInvalidSpec = "InvalidSpec"

	// ReasonDeployed means that each package runs what is asked for.
	ReasonDeployed = "Deployed"

	// ReasonDegraded means that each package was deployed, and that one is not ready any more.
	ReasonDegraded = "Degraded"

	// ReasonDeploying means that packages are deployed or removed, or wait for others.
	ReasonDeploying = "Deploying"

	// ReasonHeldBack means that spec.suspend holds back what is asked for.
	ReasonHeldBack = "HeldBack"

	// ReasonRecorded means that the record says what is deployed.
	ReasonRecorded = "Recorded"

	// ReasonNotRecorded means that the record cannot be written. Deploying goes on.
	ReasonNotRecorded = "NotRecorded"

	// ReasonNotObserved means that it is not known.
	ReasonNotObserved = "NotObserved"

	// ReasonProgressing means that work goes on.
	ReasonProgressing = "Progressing"

	// ReasonIdle means that there is nothing to do.
	ReasonIdle = "Idle"
)
