package blueprint

import (
	"strings"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/function/render"
)

// maxNamed is how many workloads are named in advice.
const maxNamed = 5

// Advice says what to change in a Blueprint that no intent would change anything in: one that reads no values, and names no image or marks
// no workload for them. It returns the errors of Check.
func Advice(b *catalogv1alpha1.Blueprint) ([]string, error) {
	uses, err := render.UsesOf(b)
	if err != nil || uses.Values || len(uses.Workloads) == 0 {
		return nil, err
	}
	out := []string{}
	if !uses.Image {
		out = append(out, "the intent's image is used nowhere: name a container's image "+render.ImageIntent+" ("+named(uses.Workloads)+")")
	}
	if !uses.Workload {
		out = append(out, "the intent's replicas and resources are used nowhere: label a workload "+render.LabelWorkload+": "+render.WorkloadMain+
			" ("+named(uses.Workloads)+"), unless a HorizontalPodAutoscaler scales it")
	}
	return out, nil
}

func named(workloads []string) string {
	if len(workloads) > maxNamed {
		return strings.Join(workloads[:maxNamed], ", ") + ", …"
	}
	return strings.Join(workloads, ", ")
}
