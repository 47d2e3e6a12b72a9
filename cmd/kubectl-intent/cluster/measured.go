package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/intentplane/intentplane/apis/gaterecord"
	"github.com/intentplane/intentplane/apis/revisionobject"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
)

func configMapsResource() schema.GroupVersionResource {
	return schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
}

// MeasuredGates returns what the Gates of a revision of a deployment measured, by their steps, as the provider keeps it. It asks for the ConfigMap of that
// deployment alone, since those of a namespace may be large together. It returns an error if it may not be read, or was changed so that it cannot be.
func (c *Cluster) MeasuredGates(ctx context.Context, d *cause.Deployment, revision int64) ([]gaterecord.Gate, error) {
	all, err := c.list(ctx, configMapsResource(), c.namespace, labels.Set{
		gaterecord.LabelDeployment: revisionobject.DeploymentDigest(d.GroupVersionKind().Group, d.Metadata.Name),
		gaterecord.LabelRevision:   strconv.FormatInt(revision, 10),
	})
	if err != nil {
		return nil, describeError(err, "list", configMapsResource(), "")
	}
	var out []gaterecord.Gate
	for i := range all {
		if !slices.ContainsFunc(all[i].GetOwnerReferences(), func(ref metav1.OwnerReference) bool { return ref.UID == d.Metadata.UID }) {
			continue
		}
		documents, _, err := unstructured.NestedStringMap(all[i].Object, "data")
		if err != nil {
			return nil, errors.Wrapf(err, "cannot read ConfigMap %s", all[i].GetName())
		}
		for key, text := range documents {
			g := gaterecord.Gate{}
			if err := json.Unmarshal([]byte(text), &g); err != nil {
				return nil, errors.Wrapf(err, "cannot read %s of ConfigMap %s", key, all[i].GetName())
			}
			out = append(out, g)
		}
	}
	slices.SortFunc(out, func(a, b gaterecord.Gate) int { return cmp.Compare(a.Position.Step, b.Position.Step) })
	return out, nil
}
