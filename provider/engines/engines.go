// Package engines reads what GitOps engines say about themselves: which commit they applied with success, or why none.
//
// It is pure. An engine's object, and a second one beside it, are handed in as they were read; nothing that they say is believed
// beyond their own bounds: a commit that is named here still has to hold the right tree.
package engines

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
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

// String is for people.
func (r Ref) String() string { return r.Kind + " " + r.Namespace + "/" + r.Name }

// A Want is where an engine has to read from, and to apply to.
type Want struct {
	// URL and Branch of the repository.
	URL    string `json:"url"`
	Branch string `json:"branch"`
	// SiteDir is the Site's directory in it, and ClaimDir the claim's, which lies in that.
	SiteDir  string `json:"siteDir"`
	ClaimDir string `json:"claimDir"`
	// Elsewhere is true if the engine's object is not in the cluster that it has to apply to.
	Elsewhere bool `json:"elsewhere,omitempty"`
}

// An Observation is what an engine says.
type Observation struct {
	// Reason why the commit proves nothing, one of the reasons of a Site. Empty if the engine applied it with success, for the
	// present generation of its object.
	Reason string `json:"reason,omitempty"`
	// Message of the engine if it reads the claim's directory alone, or else where it is found. It is one line.
	Message string `json:"message,omitempty"`
	// Commit that was applied last, or compared and found to be applied.
	Commit string `json:"commit,omitempty"`
	// Attempted is the commit that was tried last.
	Attempted string `json:"attempted,omitempty"`
	// Broken is true if the engine judged what it attempted, and does not expect that another try succeeds.
	Broken bool `json:"broken,omitempty"`
	// Holds is true if what the engine applied last stands, whatever it is about to do: a Site that was live still is.
	Holds bool `json:"holds,omitempty"`
	// Kind, Generation and Health as the engine says.
	Kind       string `json:"kind,omitempty"`
	Generation int64  `json:"generation,omitempty"`
	Health     string `json:"health,omitempty"`
	// Proof that the engine's own settings allow.
	Proof v1alpha1.Proof `json:"proof,omitempty"`
	// Root is the directory that the engine reads.
	Root string `json:"root,omitempty"`
}

// Main returns the engine's object that a Site names. It returns an error if it is of no kind that belongs to the engine.
func Main(engine catalogv1alpha1.EngineType, o catalogv1alpha1.ObjectReference) (Ref, error) {
	gv, err := schema.ParseGroupVersion(o.APIVersion)
	if err != nil {
		return Ref{}, errors.Errorf("apiVersion %q is malformed", o.APIVersion)
	}
	for _, k := range kinds() {
		if k.engine == engine && k.group == gv.Group && k.kind == o.Kind {
			return Ref{Resource: gv.WithResource(k.resource), Kind: k.kind, Namespace: o.Namespace, Name: o.Name}, nil
		}
	}
	return Ref{}, errors.Errorf("%s of %s is no kind that tells what %s applied", o.Kind, o.APIVersion, engine)
}

// Second returns the other object that has to be read: the source of a Kustomization, the ResourceGroup of a RootSync. It is
// false if there is none.
func Second(engine catalogv1alpha1.EngineType, main *unstructured.Unstructured) (Ref, bool) {
	switch engine {
	case catalogv1alpha1.EngineFlux:
		return fluxSource(main)
	case catalogv1alpha1.EngineConfigSync:
		return configSyncGroup(main), true
	}
	return Ref{}, false
}

// Observe returns what the engine says, as far as it is for the claim's users. Nil objects do not exist.
func Observe(engine catalogv1alpha1.EngineType, w Want, main, second *unstructured.Unstructured) Observation {
	o := observeEngine(engine, w, main, second)
	if main != nil {
		o.Message = Clean(messageFor(w, o, main))
	}
	return o
}

