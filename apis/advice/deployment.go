package advice

import "maps"

// deploymentReasons returns the reasons of an IntentDeployment.
func deploymentReasons() map[string]Advice {
	out := specReasons()
	for _, reasons := range []map[string]Advice{progressReasons(), blockedReasons(), rejectionReasons(), rollbackReasons(), canaryReasons()} {
		maps.Copy(out, reasons)
	}
	return out
}

// specReasons returns the reasons about a spec and the objects that it names.
func specReasons() map[string]Advice {
	return map[string]Advice{
		"Valid":                   noActionAdvice(),
		"InvalidSpec":             actionAdvice(Author, WakeEdit, "Correct the field named in the message."),
		"InvalidIntent":           actionAdvice(Author, WakeEdit, "Correct spec.intent according to the message; kubectl intent explain shows the parsed intent."),
		"NotSupportedByBlueprint": actionAdvice(Author, WakeEdit, "Remove the value named in the message, or choose a Blueprint that reads it."),
		"RenderFailed":            actionAdvice(PlatformTeam, WakeCatalog, "Correct the Blueprint; kubectl intent render shows the error."),
		"RenderTimeout":           outageAdvice(PlatformTeam, WakeFunction, "Wait a minute; if it stays, raise spec.compileConfig.renderTimeout or make the Blueprint smaller."),
		"PolicyDenied":            actionAdvice(PlatformTeam, WakeCatalog, "Change the limit named in the message, in the Site or the configuration, or let the author change the spec."),
		"TooLarge":                actionAdvice(Author, WakeEdit, "Deliver less: fewer Sites, or smaller files."),
		"NotYetSupported":         finalAdvice("Nothing, or remove the fields named in the message: they have no effect in this version."),
		"Supported":               noActionAdvice(),
		"Found":                   noActionAdvice(),
		"SiteMissing":             actionAdvice(PlatformTeam, WakeCatalog, "Create the Site, let it allow the namespace, or correct its name in the spec."),
		"BlueprintMissing":        actionAdvice(PlatformTeam, WakeCatalog, "Create the Blueprint, or correct spec.blueprint or the type of the intent."),
		"BlueprintAmbiguous":      actionAdvice(PlatformTeam, WakeCatalog, "Remove one of the Blueprints named in the message, or name a version in spec.blueprint."),
		"ConfigMissing":           actionAdvice(PlatformTeam, WakeCatalog, "Create the configuration, or correct the name that the message shows."),
		"NoSite":                  actionAdvice(Author, WakeCatalog, "Name a Site, or a label of a Site, in the intent or in spec.deliveryConfig."),
	}
}

// progressReasons returns the reasons of a revision that makes progress.
func progressReasons() map[string]Advice {
	return map[string]Advice{
		"Unknown":         waitingAdvice(WakeFunction, "Wait for the first observation of the state."),
		"NothingOrdered":  waitingAdvice(WakeFunction, "Wait for the first revision; other conditions name the obstacle."),
		"Delivering":      waitingAdvice(WakeWatch, "Wait until the repositories hold the revision."),
		"Delivered":       noActionAdvice(),
		"RestoringDrift":  waitingAdvice(WakeRetry, "Wait: the provider restores the files that another commit changed."),
		"DriftRestored":   finalAdvice("Find out who made the commit named in the message."),
		"Syncing":         waitingAdvice(WakeWatch, "Wait until the engines of the Sites run the revision."),
		"Live":            noActionAdvice(),
		"EarlierRevision": waitingAdvice(WakeWatch, "Wait: the Sites run an earlier revision until the current revision is live."),
		"NotLive":         waitingAdvice(WakeWatch, "Wait; each Site below has the reason of its wait."),
		"GatesOff":        noActionAdvice(),
		"NoGates":         noActionAdvice(),
		"Recorded":        noActionAdvice(),
		"NotRecorded":     waitingAdvice(WakeWatch, "Wait until the repository of the ledger has recorded the result."),
		"Passed":          noActionAdvice(),
		"Measuring":       waitingAdvice(WakeWatch, "Wait until each check of the Gate has its count of measurements."),
		"Progressing":     waitingAdvice(WakeWatch, "Wait: the object is being reconciled."),
		"Idle":            noActionAdvice(),
		"NotRolledBack":   noActionAdvice(),
	}
}

