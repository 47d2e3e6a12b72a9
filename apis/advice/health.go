package advice

// healthReasons returns the reasons of a SiteHealth and of its Sites, beside the reasons of a Site that cannot be observed.
func healthReasons() map[string]Advice {
	return map[string]Advice{
		"Serving":          noActionAdvice(),
		"ScaledToZero":     noActionAdvice(),
		"RouteNotReady":    outageAdvice(ClusterOwner, WakeWatch, "Wait for the Gateway; if it lasts, correct the route according to the message of the Site."),
		"WorkloadMissing":  waitingAdvice(WakeWatch, "Wait for the delivery; if it stays, label a Deployment of the Blueprint intentplane.dev/workload: main."),
		"OtherImage":       outageAdvice(Author, WakeWatch, "Wait for the delivery; if it stays, find out who changed the Deployment named in the message."),
		"Progressing":      waitingAdvice(WakeWatch, "Wait until the pods have started."),
		"CrashLoopBackOff": actionAdvice(Author, WakeWatch, "Read the log of the container named in the message, and correct the service."),
		"ImagePullBackOff": actionAdvice(Author, WakeWatch, "Correct the name of the image, or the pull secret of the namespace at the Site."),
		"ConfigMissing":    actionAdvice(Author, WakeWatch, "Create the Secret or the ConfigMap named in the message, at the Site."),
		"Unschedulable":    actionAdvice(ClusterOwner, WakeWatch, "Add capacity for the pods to the cluster, or reduce the requests of the intent."),
		"QuotaExceeded":    actionAdvice(ClusterOwner, WakeWatch, "Raise the quota of the namespace, or reduce the requests of the intent."),
		"PodsRefused":      actionAdvice(Author, WakeWatch, "Correct the refused field named in the message."),
		"NotReady":         outageAdvice(Author, WakeWatch, "Wait for the readiness probe; if it lasts, read the log of the container named in the message."),
	}
}
