package advice

// Reasons that no object of Intentplane has. They are computed from the status of Crossplane's objects, and from the generations of our own objects.
const (
	// ReasonBeingDeleted means that the object is being deleted, and that something of it is still there.
	ReasonBeingDeleted = "BeingDeleted"

	// ReasonWatchCircuitOpen means that Crossplane's circuit breaker is open: Crossplane stopped watching the composite, since too many events came within a
	// short time.
	ReasonWatchCircuitOpen = "WatchCircuitOpen"

	// ReasonCannotCompose means that Crossplane cannot call the function, or cannot apply its response.
	ReasonCannotCompose = "CannotCompose"

	// ReasonRightMissing means that an API server refused a request of the provider, or of Crossplane, for a right that it lacks.
	ReasonRightMissing = "RightMissing"

	// ReasonNotComposed means that the status is not about the current spec: Crossplane or the function has not observed it yet.
	ReasonNotComposed = "NotComposed"

	// ReasonNotReconciled means that the provider has not observed the current generation of an object.
	ReasonNotReconciled = "NotReconciled"

	// ReasonProviderStopped means that the provider has not observed the current generation of an object, and that its lease is not renewed.
	ReasonProviderStopped = "ProviderStopped"

	// ReasonDefinitionNotActive means that Crossplane does not serve the kind, or a kind that it is composed of.
	ReasonDefinitionNotActive = "DefinitionNotActive"

	// ReasonPackageUnhealthy means that Crossplane reports a package of Intentplane as not installed or not healthy.
	ReasonPackageUnhealthy = "PackageUnhealthy"
)

// Installation is the reasons of the parts of the installation: Crossplane, the function, the provider and their packages.
const Installation Kind = "Installation"

// installationReasons returns the reasons of the parts of the installation.
func installationReasons() map[string]Advice {
	return map[string]Advice{
		ReasonBeingDeleted:        waitingAdvice(WakeWatch, "Wait for the deletion; if it stays, its GitDeliveries and finalizers name the obstacle."),
		ReasonWatchCircuitOpen:    outageAdvice(PlatformTeam, WakeCrossplane, "Wait five minutes, then use kubectl intent refresh; if it opens again, find the controller that writes the object so often."),
		ReasonCannotCompose:       actionAdvice(PlatformTeam, WakeInstall, "Check the function: kubectl get functions.pkg.crossplane.io, then the log of its Pod."),
		ReasonRightMissing:        actionAdvice(PlatformTeam, WakeInstall, "Grant the right named in the message: kubectl apply -k examples/rbac; kubectl intent doctor shows the other missing rights."),
		ReasonNotComposed:         outageAdvice(PlatformTeam, WakeInstall, "Wait a moment; if it stays, check the Pods of the function and of Crossplane."),
		ReasonNotReconciled:       outageAdvice(PlatformTeam, WakeInstall, "Wait a moment; if it stays, check the provider: kubectl get providers.pkg.crossplane.io, then its Pod's log."),
		ReasonProviderStopped:     actionAdvice(PlatformTeam, WakeInstall, "Start the provider: kubectl get providers.pkg.crossplane.io, then check its Pod."),
		ReasonDefinitionNotActive: actionAdvice(PlatformTeam, WakeInstall, "Activate the definition: docs/install.md has the steps, and kubectl describe of the definition shows the missing parts."),
		ReasonPackageUnhealthy:    actionAdvice(PlatformTeam, WakeInstall, "Repair the package: kubectl describe shows its conditions."),
	}
}
