package main

import (
	"encoding/json"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cluster"
)

// An objectReport names an object that a command was about, and says where it is.
type objectReport struct {
	Kind      string `json:"kind"`
	Group     string `json:"group"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Phase     string `json:"phase,omitempty"`

	// Reason why it is in this phase. Empty where no object says it.
	Reason string `json:"reason,omitempty"`
}

// line is the report as a text. It is empty for an object that was not read.
func (r objectReport) line() string {
	if r.Name == "" {
		return ""
	}
	out := r.Kind + " " + r.Namespace + "/" + r.Name + ": " + orUnknown(r.Phase)
	if r.Reason != "" {
		out += " (" + r.Reason + ")"
	}
	return out
}

// reportObjects returns a report of each object that was found, sorted, with the reason that "why" finds.
func reportObjects(found *cluster.Subjects, now time.Time) []objectReport {
	var out []objectReport
	rows := rowsOfSubjects(found, now)
	for i := range rows {
		r := &rows[i]
		out = append(out, objectReport{Kind: r.Kind, Group: r.Group, Namespace: r.Namespace, Name: r.Name, Phase: r.Phase, Reason: r.Finding.Reason()})
	}
	return out
}

// linesOfObjects returns the lines of reports.
func linesOfObjects(all []objectReport) []string {
	var out []string
	for _, r := range all {
		out = append(out, r.line())
	}
	return out
}

// nonEmptyLines returns the lines that say something.
func nonEmptyLines(lines ...string) []string {
	return slices.DeleteFunc(lines, func(line string) bool { return line == "" })
}

// reportEncoded returns the report of an object as JSON, from its own status alone. It is empty for JSON without an object.
func reportEncoded(b []byte) objectReport {
	o := struct {
		metav1.TypeMeta `json:",inline"`

		Metadata metav1.ObjectMeta `json:"metadata"`
		Status   struct {
			Phase      string           `json:"phase"`
			Conditions cause.Conditions `json:"conditions"`
		} `json:"status"`
	}{}
	if json.Unmarshal(b, &o) != nil {
		return objectReport{}
	}
	return objectReport{
		Kind: o.Kind, Group: o.GroupVersionKind().Group, Namespace: o.Metadata.Namespace, Name: o.Metadata.Name, Phase: o.Status.Phase, Reason: reasonOfConditions(o.Status.Conditions),
	}
}

// reasonOfConditions returns why an object does not go on, else its present operation, else why it is ready or not.
func reasonOfConditions(all cause.Conditions) string {
	for _, typ := range []string{deploymentv1alpha1.TypeStalled, deploymentv1alpha1.TypeReconciling} {
		if all.IsTrue(typ) {
			return all.Get(typ).Reason
		}
	}
	return all.Get("Ready").Reason
}