// blockedReasons returns the reasons of a revision that is blocked.
func blockedReasons() map[string]Advice {
	return map[string]Advice{
		"WaitingForCluster":     outageAdvice(ClusterOwner, WakeWatch, "Wait until the cluster of the Site is ready; if it takes long, check the object named in the message of the Site."),
		"SyncNotObserved":       actionAdvice(PlatformTeam, WakeCatalog, "Give the Site an engine, or set engine.unobservedIsLive of the Site."),
		"DeliveryBlocked":       actionAdvice(PlatformTeam, WakeRetry, "Follow the message of the GitDelivery named in the message."),
		"ObjectConflict":        actionAdvice(Author, WakeWatch, "Give the service another name, or remove the object from the other deployment."),
		"ProviderNotResponding": actionAdvice(PlatformTeam, WakeInstall, "Check the provider: kubectl get providers.pkg.crossplane.io, then the log of its Pod."),
		"NoData":                outageAdvice(Author, WakeWatch, "Send requests to the service, or correct the query, which returns no data."),
		"MetricsUnavailable":    outageAdvice(PlatformTeam, WakeRetry, "Check the metrics backend, or the cluster of the Site, named in the message; kubectl intent abort rejects the revision."),
		"LedgerUnreachable":     outageAdvice(RepositoryOwner, WakeRetry, "Make the repository of the ledger reachable, or move the ledger with a RolloutRequest MoveLedger."),
		"Suspended":             actionAdvice(Author, WakeEdit, "Set spec.suspend to false to deliver the waiting revision."),
		"Drifted":               actionAdvice(RepositoryOwner, WakeRetry, "Restore the files that another commit changed, or set deliveryConfig.driftPolicy to Restore."),
	}
}

// rejectionReasons returns the reasons of a rejected revision. It is not retried automatically.
func rejectionReasons() map[string]Advice {
	return map[string]Advice{
		"DeliveryTimedOut": actionAdvice(RepositoryOwner, WakeRequest, "Remove the cause named in the message, then change the intent or use kubectl intent retry."),
		"DeliveryRefused":  actionAdvice(RepositoryOwner, WakeRequest, "Allow the push named in the message, then change the intent or use kubectl intent retry."),
		"SyncTimedOut":     actionAdvice(ClusterOwner, WakeRequest, "Correct the cause of the Site's delay, then change the intent or use kubectl intent retry."),
		"SyncFailed":       actionAdvice(Author, WakeRequest, "Correct the error in the engine's message, then change the intent or use kubectl intent retry."),
		"ClusterTimedOut":  actionAdvice(ClusterOwner, WakeRequest, "Make the cluster of the Site ready, then use kubectl intent retry."),
		"FilesLost":        actionAdvice(Author, WakeRequest, "Deliver the running revision once more, such as with another number of replicas, then move to the other Blueprint again."),
		"GateFailed":       actionAdvice(Author, WakeRequest, "Correct the service, and change the intent; kubectl intent retry measures the same revision again."),
		"Requested":        finalAdvice("Nothing: a user requested it. To deliver again, change the intent or use kubectl intent retry."),
		"DeploymentFailed": actionAdvice(Author, WakeRequest, "Change the intent, or use kubectl intent retry or rollback: no revision is proven to run."),
	}
}

// rollbackReasons returns the reasons of the rollback of a rejected revision, or of its absence.
func rollbackReasons() map[string]Advice {
	return map[string]Advice{
		"RollingBack":      waitingAdvice(WakeWatch, "Wait until the Sites run the earlier revision."),
		"RolledBack":       actionAdvice(Author, WakeRequest, "Correct the cause named in the message, and change the intent; kubectl intent retry delivers the same revision again."),
		"RollbackOff":      actionAdvice(Author, WakeRequest, "Change the intent, or use kubectl intent rollback: spec.rollbackConfig disables automatic rollbacks."),
		"NoTarget":         actionAdvice(Author, WakeRequest, "Change the intent: no earlier revision is a possible rollback target."),
		"NothingToRestore": actionAdvice(Author, WakeRequest, "Change the intent: the directories already hold the newest verified revision."),
		"Irreversible":     actionAdvice(Author, WakeRequest, "Decide: kubectl intent rollback rolls back although the Blueprint marks the change as irreversible."),
		"TooManyRollbacks": actionAdvice(Author, WakeRequest, "Correct the service, and change the intent; kubectl intent rollback rolls back beyond the limit."),
		"AttemptsSpent":    actionAdvice(Author, WakeRequest, "Remove the cause named in the message, then change the intent or use kubectl intent rollback."),
	}
}

// canaryReasons returns the reasons of a revision that gets a share of the requests.
func canaryReasons() map[string]Advice {
	return map[string]Advice{
		"Paused":            waitingAdvice(WakeWatch, "Wait until the pause ends, or use kubectl intent promote."),
		"AwaitingPromotion": actionAdvice(Author, WakePromote, "Decide: kubectl intent promote releases the step, kubectl intent abort rejects the revision."),
		"Held":              actionAdvice(Author, WakePromote, "Decide: the Gate came to no conclusion. kubectl intent promote releases the step, kubectl intent abort rejects the revision."),
		"Draining":          waitingAdvice(WakeWatch, "Wait until the open requests of pods without weight have ended."),
	}
}