func observeEngine(engine catalogv1alpha1.EngineType, w Want, main, second *unstructured.Unstructured) Observation {
	if main == nil {
		return Observation{Reason: v1alpha1.SiteReasonEngineObjectMissing}
	}
	var o Observation
	switch engine {
	case catalogv1alpha1.EngineFlux:
		o = flux(w, main, second)
	case catalogv1alpha1.EngineArgoCD:
		o = argoCD(w, main)
	case catalogv1alpha1.EngineConfigSync:
		o = configSync(w, main, second)
	default:
		o = Observation{Reason: v1alpha1.SiteReasonEngineNotProvable}
	}
	if o.Reason == "" && main.GetDeletionTimestamp() != nil {
		o.Reason, o.Message = v1alpha1.SiteReasonEngineObjectMissing, "it is being deleted"
	}
	o.Kind = main.GetKind()
	return o
}

// messageFor the claim's users. An object that reads more than the claim's directory speaks of others' too, so what it says is not for them.
func messageFor(w Want, o Observation, main *unstructured.Unstructured) string {
	if o.Root == w.ClaimDir || !strings.Contains(o.Message, quoteMark) {
		return o.Message
	}
	word := ""
	if found := engineReason.FindStringSubmatch(Clean(o.Message)); found != nil {
		word = found[1] + ": "
	}
	return fmt.Sprintf("%s%s %s/%s reads more than the directory of this claim, so only who may read it in the Site's cluster sees what its status says",
		word, main.GetKind(), main.GetNamespace(), main.GetName())
}

// quoteMark stands before what an engine says, until Clean takes it away. An engine that says it itself is quoted too.
const quoteMark = "\x00"

// quote marks a text as one of the engine, which may speak of objects of others.
func quote(text string) string {
	if text == "" {
		return ""
	}
	return quoteMark + text
}

// engineReason is the reason that a message begins with, if it does. It is a word of the engine, such as BuildFailed, and names no object.
var engineReason = regexp.MustCompile(`^(?:[a-z ]+: )?([A-Z][A-Za-z0-9]{0,63}): `)

// An Annotation makes an engine look now.
type Annotation struct {
	// On which object.
	On Ref
	// Key and Value of it.
	Key, Value string
}

// Ask returns what makes the engine look now. It is false if there is nothing to say: the engine has no such thing, or does not
// listen. The token tells one wish from another.
func Ask(engine catalogv1alpha1.EngineType, main, second *unstructured.Unstructured, token string) (Annotation, bool) {
	switch engine {
	case catalogv1alpha1.EngineFlux:
		return askFlux(main, second, token)
	case catalogv1alpha1.EngineArgoCD:
		return askArgoCD(main)
	}
	return Annotation{}, false
}

type kind struct {
	engine   catalogv1alpha1.EngineType
	group    string
	kind     string
	resource string
}

// kinds that can be read. No other is, whatever a Site names.
func kinds() []kind {
	return []kind{
		{engine: catalogv1alpha1.EngineFlux, group: fluxKustomize, kind: "Kustomization", resource: "kustomizations"},
		{engine: catalogv1alpha1.EngineArgoCD, group: argoGroup, kind: "Application", resource: "applications"},
		{engine: catalogv1alpha1.EngineConfigSync, group: configSyncGroupName, kind: "RootSync", resource: "rootsyncs"},
		{engine: catalogv1alpha1.EngineConfigSync, group: configSyncGroupName, kind: "RepoSync", resource: "reposyncs"},
	}
}

func decode(u *unstructured.Unstructured, into any) error {
	if runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, into) != nil {
		// What the converter says is not stable.
		return errors.Errorf("cannot read %s: a field does not have the form that it should", u.GetKind())
	}
	return nil
}

// unreadable is an object that does not have the form that it should.
func unreadable(err error) Observation {
	return Observation{Reason: v1alpha1.SiteReasonEngineNotProvable, Message: err.Error()}
}

// hexOf returns a commit id, or nothing if it is none.
func hexOf(id string) string {
	if len(id) != 40 || strings.Trim(id, "0123456789abcdef") != "" {
		return ""
	}
	return id
}

// maxMessage bounds what an engine may say, in bytes.
const maxMessage = 512

// Clean makes a text of somebody else one line without control characters, and not long.
func Clean(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > maxMessage {
		text = strings.ToValidUTF8(text[:maxMessage], "") + "…"
	}
	return text
}
