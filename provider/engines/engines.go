// Package engines reads the status of GitOps engines (Flux, Argo CD, Config Sync): which commit they applied with success, or why there is none.
//
// It is pure: the caller passes an engine's object, and the second object that belongs to it. An engine's status proves nothing alone: the
// caller still has to check that the commit holds the right tree.
package engines

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"iter"
	"regexp"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/provider/engines/coverage"
	"github.com/intentplane/intentplane/provider/statusmessage"
)

// A Ref names an object of an engine.
type Ref struct {
	// Resource of the object.
	Resource schema.GroupVersionResource
	// Kind of the object.
	Kind string
	// Namespace and Name of the object.
	Namespace, Name string
}

// String returns kind, namespace and name, for messages.
func (r Ref) String() string { return r.Kind + " " + r.Namespace + "/" + r.Name }

// A Want is the place that an engine has to read from, and the cluster that it has to apply to.
type Want struct {
	// URL and Branch of the repository. The URL proves nothing.
	URL    string `json:"url"`
	Branch string `json:"branch"`
	// SiteDir is the Site's directory in it, and ClaimDir the claim's, which lies in that.
	SiteDir  string `json:"siteDir"`
	ClaimDir string `json:"claimDir"`
	// Elsewhere is true if the engine's object is not in the cluster that it has to apply to.
	Elsewhere bool `json:"elsewhere,omitempty"`
	// HasFolders is true if the claim's files are in folders of its directory, and no kustomization lists them.
	HasFolders bool `json:"hasFolders,omitempty"`
}

// IsHealthy reports whether a health means that all applied objects work: Argo CD and a Flux Kustomization with health checks in one word,
// Config Sync in another one. An engine that does not look at it has none.
func IsHealthy(health string) bool { return health == "Healthy" || health == "Current" }

// IsUnhealthy reports whether a health means that an applied object does not work, or does not work yet. An empty or Unknown health comes from an engine
// without a health check, or before its first check, and means neither.
func IsUnhealthy(health string) bool {
	return health != "" && health != "Unknown" && !IsHealthy(health)
}

// An Observation is the report of an engine's objects.
type Observation struct {
	// Reason why the commit proves nothing, one of the reasons of a Site. Empty if the engine applied the commit with success, for the
	// present generation of its object.
	Reason string `json:"reason,omitempty"`
	// Message of the engine, if its object reads the claim's directory alone. Otherwise it says which object to look at. It is one line.
	Message string `json:"message,omitempty"`
	// Commit that was applied last, or compared and found to be applied.
	Commit string `json:"commit,omitempty"`
	// IsUncompared is true if the engine prepared the commit, and neither compared it with the cluster nor applied it yet.
	IsUncompared bool `json:"isUncompared,omitempty"`
	// Attempted is the commit that was tried last.
	Attempted string `json:"attempted,omitempty"`
	// FinalFailure is true if the engine failed because of the attempted content, so that another try of the same commit fails too.
	FinalFailure bool `json:"finalFailure,omitempty"`
	// MayHideFailure is true if the engine reports one health for all objects, and the health of an object which it cannot assess hides a
	// failure of another one.
	MayHideFailure bool `json:"mayHideFailure,omitempty"`
	// StillApplied is true if the last applied objects are still in the cluster, regardless of the engine's next action: a Site that was live
	// still is.
	StillApplied bool `json:"stillApplied,omitempty"`
	// Target is a digest of the identity of the engine's object and of its destination. Empty without a UID.
	Target string `json:"target,omitempty"`
	// Kind, Generation and Health as the engine reports them.
	Kind       string `json:"kind,omitempty"`
	Generation int64  `json:"generation,omitempty"`
	Health     string `json:"health,omitempty"`
	// Proof is the strongest proof that the settings of the engine's object allow.
	Proof v1alpha1.Proof `json:"proof,omitempty"`
	// Root is the directory that the engine reads.
	Root string `json:"root,omitempty"`
	// URL of the repository that the engine reads, without credentials.
	URL string `json:"url,omitempty"`
	// Report is the engine's report about single objects.
	Report coverage.Report `json:"-"`
}

