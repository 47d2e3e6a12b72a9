package advice

// pruneReasons returns the reasons of a PruneRequest.
func pruneReasons() map[string]Advice {
	const retry = "make another PruneRequest."
	return map[string]Advice{
		"Planned":          noActionAdvice(),
		"NothingToPrune":   finalAdvice("Nothing: no item may be removed. status.plan has the reason for each."),
		"AwaitingApproval": actionAdvice(PlatformTeam, WakeWatch, "Read status.plan, then make a PruneApproval, or let the plan expire."),
		"Approved":         noActionAdvice(),
		"Pruning":          waitingAdvice(WakeRetry, "Wait for the push, which may be queued behind other pushes to the same branch, or for the removal of the packages."),
		"Pruned":           finalAdvice("Nothing: the directories and packages of the plan are removed."),
		"PlanChanged":      finalAdvice("Review the changes, and " + retry),
		"Expired":          finalAdvice("To prune nevertheless, " + retry),
		"Uncertain":        actionAdvice(PlatformTeam, WakePrune, "Remove the cause named in the message, and "+retry),
		"StateUntrusted":   actionAdvice(PlatformTeam, WakePrune, "Remove the cause named in the message, according to docs/operations/after-a-loss.md, and "+retry),
		"NotInPlan":        actionAdvice(Author, WakePrune, "Correct spec.only, and "+retry),
		"MostOfRepository": actionAdvice(Author, WakePrune, "Find out why most directories have no owner. If that is correct, set spec.allowMost: "+retry),
		"TooMany":          actionAdvice(Author, WakePrune, "Name a part of the plan in spec.only: "+retry),
		"Invalid":          actionAdvice(PlatformTeam, WakeRetry, "Correct the configuration according to the message."),
		"CredentialsGone":  actionAdvice(PlatformTeam, WakeRetry, "Create the configuration or its Secret again, or correct spec.providerConfigRef in another request."),
		"PolicyDenied":     actionAdvice(RepositoryOwner, WakeRetry, "Allow the use named in the message, in the configuration or the server."),
		"AuthFailed":       actionAdvice(PlatformTeam, WakeRetry, "Correct the credentials in the Secret of the configuration."),
		"TrustFailed":      actionAdvice(PlatformTeam, WakeRetry, "If the server was changed on purpose, correct the CA bundle, the known hosts or the URL."),
		"StateRefused":     actionAdvice(RepositoryOwner, WakeRetry, "Let the provider push the ref named in the message."),
		"TooLarge":         actionAdvice(RepositoryOwner, WakeRetry, "Divide the repository, or raise the server's limit: the message has the exceeded limit."),
		"Conflict":         outageAdvice(RepositoryOwner, WakeRetry, "Wait; if it lasts without pushes of other clients, look for a lock in the repository."),
		"Unreachable":      outageAdvice(RepositoryOwner, WakeRetry, "Wait for the end of the outage; if it lasts, check the server and spec.git.url of the configuration."),
	}
}

// pruneApprovalReasons returns the reasons of a PruneApproval.
func pruneApprovalReasons() map[string]Advice {
	return map[string]Advice{
		"Accepted":       noActionAdvice(),
		"UnknownRequest": finalAdvice("Make the approval in the namespace of the request, and with its name."),
		"OtherRequest":   finalAdvice("Read the plan of the current request, and approve that plan."),
		"OtherPlan":      finalAdvice("Read status.plan of the request, and approve its digest."),
		"TooLate":        finalAdvice("Make another PruneRequest, and approve its plan within an hour."),
	}
}
