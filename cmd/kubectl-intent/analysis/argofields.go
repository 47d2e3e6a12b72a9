package analysis

import "slices"

// Paths of objects in an AnalysisTemplate.
const (
	argoMetricPath     = "spec.metrics[]."
	argoProviderPath   = argoMetricPath + "provider."
	argoPrometheusPath = argoProviderPath + "prometheus."
	argoWebPath        = argoProviderPath + "web."
	argoJobPath        = argoProviderPath + "job."
	argoPodPath        = argoJobPath + "spec.template.spec."
	argoContainerPath  = argoPodPath + "containers[]."
)

// ArgoFields returns the treatment of each field below spec of an AnalysisTemplate and of a ClusterAnalysisTemplate of Argo Rollouts v1.10, which have one
// schema.
func ArgoFields() []Field {
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
		argoMetricFields(), argoPrometheusFields(), argoWebFields(), argoJobFields(),
	)
}

func argoMetricFields() []Field {
	return slices.Concat(
		fieldsBelow("spec.metrics", Converted, "", ""),
		fieldsBelow(argoMetricPath, Converted, "",
			"name", "count", "interval", "initialDelay", "failureLimit", "inconclusiveLimit", "consecutiveErrorLimit", "successCondition", "failureCondition",
			"provider", "provider.prometheus", "provider.web", "provider.job"),
		fieldsBelow(argoMetricPath, Refused, noCounterpart+": a check counts all measurements, and not successes in a row", "consecutiveSuccessLimit"),
		fieldsBelow(argoProviderPath, Refused, noCounterpart+": it asks Prometheus, a web server, or a Job",
			"cloudWatch", "datadog", "graphite", "influxdb", "kayenta", "newRelic", "plugin", "skywalking", "wavefront"),
	)
}

func argoPrometheusFields() []Field {
	return slices.Concat(
		fieldsBelow(argoPrometheusPath, Converted, "",
			"address", "query", "timeout", "insecure", "headers", "headers[].key", "headers[].value", "authentication",
			"authentication.oauth2", "authentication.oauth2.clientId", "authentication.oauth2.clientSecret", "authentication.oauth2.scopes",
			"authentication.oauth2.tokenUrl", "authentication.sigv4", "authentication.sigv4.profile", "authentication.sigv4.region", "authentication.sigv4.roleArn"),
		fieldsBelow(argoPrometheusPath, Refused, noCounterpart+": it asks for the values of one time", "rangeQuery"),
	)
}

func argoWebFields() []Field {
	return slices.Concat(
		fieldsBelow(argoWebPath, Converted, "", "url", "jsonPath", "method", "timeoutSeconds", "insecure"),
		fieldsBelow(argoWebPath, Refused, noCounterpart+": it asks with GET, and without headers", "headers", "authentication", "body", "jsonBody"),
	)
}

func argoJobFields() []Field {
	return slices.Concat(
		fieldsBelow(argoJobPath, Converted, "", "spec", "spec.activeDeadlineSeconds", "spec.backoffLimit", "spec.template", "spec.template.spec"),
		fieldsBelow(argoJobPath, Noted, "the Job of a check has labels and annotations of its own", "metadata", "spec.template.metadata"),
		fieldsBelow(argoJobPath, Meaningless, "", "spec.ttlSecondsAfterFinished"),
		fieldsBelow(argoJobPath+"spec.", Refused, "",
			"backoffLimitPerIndex", "completionMode", "completions", "managedBy", "manualSelector", "maxFailedIndexes", "parallelism", "podFailurePolicy",
			"podReplacementPolicy", "selector", "successPolicy", "suspend"),
		argoPodFields(), argoContainerFields(),
	)
}

func argoPodFields() []Field {
	return slices.Concat(
		fieldsBelow(argoPodPath, Converted, "", "serviceAccountName", "restartPolicy", "containers"),
		fieldsBelow(argoPodPath, Meaningless, "", "terminationGracePeriodSeconds"),
		fieldsBelow(argoPodPath, Refused, "",
			"activeDeadlineSeconds", "affinity", "automountServiceAccountToken", "dnsConfig", "dnsPolicy", "enableServiceLinks", "ephemeralContainers", "hostAliases",
			"hostIPC", "hostNetwork", "hostPID", "hostUsers", "hostname", "hostnameOverride", "imagePullSecrets", "initContainers", "nodeName", "nodeSelector", "os",
			"overhead", "preemptionPolicy", "priority", "priorityClassName", "readinessGates", "resourceClaims", "resources", "runtimeClassName", "schedulerName",
			"schedulingGates", "securityContext", "serviceAccount", "setHostnameAsFQDN", "shareProcessNamespace", "subdomain", "tolerations",
			"topologySpreadConstraints", "volumes"),
	)
}

func argoContainerFields() []Field {
	return slices.Concat(
		fieldsBelow(argoContainerPath, Converted, "", "image", "command", "args", "env", "env[].name", "env[].value"),
		fieldsBelow(argoContainerPath, Refused, "",
			"env[].valueFrom", "envFrom", "lifecycle", "livenessProbe", "ports", "readinessProbe", "resizePolicy", "restartPolicy", "restartPolicyRules",
			"securityContext", "startupProbe", "stdin", "stdinOnce", "tty", "volumeDevices", "volumeMounts", "workingDir"),
		fieldsBelow(argoContainerPath, Noted, "the Job of a check has 0.5 CPU and 256 MiB", "resources"),
		fieldsBelow(argoContainerPath, Noted, "the Job of a check pulls its image as the cluster does by itself", "imagePullPolicy"),
		fieldsBelow(argoContainerPath, Meaningless, "", "name", "terminationMessagePath", "terminationMessagePolicy"),
	)
}
