package advice

// applicationReasons returns the reasons of an Application, beside the reasons of the Sites in its SiteHealth.
func applicationReasons() map[string]Advice {
	return map[string]Advice{
		"Valid":            noActionAdvice(),
		"InvalidSpec":      actionAdvice(Author, WakeEdit, "Correct the field named in the message."),
		"NameTaken":        actionAdvice(Author, WakeCall, "Choose another name, or delete the object named in the message."),
		"AwaitingDeletion": waitingAdvice(WakeCall, "Wait for the deletion of the object named in the message."),
		"NotRequired":      noActionAdvice(),
		"Missing":          outageAdvice(PlatformTeam, WakeWatch, "Create the objects named in the message."),
		"Resolved":         noActionAdvice(),
		"Waiting":          waitingAdvice(WakeWatch, "Wait: the message names the cause."),
		"Building":         waitingAdvice(WakeWatch, "Wait until the image is built."),
		"Built":            noActionAdvice(),
		"BuildFailed":      actionAdvice(Author, WakeEdit, "Read the log in status.build.logs, and push a commit that builds; or set another spec.source.trigger."),
		"BuildDisrupted":   actionAdvice(PlatformTeam, WakeEdit, "Repair the nodes, or the cause named in the message; then set another spec.source.trigger."),
		"RebuildFailed":    outageAdvice(PlatformTeam, WakeWatch, "The previous image runs. Read the log in status.build.logs."),
		"NoImage":          waitingAdvice(WakeWatch, "Wait until the image is built."),
		"HeldBack":         actionAdvice(Author, WakeEdit, "Set spec.deploy.suspend to false; of a newer function: let all replicas of the function have one version."),
		"Deployed":         noActionAdvice(),
		"Deploying":        waitingAdvice(WakeFunction, "Wait: kubectl intent why shows the cause of the wait."),
		"DeploymentFailed": actionAdvice(Author, WakeRequest, "Correct the error in the message; kubectl intent why shows its cause."),
		"RolledBack":       actionAdvice(Author, WakeRequest, "Choose another image or other settings, or deliver the revision again: kubectl intent retry."),
		"Serving":          noActionAdvice(),
		"EarlierImage":     waitingAdvice(WakeWatch, "Wait until the image is delivered: the previous image serves."),
		"NotDelivered":     waitingAdvice(WakeWatch, "Wait until the image is delivered."),
		"NotObserved":      outageAdvice(PlatformTeam, WakeWatch, "Wait; if it stays, check the provider, and its right to read Sites: examples/health/rbac.yaml."),
		"Accepted":         noActionAdvice(),
		"Progressing":      waitingAdvice(WakeWatch, "Wait: the object is being reconciled."),
		"Idle":             noActionAdvice(),
	}
}
