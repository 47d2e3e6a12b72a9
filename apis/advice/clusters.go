package advice

// workloadClusterReasons returns the reasons of a WorkloadCluster, beside the reasons of its ManagedCluster.
func workloadClusterReasons() map[string]Advice {
	return map[string]Advice{
		"Valid":        noActionAdvice(),
		"InvalidSpec":  actionAdvice(Author, WakeEdit, "Correct the field named in the message."),
		"NotObserved":  outageAdvice(PlatformTeam, WakeWatch, "Wait; if it stays, check the provider: kubectl get providers.pkg.crossplane.io."),
		"Progressing":  waitingAdvice(WakeWatch, "Wait: the object is being reconciled."),
		"NotSynced":    outageAdvice(PlatformTeam, WakeRetry, "Correct the error in the message: the provider cannot apply the ManagedCluster, and retries."),
		"Upgrading":    waitingAdvice(WakeWatch, "Wait until the cluster runs the requested version."),
		"Rebasing":     waitingAdvice(WakeWatch, "Wait until Cluster API has applied the other ClusterClass."),
		"ClusterGone":  actionAdvice(PlatformTeam, WakeEdit, "Find out who deleted the Cluster; the message of the ManagedCluster has the annotation that recreates it."),
		"Idle":         noActionAdvice(),
		"Published":    noActionAdvice(),
		"NotPublished": waitingAdvice(WakeWatch, "Wait until the cluster is ready: the provider then creates its Site."),
		"NotRequested": noActionAdvice(),
	}
}

// managedClusterReasons returns the reasons of a ManagedCluster, beside the reasons of its cluster.
func managedClusterReasons() map[string]Advice {
	return map[string]Advice{
		"Ready":                   noActionAdvice(),
		"Degraded":                outageAdvice(ClusterOwner, WakeWatch, "Wait; if it lasts, repair the unhealthy objects named in the message."),
		"PolicyDenied":            actionAdvice(PlatformTeam, WakeCatalog, "Change the limit named in the message, in the configuration, or let the author change the spec."),
		"NameTaken":               actionAdvice(Author, WakeEdit, "Choose another name, or type Existing."),
		"TemplateMissing":         actionAdvice(PlatformTeam, WakeWatch, "Create the template named in the message."),
		"ObjectsGone":             actionAdvice(PlatformTeam, WakeEdit, "If all objects named in the message are lost, set the annotation in the message on the ManagedCluster."),
		"ChangeIgnoredByProvider": actionAdvice(Author, WakeEdit, "Revert the change, or build another cluster and move."),
		"InfrastructureTimedOut":  outageAdvice(PlatformTeam, WakeWatch, "Correct the cause in the message: the infrastructure exceeded its timeout, and still counts once it is ready."),
		"ControlPlaneTimedOut":    outageAdvice(PlatformTeam, WakeWatch, "Correct the cause in the message: the control plane exceeded its timeout, and still counts once it is ready."),
		"DeletionTimedOut":        outageAdvice(PlatformTeam, WakeWatch, "Remove the obstacle: condition Deleting names the objects that block the deletion."),
		"InUse":                   actionAdvice(Author, WakeWatch, "Remove the deployments from the cluster's Site first."),
		"RollingOut":              waitingAdvice(WakeWatch, "Wait until the machines are replaced."),
		"SiteGone":                actionAdvice(PlatformTeam, WakeEdit, "To recreate the Site, set the annotation in the message on the ManagedCluster."),
		"Deleting":                waitingAdvice(WakeWatch, "Wait until the cluster is deleted."),
	}
}

