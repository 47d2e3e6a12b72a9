package advice

// deliveryReasons returns the reasons of a GitDelivery.
func deliveryReasons() map[string]Advice {
	return map[string]Advice{
		"Delivered":        good(),
		"RestoringDrift":   wait(WakeRetry, "Wait: the provider restores the files that another commit changed."),
		"DriftRestored":    over("Find out who made the commit named in the message."),
		"Pushing":          wait(WakeRetry, "Wait for the push, which may be queued behind other pushes to the same branch."),
		"Conflict":         outage(RepositoryOwner, WakeRetry, "Wait; if it lasts without pushes of other clients, look for a lock in the repository."),
		"PolicyDenied":     act(RepositoryOwner, WakeRetry, "Change the limit named in the message, in the Site, the configuration or the server, or change the spec."),
		"AuthFailed":       act(PlatformTeam, WakeSecret, "Correct the credentials in the Secret of the configuration."),
		"TrustFailed":      act(PlatformTeam, WakeSecret, "If the server was changed on purpose, correct the CA bundle, the known hosts or the URL."),
		"Unreachable":      outage(RepositoryOwner, WakeRetry, "Wait for the end of the outage; if it lasts, check the server and spec.git.url of the configuration."),
		"OrderBehind":      wait(WakeFunction, "Wait: the function reads the newer position; if it stays, another program writes the GitDelivery."),
		"Illegal":          act(PlatformTeam, WakeFunction, "Report the error: the function has a bug, or another program writes the GitDelivery."),
		"StateNewer":       act(PlatformTeam, WakeInstall, "Upgrade the provider."),
		"MemoryUnknown":    outage(RepositoryOwner, WakeRetry, "Wait until the repository can be read; if it lasts, check the server and spec.git.url of the configuration."),
		"StateRefused":     act(RepositoryOwner, WakeRetry, "Let the provider push the ref named in the message."),
		"StateUntrusted":   act(PlatformTeam, WakeRetry, "Correct the error in the message; find the account that pushes to the ref of the state, and remove that right."),
		"BranchLeft":       over("Remove the directories on the former branch, if no engine reads them."),
		"StateTwice":       outage(RepositoryOwner, WakeRetry, "Wait for the next push; if it stays, delete the ref named in the message."),
		"StateOnce":        good(),
		"NotOwner":         act(Author, WakeRetry, "Move the files named in the message, or set deliveryConfig.adopt to true."),
		"ObjectConflict":   act(Author, WakeWatch, "Give the service another name, or remove the object from the other deployment."),
		"OwnedElsewhere":   act(PlatformTeam, WakeRetry, "Find out which cluster writes there; docs/operations/after-a-loss.md has the steps to take over."),
		"Diverged":         act(RepositoryOwner, WakeRetry, "Find out who rewrote the branch; docs/operations/after-a-loss.md has the steps to continue."),
		"TreeGone":         act(Author, WakeEdit, "Change the intent: the repository has lost the files to restore."),
		"Drifted":          act(RepositoryOwner, WakeRetry, "Restore the files that another commit changed, or set deliveryConfig.driftPolicy to Restore."),
		"TooLarge":         act(Author, WakeEdit, "Deliver less, or let the owner of the repository raise the server's limit."),
		"CredentialsGone":  act(PlatformTeam, WakeSecret, "Create the configuration or its Secret again."),
		"SiteMissing":      act(PlatformTeam, WakeWatch, "Create the Site, or let it allow the namespace."),
		"DeliveryTimedOut": act(RepositoryOwner, WakeRequest, "Remove the cause named in the message, then change the intent or use kubectl intent retry."),
		"Invalid":          act(PlatformTeam, WakeSecret, "Correct the configuration according to the message."),
	}
}

// configReasons returns the reasons of a ProviderConfig and a ClusterProviderConfig, beside the reasons of a GitDelivery.
func configReasons() map[string]Advice {
	return map[string]Advice{
		"Reachable":     good(),
		"InUse":         act(PlatformTeam, WakeWatch, "Delete the deployments that use the configuration first."),
		"Signed":        good(),
		"StateUnsigned": over("Nothing, or give the configuration a signing key: a forged state could restore files."),
	}
}
