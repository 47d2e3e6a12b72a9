package engines

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
)

const (
	fluxKustomize = "kustomize.toolkit.fluxcd.io"
	fluxSources   = "source.toolkit.fluxcd.io"

	// fluxRequestedKey is the annotation that makes a controller of Flux reconcile now, each time that its value changes.
	fluxRequestedKey = "reconcile.fluxcd.io/requestedAt"
)

type fluxKustomization struct {
	Metadata struct {
		Generation int64 `json:"generation"`
	} `json:"metadata"`
	Spec struct {
		Suspend    bool           `json:"suspend"`
		Path       string         `json:"path"`
		SourceRef  fluxSourceRef  `json:"sourceRef"`
		KubeConfig map[string]any `json:"kubeConfig"`
		Prune      *bool          `json:"prune"`
	} `json:"spec"`
	Status struct {
		ObservedGeneration        int64              `json:"observedGeneration"`
		Conditions                []metav1.Condition `json:"conditions"`
		LastAppliedRevision       string             `json:"lastAppliedRevision"`
		LastAttemptedRevision     string             `json:"lastAttemptedRevision"`
		LastAppliedOriginRevision string             `json:"lastAppliedOriginRevision"`
		Inventory                 *struct{}          `json:"inventory"`
	} `json:"status"`
}

type fluxSourceRef struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Name       string `json:"name"`
	Namespace  string `json:"namespace"`
}

type fluxRepository struct {
	Metadata struct {
		Generation int64 `json:"generation"`
	} `json:"metadata"`
	Spec struct {
		Suspend bool   `json:"suspend"`
		URL     string `json:"url"`
		Ref     struct {
			Branch string `json:"branch"`
			Tag    string `json:"tag"`
			SemVer string `json:"semver"`
			Name   string `json:"name"`
			Commit string `json:"commit"`
		} `json:"ref"`
	} `json:"spec"`
	Status struct {
		ObservedGeneration int64              `json:"observedGeneration"`
		Conditions         []metav1.Condition `json:"conditions"`
	} `json:"status"`
}

func fluxSource(main *unstructured.Unstructured) (Ref, bool) {
	k := fluxKustomization{}
	if err := decodeObject(main, &k); err != nil {
		return Ref{}, false
	}
	s := k.Spec.SourceRef
	if !s.isReadable() {
		return Ref{}, false
	}
	gv, _ := schema.ParseGroupVersion(s.APIVersion) // It is readable.
	if gv.Empty() {
		gv = schema.GroupVersion{Group: fluxSources, Version: "v1"}
	}
	if s.Namespace == "" {
		s.Namespace = main.GetNamespace()
	}
	resource := map[string]string{"GitRepository": "gitrepositories", "OCIRepository": "ocirepositories", "Bucket": "buckets"}[s.Kind]
	return Ref{Resource: gv.WithResource(resource), Kind: s.Kind, Namespace: s.Namespace, Name: s.Name}, true
}

// fluxSourceKinds lists the kinds of sources that are read.
func fluxSourceKinds() []string { return []string{"GitRepository", "OCIRepository", "Bucket"} }

// isReadable is true for a source of a kind that is read.
func (s fluxSourceRef) isReadable() bool {
	gv, err := schema.ParseGroupVersion(s.APIVersion)
	return err == nil && slices.Contains(fluxSourceKinds(), s.Kind) && (gv.Empty() || gv.Group == fluxSources)
}

// observeFlux reads a Kustomization and its source.
func observeFlux(w Want, main, source *unstructured.Unstructured) Observation {
	k := fluxKustomization{}
	if err := decodeObject(main, &k); err != nil {
		return unreadableObject(err)
	}
	o := Observation{
		Generation: k.Status.ObservedGeneration,
		Health:     fluxHealth(k),
		Commit:     parseFluxRevision(k.Status.LastAppliedRevision),
		Attempted:  parseFluxRevision(k.Status.LastAttemptedRevision),
		Proof:      fluxProof(main, source),
		Root:       cleanPath(k.Spec.Path),
		Report:     fluxReport(k, main),
		URL:        fluxURL(source),
	}
	if _, git := fluxSource(main); git && k.Spec.SourceRef.Kind != "GitRepository" {
		// The revision is the digest of an artifact. The publisher of the artifact may have recorded which commit it holds.
		o.Commit = parseFluxRevision(k.Status.LastAppliedOriginRevision)
		o.Attempted = o.Commit
	}
	o.Reason, o.Message = fluxReason(w, k, source, o)
	o.StillApplied = o.Reason == v1alpha1.SiteReasonProgressing || o.Reason == v1alpha1.SiteReasonEngineFailed && isFluxAwaitingSource(k)
	o.FinalFailure = o.Reason == v1alpha1.SiteReasonStalled || o.Reason == v1alpha1.SiteReasonEngineFailed && isFinalFluxFailure(k)
	return o
}