// clusterReasons returns the reasons of a cluster of Cluster API, and of its objects.
func clusterReasons() map[string]Advice {
	return map[string]Advice{
		"KindMissing":             actionAdvice(PlatformTeam, WakeWatch, "Install Cluster API, or its provider named in the message."),
		"ObjectMissing":           actionAdvice(ClusterOwner, WakeWatch, "Create the object named in the message."),
		"AccessDenied":            actionAdvice(PlatformTeam, WakeRetry, "Let the provider read the object: docs/install.md has the ClusterRole."),
		"ManagementUnreachable":   outageAdvice(PlatformTeam, WakeRetry, "Wait until the management cluster is reachable."),
		"ContractUnknown":         actionAdvice(PlatformTeam, WakeWatch, "Label the definition of the kind as the installation of that provider does."),
		"VersionUnknown":          actionAdvice(PlatformTeam, WakeWatch, "Install a version of Cluster API that serves v1beta1 or v1beta2."),
		"NotReferenced":           waitingAdvice(WakeWatch, "Wait until the Cluster names the object."),
		"Provisioning":            waitingAdvice(WakeWatch, "Wait until the infrastructure is ready."),
		"Provisioned":             noActionAdvice(),
		"NotReady":                outageAdvice(ClusterOwner, WakeWatch, "Wait; if it lasts, check the unready object named in the message."),
		"NotInitialized":          waitingAdvice(WakeWatch, "Wait for the first response of the control plane."),
		"Initialized":             noActionAdvice(),
		"Available":               noActionAdvice(),
		"EndpointUnknown":         waitingAdvice(WakeWatch, "Wait until the Cluster has the endpoint of its API server."),
		"EndpointKnown":           noActionAdvice(),
		"EndpointCorrected":       noActionAdvice(),
		"KubeconfigMissing":       outageAdvice(ClusterOwner, WakeWatch, "Wait for the Secret with the kubeconfig; if it is not created, check the control plane's provider."),
		"KubeconfigInvalid":       actionAdvice(ClusterOwner, WakeSecret, "Correct the type and the label of the Secret according to the message."),
		"KubeconfigEmpty":         outageAdvice(ClusterOwner, WakeSecret, "Wait until the Secret has a kubeconfig; if it stays empty, correct the Secret."),
		"KubeconfigRefused":       actionAdvice(ClusterOwner, WakeSecret, "Correct the kubeconfig: the message has the forbidden field."),
		"KubeconfigExpired":       actionAdvice(ClusterOwner, WakeSecret, "Renew the credentials in the kubeconfig."),
		"KubeconfigDenied":        outageAdvice(ClusterOwner, WakeRetry, "Wait; if it stays, renew the credentials: the API server does not accept them."),
		"KubeconfigNotAsked":      noActionAdvice(),
		"ServerUnreachable":       outageAdvice(ClusterOwner, WakeRetry, "Wait; if it lasts, check the cluster's API server and the network."),
		"ServerNotReady":          outageAdvice(ClusterOwner, WakeRetry, "Wait until the API server reports that it is ready."),
		"Answers":                 noActionAdvice(),
		"TerraformFailed":         actionAdvice(PlatformTeam, WakeWatch, "Correct the error of Terraform in the message."),
		"FailureReported":         outageAdvice(ClusterOwner, WakeWatch, "Correct the cause in the message of the Cluster API provider: a failure is never final."),
		"NoFailure":               noActionAdvice(),
		"Paused":                  actionAdvice(ClusterOwner, WakeWatch, "Resume the Cluster: a user paused it."),
		"PausedIgnoredByProvider": finalAdvice("Nothing, or resume the Cluster: its provider does not respect the pause."),
		"NotPaused":               noActionAdvice(),
		"DeletionRequested":       waitingAdvice(WakeWatch, "Wait until the Cluster is deleted."),
		"NotDeleting":             noActionAdvice(),
		"TooFewWorkers":           outageAdvice(ClusterOwner, WakeWatch, "Wait for the workers; if they are not created, check their machines."),
		"TopologyNotReconciled":   outageAdvice(ClusterOwner, WakeWatch, "Wait; if it stays, check condition TopologyReconciled of the Cluster."),
		"RollingOut":              waitingAdvice(WakeWatch, "Wait until the machines are replaced."),
		"Stabilizing":             waitingAdvice(WakeWatch, "Wait: the cluster has to stay ready for its stabilization time."),
	}
}
