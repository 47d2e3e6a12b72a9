package render

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	quantity "k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/intentplane/intentplane/apis/containerimage"
	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/function/render/guard"
)

const (
	// LabelWorkload marks a workload that gets the replicas and resources of the intent.
	LabelWorkload = track.LabelWorkload

	// WorkloadMain is the value of LabelWorkload.
	WorkloadMain = track.WorkloadMain

	// ImageIntent is the name of an image, with any tag, that the intent's image replaces.
	ImageIntent = guard.ImageIntent
)

// Bounds of the values for marked workloads, in bytes.
const (
	maxImage    = 512
	maxQuantity = 32
)

// exponentPattern of a quantity, which costs its library much time when it is large.
var exponentPattern = regexp.MustCompile(`[eE][-+0-9]`)

// intentTransformers returns the additions of our kustomization by which a Blueprint without replacements follows the intent: images, and
// transformers for marked workloads. Both are nil if the Blueprint has no image or mark for them: kustomize fails on objects that only look as
// if they had containers. It returns an error that names the value for an unusable value of the Blueprint's intent.yaml.
func intentTransformers(data map[string]string, u guard.Uses) (images []map[string]string, workloads map[string]any, err error) {
	if u.Image && data["image"] != "" {
		image, ok := kustomizeImage(data["image"])
		if !ok {
			return nil, nil, errors.Errorf("spec.files: %s: image: %.128q is not the reference of an image", guard.IntentFile, data["image"])
		}
		images = append(images, image)
	}
	if !u.Workload {
		return images, nil, nil
	}
	for _, key := range []string{"cpu", "memory"} {
		if !isValidQuantity(data[key]) {
			return nil, nil, errors.Errorf("spec.files: %s: %s: %.128q is not a quantity", guard.IntentFile, key, data[key])
		}
	}
	return images, workloadTransformers(data), nil
}

func isValidQuantity(s string) bool {
	if s == "" {
		return true
	}
	if len(s) > maxQuantity || exponentPattern.MatchString(s) {
		return false
	}
	_, err := quantity.ParseQuantity(s)
	return err == nil
}

// kustomizeImage returns an image as an entry of kustomize's images, or false for text that is not a reference. It always has a tag or a digest:
// else kustomize would keep the tag of the image that is replaced.
func kustomizeImage(image string) (map[string]string, bool) {
	r, err := containerimage.Parse(image)
	if err != nil || len(image) > maxImage {
		return nil, false
	}
	out := map[string]string{"name": ImageIntent, "newName": r.Name}
	if r.Digest != "" {
		out["digest"] = r.Digest
	}
	if r.Tag != "" || r.Digest == "" {
		out["newTag"] = r.PulledTag()
	}
	return out, true
}

// workloadTransformers returns transformers that give marked workloads the replicas and resources of the intent. They succeed without a match too.
func workloadTransformers(data map[string]string) map[string]any {
	items := []map[string]any{patchTransformer("replicas", "apps", guard.KindsWithReplicas, []patchOperation{{Path: "/spec/replicas", Value: json.Number(data["replicas"])}})}
	for _, p := range podSpecPaths() {
		fields := requestedAmounts(data)
		if len(fields) == 0 {
			continue
		}
		items = append(items, p.createFields(fields), p.setFieldAmounts(fields))
	}
	return transformerList(items)
}

// A patchOperation is an operation of a JSON patch. The value replaces any value at the path: text, number or none.
type patchOperation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// A podPath is the path of the pod spec in some kinds of workloads.
type podPath struct {
	name, group, kinds string
	path               []string
}

func podSpecPaths() []podPath {
	return []podPath{
		{name: "resources", group: "apps|batch", kinds: guard.KindsWithPods, path: []string{"spec", "template", "spec"}},
		{name: "jobresources", group: "batch", kinds: guard.KindsWithJobs, path: []string{"spec", "jobTemplate", "spec", "template", "spec"}},
	}
}

// An amount of a resource that the first container has.
type amount struct{ field, resource, value string }

// requestedAmounts returns the resources that the intent, or the Blueprint's intent.yaml, sets. The memory request of a container is its limit
// too, as in our examples, since memory cannot be reclaimed from a container.
func requestedAmounts(data map[string]string) []amount {
	all := []amount{{"requests", "cpu", data["cpu"]}, {"requests", "memory", data["memory"]}, {"limits", "memory", data["memory"]}}
	return slices.DeleteFunc(all, func(a amount) bool { return a.value == "" })
}

func (p podPath) resourceFieldPath(a amount) []string {
	return append(slices.Clone(p.path), "containers", "0", "resources", a.field, a.resource)
}

// createFields returns a transformer that creates the fields, since a JSON patch cannot set a field without a parent. The value 0 fits a text and a
// number.
func (p podPath) createFields(fields []amount) map[string]any {
	paths := make([]string, 0, len(fields))
	for _, f := range fields {
		paths = append(paths, strings.Join(p.resourceFieldPath(f), "."))
	}
	targets := []map[string]any{{"select": selectMarked(p.group, p.kinds), "fieldPaths": paths, "options": map[string]any{"create": true}}}
	return builtinTransformer("ReplacementTransformer", "make-"+p.name, map[string]any{
		"replacements": []map[string]any{{"sourceValue": "0", "targets": targets}},
	})
}

func (p podPath) setFieldAmounts(fields []amount) map[string]any {
	operations := make([]patchOperation, 0, len(fields))
	for _, f := range fields {
		operations = append(operations, patchOperation{Path: "/" + strings.Join(p.resourceFieldPath(f), "/"), Value: f.value})
	}
	return patchTransformer(p.name, p.group, p.kinds, operations)
}

func patchTransformer(name, group, kinds string, operations []patchOperation) map[string]any {
	for i := range operations {
		operations[i].Op = "add"
	}
	patch, _ := json.Marshal(operations) //nolint:errchkjson // A number and texts always encode.
	return builtinTransformer("PatchTransformer", name, map[string]any{"target": selectMarked(group, kinds), "patch": string(patch)})
}

// selectMarked returns a selector of the marked workloads of these kinds.
func selectMarked(group, kinds string) map[string]string {
	return map[string]string{"group": group, "kind": kinds, "labelSelector": LabelWorkload + "=" + WorkloadMain}
}

// checkCPULimit returns an error for a marked workload that no API server accepts: its container may not request more CPU than its limit.
func checkCPULimit(file string, o *resource.Resource) error {
	if o.GetLabels()[LabelWorkload] != WorkloadMain {
		return nil
	}
	for _, p := range podSpecPaths() {
		request, requested := quantityAtPath(o, p.resourceFieldPath(amount{field: "requests", resource: "cpu"}))
		path := p.resourceFieldPath(amount{field: "limits", resource: "cpu"})
		if limit, limited := quantityAtPath(o, path); requested && limited && request.Cmp(limit) > 0 {
			return errors.Errorf("%s: %s: %s: %s is less than the %s that are requested: leave the limit out, so that the intent can be followed",
				file, describeObject(o), strings.Join(path, "."), limit.String(), request.String())
		}
	}
	return nil
}

func quantityAtPath(o *resource.Resource, path []string) (quantity.Quantity, bool) {
	n, err := o.Pipe(yaml.Lookup(path...))
	if err != nil || n == nil || !isValidQuantity(n.YNode().Value) {
		return quantity.Quantity{}, false
	}
	q, err := quantity.ParseQuantity(n.YNode().Value)
	return q, err == nil
}
