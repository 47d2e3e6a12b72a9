package advice

// buildReasons returns the reasons of an ImageBuild.
func buildReasons() map[string]Advice {
	return map[string]Advice{
		"Built":                noActionAdvice(),
		"Building":             waitingAdvice(WakeWatch, "Wait until the Build has ended."),
		"Queued":               waitingAdvice(WakeWatch, "Wait: kpack begins after the running Build."),
		"Retrying":             waitingAdvice(WakeRetry, "Wait: the provider retries the Build."),
		"PodPending":           outageAdvice(PlatformTeam, WakeWatch, "Give the namespace room for the pod, or correct the error in the message."),
		"BuildFailed":          actionAdvice(Author, WakeEdit, "Read the log in status.build.logs, and push a commit that builds; or set another spec.source.trigger."),
		"BuildDisrupted":       actionAdvice(PlatformTeam, WakeEdit, "Repair the nodes, or the cause named in the message; then set another spec.source.trigger."),
		"RebuildLoop":          outageAdvice(PlatformTeam, WakeRetry, "Name the run image of the builder's stack by its digest; the provider accepts the next image after the hour."),
		"BuilderNotReady":      outageAdvice(PlatformTeam, WakeWatch, "Correct the builder according to the message."),
		"BuilderMissing":       actionAdvice(PlatformTeam, WakeCatalog, "Create the builder, or name one in spec.build.builder of the configuration or of the Application."),
		"KpackMissing":         actionAdvice(PlatformTeam, WakeInstall, "Install kpack: the provider detects it."),
		"ImageRefused":         actionAdvice(Author, WakeEdit, "Correct the error in the message; the provider retries each minute."),
		"RevisionNotFound":     actionAdvice(Author, WakeRetry, "Push the branch or the tag, or correct source.git.revision."),
		"RevisionAmbiguous":    actionAdvice(Author, WakeEdit, "Put refs/heads/ or refs/tags/ before the name in source.git.revision."),
		"SourceUnreachable":    outageAdvice(RepositoryOwner, WakeRetry, "Wait until the Git server is reachable. The running image stays."),
		"SourceDenied":         actionAdvice(Author, WakeRetry, "Correct the URL or the credentials according to the message."),
		"CredentialsGone":      actionAdvice(Author, WakeSecret, "Create the Secret that source.git.secretRef names, with the key named in the message."),
		"NameTaken":            actionAdvice(Author, WakeRetry, "Choose another name, or delete the Image of kpack named in the message."),
		"ForeignImage":         actionAdvice(PlatformTeam, WakeWatch, "Find out who wrote the status of the Build named in the message, and delete that Build; the next commit is built."),
		"ConfigurationMissing": actionAdvice(PlatformTeam, WakeCatalog, "Create the ClusterProviderConfig named in the message."),
		"PolicyDenied":         actionAdvice(PlatformTeam, WakeCatalog, "Keep to the limit named in the message, or change spec.build of the configuration."),
		"Invalid":              actionAdvice(Author, WakeEdit, "Correct the field named in the message."),
		"NotObserved":          waitingAdvice(WakeRetry, "Wait for the first check of the repository; if it stays, check the provider."),
		"StepFailed":           actionAdvice(Author, WakeEdit, "Read the log in status.build.logs."),
		"Evicted":              waitingAdvice(WakeRetry, "Wait: the provider retries the Build, up to build.retries times."),
		"PodDeleted":           waitingAdvice(WakeRetry, "Wait: the provider retries the Build, up to build.retries times."),
		"NodeLost":             waitingAdvice(WakeRetry, "Wait: the provider retries the Build, up to build.retries times."),
		"Preempted":            waitingAdvice(WakeRetry, "Wait: the provider retries the Build, up to build.retries times."),
		"DeadlineExceeded":     actionAdvice(Author, WakeEdit, "Raise build.timeout, or make the build faster."),
		"NotStarted":           outageAdvice(PlatformTeam, WakeRetry, "Correct the error in the message, such as a missing service account."),
	}
}
