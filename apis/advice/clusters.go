package advice

// workloadClusterReasons returns the reasons of a WorkloadCluster, beside the reasons of its ManagedCluster.
func workloadClusterReasons() map[string]Advice {
	return map[string]Advice{
		"Valid":        good(),
		"InvalidSpec":  act(Author, WakeEdit, "Correct the field that the message names."),
		"NotObserved":  outage(PlatformTeam, WakeWatch, "Wait; if it stays, look at the provider: kubectl get providers.pkg.crossplane.io."),
		"Progressing":  wait(WakeWatch, "Wait: work goes on."),
		"NotSynced":    outage(PlatformTeam, WakeRetry, "See the message: the provider cannot apply the ManagedCluster, and tries again."),
		"Upgrading":    wait(WakeWatch, "Wait until the cluster runs the version that is asked for."),
		"Rebasing":     wait(WakeWatch, "Wait until Cluster API has carried out the other ClusterClass."),
		"ClusterGone":  act(PlatformTeam, WakeEdit, "Find out who deleted the Cluster; the ManagedCluster's message says how to make it again."),
		"Idle":         good(),
		"Published":    good(),
		"NotPublished": wait(WakeWatch, "Wait until the cluster is ready: its Site is made then."),
		"NotRequested": good(),
	}
}

// managedClusterReasons returns the reasons of a ManagedCluster, beside the reasons of its cluster.
func managedClusterReasons() map[string]Advice {
	return map[string]Advice{
		"Ready":                   good(),
		"Degraded":                outage(ClusterOwner, WakeWatch, "See the message, which names the unhealthy objects."),
		"PolicyDenied":            act(PlatformTeam, WakeCatalog, "Change the limit that the message names in the configuration, or let the author change the spec."),
		"NameTaken":               act(Author, WakeEdit, "Choose another name, or type Existing."),
		"TemplateMissing":         act(PlatformTeam, WakeWatch, "Create the template that the message names."),
		"ObjectsGone":             act(PlatformTeam, WakeEdit, "If everything that the message names is lost, annotate the ManagedCluster as the message says."),
		"ChangeIgnoredByProvider": act(Author, WakeEdit, "Revert the change, or build another cluster and move."),
		"InfrastructureTimedOut":  outage(PlatformTeam, WakeWatch, "See the message: the infrastructure takes long, and still counts when it is ready late."),
		"ControlPlaneTimedOut":    outage(PlatformTeam, WakeWatch, "See the message: the control plane takes long, and still counts when it is ready late."),
		"DeletionTimedOut":        outage(PlatformTeam, WakeWatch, "See condition Deleting, which names the objects that block the deletion."),
		"InUse":                   act(Author, WakeWatch, "Remove the deployments from the cluster's Site first."),
		"RollingOut":              wait(WakeWatch, "Wait until the machines are replaced."),
		"SiteGone":                act(PlatformTeam, WakeEdit, "To make the Site again, annotate the ManagedCluster as the message says."),
		"Deleting":                wait(WakeWatch, "Wait until the cluster is deleted."),
	}
}

// clusterReasons returns the reasons of a cluster of Cluster API, and of its objects.
func clusterReasons() map[string]Advice {
	return map[string]Advice{
		"KindMissing":             act(PlatformTeam, WakeWatch, "Install Cluster API, or the provider of it that the message names."),
		"ObjectMissing":           act(ClusterOwner, WakeWatch, "Create the object that the message names."),
		"AccessDenied":            act(PlatformTeam, WakeRetry, "Let the provider read the object: docs/install.md has the ClusterRole."),
		"ManagementUnreachable":   outage(PlatformTeam, WakeRetry, "Wait until the management cluster answers."),
		"ContractUnknown":         act(PlatformTeam, WakeWatch, "Label the definition of the kind as the installation of that provider does."),
		"VersionUnknown":          act(PlatformTeam, WakeWatch, "Install a version of Cluster API that serves v1beta1 or v1beta2."),
		"NotReferenced":           wait(WakeWatch, "Wait until the Cluster names the object."),
		"Provisioning":            wait(WakeWatch, "Wait until the infrastructure is there."),
		"Provisioned":             good(),
		"NotReady":                outage(ClusterOwner, WakeWatch, "See the message, which names the object that is not ready."),
		"NotInitialized":          wait(WakeWatch, "Wait until the control plane answers for the first time."),
		"Initialized":             good(),
		"Available":               good(),
		"EndpointUnknown":         wait(WakeWatch, "Wait until the Cluster says where its API server is."),
		"EndpointKnown":           good(),
		"EndpointCorrected":       good(),
		"KubeconfigMissing":       outage(ClusterOwner, WakeWatch, "Wait for the Secret with the kubeconfig; if it does not come, look at the control plane's provider."),
		"KubeconfigInvalid":       act(ClusterOwner, WakeSecret, "Correct the type and the label of the Secret, as the message says."),
		"KubeconfigEmpty":         outage(ClusterOwner, WakeSecret, "Wait until the Secret has a kubeconfig; if it does not come, correct it."),
		"KubeconfigRefused":       act(ClusterOwner, WakeSecret, "Correct the kubeconfig: the message names the forbidden field."),
		"KubeconfigExpired":       act(ClusterOwner, WakeSecret, "Renew the credentials in the kubeconfig."),
		"KubeconfigDenied":        outage(ClusterOwner, WakeRetry, "Wait; if it stays, renew the credentials: the API server does not accept them."),
		"KubeconfigNotAsked":      good(),
		"ServerUnreachable":       outage(ClusterOwner, WakeRetry, "Wait; if it lasts, look at the cluster's API server and the network."),
		"ServerNotReady":          outage(ClusterOwner, WakeRetry, "Wait until the API server says that it is ready."),
		"Answers":                 good(),
		"TerraformFailed":         act(PlatformTeam, WakeWatch, "Correct the error of Terraform in the message."),
		"FailureReported":         outage(ClusterOwner, WakeWatch, "See the message of the Cluster API provider: a failure is never final."),
		"NoFailure":               good(),
		"Paused":                  act(ClusterOwner, WakeWatch, "Resume the Cluster: a user paused it."),
		"PausedIgnoredByProvider": over("Nothing, or resume the Cluster: its provider does not respect the pause."),
		"NotPaused":               good(),
		"DeletionRequested":       wait(WakeWatch, "Wait until the Cluster is deleted."),
		"NotDeleting":             good(),
		"TooFewWorkers":           outage(ClusterOwner, WakeWatch, "Wait for the workers; if they do not come, look at their machines."),
		"TopologyNotReconciled":   outage(ClusterOwner, WakeWatch, "Wait; if it stays, look at condition TopologyReconciled of the Cluster."),
		"RollingOut":              wait(WakeWatch, "Wait until the machines are replaced."),
		"Stabilizing":             wait(WakeWatch, "Wait a moment: the cluster has to stay ready for a while."),
	}
}
