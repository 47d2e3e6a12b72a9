package subject

import (
	"cmp"
	"encoding/json"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cluster"
)

// A Report is the identity, the phase and the reason of one object.
type Report struct {
	Kind      string `json:"kind"`
	Group     string `json:"group"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Phase     string `json:"phase,omitempty"`

	// Reason why it is in this phase. Empty where no object says it.
	Reason string `json:"reason,omitempty"`
}

// Line is the report as a text. It is empty for an object that was not read.
func (r Report) Line() string {
	if r.Name == "" {
		return ""
	}
	out := r.Kind + " " + r.Namespace + "/" + r.Name + ": " + cmp.Or(r.Phase, "Unknown")
	if r.Reason != "" {
		out += " (" + r.Reason + ")"
	}
	return out
}

// Reports returns a report of each object that was found, sorted, with the reason that "why" finds.
func Reports(found *cluster.Subjects, now time.Time) []Report {
	var out []Report
	rows := Rows(found, now)
	for i := range rows {
		r := &rows[i]
		out = append(out, Report{Kind: r.Kind, Group: r.Group, Namespace: r.Namespace, Name: r.Name, Phase: r.Phase, Reason: r.Finding.Reason()})
	}
	return out
}

// Lines returns the lines of the reports of objects that were read.
func Lines(all ...Report) []string {
	var out []string
	for _, r := range all {
		if line := r.Line(); line != "" {
			out = append(out, line)
		}
	}
	return out
}

// ReportEncoded returns the report of an object as JSON, from its own status alone. It is empty for JSON without an object.
func ReportEncoded(b []byte) Report {
	o := struct {
		metav1.TypeMeta `json:",inline"`

		Metadata metav1.ObjectMeta `json:"metadata"`
		Status   struct {
			Phase      string           `json:"phase"`
			Conditions cause.Conditions `json:"conditions"`
		} `json:"status"`
	}{}
	if json.Unmarshal(b, &o) != nil {
		return Report{}
	}
	return Report{
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