// PrimaryRef returns the engine's object that a Site names. It returns an error if its kind is not supported for the engine.
func PrimaryRef(engine catalogv1alpha1.EngineType, o catalogv1alpha1.ObjectReference) (Ref, error) {
	gv, err := schema.ParseGroupVersion(o.APIVersion)
	if err != nil {
		return Ref{}, errors.Errorf("apiVersion %q is malformed: write group/version", o.APIVersion)
	}
	for _, k := range supportedKinds() {
		if k.engine == engine && k.group == gv.Group && k.kind == o.Kind {
			return Ref{Resource: gv.WithResource(k.resource), Kind: k.kind, Namespace: o.Namespace, Name: o.Name}, nil
		}
	}
	return Ref{}, errors.Errorf("kind %s (%s) is not supported for engine %s", o.Kind, o.APIVersion, engine)
}

// SecondaryRef returns the other object that has to be read: the source of a Kustomization, the ResourceGroup of a RootSync. It returns
// false if there is none.
func SecondaryRef(engine catalogv1alpha1.EngineType, main *unstructured.Unstructured) (Ref, bool) {
	switch engine {
	case catalogv1alpha1.EngineFlux:
		return refOfFluxSource(main)
	case catalogv1alpha1.EngineConfigSync:
		return inventoryOf(main), true
	}
	return Ref{}, false
}

// StalledSince returns when an engine declared that it does not try its own object again until that changes. It is zero for an engine that
// did not, or that declares the same for failures which end without a change, as Config Sync does.
func StalledSince(engine catalogv1alpha1.EngineType, main *unstructured.Unstructured) time.Time {
	if engine == catalogv1alpha1.EngineFlux && main != nil {
		return fluxStalledSince(main)
	}
	return time.Time{}
}

// ProvenHealth returns the health that an engine reported, or "" for an engine that calls all objects healthy and leaves out a workload of the
// directory.
func (o Observation) ProvenHealth(c coverage.Coverage) string {
	if c.HealthGap != "" && IsHealthy(o.Health) {
		return ""
	}
	return o.Health
}

// Observe returns the report of the engine, as far as the users of the claim may see it. An object that does not exist is nil.
func Observe(engine catalogv1alpha1.EngineType, w Want, main, second *unstructured.Unstructured) Observation {
	o := observeEngine(engine, w, main, second)
	o.Kind, o.Health = limitText(o.Kind, maxKindBytes), limitText(o.Health, maxHealthBytes)
	if main != nil {
		o.Message = statusmessage.Sanitize(messageForUsers(w, o, main))
	}
	return o
}

func observeEngine(engine catalogv1alpha1.EngineType, w Want, main, second *unstructured.Unstructured) Observation {
	if main == nil {
		return Observation{Reason: v1alpha1.SiteReasonEngineObjectMissing, Message: "the engine's object that the Site names does not exist"}
	}
	var o Observation
	switch engine {
	case catalogv1alpha1.EngineFlux:
		o = observeFlux(w, main, second)
	case catalogv1alpha1.EngineArgoCD:
		o = observeArgoCD(w, main)
	case catalogv1alpha1.EngineConfigSync:
		o = observeConfigSync(w, main, second)
	default:
		o = Observation{Reason: v1alpha1.SiteReasonEngineNotProvable}
	}
	if o.Reason == "" && main.GetDeletionTimestamp() != nil {
		o.Reason, o.Message = v1alpha1.SiteReasonEngineObjectMissing, fmt.Sprintf("%s %s/%s is being deleted", main.GetKind(), main.GetNamespace(), main.GetName())
	}
	o.Kind, o.Target = main.GetKind(), targetDigest(main)
	return o
}

// targetBytes is the length of the digest of a target.
const targetBytes = 8

// targetDigest returns a digest of the UID of an engine's object and of the cluster that its spec names: the destination of Argo CD, the kubeConfig of Flux. It is
// empty for an object without a UID.
func targetDigest(main *unstructured.Unstructured) string {
	destination, _, _ := unstructured.NestedFieldNoCopy(main.Object, "spec", "destination")
	kubeConfig, _, _ := unstructured.NestedFieldNoCopy(main.Object, "spec", "kubeConfig")
	text, err := json.Marshal([]any{main.GetUID(), destination, kubeConfig})
	if err != nil || main.GetUID() == "" {
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:targetBytes])
}

