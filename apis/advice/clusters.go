package advice

// workloadClusterReasons returns the reasons of a WorkloadCluster, beside the reasons of its ManagedCluster.
func workloadClusterReasons() map[string]Advice {
	return map[string]Advice{
		"Valid":        good(),
		"InvalidSpec":  act(Author, WakeEdit, "Correct the field named in the message."),
		"NotObserved":  outage(PlatformTeam, WakeWatch, "Wait; if it stays, check the provider: kubectl get providers.pkg.crossplane.io."),
		"Progressing":  wait(WakeWatch, "Wait: the object is being reconciled."),
		"NotSynced":    outage(PlatformTeam, WakeRetry, "Correct the error in the message: the provider cannot apply the ManagedCluster, and retries."),
		"Upgrading":    wait(WakeWatch, "Wait until the cluster runs the requested version."),
		"Rebasing":     wait(WakeWatch, "Wait until Cluster API has applied the other ClusterClass."),
		"ClusterGone":  act(PlatformTeam, WakeEdit, "Find out who deleted the Cluster; the message of the ManagedCluster has the annotation that recreates it."),
		"Idle":         good(),
		"Published":    good(),
		"NotPublished": wait(WakeWatch, "Wait until the cluster is ready: the provider then creates its Site."),
		"NotRequested": good(),
	}
}

// managedClusterReasons returns the reasons of a ManagedCluster, beside the reasons of its cluster.
func managedClusterReasons() map[string]Advice {
	return map[string]Advice{
		"Ready":                   good(),
		"Degraded":                outage(ClusterOwner, WakeWatch, "Wait; if it lasts, repair the unhealthy objects named in the message."),
		"PolicyDenied":            act(PlatformTeam, WakeCatalog, "Change the limit named in the message, in the configuration, or let the author change the spec."),
		"NameTaken":               act(Author, WakeEdit, "Choose another name, or type Existing."),
		"TemplateMissing":         act(PlatformTeam, WakeWatch, "Create the template named in the message."),
		"ObjectsGone":             act(PlatformTeam, WakeEdit, "If all objects named in the message are lost, set the annotation in the message on the ManagedCluster."),
		"ChangeIgnoredByProvider": act(Author, WakeEdit, "Revert the change, or build another cluster and move."),
		"InfrastructureTimedOut":  outage(PlatformTeam, WakeWatch, "Correct the cause in the message: the infrastructure exceeded its timeout, and still counts once it is ready."),
		"ControlPlaneTimedOut":    outage(PlatformTeam, WakeWatch, "Correct the cause in the message: the control plane exceeded its timeout, and still counts once it is ready."),
		"DeletionTimedOut":        outage(PlatformTeam, WakeWatch, "Remove the obstacle: condition Deleting names the objects that block the deletion."),
		"InUse":                   act(Author, WakeWatch, "Remove the deployments from the cluster's Site first."),
		"RollingOut":              wait(WakeWatch, "Wait until the machines are replaced."),
		"SiteGone":                act(PlatformTeam, WakeEdit, "To recreate the Site, set the annotation in the message on the ManagedCluster."),
		"Deleting":                wait(WakeWatch, "Wait until the cluster is deleted."),
	}
}

// clusterReasons returns the reasons of a cluster of Cluster API, and of its objects.
func clusterReasons() map[string]Advice {
	return map[string]Advice{
		"KindMissing":             act(PlatformTeam, WakeWatch, "Install Cluster API, or its provider named in the message."),
		"ObjectMissing":           act(ClusterOwner, WakeWatch, "Create the object named in the message."),
		"AccessDenied":            act(PlatformTeam, WakeRetry, "Let the provider read the object: docs/install.md has the ClusterRole."),
		"ManagementUnreachable":   outage(PlatformTeam, WakeRetry, "Wait until the management cluster is reachable."),
		"ContractUnknown":         act(PlatformTeam, WakeWatch, "Label the definition of the kind as the installation of that provider does."),
		"VersionUnknown":          act(PlatformTeam, WakeWatch, "Install a version of Cluster API that serves v1beta1 or v1beta2."),
		"NotReferenced":           wait(WakeWatch, "Wait until the Cluster names the object."),
		"Provisioning":            wait(WakeWatch, "Wait until the infrastructure is ready."),
		"Provisioned":             good(),
		"NotReady":                outage(ClusterOwner, WakeWatch, "Wait; if it lasts, check the unready object named in the message."),
		"NotInitialized":          wait(WakeWatch, "Wait for the first response of the control plane."),
		"Initialized":             good(),
		"Available":               good(),
		"EndpointUnknown":         wait(WakeWatch, "Wait until the Cluster has the endpoint of its API server."),
		"EndpointKnown":           good(),
		"EndpointCorrected":       good(),
		"KubeconfigMissing":       outage(ClusterOwner, WakeWatch, "Wait for the Secret with the kubeconfig; if it is not created, check the control plane's provider."),
		"KubeconfigInvalid":       act(ClusterOwner, WakeSecret, "Correct the type and the label of the Secret according to the message."),
		"KubeconfigEmpty":         outage(ClusterOwner, WakeSecret, "Wait until the Secret has a kubeconfig; if it stays empty, correct the Secret."),
		"KubeconfigRefused":       act(ClusterOwner, WakeSecret, "Correct the kubeconfig: the message has the forbidden field."),
		"KubeconfigExpired":       act(ClusterOwner, WakeSecret, "Renew the credentials in the kubeconfig."),
		"KubeconfigDenied":        outage(ClusterOwner, WakeRetry, "Wait; if it stays, renew the credentials: the API server does not accept them."),
		"KubeconfigNotAsked":      good(),
		"ServerUnreachable":       outage(ClusterOwner, WakeRetry, "Wait; if it lasts, check the cluster's API server and the network."),
		"ServerNotReady":          outage(ClusterOwner, WakeRetry, "Wait until the API server reports that it is ready."),
		"Answers":                 good(),
		"TerraformFailed":         act(PlatformTeam, WakeWatch, "Correct the error of Terraform in the message."),
		"FailureReported":         outage(ClusterOwner, WakeWatch, "Correct the cause in the message of the Cluster API provider: a failure is never final."),
		"NoFailure":               good(),
		"Paused":                  act(ClusterOwner, WakeWatch, "Resume the Cluster: a user paused it."),
		"PausedIgnoredByProvider": over("Nothing, or resume the Cluster: its provider does not respect the pause."),
		"NotPaused":               good(),
		"DeletionRequested":       wait(WakeWatch, "Wait until the Cluster is deleted."),
		"NotDeleting":             good(),
		"TooFewWorkers":           outage(ClusterOwner, WakeWatch, "Wait for the workers; if they are not created, check their machines."),
		"TopologyNotReconciled":   outage(ClusterOwner, WakeWatch, "Wait; if it stays, check condition TopologyReconciled of the Cluster."),
		"RollingOut":              wait(WakeWatch, "Wait until the machines are replaced."),
		"Stabilizing":             wait(WakeWatch, "Wait: the cluster has to stay ready for its stabilization time."),
	}
}
