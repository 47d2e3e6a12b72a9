package advice

// buildReasons returns the reasons of an ImageBuild.
func buildReasons() map[string]Advice {
	return map[string]Advice{
		"Built":                good(),
		"Building":             wait(WakeWatch, "Wait until the Build has ended."),
		"Queued":               wait(WakeWatch, "Wait: kpack begins after the running Build."),
		"Retrying":             wait(WakeRetry, "Wait: the provider retries the Build."),
		"PodPending":           outage(PlatformTeam, WakeWatch, "Give the namespace room for the pod, or correct the error in the message."),
		"BuildFailed":          act(Author, WakeEdit, "Read the log in status.build.logs, and push a commit that builds; or set another spec.source.trigger."),
		"BuildDisrupted":       act(PlatformTeam, WakeEdit, "Repair the nodes, or the cause named in the message; then set another spec.source.trigger."),
		"RebuildLoop":          outage(PlatformTeam, WakeRetry, "Name the run image of the builder's stack by its digest; the provider accepts the next image after the hour."),
		"BuilderNotReady":      outage(PlatformTeam, WakeWatch, "Correct the builder according to the message."),
		"BuilderMissing":       act(PlatformTeam, WakeCatalog, "Create the builder, or name one in spec.build.builder of the configuration or of the Application."),
		"KpackMissing":         act(PlatformTeam, WakeInstall, "Install kpack: the provider detects it."),
		"ImageRefused":         act(Author, WakeEdit, "Correct the error in the message; the provider retries each minute."),
		"RevisionNotFound":     act(Author, WakeRetry, "Push the branch or the tag, or correct source.git.revision."),
		"RevisionAmbiguous":    act(Author, WakeEdit, "Put refs/heads/ or refs/tags/ before the name in source.git.revision."),
		"SourceUnreachable":    outage(RepositoryOwner, WakeRetry, "Wait until the Git server is reachable. The running image stays."),
		"SourceDenied":         act(Author, WakeRetry, "Correct the URL or the credentials according to the message."),
		"CredentialsGone":      act(Author, WakeSecret, "Create the Secret that source.git.secretRef names, with the key named in the message."),
		"NameTaken":            act(Author, WakeRetry, "Choose another name, or delete the Image of kpack named in the message."),
		"ForeignImage":         act(PlatformTeam, WakeWatch, "Find out who wrote the status of the Build named in the message, and delete that Build; the next commit is built."),
		"ConfigurationMissing": act(PlatformTeam, WakeCatalog, "Create the ClusterProviderConfig named in the message."),
		"PolicyDenied":         act(PlatformTeam, WakeCatalog, "Keep to the limit named in the message, or change spec.build of the configuration."),
		"Invalid":              act(Author, WakeEdit, "Correct the field named in the message."),
		"NotObserved":          wait(WakeRetry, "Wait for the first check of the repository; if it stays, check the provider."),
		"StepFailed":           act(Author, WakeEdit, "Read the log in status.build.logs."),
		"Evicted":              wait(WakeRetry, "Wait: the provider retries the Build, up to build.retries times."),
		"PodDeleted":           wait(WakeRetry, "Wait: the provider retries the Build, up to build.retries times."),
		"NodeLost":             wait(WakeRetry, "Wait: the provider retries the Build, up to build.retries times."),
		"Preempted":            wait(WakeRetry, "Wait: the provider retries the Build, up to build.retries times."),
		"DeadlineExceeded":     act(Author, WakeEdit, "Raise build.timeout, or make the build faster."),
		"NotStarted":           outage(PlatformTeam, WakeRetry, "Correct the error in the message, such as a missing service account."),
	}
}
