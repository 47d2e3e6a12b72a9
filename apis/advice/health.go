package advice

// healthReasons returns the reasons of a SiteHealth and of its Sites, beside the reasons of a Site that cannot be observed.
func healthReasons() map[string]Advice {
	return map[string]Advice{
		"Serving":          good(),
		"ScaledToZero":     good(),
		"RouteNotReady":    outage(ClusterOwner, WakeWatch, "Wait for the Gateway; if it lasts, correct the route as the message of the Site says."),
		"WorkloadMissing":  wait(WakeWatch, "Wait for the delivery; if it stays, label a Deployment of the Blueprint intentplane.dev/workload: main."),
		"OtherImage":       outage(Author, WakeWatch, "Wait for the delivery; if it stays, find out who changed the Deployment that the message names."),
		"Progressing":      wait(WakeWatch, "Wait until the pods have started."),
		"CrashLoopBackOff": act(Author, WakeWatch, "Read the log of the container that the message names, and correct the service."),
		"ImagePullBackOff": act(Author, WakeWatch, "Correct the name of the image, or the pull secret of the namespace at the Site."),
		"ConfigMissing":    act(Author, WakeWatch, "Create the Secret or the ConfigMap that the message names, at the Site."),
		"Unschedulable":    act(ClusterOwner, WakeWatch, "Give the cluster room for the pods, or let the intent ask for less."),
		"QuotaExceeded":    act(ClusterOwner, WakeWatch, "Raise the quota of the namespace, or let the intent ask for less."),
		"PodsRefused":      act(Author, WakeWatch, "Correct the field that the cluster refuses, as the message says."),
		"NotReady":         outage(Author, WakeWatch, "Wait for the readiness probe; if it lasts, read the log of the container that the message names."),
	}
}
