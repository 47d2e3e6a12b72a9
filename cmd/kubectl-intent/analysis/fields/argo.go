package fields

import "slices"

// Paths of objects in an AnalysisTemplate.
const (
	metricPath     = "spec.metrics[]."
	providerPath   = metricPath + "provider."
	prometheusPath = providerPath + "prometheus."
	webPath        = providerPath + "web."
	jobPath        = providerPath + "job."
	podPath        = jobPath + "spec.template.spec."
	containerPath  = podPath + "containers[]."
)

// AnalysisTemplate returns the treatment of each field below spec of an AnalysisTemplate and of a ClusterAnalysisTemplate of Argo Rollouts v1.10, which have one
// schema.
func AnalysisTemplate() []Field {
	return slices.Concat(
		[]Field{
			{Path: "spec", Treatment: Converted},
			{Path: "spec.templates", Treatment: Refused, Text: "refers to other templates: convert each of them, and drop the references"},
			{Path: "spec.dryRun", Treatment: Refused, Text: noCounterpart + ": a check decides. Remove the metrics that are dry runs"},
			{Path: "spec.measurementRetention", Treatment: Meaningless},
		},
		fieldsBelow("spec.args", Converted, "",
			"", "[].name", "[].value", "[].valueFrom", "[].valueFrom.fieldRef", "[].valueFrom.fieldRef.fieldPath",
			"[].valueFrom.secretKeyRef", "[].valueFrom.secretKeyRef.key", "[].valueFrom.secretKeyRef.name"),
		metricFields(), prometheusFields(), webFields(), jobFields(),
	)
}

func metricFields() []Field {
	return slices.Concat(
		fieldsBelow("spec.metrics", Converted, "", ""),
		fieldsBelow(metricPath, Converted, "",
			"name", "count", "interval", "initialDelay", "failureLimit", "inconclusiveLimit", "consecutiveErrorLimit", "successCondition", "failureCondition",
			"provider", "provider.prometheus", "provider.web", "provider.job"),
		fieldsBelow(metricPath, Refused, noCounterpart+": a check counts all measurements, and not successes in a row", "consecutiveSuccessLimit"),
		fieldsBelow(providerPath, Refused, noCounterpart+": it asks Prometheus, a web server, or a Job",
			"cloudWatch", "datadog", "graphite", "influxdb", "kayenta", "newRelic", "plugin", "skywalking", "wavefront"),
	)
}

func prometheusFields() []Field {
	return slices.Concat(
		fieldsBelow(prometheusPath, Converted, "",
			"address", "query", "timeout", "insecure", "headers", "headers[].key", "headers[].value", "authentication",
			"authentication.oauth2", "authentication.oauth2.clientId", "authentication.oauth2.clientSecret", "authentication.oauth2.scopes",
			"authentication.oauth2.tokenUrl", "authentication.sigv4", "authentication.sigv4.profile", "authentication.sigv4.region", "authentication.sigv4.roleArn"),
		fieldsBelow(prometheusPath, Refused, noCounterpart+": it asks for the values of one time", "rangeQuery"),
	)
}

func webFields() []Field {
	return slices.Concat(
		fieldsBelow(webPath, Converted, "", "url", "jsonPath", "method", "timeoutSeconds", "insecure"),
		fieldsBelow(webPath, Refused, noCounterpart+": it asks with GET, and without headers", "headers", "authentication", "body", "jsonBody"),
	)
}

func jobFields() []Field {
	return slices.Concat(
		fieldsBelow(jobPath, Converted, "", "spec", "spec.activeDeadlineSeconds", "spec.backoffLimit", "spec.template", "spec.template.spec"),
		fieldsBelow(jobPath, Noted, "the Job of a check has labels and annotations of its own", "metadata", "spec.template.metadata"),
		fieldsBelow(jobPath, Meaningless, "", "spec.ttlSecondsAfterFinished"),
		fieldsBelow(jobPath+"spec.", Refused, "",
			"backoffLimitPerIndex", "completionMode", "completions", "managedBy", "manualSelector", "maxFailedIndexes", "parallelism", "podFailurePolicy",
			"podReplacementPolicy", "selector", "successPolicy", "suspend"),
		podFields(), containerFields(),
	)
}

func podFields() []Field {
	return slices.Concat(
		fieldsBelow(podPath, Converted, "", "serviceAccountName", "restartPolicy", "containers"),
		fieldsBelow(podPath, Meaningless, "", "terminationGracePeriodSeconds"),
		fieldsBelow(podPath, Refused, "",
			"activeDeadlineSeconds", "affinity", "automountServiceAccountToken", "dnsConfig", "dnsPolicy", "enableServiceLinks", "ephemeralContainers", "hostAliases",
			"hostIPC", "hostNetwork", "hostPID", "hostUsers", "hostname", "hostnameOverride", "imagePullSecrets", "initContainers", "nodeName", "nodeSelector", "os",
			"overhead", "preemptionPolicy", "priority", "priorityClassName", "readinessGates", "resourceClaims", "resources", "runtimeClassName", "schedulerName",
			"schedulingGates", "securityContext", "serviceAccount", "setHostnameAsFQDN", "shareProcessNamespace", "subdomain", "tolerations",
			"topologySpreadConstraints", "volumes"),
	)
}

func containerFields() []Field {
	return slices.Concat(
		fieldsBelow(containerPath, Converted, "", "image", "command", "args", "env", "env[].name", "env[].value"),
		fieldsBelow(containerPath, Refused, "",
			"env[].valueFrom", "envFrom", "lifecycle", "livenessProbe", "ports", "readinessProbe", "resizePolicy", "restartPolicy", "restartPolicyRules",
			"securityContext", "startupProbe", "stdin", "stdinOnce", "tty", "volumeDevices", "volumeMounts", "workingDir"),
		fieldsBelow(containerPath, Noted, "the Job of a check has 0.5 CPU and 256 MiB", "resources"),
		fieldsBelow(containerPath, Noted, "the Job of a check pulls its image as the cluster does by itself", "imagePullPolicy"),
		fieldsBelow(containerPath, Meaningless, "", "name", "terminationMessagePath", "terminationMessagePolicy"),
	)
}
