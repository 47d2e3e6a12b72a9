package advice

// bundleReasons returns the reasons of a Bundle, beside the reasons of the packages in its BundleState.
func bundleReasons() map[string]Advice {
	return map[string]Advice{
		"Valid":       good(),
		"InvalidSpec": act(Author, WakeEdit, "Correct the field named in the message."),
		"Deployed":    good(),
		"Degraded":    outage(Author, WakeWatch, "Wait; if it lasts, check the package named in the message: kubectl intent why."),
		"Deploying":   wait(WakeWatch, "Wait: status.packages has the reason of each waiting package."),
		"HeldBack":    act(Author, WakeEdit, "Set spec.suspend to false."),
		"Recorded":    good(),
		"NotRecorded": act(PlatformTeam, WakeRetry, "Correct the error in the message: the deployment continues without a record."),
		"NotObserved": outage(PlatformTeam, WakeWatch, "Wait; if it stays, check the provider."),
		"Progressing": wait(WakeWatch, "Wait: the object is being reconciled."),
		"Idle":        good(),
	}
}

// bundleStateReasons returns the reasons of a BundleState and of its packages.
func bundleStateReasons() map[string]Advice {
	return map[string]Advice{
		"Deployed":           good(),
		"Degraded":           outage(Author, WakeWatch, "Wait; if it lasts, check the package named in the message: kubectl intent why."),
		"Deploying":          wait(WakeWatch, "Wait: status.atProvider.packages has the reason of each waiting package."),
		"AwaitingDependency": wait(WakeWatch, "Wait for the package named in the message."),
		"AwaitingDependents": wait(WakeWatch, "Wait for the removal of the package named in the message, or disable it, too."),
		"AwaitingDeletion":   wait(WakeWatch, "Wait for the deletion of the object."),
		"InProgress":         wait(WakeWatch, "Wait: kubectl intent why shows the cause of the wait."),
		"Suspended":          act(Author, WakeEdit, "Set suspend of the Bundle, or of the package, to false."),
		"Disabled":           good(),
		"Missing":            act(Author, WakeRetry, "Deploy the object named in the message, or leave the package out."),
		"NotReady":           outage(Author, WakeWatch, "Wait; if it lasts, check the package: kubectl intent why."),
		"NameTaken":          act(Author, WakeWatch, "Give the package another name, delete the object, or set adopt if its spec is equal."),
		"PackageConflict":    act(Author, WakeWatch, "Give both bundles the same spec of the package, or one of the packages another name."),
		"KindMissing":        act(PlatformTeam, WakeRetry, "Install the Configuration of the kind."),
		"Refused":            act(Author, WakeEdit, "Correct the package according to the message, or the right or the policy that refuses it."),
		"DeploymentFailed":   act(Author, WakeRequest, "Correct the error in the message; kubectl intent why shows its cause."),
		"RolledBack":         act(Author, WakeRequest, "Change the package, or deliver its revision again: kubectl intent retry."),
		"UsedByBundle":       wait(WakeWatch, "Wait until no bundle named in the message uses the package, or enable it again."),
		"RemovalBlocked":     act(RepositoryOwner, WakeRetry, "Remove the obstacle named in the message: it keeps the files."),
		"Unreferenced":       wait(WakeEdit, "Add the package to a Bundle again, or remove it: kubectl intent prune."),
	}
}
