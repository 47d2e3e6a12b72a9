package fields

import "slices"

// Paths of objects in a Canary.
const (
	analysisPath      = "spec.analysis."
	canaryMetricsPath = analysisPath + "metrics[]."
)

// MetricTemplate returns the treatment of each field below spec of a MetricTemplate of Flagger v1.36.
func MetricTemplate() []Field {
	return slices.Concat(
		fieldsBelow("spec", Converted, "",
			"", ".query", ".provider", ".provider.type", ".provider.address", ".provider.secretRef", ".provider.secretRef.name", ".provider.insecureSkipVerify"),
		fieldsBelow("spec.", Refused, noCounterpart+": Prometheus has no region", "provider.region"),
	)
}

// Canary returns the treatment of each field below spec of a Canary of Flagger v1.36.
func Canary() []Field {
	return slices.Concat(
		fieldsBelow("spec", Converted, "", "", ".provider", ".skipAnalysis", ".analysis"),
		fieldsBelow("spec.", Noted, "the deployment has timeouts of its own", "progressDeadlineSeconds"),
		fieldsBelow("spec.", Meaningless, "",
			"autoscalerRef", "ingressRef", "metricsServer", "revertOnDeletion", "routeRef", "service", "suspend", "targetRef", "upstreamRef"),
		fieldsBelow("spec.analysis", Converted, "",
			".interval", ".iterations", ".threshold", ".metrics", ".metrics[].name", ".metrics[].interval", ".metrics[].templateVariables",
			".metrics[].templateRef", ".metrics[].templateRef.name", ".metrics[].templateRef.namespace",
			".metrics[].thresholdRange", ".metrics[].thresholdRange.min", ".metrics[].thresholdRange.max"),
		fieldsBelow(canaryMetricsPath, Refused, noCounterpart+": move it to a MetricTemplate, and refer to that", "query"),
		fieldsBelow(canaryMetricsPath, Refused, noCounterpart+": write it as thresholdRange", "threshold"),
		fieldsBelow(analysisPath, Noted,
			"a check calls no webhook: in Flagger a failed webhook counts against threshold, holds the canary or rolls it back, by its type", "webhooks"),
		fieldsBelow(analysisPath, Noted, "the steps of a rollout say which requests go to the canary", "match", "mirror", "mirrorWeight", "maxWeight", "stepWeight",
			"stepWeights", "stepWeightPromotion", "sessionAffinity"),
		fieldsBelow(analysisPath, Noted, "the pods of a revision are judged by their availability, and not by a share of them", "primaryReadyThreshold", "canaryReadyThreshold"),
		fieldsBelow(analysisPath, Meaningless, "", "alerts"),
	)
}
