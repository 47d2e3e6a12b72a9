package blueprint

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/function/render"
	"github.com/intentplane/intentplane/function/render/guard"
)

// maxListed is the greatest number of workloads in one advice.
const maxListed = 5

// Advice returns the changes that a Blueprint needs for intents to have an effect: it may read no values and have neither the image of the intent
// nor a marked workload. It also names parameters that the Blueprint describes and does not read: a claim that sets such a parameter is refused. It
// returns the errors of Check.
func Advice(b *catalogv1alpha1.Blueprint) ([]string, error) {
	uses, err := render.UsesOf(b)
	if err != nil {
		return nil, err
	}
	return append(missingMarkAdvice(uses), parameterAdvice(b, uses)...), nil
}

// missingMarkAdvice returns which marks are missing in a Blueprint that reads no values.
func missingMarkAdvice(uses guard.Uses) []string {
	if uses.Values || len(uses.Workloads) == 0 {
		return nil
	}
	out := []string{}
	if !uses.Image {
		out = append(out, "the intent's image is used nowhere: name a container's image "+render.ImageIntent+" ("+listWorkloads(uses.Workloads)+")")
	}
	if !uses.Workload {
		out = append(out, "the intent's replicas and resources are used nowhere: label a workload "+render.LabelWorkload+": "+render.WorkloadMain+
			" ("+listWorkloads(uses.Workloads)+"), unless a HorizontalPodAutoscaler scales it")
	}
	return out
}

// parameterAdvice names the parameters of the schema that nothing reads.
func parameterAdvice(b *catalogv1alpha1.Blueprint, uses guard.Uses) []string {
	schema := struct {
		Properties map[string]any `json:"properties"`
	}{}
	if b.Spec.ParametersSchema == nil || json.Unmarshal(b.Spec.ParametersSchema.Raw, &schema) != nil {
		return nil
	}
	out := []string{}
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		if key := "param-" + name; !uses.Reads(key) {
			out = append(out, "parameter "+name+" is described and not read: copy data."+key+" of the ConfigMap intent with a replacement, or remove it from the schema")
		}
	}
	return out
}

func listWorkloads(workloads []string) string {
	if len(workloads) > maxListed {
		return strings.Join(workloads[:maxListed], ", ") + ", …"
	}
	return strings.Join(workloads, ", ")
}