func fluxReason(w Want, k fluxKustomization, source *unstructured.Unstructured, o Observation) (string, string) {
	if k.Spec.Suspend {
		return v1alpha1.SiteReasonSuspended, "the Kustomization is suspended"
	}
	if remote := len(k.Spec.KubeConfig) > 0; remote != w.Elsewhere {
		return v1alpha1.SiteReasonWrongCluster, fluxWrongCluster(remote)
	}
	if reason, message := fluxSourceReason(w, k, source, o); reason != "" {
		return reason, message
	}
	return fluxApplyReason(k)
}

func fluxWrongCluster(remote bool) string {
	if remote {
		return "spec.kubeConfig names another cluster: the Kustomization is in the Site's cluster and has to apply there"
	}
	return "the Kustomization has no spec.kubeConfig, so it applies to the cluster that it is in, which is not the Site's"
}

// fluxSourceReason returns what is wrong with the source, or an empty reason.
func fluxSourceReason(w Want, k fluxKustomization, source *unstructured.Unstructured, o Observation) (string, string) {
	kind := k.Spec.SourceRef.Kind
	if source == nil {
		return fluxSourceMissing(k.Spec.SourceRef)
	}
	if kind != "GitRepository" {
		if why := describeWrongPath(w, o.Root); why != "" {
			return v1alpha1.SiteReasonWrongSource, why
		}
		if k.Status.LastAppliedRevision != "" && o.Commit == "" {
			return v1alpha1.SiteReasonEngineNotProvable, "the artifact of the " + kind + " does not say which commit it holds"
		}
		return "", ""
	}
	r := fluxRepository{}
	if err := decodeObject(source, &r); err != nil {
		return v1alpha1.SiteReasonEngineNotProvable, err.Error()
	}
	return fluxRepositoryReason(w, r, o)
}

// fluxSourceMissing returns why no source was read: its kind is none that the provider reads, or it does not exist.
func fluxSourceMissing(s fluxSourceRef) (string, string) {
	if !s.isReadable() {
		name := strings.Trim(s.APIVersion+" "+s.Kind, " ")
		return v1alpha1.SiteReasonEngineNotProvable, fmt.Sprintf("its source is of kind %s, which the provider does not read: name a %s of %s", name, strings.Join(fluxSourceKinds(), " or "), fluxSources)
	}
	return v1alpha1.SiteReasonEngineObjectMissing, fmt.Sprintf("its source, %s %s, does not exist", s.Kind, strings.Trim(s.Namespace+"/"+s.Name, "/"))
}

func fluxRepositoryReason(w Want, r fluxRepository, o Observation) (string, string) {
	ref := r.Spec.Ref
	branch := ref.Branch
	if ref.Name != "" {
		branch = ref.Name
	}
	if branch == "" && ref.Tag == "" && ref.SemVer == "" {
		branch = "master" // Flux's default.
	}
	switch why := describeWrongSource(w, branch, o.Root); {
	case why != "":
		return v1alpha1.SiteReasonWrongSource, why
	case ref.Name == "" && (ref.Tag != "" || ref.SemVer != ""), ref.Commit != "":
		return v1alpha1.SiteReasonWrongSource, "its source is pinned to a tag or a commit, and follows no branch"
	case r.Spec.Suspend:
		return v1alpha1.SiteReasonSuspended, "its source is suspended"
	}
	if c := fluxStall(r.Status.Conditions, r.Metadata.Generation); c.Type != "" {
		return v1alpha1.SiteReasonStalled, "its source: " + describeCondition(c)
	}
	if c := findCondition(r.Status.Conditions, "Ready"); c.Status == metav1.ConditionFalse && c.ObservedGeneration == r.Metadata.Generation {
		return v1alpha1.SiteReasonEngineFailed, "its source: " + describeCondition(c)
	}
	return "", ""
}