// messageForUsers returns the message that the users of the claim may see. An object that reads more than the claim's directory reports on
// directories of other claims too, so its text is hidden from them.
func messageForUsers(w Want, o Observation, main *unstructured.Unstructured) string {
	if o.Root == w.ClaimDir || !strings.Contains(o.Message, engineTextMark) {
		return o.Message
	}
	word := ""
	if found := engineReason.FindStringSubmatch(statusmessage.Sanitize(o.Message)); found != nil {
		word = found[1] + ": "
	}
	return fmt.Sprintf("%s%s %s/%s reads more than the directory of this claim: see its status in the Site's cluster, or ask a user who may read it",
		word, main.GetKind(), main.GetNamespace(), main.GetName())
}

// engineTextMark begins a text of an engine, until statusmessage.Sanitize removes it. A text that holds the mark itself is treated as one, too.
const engineTextMark = "\x00"

// markEngineText marks a text as one of the engine. It may name objects of other claims.
func markEngineText(text string) string {
	if text == "" {
		return ""
	}
	return engineTextMark + text
}

// engineReason matches the reason at the beginning of a message. It is a word of the engine, such as BuildFailed, and names no object, so
// everybody may see it.
var engineReason = regexp.MustCompile(`^(?:[a-z ]+: )?([A-Z][A-Za-z0-9]{0,63}): `)

// An Annotation makes an engine reconcile now.
type Annotation struct {
	// On which object.
	On Ref
	// Key and Value of it.
	Key, Value string
}

// RefreshAnnotation returns the annotation that makes the engine reconcile now. It returns false if none is needed or possible: the engine
// has no such annotation, is suspended, or has this request already. The token distinguishes one request from the next.
func RefreshAnnotation(engine catalogv1alpha1.EngineType, main, second *unstructured.Unstructured, token string) (Annotation, bool) {
	switch engine {
	case catalogv1alpha1.EngineFlux:
		return fluxRefreshAnnotation(main, second, token)
	case catalogv1alpha1.EngineArgoCD:
		return argoRefreshAnnotation(main)
	}
	return Annotation{}, false
}

type supportedKind struct {
	engine   catalogv1alpha1.EngineType
	group    string
	kind     string
	resource string
}

// supportedKinds lists the kinds that are read. Other kinds in a Site are refused. A new engine also needs its type in the API of Sites, and
// its substitutions in files: ModeAt of apis/expansion.
func supportedKinds() []supportedKind {
	return []supportedKind{
		{engine: catalogv1alpha1.EngineFlux, group: fluxKustomize, kind: "Kustomization", resource: "kustomizations"},
		{engine: catalogv1alpha1.EngineArgoCD, group: argoGroup, kind: "Application", resource: "applications"},
		{engine: catalogv1alpha1.EngineConfigSync, group: configSyncGroupName, kind: "RootSync", resource: "rootsyncs"},
		{engine: catalogv1alpha1.EngineConfigSync, group: configSyncGroupName, kind: "RepoSync", resource: "reposyncs"},
	}
}

// DecodeObject decodes the fields of an object that its reader needs. It returns an error if one has an unexpected type.
func DecodeObject(u *unstructured.Unstructured, into any) error {
	if runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, into) != nil {
		// The converter's error is left out: its text differs from call to call.
		return errors.Errorf("cannot read %s: a field has an unexpected type", u.GetKind())
	}
	return nil
}

// listEntries yields the maps in a list of an object, without a copy: an engine's object may list the objects of many claims.
func listEntries(u *unstructured.Unstructured, path ...string) iter.Seq[map[string]any] {
	field, _, _ := unstructured.NestedFieldNoCopy(u.Object, path...)
	list, _ := field.([]any)
	return func(yield func(map[string]any) bool) {
		for _, e := range list {
			if entry, ok := e.(map[string]any); ok && !yield(entry) {
				return
			}
		}
	}
}

// textOfEntry returns a text of an entry, or "".
func textOfEntry(entry map[string]any, key string) string {
	text, _ := entry[key].(string)
	return text
}

// unreadableObject returns the observation of an object that cannot be decoded.
func unreadableObject(err error) Observation {
	return Observation{Reason: v1alpha1.SiteReasonEngineNotProvable, Message: err.Error()}
}

// parseCommitID returns a commit id of 40 hexadecimal digits. For any other text it returns "", which proves nothing.
func parseCommitID(id string) string {
	if len(id) != 40 || strings.Trim(id, "0123456789abcdef") != "" {
		return ""
	}
	return id
}
