package advice

// buildReasons returns the reasons of an ImageBuild.
func buildReasons() map[string]Advice {
	return map[string]Advice{
		"Built":                good(),
		"Building":             wait(WakeWatch, "Wait until the Build has ended."),
		"Queued":               wait(WakeWatch, "Wait: kpack lets the Build end that runs, and then begins."),
		"Retrying":             wait(WakeRetry, "Wait: the Build is tried again."),
		"PodPending":           outage(PlatformTeam, WakeWatch, "Give the namespace room for the pod, or correct the error in the message."),
		"BuildFailed":          act(Author, WakeEdit, "Read the log that status.build.logs names, and push a commit that builds; or set another spec.source.trigger."),
		"BuildDisrupted":       act(PlatformTeam, WakeEdit, "Repair the nodes, or the cause that the message names; then set another spec.source.trigger."),
		"RebuildLoop":          outage(PlatformTeam, WakeRetry, "Name the run image of the builder's stack by its digest; the next image is taken when the hour is over."),
		"BuilderNotReady":      outage(PlatformTeam, WakeWatch, "Correct the builder, as the message says."),
		"BuilderMissing":       act(PlatformTeam, WakeCatalog, "Create the builder, or name one in spec.build.builder of the configuration or of the Application."),
		"KpackMissing":         act(PlatformTeam, WakeInstall, "Install kpack: the provider notices it."),
		"ImageRefused":         act(Author, WakeEdit, "Correct the error in the message; the provider tries again each minute."),
		"RevisionNotFound":     act(Author, WakeRetry, "Push the branch or the tag, or correct source.git.revision."),
		"RevisionAmbiguous":    act(Author, WakeEdit, "Say refs/heads/ or refs/tags/ before the name."),
		"SourceUnreachable":    outage(RepositoryOwner, WakeRetry, "Wait until the Git server answers. The running image stays."),
		"SourceDenied":         act(Author, WakeRetry, "Correct the URL or the credentials, as the message says."),
		"CredentialsGone":      act(Author, WakeSecret, "Create the Secret that source.git.secretRef names, with the key that the message names."),
		"NameTaken":            act(Author, WakeRetry, "Choose another name, or delete the Image of kpack that the message names."),
		"ForeignImage":         act(PlatformTeam, WakeWatch, "Find out who wrote the status of the Build that the message names, and delete that Build; the next commit is built."),
		"ConfigurationMissing": act(PlatformTeam, WakeCatalog, "Create the ClusterProviderConfig that the message names."),
		"PolicyDenied":         act(PlatformTeam, WakeCatalog, "Keep to the limit that the message names, or change spec.build of the configuration."),
		"Invalid":              act(Author, WakeEdit, "Correct the field that the message names."),
		"NotObserved":          wait(WakeRetry, "Wait until the repository was looked at; if it stays, look at the provider."),
		"StepFailed":           act(Author, WakeEdit, "Read the log that status.build.logs names."),
		"Evicted":              wait(WakeRetry, "Wait: the Build is tried again as often as build.retries says."),
		"PodDeleted":           wait(WakeRetry, "Wait: the Build is tried again as often as build.retries says."),
		"NodeLost":             wait(WakeRetry, "Wait: the Build is tried again as often as build.retries says."),
		"Preempted":            wait(WakeRetry, "Wait: the Build is tried again as often as build.retries says."),
		"DeadlineExceeded":     act(Author, WakeEdit, "Raise build.timeout, or make the build faster."),
		"NotStarted":           outage(PlatformTeam, WakeRetry, "Correct the error in the message, such as a missing service account."),
	}
}