// fluxApplyReason returns why the commit is not applied, or an empty reason. The controller moves status.observedGeneration after success
// only: the generation that failed is in the condition.
func fluxApplyReason(k fluxKustomization) (string, string) {
	ready := findCondition(k.Status.Conditions, "Ready")
	if ready.ObservedGeneration != k.Metadata.Generation || ready.Status == metav1.ConditionTrue && k.Status.ObservedGeneration != k.Metadata.Generation {
		return v1alpha1.SiteReasonProgressing, "the controller has not seen the last change of the Kustomization"
	}
	if c := fluxStall(k.Status.Conditions, k.Metadata.Generation); c.Type != "" {
		return v1alpha1.SiteReasonStalled, describeCondition(c)
	}
	switch ready.Status {
	case metav1.ConditionFalse:
		return v1alpha1.SiteReasonEngineFailed, describeCondition(ready)
	case metav1.ConditionTrue:
		if k.Status.LastAppliedRevision != "" && k.Status.LastAppliedRevision == k.Status.LastAttemptedRevision {
			return "", ""
		}
	}
	return v1alpha1.SiteReasonProgressing, describeCondition(ready)
}

// fluxStall returns the condition by which a controller gave up the present generation of its object, or an empty one.
func fluxStall(conditions []metav1.Condition, generation int64) metav1.Condition {
	if c := findCondition(conditions, "Stalled"); c.Status == metav1.ConditionTrue && c.ObservedGeneration == generation {
		return c
	}
	return metav1.Condition{}
}

// fluxStalledSince returns when the controller gave up a Kustomization. A stalled source does not count: other Kustomizations may read it.
func fluxStalledSince(main *unstructured.Unstructured) time.Time {
	k := fluxKustomization{}
	if decodeObject(main, &k) != nil {
		return time.Time{}
	}
	return fluxStall(k.Status.Conditions, k.Metadata.Generation).LastTransitionTime.Time
}

// isFinalFluxFailure reports whether a failure follows from what was attempted. Other failures, such as an API server that does not answer,
// are temporary.
func isFinalFluxFailure(k fluxKustomization) bool {
	switch findCondition(k.Status.Conditions, "Ready").Reason {
	case "BuildFailed", "HealthCheckFailed":
		return true
	}
	return false
}

// isFluxAwaitingSource reports whether the controller waits for its source or for a dependency, or reports no failure of its own.
func isFluxAwaitingSource(k fluxKustomization) bool {
	switch ready := findCondition(k.Status.Conditions, "Ready"); ready.Reason {
	case "ArtifactFailed", "DependencyNotReady":
		return true
	default:
		return ready.Status != metav1.ConditionFalse
	}
}

// fluxHealth returns the condition Healthy. It exists only if the Kustomization has health checks.
func fluxHealth(k fluxKustomization) string {
	return map[metav1.ConditionStatus]string{
		metav1.ConditionTrue: "Healthy", metav1.ConditionFalse: "Unhealthy", metav1.ConditionUnknown: "Unknown",
	}[findCondition(k.Status.Conditions, "Healthy").Status]
}

// fluxProof returns Transformed where the Kustomization changes what it applies, or the source leaves files out. Otherwise it returns Exact.
func fluxProof(main, source *unstructured.Unstructured) v1alpha1.Proof {
	if hasSpecField(main, fluxTransformingFields()...) || source != nil && hasSpecField(source, "ignore", "sparseCheckout", "include") {
		return v1alpha1.ProofTransformed
	}
	return v1alpha1.ProofExact
}

// fluxTransformingFields of a Kustomization change what is applied.
func fluxTransformingFields() []string {
	return []string{
		"postBuild", "patches", "patchesStrategicMerge", "patchesJson6902", "components", "targetNamespace", "images",
		"namePrefix", "nameSuffix", "commonMetadata", "decryption", "ignoreMissingComponents", "driftIgnoreRules",
	}
}

