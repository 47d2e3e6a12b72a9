package instruction

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
)

// A rule finds one instruction: by a key of the annotations, and of the labels for some engines, by the kind of the object, or by a text in its file.
type rule struct {
	engine catalogv1alpha1.EngineType
	effect Effect

	// key of an annotation, and isGiven for its values. It may also be a label if inLabels is true.
	key      string
	isGiven  func(value string) bool
	inLabels bool

	// kinds of a group that the engine excludes by default. An empty list excludes the whole group.
	group string
	kinds []string

	// marker is a text that may stand anywhere in the file.
	marker string
}

// match returns the part of the object that has the instruction, or "".
func (r rule) match(o Object) string {
	if r.kinds != nil {
		if r.group == o.Group && (len(r.kinds) == 0 || slices.Contains(r.kinds, o.Kind)) {
			return "kind " + strings.TrimSuffix(o.Kind+"."+o.Group, ".")
		}
		return ""
	}
	if r.marker != "" {
		if bytes.Contains(o.Content, []byte(r.marker)) {
			return "text " + r.marker
		}
		return ""
	}
	if value, ok := o.Annotations[r.key]; ok && r.isGiven(value) {
		return describeEntry("annotation", r.key, value)
	}
	if value, ok := o.Labels[r.key]; ok && r.inLabels && r.isGiven(value) {
		return describeEntry("label", r.key, value)
	}
	return ""
}

func rules() []rule {
	return slices.Concat(kustomizeRules(), fluxRules(), argoRules(), argoExclusions(), configSyncRules())
}

// kustomizeRules returns the rules of kustomize, which each engine runs on a directory with a kustomization.
func kustomizeRules() []rule {
	return []rule{
		{engine: catalogv1alpha1.EngineNone, effect: EffectSkipped, key: "config.kubernetes.io/local-config", isGiven: always},
	}
}

// flux1 is the first generation of Flux, which some repositories still have annotations of. No Site can name it.
const flux1 catalogv1alpha1.EngineType = "Flux 1"

// fluxRules returns the rules of kustomize-controller, which reads labels as it reads annotations and ignores the case of values, and the rule of Flux 1.
func fluxRules() []rule {
	const prefix = "kustomize.toolkit.fluxcd.io/"
	flux := func(effect Effect, name, value string) rule {
		isGiven := func(setting string) bool { return strings.EqualFold(setting, value) }
		return rule{engine: catalogv1alpha1.EngineFlux, effect: effect, key: prefix + name, isGiven: isGiven, inLabels: true}
	}
	return []rule{
		flux(EffectSkipped, "reconcile", "disabled"),
		flux(EffectSkipped, "ssa", "Ignore"),
		flux(EffectOnce, "ssa", "IfNotPresent"),
		flux(EffectKept, "prune", "disabled"),
		{engine: flux1, effect: EffectSkipped, key: "fluxcd.io/ignore", isGiven: equal("true")},
	}
}

// argoRules returns the rules of the application controller, of its sync and of its directory sources.
func argoRules() []rule {
	const prefix = "argocd.argoproj.io/"
	argo := func(effect Effect, key string, isGiven func(string) bool) rule {
		return rule{engine: catalogv1alpha1.EngineArgoCD, effect: effect, key: key, isGiven: isGiven}
	}
	return []rule{
		argo(EffectSkipped, prefix+"hook", equal("Skip", "")), // An empty value is a hook of no type, which runs in no phase.
		argo(EffectHook, prefix+"hook", except("Skip", "")),
		argo(EffectHook, "helm.sh/hook", except("crd-install")),
		argo(EffectOrdered, prefix+"sync-wave", isWave),
		argo(EffectOrdered, "helm.sh/hook-weight", isWave),
		argo(EffectKept, prefix+"sync-options", hasOption("Prune=false", "Prune=confirm", "Delete=false", "Delete=confirm")),
		argo(EffectOrdered, prefix+"sync-options", hasOption("PruneLast=true")),
		argo(EffectKept, prefix+"compare-options", hasOption("IgnoreExtraneous")),
		argo(EffectKept, "helm.sh/resource-policy", equal("keep")),
		{engine: catalogv1alpha1.EngineArgoCD, effect: EffectSkipped, marker: "+argocd:skip-file-rendering"},
	}
}

