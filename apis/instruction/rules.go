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

// matchedPart returns the part of the object that has the instruction, or "".
func (r rule) matchedPart(o Object) string {
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

func instructionRules() []rule {
	return slices.Concat(kustomizeRules(), fluxRules(), argoRules(), argoExclusions(), configSyncRules(), configSyncExclusions())
}

// kustomizeRules returns the rules of kustomize, which each engine runs on a directory with a kustomization. kustomize drops an object with any value of
// local-config but false; Config Sync reads the annotation by itself, too.
func kustomizeRules() []rule {
	return []rule{
		{engine: catalogv1alpha1.EngineNone, effect: EffectSkipped, key: "config.kubernetes.io/local-config", isGiven: equalsNoneOf("false")},
	}
}

// flux1 is the first generation of Flux, which some repositories still have annotations of. No Site can name it.
const flux1 catalogv1alpha1.EngineType = "Flux 1"

// fluxRules returns the rules of kustomize-controller, which reads labels as it reads annotations and ignores the case of values, and the rules of Flux 1, whose
// keys have two prefixes.
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
		{engine: flux1, effect: EffectSkipped, key: "fluxcd.io/ignore", isGiven: equalsOneOf("true")},
		{engine: flux1, effect: EffectSkipped, key: "flux.weave.works/ignore", isGiven: equalsOneOf("true")},
	}
}

// argoRules returns the rules of the application controller, of its sync and of its directory sources.
func argoRules() []rule {
	const prefix = "argocd.argoproj.io/"
	argo := func(effect Effect, key string, isGiven func(string) bool) rule {
		return rule{engine: catalogv1alpha1.EngineArgoCD, effect: effect, key: key, isGiven: isGiven}
	}
	return []rule{
		argo(EffectSkipped, prefix+"hook", isAppliedInNoPhase),
		argo(EffectHook, prefix+"hook", func(value string) bool { return !isAppliedInNoPhase(value) }),
		argo(EffectHook, "helm.sh/hook", equalsNoneOf("crd-install")),
		argo(EffectOrdered, prefix+"sync-wave", isNonZeroWave),
		argo(EffectOrdered, "helm.sh/hook-weight", isNonZeroWave),
		argo(EffectKept, prefix+"sync-options", hasOneOfOptions("Prune=false", "Prune=confirm", "Delete=false", "Delete=confirm")),
		argo(EffectOrdered, prefix+"sync-options", hasOneOfOptions("PruneLast=true")),
		argo(EffectKept, prefix+"compare-options", hasOneOfOptions("IgnoreExtraneous")),
		argo(EffectKept, "helm.sh/resource-policy", hasOneOfOptions("keep")),
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
	return exclusionRules(catalogv1alpha1.EngineArgoCD, []exclusion{
		{group: "events.k8s.io"},
		{group: "metrics.k8s.io"},
		{group: "", kinds: []string{"Event", "Endpoints", "EndpointSlice"}},
		{group: "discovery.k8s.io", kinds: []string{"Endpoints", "EndpointSlice"}},
		{group: "coordination.k8s.io", kinds: []string{"Lease"}},
		{group: "authentication.k8s.io", kinds: reviews},
		{group: "authorization.k8s.io", kinds: reviews},
		{group: "certificates.k8s.io", kinds: []string{"CertificateSigningRequest"}},
		{group: "cert-manager.io", kinds: []string{"CertificateRequest"}},
		{group: "cilium.io", kinds: []string{"CiliumIdentity", "CiliumEndpoint", "CiliumEndpointSlice"}},
		{group: "kyverno.io", kinds: reports},
		{group: "reports.kyverno.io", kinds: reports},
		{group: "wgpolicyk8s.io", kinds: reports},
	})
}

// An exclusion names kinds of a group that an engine does not apply. No kind stands for the whole group.
type exclusion struct {
	group string
	kinds []string
}

// exclusionRules returns the rules for the exclusions of an engine.
func exclusionRules(e catalogv1alpha1.EngineType, all []exclusion) []rule {
	out := make([]rule, 0, len(all))
	for _, x := range all {
		out = append(out, rule{engine: e, effect: EffectSkipped, group: x.group, kinds: append([]string{}, x.kinds...)})
	}
	return out
}

// configSyncRules returns the rules of Config Sync and of the library that it applies with.
func configSyncRules() []rule {
	sync := func(effect Effect, key string, isGiven func(string) bool) rule {
		return rule{engine: catalogv1alpha1.EngineConfigSync, effect: effect, key: key, isGiven: isGiven}
	}
	return []rule{
		sync(EffectSkipped, "configmanagement.gke.io/managed", equalsOneOf("disabled")),
		sync(EffectSkipped, "configmanagement.gke.io/cluster-selector", acceptsAnyValue),
		sync(EffectSkipped, "configsync.gke.io/cluster-name-selector", acceptsAnyValue),
		sync(EffectSkipped, "configmanagement.gke.io/namespace-selector", acceptsAnyValue),
		sync(EffectOnce, "client.lifecycle.config.k8s.io/mutation", equalsOneOf("ignore")),
		sync(EffectKept, "client.lifecycle.config.k8s.io/deletion", equalsOneOf("detach")),
		sync(EffectKept, "cli-utils.sigs.k8s.io/on-remove", equalsOneOf("keep")),
		sync(EffectOrdered, "config.kubernetes.io/depends-on", acceptsAnyValue),
		sync(EffectMutated, "config.kubernetes.io/apply-time-mutation", acceptsAnyValue),
	}
}

// configSyncExclusions are the kinds by which Config Sync selects clusters and namespaces, and lays out a hierarchy: it reads them, and applies none of them.
func configSyncExclusions() []rule {
	return exclusionRules(catalogv1alpha1.EngineConfigSync, []exclusion{
		{group: "configmanagement.gke.io", kinds: []string{"ClusterSelector", "NamespaceSelector", "Repo", "HierarchyConfig"}},
		{group: "clusterregistry.k8s.io", kinds: []string{"Cluster"}},
	})
}

func acceptsAnyValue(string) bool { return true }

// equalsOneOf matches each of the values.
func equalsOneOf(values ...string) func(string) bool {
	return func(setting string) bool { return slices.Contains(values, setting) }
}

// equalsNoneOf matches each value but these. The annotation exists, so an empty value is matched too.
func equalsNoneOf(values ...string) func(string) bool {
	return func(setting string) bool { return !slices.Contains(values, setting) }
}

// isNonZeroWave matches a number other than 0. Argo CD ignores a value that is not a number.
func isNonZeroWave(text string) bool {
	wave, err := strconv.Atoi(text)
	return err == nil && wave != 0
}

// isAppliedInNoPhase matches a list of hook types by which an object is applied in no phase of a sync: Skip alone, or none at all.
func isAppliedInNoPhase(setting string) bool {
	types := listOptions(setting)
	return !slices.ContainsFunc(types, func(t string) bool { return t != "Skip" })
}

// hasOneOfOptions matches a list of options with one of some.
func hasOneOfOptions(options ...string) func(string) bool {
	return func(setting string) bool {
		return slices.ContainsFunc(listOptions(setting), func(option string) bool { return slices.Contains(options, option) })
	}
}

// listOptions returns the options of a list in the form of Argo CD: they are separated by commas, and blanks around them and empty options do not count.
func listOptions(setting string) []string {
	var out []string
	for option := range strings.SplitSeq(setting, ",") {
		if option = strings.TrimSpace(option); option != "" {
			out = append(out, option)
		}
	}
	return out
}
