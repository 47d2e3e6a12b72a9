// Package instruction reads the instructions to GitOps engines in an object: not to apply it, to apply it once or later, or not to remove it. It is
// pure. The function refuses such objects, and the provider leaves them out of proofs.
package instruction

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
)

// An Effect is the action of an engine on an object because of an instruction.
type Effect string

// Effects of instructions.
const (
	// EffectSkipped means that the engine does not apply the object, or not everywhere.
	EffectSkipped Effect = "does not apply it"

	// EffectOnce means that the engine creates the object and applies no later change.
	EffectOnce Effect = "applies it only once"

	// EffectHook means that the engine runs the object during a sync and does not compare it afterwards.
	EffectHook Effect = "runs it as a hook and does not compare it"

	// EffectMutated means that the engine puts values of other objects into the object when it applies it.
	EffectMutated Effect = "changes it before it applies it"

	// EffectOrdered means that the engine applies or removes the object before or after others.
	EffectOrdered Effect = "applies or removes it in an order of its own"

	// EffectKept means that the engine may leave the object in the cluster after it was removed from Git.
	EffectKept Effect = "may keep it after its removal"
)

// IsApplied reports whether the engine still applies each version of an object with this effect.
func (e Effect) IsApplied() bool { return e == EffectOrdered || e == EffectKept }

// consequence returns the reason why a Blueprint has to declare an object with this effect.
func (e Effect) consequence() string {
	switch e {
	case EffectOrdered:
		return "so a Site runs a part of a revision first"
	case EffectKept:
		return "so a rollback may leave it in the cluster"
	}
	return "so no Site can prove it"
}

// An Instruction is one rule that an object matches.
type Instruction struct {
	// Engine that follows the instruction. EngineNone stands for each engine.
	Engine catalogv1alpha1.EngineType

	// Effect on the object.
	Effect Effect

	// Source is the part of the object that has the instruction, such as "annotation example.org/sync: disabled".
	Source string

	// IsDefault is true for an instruction that follows from the default settings of the engine and the kind of the object: its author gave none.
	IsDefault bool
}

// IsFollowedBy reports whether an engine follows the instruction.
func (i Instruction) IsFollowedBy(e catalogv1alpha1.EngineType) bool {
	return i.Engine == e || i.Engine == catalogv1alpha1.EngineNone
}

// String returns the source of the instruction and its effect.
func (i Instruction) String() string {
	engine := string(i.Engine)
	if i.Engine == catalogv1alpha1.EngineNone {
		engine = "a GitOps engine"
	}
	return fmt.Sprintf("%s: %s %s", i.Source, engine, i.Effect)
}

// deliveryAdvice returns the ways to deliver the object of the instruction all the same.
func (i Instruction) deliveryAdvice() string {
	const declare = "declare the object in spec.unproven of the Blueprint"
	if i.IsDefault {
		return declare
	}
	return "remove the instruction, or " + declare
}

// An Object is an object with everything that an engine may take as an instruction.
type Object struct {
	policy.Object

	// Labels and Annotations of the object.
	Labels, Annotations map[string]string

	// Version of the group in which the object is written.
	Version string

	// Content of the file that holds the object.
	Content []byte
}

// A Manifest is an object of a file with its instructions.
type Manifest struct {
	// Object in the file.
	Object policy.Object

	// Version of the group in which the object is written.
	Version string

	// Instructions of the object, for all engines.
	Instructions []Instruction

	// IsHealthIgnored is true for an object that Argo CD applies and compares, and leaves out of the health of its Application.
	IsHealthIgnored bool
}

// ignoreHealthKey is the annotation that makes Argo CD leave an object out of the health of its Application. Only the value true has an effect.
const ignoreHealthKey = "argocd.argoproj.io/ignore-healthcheck"

// Read returns the objects of a file with their instructions. It returns none for a file that holds anything else.
func Read(name string, content []byte) []Manifest {
	found := readObjects(name, content)
	out := make([]Manifest, 0, len(found))
	for _, o := range found {
		out = append(out, Manifest{Object: o.Object, Version: o.Version, Instructions: Of(o), IsHealthIgnored: o.Annotations[ignoreHealthKey] == "true"})
	}
	return out
}

func readObjects(name string, content []byte) []Object {
	found := policy.DecodeFile(name, content)
	out := make([]Object, 0, len(found))
	for _, u := range found {
		gvk := u.GroupVersionKind()
		out = append(out, Object{
			Object: policy.Object{Group: gvk.Group, Kind: gvk.Kind, Namespace: u.GetNamespace(), Name: u.GetName()},
			Labels: u.GetLabels(), Annotations: u.GetAnnotations(), Version: gvk.Version, Content: content,
		})
	}
	return out
}

// Of returns the instructions of an object, for all engines.
func Of(o Object) []Instruction {
	var out []Instruction
	for _, r := range instructionRules() {
		if source := r.matchedPart(o); source != "" {
			out = append(out, Instruction{Engine: r.engine, Effect: r.effect, Source: source, IsDefault: r.kinds != nil})
		}
	}
	return out
}

// CheckFile returns an error for each object of a Blueprint's file with an instruction that the Blueprint does not declare. Defaults of engines are left out: the Sites
// decide which engine reads the object.
func CheckFile(name string, content []byte, declared []catalogv1alpha1.RenderedObject) []error {
	var out []error
	for _, o := range readObjects(name, content) {
		if err := refuseUndeclared(o, declared, func(i Instruction) bool { return !i.IsDefault }); err != nil {
			out = append(out, err)
		}
	}
	return out
}

// Check returns an error for an object with an instruction that its Blueprint does not declare. An annotation counts for each engine, since a
// Blueprint serves Sites with any of them. A default of an engine counts where that engine, or an unknown one, reads the object.
func Check(o Object, e catalogv1alpha1.EngineType, declared []catalogv1alpha1.RenderedObject) error {
	return refuseUndeclared(o, declared, func(i Instruction) bool {
		return !i.IsDefault || e == "" || e == catalogv1alpha1.EngineNone || i.IsFollowedBy(e)
	})
}

// refuseUndeclared returns an error for an object with an instruction that counts and is not declared.
func refuseUndeclared(o Object, declared []catalogv1alpha1.RenderedObject, counts func(Instruction) bool) error {
	for _, i := range Of(o) {
		if !counts(i) {
			continue
		}
		if isDeclaredObject(o, declared) {
			return nil
		}
		return errors.Errorf("%s: %s, %s: %s", o, i, i.Effect.consequence(), i.deliveryAdvice())
	}
	return nil
}

func isDeclaredObject(o Object, declared []catalogv1alpha1.RenderedObject) bool {
	for _, d := range declared {
		if d.Group == o.Group && d.Kind == o.Kind && (d.Name == "" || d.Name == o.Name) {
			return true
		}
	}
	return false
}

// plainValue is a value that needs no quotes in a message.
var plainValue = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9 ,.=_/-]{0,63}$`)

func describeEntry(place, key, value string) string {
	if !plainValue.MatchString(value) {
		value = fmt.Sprintf("%.64q", value)
	}
	return place + " " + key + ": " + strings.TrimSpace(value)
}
