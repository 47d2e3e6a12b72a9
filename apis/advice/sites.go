package advice

// syncReasons returns the reasons of a SiteSync.
func syncReasons() map[string]Advice {
	return map[string]Advice{
		"Live":            noActionAdvice(),
		"Waiting":         waitingAdvice(WakeWatch, "Wait until the tree is in the repository and the cluster is ready."),
		"Syncing":         waitingAdvice(WakeWatch, "Wait until the engines of the Sites run the tree."),
		"Unobserved":      actionAdvice(PlatformTeam, WakeCatalog, "Give the Site an engine, or set engine.unobservedIsLive of the Site."),
		"ClusterTimedOut": actionAdvice(ClusterOwner, WakeWatch, "Make the cluster of the Site ready: it still counts, but the revision is rejected."),
		"TimedOut":        actionAdvice(ClusterOwner, WakeWatch, "Correct the cause of the Site's delay, which the reason of the Site names."),
		"Failed":          actionAdvice(Author, WakeWatch, "Correct the error in the engine's message, and change the intent."),
		"NoPause":         noActionAdvice(),
		"NotLive":         waitingAdvice(WakeWatch, "Wait until all Sites of the step are live: the pause begins then."),
		"Pausing":         waitingAdvice(WakeWatch, "Wait until the pause ends, or use kubectl intent promote."),
		"PauseOver":       noActionAdvice(),
		"Promoted":        noActionAdvice(),
	}
}

// siteReasons returns the reasons of one Site in a SiteSync, beside the reasons of its cluster.
func siteReasons() map[string]Advice {
	return map[string]Advice{
		"WaveNotReached":       waitingAdvice(WakeWatch, "Wait until the rollout reaches the Site's wave."),
		"NotDelivered":         waitingAdvice(WakeWatch, "Wait until the GitDelivery has pushed the tree to the repository."),
		"PolicyDenied":         actionAdvice(PlatformTeam, WakeWatch, "Create the Site or the configuration, or let it allow the namespace."),
		"KubeconfigGone":       actionAdvice(PlatformTeam, WakeSecret, "Create the Secret with the kubeconfig that the Site names."),
		"KubeconfigRefused":    actionAdvice(PlatformTeam, WakeSecret, "Correct the kubeconfig: the message has the forbidden field."),
		"ClusterUnreachable":   outageAdvice(ClusterOwner, WakeRetry, "Wait for the end of the outage; if it lasts, check the cluster's API server and the network."),
		"KubeconfigDenied":     actionAdvice(ClusterOwner, WakeSecret, "Renew the credentials in the kubeconfig: they have expired, or the cluster withdrew them."),
		"AccessDenied":         actionAdvice(ClusterOwner, WakeRetry, "Let the user of the kubeconfig list and watch the engine's kinds."),
		"ProviderAccessDenied": actionAdvice(PlatformTeam, WakeRetry, "Let the provider list and watch the engine's kinds: kubectl apply -k examples/rbac; kubectl intent doctor shows missing rights."),
		"EngineNotInstalled":   actionAdvice(ClusterOwner, WakeWatch, "Install the engine in the cluster."),
		"EngineObjectMissing":  actionAdvice(ClusterOwner, WakeWatch, "Create the engine's object, or its source, that the Site names."),
		"EngineNotProvable":    actionAdvice(ClusterOwner, WakeWatch, "Correct the engine's object according to the message: its status does not prove which commit of a Git source it applied."),
		"WrongSource":          actionAdvice(ClusterOwner, WakeWatch, "Let the engine's object read the branch and directory named in the message."),
		"WrongCluster":         actionAdvice(PlatformTeam, WakeWatch, "Name the engine's object that applies to the Site's own cluster."),
		"Suspended":            actionAdvice(ClusterOwner, WakeWatch, "Resume the engine's object, or sync it by hand according to the message."),
		"Stalled":              actionAdvice(ClusterOwner, WakeWatch, "Correct the engine's object according to its message: the engine has stopped its retries."),
		"EngineFailed":         actionAdvice(Author, WakeWatch, "Correct the error in the engine's message; the engine retries."),
		"Unhealthy":            actionAdvice(Author, WakeWatch, "Correct the unhealthy objects: the message of the engine names the cause."),
		"Progressing":          waitingAdvice(WakeWatch, "Wait: the engine is applying the commit."),
		"OtherTree":            waitingAdvice(WakeWatch, "Wait until the engine applies the newer commit; if it stays, find out who changed the files."),
		"NotApplied":           actionAdvice(ClusterOwner, WakeWatch, "Let the engine apply the object: remove the annotation from it in the cluster, or the rule that excludes it."),
		"WeakProof":            actionAdvice(PlatformTeam, WakeCatalog, "Set acceptProof of the Site, if the engine is meant to change the files."),
		"ProofUnknown":         outageAdvice(RepositoryOwner, WakeRetry, "Wait until the commit can be fetched; if it stays, let the engine read the repository, or a mirror of it."),
		"Unobserved":           actionAdvice(PlatformTeam, WakeCatalog, "Give the Site an engine, or set engine.unobservedIsLive of the Site."),
		"RouteMissing":         waitingAdvice(WakeWatch, "Wait for the engine to apply the route; if it stays, find out who removed it."),
		"TrafficDiffers":       outageAdvice(ClusterOwner, WakeWatch, "Wait for the engine; if it stays, find out who changed the weights of the route."),
		"RouteNotAccepted":     actionAdvice(ClusterOwner, WakeWatch, "Correct the Gateway or the route according to the message."),
		"RefsNotResolved":      actionAdvice(Author, WakeWatch, "Correct the route: the Gateway does not find a Service of it."),
		"ObjectFailed":         actionAdvice(Author, WakeWatch, "Correct the object named in the message: the cluster does not retry automatically."),
		"CanaryNotAvailable":   outageAdvice(Author, WakeWatch, "Wait for the pods; if they do not start, check the Deployment named in the message."),
	}
}

