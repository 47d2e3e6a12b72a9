package advice

// bundleReasons returns the reasons of a Bundle, beside the reasons of the packages in its BundleState.
func bundleReasons() map[string]Advice {
	return map[string]Advice{
		"Valid":       noActionAdvice(),
		"InvalidSpec": actionAdvice(Author, WakeEdit, "Correct the field named in the message."),
		"Deployed":    noActionAdvice(),
		"Degraded":    outageAdvice(Author, WakeWatch, "Wait; if it lasts, check the package named in the message: kubectl intent why."),
		"Deploying":   waitingAdvice(WakeWatch, "Wait: status.packages has the reason of each waiting package."),
		"HeldBack":    actionAdvice(Author, WakeEdit, "Set spec.suspend to false."),
		"Recorded":    noActionAdvice(),
		"NotRecorded": actionAdvice(PlatformTeam, WakeRetry, "Correct the error in the message: the deployment continues without a record."),
		"NotObserved": outageAdvice(PlatformTeam, WakeWatch, "Wait; if it stays, check the provider."),
		"Progressing": waitingAdvice(WakeWatch, "Wait: the object is being reconciled."),
		"Idle":        noActionAdvice(),
	}
}

// bundleStateReasons returns the reasons of a BundleState and of its packages.
func bundleStateReasons() map[string]Advice {
	return map[string]Advice{
		"Deployed":           noActionAdvice(),
		"Degraded":           outageAdvice(Author, WakeWatch, "Wait; if it lasts, check the package named in the message: kubectl intent why."),
		"Deploying":          waitingAdvice(WakeWatch, "Wait: status.atProvider.packages has the reason of each waiting package."),
		"AwaitingDependency": waitingAdvice(WakeWatch, "Wait for the package named in the message."),
		"AwaitingDependents": waitingAdvice(WakeWatch, "Wait for the removal of the package named in the message, or disable it, too."),
		"AwaitingDeletion":   waitingAdvice(WakeWatch, "Wait for the deletion of the object."),
		"InProgress":         waitingAdvice(WakeWatch, "Wait: kubectl intent why shows the cause of the wait."),
		"Suspended":          actionAdvice(Author, WakeEdit, "Set suspend of the Bundle, or of the package, to false."),
		"Disabled":           noActionAdvice(),
		"Missing":            actionAdvice(Author, WakeRetry, "Deploy the object named in the message, or leave the package out."),
		"NotReady":           outageAdvice(Author, WakeWatch, "Wait; if it lasts, check the package: kubectl intent why."),
		"NameTaken":          actionAdvice(Author, WakeWatch, "Give the package another name, delete the object, or set adopt if its spec is equal."),
		"PackageConflict":    actionAdvice(Author, WakeWatch, "Give both bundles the same spec of the package, or one of the packages another name."),
		"KindMissing":        actionAdvice(PlatformTeam, WakeRetry, "Install the Configuration of the kind."),
		"Refused":            actionAdvice(Author, WakeEdit, "Correct the package according to the message, or the right or the policy that refuses it."),
		"DeploymentFailed":   actionAdvice(Author, WakeRequest, "Correct the error in the message; kubectl intent why shows its cause."),
		"RolledBack":         actionAdvice(Author, WakeRequest, "Change the package, or deliver its revision again: kubectl intent retry."),
		"UsedByBundle":       waitingAdvice(WakeWatch, "Wait until no bundle named in the message uses the package, or enable it again."),
		"RemovalBlocked":     actionAdvice(RepositoryOwner, WakeRetry, "Remove the obstacle named in the message: it keeps the files."),
		"Unreferenced":       waitingAdvice(WakeEdit, "Add the package to a Bundle again, or remove it: kubectl intent prune."),
	}
}
