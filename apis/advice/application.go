package advice

// applicationReasons returns the reasons of an Application, beside the reasons of the Sites in its SiteHealth.
func applicationReasons() map[string]Advice {
	return map[string]Advice{
		"Valid":            good(),
		"InvalidSpec":      act(Author, WakeEdit, "Correct the field named in the message."),
		"NameTaken":        act(Author, WakeCall, "Choose another name, or delete the object named in the message."),
		"AwaitingDeletion": wait(WakeCall, "Wait for the deletion of the object named in the message."),
		"NotRequired":      good(),
		"Missing":          outage(PlatformTeam, WakeWatch, "Create the objects named in the message."),
		"Resolved":         good(),
		"Waiting":          wait(WakeWatch, "Wait: the message names the cause."),
		"Building":         wait(WakeWatch, "Wait until the image is built."),
		"Built":            good(),
		"BuildFailed":      act(Author, WakeEdit, "Read the log in status.build.logs, and push a commit that builds; or set another spec.source.trigger."),
		"BuildDisrupted":   act(PlatformTeam, WakeEdit, "Repair the nodes, or the cause named in the message; then set another spec.source.trigger."),
		"RebuildFailed":    outage(PlatformTeam, WakeWatch, "The previous image runs. Read the log in status.build.logs."),
		"NoImage":          wait(WakeWatch, "Wait until the image is built."),
		"HeldBack":         act(Author, WakeEdit, "Set spec.deploy.suspend to false; of a newer function: let all replicas of the function have one version."),
		"Deployed":         good(),
		"Deploying":        wait(WakeFunction, "Wait: kubectl intent why shows the cause of the wait."),
		"DeploymentFailed": act(Author, WakeRequest, "Correct the error in the message; kubectl intent why shows its cause."),
		"RolledBack":       act(Author, WakeRequest, "Choose another image or other settings, or deliver the revision again: kubectl intent retry."),
		"Serving":          good(),
		"EarlierImage":     wait(WakeWatch, "Wait until the image is delivered: the previous image serves."),
		"NotDelivered":     wait(WakeWatch, "Wait until the image is delivered."),
		"NotObserved":      outage(PlatformTeam, WakeWatch, "Wait; if it stays, check the provider, and its right to read Sites: examples/health/rbac.yaml."),
		"Accepted":         good(),
		"Progressing":      wait(WakeWatch, "Wait: the object is being reconciled."),
		"Idle":             good(),
	}
}
