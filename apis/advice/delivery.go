package advice

// deliveryReasons returns the reasons of a GitDelivery.
func deliveryReasons() map[string]Advice {
	return map[string]Advice{
		"Delivered":        noActionAdvice(),
		"RestoringDrift":   waitingAdvice(WakeRetry, "Wait: the provider restores the files that another commit changed."),
		"DriftRestored":    finalAdvice("Find out who made the commit named in the message."),
		"Pushing":          waitingAdvice(WakeRetry, "Wait for the push, which may be queued behind other pushes to the same branch."),
		"Conflict":         outageAdvice(RepositoryOwner, WakeRetry, "Wait; if it lasts without pushes of other clients, look for a lock in the repository."),
		"PolicyDenied":     actionAdvice(RepositoryOwner, WakeRetry, "Change the limit named in the message, in the Site, the configuration or the server, or change the spec."),
		"AuthFailed":       actionAdvice(PlatformTeam, WakeSecret, "Correct the credentials in the Secret of the configuration."),
		"TrustFailed":      actionAdvice(PlatformTeam, WakeSecret, "If the server was changed on purpose, correct the CA bundle, the known hosts or the URL."),
		"Unreachable":      outageAdvice(RepositoryOwner, WakeRetry, "Wait for the end of the outage; if it lasts, check the server and spec.git.url of the configuration."),
		"OrderBehind":      waitingAdvice(WakeFunction, "Wait: the function reads the newer position; if it stays, another program writes the GitDelivery."),
		"Illegal":          actionAdvice(PlatformTeam, WakeFunction, "Report the error: the function has a bug, or another program writes the GitDelivery."),
		"StateNewer":       actionAdvice(PlatformTeam, WakeInstall, "Upgrade the provider."),
		"MemoryUnknown":    outageAdvice(RepositoryOwner, WakeRetry, "Wait until the repository can be read; if it lasts, check the server and spec.git.url of the configuration."),
		"StateRefused":     actionAdvice(RepositoryOwner, WakeRetry, "Let the provider push the ref named in the message."),
		"StateUntrusted":   actionAdvice(PlatformTeam, WakeRetry, "Correct the error in the message; find the account that pushes to the ref of the state, and remove that right."),
		"BranchLeft":       finalAdvice("Remove the directories on the former branch, if no engine reads them."),
		"StateTwice":       outageAdvice(RepositoryOwner, WakeRetry, "Wait for the next push; if it stays, delete the ref named in the message."),
		"StateOnce":        noActionAdvice(),
		"NotOwner":         actionAdvice(Author, WakeRetry, "Move the files named in the message, or set deliveryConfig.adopt to true."),
		"ObjectConflict":   actionAdvice(Author, WakeWatch, "Give the service another name, or remove the object from the other deployment."),
		"OwnedElsewhere":   actionAdvice(PlatformTeam, WakeRetry, "Find out which cluster writes there; docs/operations/after-a-loss.md has the steps to take over."),
		"Diverged":         actionAdvice(RepositoryOwner, WakeRetry, "Find out who rewrote the branch; docs/operations/after-a-loss.md has the steps to continue."),
		"TreeGone":         actionAdvice(Author, WakeEdit, "Change the intent: the repository has lost the files to restore."),
		"Drifted":          actionAdvice(RepositoryOwner, WakeRetry, "Restore the files that another commit changed, or set deliveryConfig.driftPolicy to Restore."),
		"TooLarge":         actionAdvice(Author, WakeEdit, "Deliver less, or let the owner of the repository raise the server's limit."),
		"CredentialsGone":  actionAdvice(PlatformTeam, WakeSecret, "Create the configuration or its Secret again."),
		"SiteMissing":      actionAdvice(PlatformTeam, WakeWatch, "Create the Site, or let it allow the namespace."),
		"DeliveryTimedOut": actionAdvice(RepositoryOwner, WakeRequest, "Remove the cause named in the message, then change the intent or use kubectl intent retry."),
		"Invalid":          actionAdvice(PlatformTeam, WakeSecret, "Correct the configuration according to the message."),
	}
}

// configReasons returns the reasons of a ProviderConfig and a ClusterProviderConfig, beside the reasons of a GitDelivery.
func configReasons() map[string]Advice {
	return map[string]Advice{
		"Reachable":     noActionAdvice(),
		"InUse":         actionAdvice(PlatformTeam, WakeWatch, "Delete the deployments that use the configuration first."),
		"Signed":        noActionAdvice(),
		"StateUnsigned": finalAdvice("Nothing, or give the configuration a signing key: a forged state could restore files."),
	}
}
