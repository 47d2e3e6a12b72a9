package advice

// bundleReasons returns the reasons of a Bundle, beside the reasons of the packages in its BundleState.
func bundleReasons() map[string]Advice {
	return map[string]Advice{
		"Valid":       good(),
		"InvalidSpec": act(Author, WakeEdit, "Correct the field that the message names."),
		"Deployed":    good(),
		"Degraded":    outage(Author, WakeWatch, "Wait; if it lasts, look at the package that the message names: kubectl intent why."),
		"Deploying":   wait(WakeWatch, "Wait: status.packages has the reason of each waiting package."),
		"HeldBack":    act(Author, WakeEdit, "Set spec.suspend to false."),
		"Recorded":    good(),
		"NotRecorded": act(PlatformTeam, WakeRetry, "Correct the error in the message: deploying goes on without a record."),
		"NotObserved": outage(PlatformTeam, WakeWatch, "Wait; if it stays, look at the provider."),
		"Progressing": wait(WakeWatch, "Wait: work goes on."),
		"Idle":        good(),
	}
}

// bundleStateReasons returns the reasons of a BundleState and of its packages.
func bundleStateReasons() map[string]Advice {
	return map[string]Advice{
		"Deployed":           good(),
		"Degraded":           outage(Author, WakeWatch, "Wait; if it lasts, look at the package that the message names: kubectl intent why."),
		"Deploying":          wait(WakeWatch, "Wait: status.atProvider.packages has the reason of each waiting package."),
		"AwaitingDependency": wait(WakeWatch, "Wait for the package that the message names."),
		"AwaitingDependents": wait(WakeWatch, "Wait until the package is gone that the message names, or disable it, too."),
		"AwaitingDeletion":   wait(WakeWatch, "Wait until the object is gone."),
		"InProgress":         wait(WakeWatch, "Wait: kubectl intent why shows the cause of the wait."),
		"Suspended":          act(Author, WakeEdit, "Set suspend of the Bundle, or of the package, to false."),
		"Disabled":           good(),
		"Missing":            act(Author, WakeRetry, "Deploy the object that the message names, or leave the package out."),
		"NotReady":           outage(Author, WakeWatch, "Wait; if it lasts, look at the package: kubectl intent why."),
		"NameTaken":          act(Author, WakeWatch, "Give the package another name, delete the object, or set adopt if its spec is equal."),
		"PackageConflict":    act(Author, WakeWatch, "Give both bundles the same spec of the package, or one of the packages another name."),
		"KindMissing":        act(PlatformTeam, WakeRetry, "Install the Configuration of the kind."),
		"Refused":            act(Author, WakeEdit, "Correct the package as the message says, or the right or the policy that refuses it."),
		"DeploymentFailed":   act(Author, WakeRequest, "Correct the error in the message; kubectl intent why shows its cause."),
		"RolledBack":         act(Author, WakeRequest, "Ask for something else, or deliver it again: kubectl intent retry."),
		"UsedByBundle":       wait(WakeWatch, "Wait until no bundle that the message names uses the package, or enable it again."),
		"RemovalBlocked":     act(RepositoryOwner, WakeRetry, "Remove the obstacle that the message names: it keeps the files."),
		"Unreferenced":       wait(WakeEdit, "Take the package into a Bundle again, or remove it: kubectl intent prune."),
	}
}