// argoExclusions are the kinds that the controller never manages, and the kinds that its installation excludes by default (resource.exclusions).
func argoExclusions() []rule {
	reviews := []string{"SelfSubjectReview", "TokenReview", "LocalSubjectAccessReview", "SelfSubjectAccessReview", "SelfSubjectRulesReview", "SubjectAccessReview"}
	reports := []string{
		"PolicyReport", "ClusterPolicyReport", "EphemeralReport", "ClusterEphemeralReport", "AdmissionReport", "ClusterAdmissionReport", "BackgroundScanReport",
		"ClusterBackgroundScanReport", "UpdateRequest",
	}
	var out []rule
	exclude := func(group string, kinds ...string) {
		out = append(out, rule{engine: catalogv1alpha1.EngineArgoCD, effect: EffectSkipped, group: group, kinds: append([]string{}, kinds...)})
	}
	exclude("events.k8s.io")
	exclude("metrics.k8s.io")
	exclude("", "Event", "Endpoints", "EndpointSlice")
	exclude("discovery.k8s.io", "Endpoints", "EndpointSlice")
	exclude("coordination.k8s.io", "Lease")
	exclude("apiregistration.k8s.io", "APIService")
	exclude("authentication.k8s.io", reviews...)
	exclude("authorization.k8s.io", reviews...)
	exclude("certificates.k8s.io", "CertificateSigningRequest")
	exclude("cert-manager.io", "CertificateRequest")
	exclude("cilium.io", "CiliumIdentity", "CiliumEndpoint", "CiliumEndpointSlice")
	exclude("kyverno.io", reports...)
	exclude("reports.kyverno.io", reports...)
	exclude("wgpolicyk8s.io", reports...)
	return out
}

// configSyncRules returns the rules of Config Sync and of the library that it applies with.
func configSyncRules() []rule {
	sync := func(effect Effect, key string, isGiven func(string) bool) rule {
		return rule{engine: catalogv1alpha1.EngineConfigSync, effect: effect, key: key, isGiven: isGiven}
	}
	return []rule{
		sync(EffectSkipped, "configmanagement.gke.io/managed", equal("disabled")),
		sync(EffectSkipped, "configmanagement.gke.io/cluster-selector", always),
		sync(EffectSkipped, "configsync.gke.io/cluster-name-selector", always),
		sync(EffectSkipped, "configmanagement.gke.io/namespace-selector", always),
		sync(EffectOnce, "client.lifecycle.config.k8s.io/mutation", equal("ignore")),
		sync(EffectKept, "client.lifecycle.config.k8s.io/deletion", equal("detach")),
		sync(EffectKept, "cli-utils.sigs.k8s.io/on-remove", equal("keep")),
		sync(EffectOrdered, "config.kubernetes.io/depends-on", always),
		sync(EffectMutated, "config.kubernetes.io/apply-time-mutation", always),
	}
}

func always(string) bool { return true }

// equal matches each of the values.
func equal(values ...string) func(string) bool {
	return func(setting string) bool { return slices.Contains(values, setting) }
}

// except matches each value but these. The annotation exists, so an empty value is matched too.
func except(values ...string) func(string) bool {
	return func(setting string) bool { return !slices.Contains(values, setting) }
}

// isWave matches a number other than 0. Argo CD ignores a value that is not a number.
func isWave(text string) bool {
	wave, err := strconv.Atoi(text)
	return err == nil && wave != 0
}

// hasOption matches a list of options, separated by commas, with one of some.
func hasOption(options ...string) func(string) bool {
	return func(setting string) bool {
		for option := range strings.SplitSeq(setting, ",") {
			if slices.Contains(options, strings.TrimSpace(option)) {
				return true
			}
		}
		return false
	}
}
