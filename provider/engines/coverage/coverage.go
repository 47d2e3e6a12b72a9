// Package coverage compares the report of a GitOps engine about single objects with a directory, and returns the part of the directory that the engine proves
// to be applied. It is pure.
package coverage

import (
	"cmp"
	"fmt"
	"iter"
	"slices"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/instruction"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/provider/statusmessage"
)

// A Report is the report of an engine about single objects. The zero Report lists no object, so it proves none.
type Report struct {
	// Applied yields the objects that the engine applies and compares. They may be the objects of many claims, so they are not copied. Nil
	// yields none.
	Applied iter.Seq[policy.Object]

	// Uncompared is the reason why Applied cannot be compared with the files: the engine may give the objects other names, or lists none. Empty means that
	// each object of the files has to be in Applied.
	Uncompared string

	// Common are the instructions that the engine adds to each object that it applies.
	Common []instruction.Instruction

	// Keeps is the reason why the engine may leave objects in the cluster after they were removed from Git. Empty if it does not.
	Keeps string

	// IgnoresHealth reports whether the engine's health leaves out an object that it applies. Nil means that it leaves none out.
	IgnoresHealth func(policy.Object) bool

	// Warnings of the engine that name an object.
	Warnings []Warning
}

// AddedInstructions returns the instructions to an engine in labels and annotations that its settings add to each object. kustomize has read the objects
// by then, so its own instructions have no effect there.
func AddedInstructions(e catalogv1alpha1.EngineType, labels, annotations map[string]string, place string) []instruction.Instruction {
	if len(labels)+len(annotations) == 0 {
		return nil
	}
	var out []instruction.Instruction
	for _, i := range instruction.Of(instruction.Object{Labels: labels, Annotations: annotations}) {
		if i.Engine == e {
			i.Source += " in " + place
			out = append(out, i)
		}
	}
	return out
}

// A Warning is a problem of one object that an engine reports.
type Warning struct {
	// Subject is the object, as the engine writes it.
	Subject string

	// Problem of the object, in words that the users of the claim may read.
	Problem string

	// IsRepeated is true if several files hold the object, so that the applied file is unknown.
	IsRepeated bool
}

// warningSubjects returns the texts by which Argo CD names an object in a warning: group/Kind/namespace/name, group/Kind and the name, or Kind/name.
func warningSubjects(o policy.Object) []string {
	kind := o.Group + "/" + o.Kind
	return []string{kind + "/" + o.Namespace + "/" + o.Name, kind + "//" + o.Name, kind + " " + o.Name, o.Kind + "/" + o.Name}
}

// A subjectWarning is the last warning about a subject, with its number among all warnings. It is repeated if one of the warnings about the subject is.
type subjectWarning struct {
	Warning

	number int
}

// indexWarnings returns the warnings by their subjects. A hostile engine may report thousands of them, about a directory of thousands of objects.
func (r Report) indexWarnings() map[string]subjectWarning {
	out := make(map[string]subjectWarning, len(r.Warnings))
	for i, w := range r.Warnings {
		w.IsRepeated = w.IsRepeated || out[w.Subject].IsRepeated
		out[w.Subject] = subjectWarning{Warning: w, number: i}
	}
	return out
}

// Coverage is the part of a directory that the proof covers.
type Coverage struct {
	// Unproven names the objects that the proof does not cover although the engine is at the commit, each with the instruction that it follows.
	Unproven []string

	// HealthGap names a workload about which the engine's health says nothing, and the reason. Empty means that each has a health.
	HealthGap string

	// Missing names an object without such an instruction that the engine does not report as applied. Empty if each is reported.
	Missing string
}

// Cover returns the part of a directory that an engine's report proves.
func (r Report) Cover(e catalogv1alpha1.EngineType, manifests []instruction.Manifest) Coverage {
	out, proven, applied, warnings := Coverage{}, 0, r.findApplied(manifests), r.indexWarnings()
	for _, m := range manifests {
		source, isApplied := followedInstruction(e, slices.Concat(m.Instructions, r.Common))
		if source != "" {
			out.Unproven = append(out.Unproven, statusmessage.Sanitize(fmt.Sprintf("%s: %s", m.Object, source)))
		}
		out.HealthGap = cmp.Or(out.HealthGap, r.describeHealthGap(e, m, source, isApplied))
		if !isApplied {
			continue
		}
		if proven++; out.Missing == "" {
			out.Missing = r.describeMissing(m.Object, applied, warnings)
		}
	}
	if proven == 0 && len(out.Unproven) > 0 {
		out.Missing = "the engine applies no object of the directory: " + out.Unproven[0]
	}
	if r.Uncompared != "" {
		out.Unproven = slices.Insert(out.Unproven, 0, statusmessage.Sanitize("all objects: "+r.Uncompared+", so its inventory is not compared"))
	}
	if r.Keeps != "" {
		out.Unproven = append(out.Unproven, "removed objects: "+r.Keeps)
	}
	return out
}

// followedInstruction returns the instruction that an engine follows, or "", and whether the engine still applies each version of the object.
func followedInstruction(e catalogv1alpha1.EngineType, all []instruction.Instruction) (source string, isApplied bool) {
	for _, i := range all {
		if !i.IsFollowedBy(e) {
			continue
		}
		if source == "" || !i.Effect.IsApplied() {
			source = i.Source
		}
		if !i.Effect.IsApplied() {
			return source, false
		}
	}
	return source, true
}

// findApplied returns which objects of manifests the engine applies and compares. The file of a cluster-scoped object may name a namespace, which
// kustomize adds to each kind that it does not know. The API server drops it.
func (r Report) findApplied(manifests []instruction.Manifest) map[policy.Object]bool {
	out := map[policy.Object]bool{}
	if r.Applied == nil || r.Uncompared != "" {
		return out
	}
	for _, m := range manifests {
		out[m.Object], out[withoutNamespace(m.Object)] = false, false
	}
	for o := range r.Applied {
		if _, ok := out[o]; ok {
			out[o] = true
		}
	}
	return out
}

func withoutNamespace(o policy.Object) policy.Object {
	o.Namespace = ""
	return o
}

// describeMissing returns why an object is not proven to be applied, or "".
func (r Report) describeMissing(o policy.Object, applied map[policy.Object]bool, warnings map[string]subjectWarning) string {
	if r.Uncompared != "" {
		return ""
	}
	problem, isRepeated := warningProblem(o, warnings)
	if (applied[o] || applied[withoutNamespace(o)]) && !isRepeated {
		return ""
	}
	return statusmessage.Sanitize(fmt.Sprintf("the engine does not report that it applied %s%s", o, problem))
}

// warningProblem returns the problem of the last warning about an object, with a colon before it, and whether one of the warnings says that the object is repeated.
func warningProblem(o policy.Object, warnings map[string]subjectWarning) (problem string, isRepeated bool) {
	if len(warnings) == 0 {
		return "", false
	}
	last := -1
	for _, subject := range warningSubjects(o) {
		w, isKnown := warnings[subject]
		if isRepeated = isRepeated || w.IsRepeated; isKnown && w.number > last {
			problem, last = ": "+w.Problem, w.number
		}
	}
	return problem, isRepeated
}