// fluxRenamingFields are those of them that may give objects other names, or leave them out.
func fluxRenamingFields() []string {
	return slices.DeleteFunc(fluxTransformingFields(), func(field string) bool {
		return slices.Contains([]string{"images", "commonMetadata", "decryption", "driftIgnoreRules"}, field)
	})
}

// fluxURL returns the URL of a source.
func fluxURL(source *unstructured.Unstructured) string {
	if source == nil {
		return ""
	}
	raw, _, _ := unstructured.NestedString(source.Object, "spec", "url")
	return displayURL(raw)
}

// fluxReport returns the inventory, where the controller lists the applied objects, without the skipped ones.
func fluxReport(k fluxKustomization, main *unstructured.Unstructured) Report {
	name := fmt.Sprintf("Kustomization %s/%s", main.GetNamespace(), main.GetName())
	out := Report{Applied: fluxInventory(main)}
	if k.Spec.Prune != nil && !*k.Spec.Prune {
		out.Keeps = "spec.prune of " + name + " is false"
	}
	switch field := firstSpecField(main, fluxRenamingFields()...); {
	case field != "":
		out.Uncompared = name + " has spec." + field
	case k.Status.Inventory == nil:
		out.Uncompared = name + " has no status.inventory"
	}
	return out
}

// fluxInventory yields the objects of the inventory.
func fluxInventory(main *unstructured.Unstructured) iter.Seq[policy.Object] {
	return func(yield func(policy.Object) bool) {
		for entry := range listEntries(main, "status", "inventory", "entries") {
			if o, ok := parseFluxID(textOf(entry, "id")); ok && !yield(o) {
				return
			}
		}
	}
}

// parseFluxID returns the object of an inventory entry: <namespace>_<name>_<group>_<kind>, with two underscores for a colon in the name.
func parseFluxID(id string) (policy.Object, bool) {
	namespace, rest, ok := strings.Cut(id, "_")
	kind := strings.LastIndex(rest, "_")
	if !ok || kind < 0 {
		return policy.Object{}, false
	}
	group := strings.LastIndex(rest[:kind], "_")
	if group < 0 {
		return policy.Object{}, false
	}
	name := strings.ReplaceAll(rest[:group], "__", ":")
	return policy.Object{Group: rest[group+1 : kind], Kind: rest[kind+1:], Namespace: namespace, Name: name}, true
}

// fluxRefreshAnnotation annotates the source: a new artifact makes Flux reconcile the Kustomization.
func fluxRefreshAnnotation(main, source *unstructured.Unstructured, token string) (Annotation, bool) {
	ref, ok := fluxSource(main)
	if !ok || source == nil || ref.Kind != "GitRepository" || source.GetAnnotations()[fluxRequestedKey] == token {
		return Annotation{}, false
	}
	return Annotation{On: ref, Key: fluxRequestedKey, Value: token}, true
}

// parseFluxRevision returns the commit of a revision of Flux: main@sha1:<id>, or sha1:<id> where no branch is named.
func parseFluxRevision(revision string) string {
	id, ok := strings.CutPrefix(revision[strings.LastIndex(revision, "@")+1:], "sha1:")
	if !ok {
		return ""
	}
	return parseCommitID(id)
}

// hasSpecField reports whether the spec of an object sets one of these fields to a value that is not empty.
func hasSpecField(u *unstructured.Unstructured, fields ...string) bool {
	return firstSpecField(u, fields...) != ""
}

// firstSpecField returns the first of these fields that the spec of an object sets to a value that is not empty, or "".
func firstSpecField(u *unstructured.Unstructured, fields ...string) string {
	spec, _, _ := unstructured.NestedMap(u.Object, "spec")
	for _, f := range fields {
		if isSet(spec[f]) {
			return f
		}
	}
	return ""
}

// isSet reports whether a value is not empty.
func isSet(value any) bool {
	switch v := value.(type) {
	case nil:
		return false
	case bool:
		return v
	case string:
		return v != ""
	case []any:
		return len(v) > 0
	case map[string]any:
		return len(v) > 0
	}
	return true
}

func findCondition(conditions []metav1.Condition, typ string) metav1.Condition {
	for _, c := range conditions {
		if c.Type == typ {
			return c
		}
	}
	return metav1.Condition{}
}

func describeCondition(c metav1.Condition) string {
	return markEngineText(strings.Trim(c.Reason+": "+c.Message, ": "))
}