// gateReasons returns the reasons of a Gate.
func gateReasons() map[string]Advice {
	return map[string]Advice{
		"Passed":             noActionAdvice(),
		"Failed":             actionAdvice(Author, WakeRequest, "Correct the service: the check named in the message was violated."),
		"Error":              actionAdvice(PlatformTeam, WakeRequest, "Correct the check or the backend named in the message, then use kubectl intent retry."),
		"TimedOut":           actionAdvice(Author, WakeRequest, "Correct the cause of the check's delay, then use kubectl intent retry."),
		"Inconclusive":       actionAdvice(Author, WakePromote, "Decide: kubectl intent promote releases the step, kubectl intent abort rejects the revision."),
		"Measuring":          waitingAdvice(WakeWatch, "Wait until each check has its count of measurements."),
		"Watching":           waitingAdvice(WakeWatch, "Wait until the step is released: the checks continue until then."),
		"NoData":             outageAdvice(Author, WakeWatch, "Send requests to the service, or correct the query, which returns no data."),
		"MetricsUnavailable": outageAdvice(PlatformTeam, WakeRetry, "Check the metrics backend, or the cluster of the Site, named in the message."),
		"Held":               actionAdvice(PlatformTeam, WakeRetry, "Make the metrics backend, or the cluster of the Site, reachable; kubectl intent abort rejects the revision."),
		"NotLive":            waitingAdvice(WakeWatch, "Wait until the Sites run the revision."),
		"PolicyDenied":       actionAdvice(PlatformTeam, WakeFunction, "Find the author of the Gate, which is in another namespace than the deployment."),
	}
}

// requestReasons returns the results and reasons of a RolloutRequest.
func requestReasons() map[string]Advice {
	return map[string]Advice{
		"Waiting":           waitingAdvice(WakeFunction, "Wait: the conditions of the deployment have the reason."),
		"Taken":             waitingAdvice(WakeWatch, "Wait: the rollout continues."),
		"Done":              finalAdvice("Nothing: the message has the outcome of the revision."),
		"Stale":             actionAdvice(Author, WakeRequest, "Read the status of the deployment, and create a request for its current revision."),
		"UnknownRevision":   actionAdvice(Author, WakeRequest, "Create another request with a revision that kubectl intent status lists."),
		"AlreadyJudged":     actionAdvice(Author, WakeRequest, "Use kubectl intent rollback or retry: a verdict never changes."),
		"NoTarget":          actionAdvice(Author, WakeRequest, "Choose a revision that was verified and not withdrawn; kubectl intent status lists them."),
		"NothingToRestore":  finalAdvice("Nothing: the Sites have the files of that revision already."),
		"UnknownStep":       actionAdvice(Author, WakeRequest, "Name the step whose pause runs, or that waits for a user: kubectl intent status shows it."),
		"NoUpdate":          finalAdvice("Nothing: no update waits."),
		"UpdateFailed":      actionAdvice(PlatformTeam, WakeRequest, "Correct the Blueprint according to the message, then approve the update again."),
		"SameHome":          finalAdvice("Nothing: the repository holds the ledger already."),
		"UnknownRepository": actionAdvice(Author, WakeRequest, "Deliver to the new repository first, or name a repository that the deployment delivers to."),
		"TooLarge":          actionAdvice(Author, WakeRequest, "Create another request without the annotations and fields that made this request too large."),
		"NotSupported":      actionAdvice(PlatformTeam, WakeInstall, "Upgrade Intentplane: this version does not support the action."),
		"UnknownDeployment": waitingAdvice(WakeWatch, "Wait until the deployment exists, or create another request with its name."),
		"Superseded":        finalAdvice("Nothing: another revision replaced the requested revision."),
	}
}
