package render

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-containerregistry/pkg/name"
	quantity "k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/kyaml/yaml"
)

const (
	// LabelWorkload marks a workload that runs as often, and with as much, as the intent says.
	LabelWorkload = "intentplane.dev/workload"

	// WorkloadMain is the value of LabelWorkload.
	WorkloadMain = "main"

	// ImageIntent is the name of an image, with any tag, that the intent's image takes the place of.
	ImageIntent = "intent"
)

// Kinds in which a workload is looked for, as kustomize matches them.
const (
	kindsWithReplicas = "Deployment|ReplicaSet|StatefulSet"
	kindsWithPods     = "DaemonSet|Deployment|Job|ReplicaSet|StatefulSet"
	kindsWithJobs     = "CronJob"
)

// workloadSteps is how many patches of ours there may be for marked workloads.
const workloadSteps = 5

// Bounds of what is said about one of them.
const (
	maxImage    = 512
	maxQuantity = 32
)

// exponent of a quantity, which costs its library much time when it is large.
var exponent = regexp.MustCompile(`[eE][-+0-9]`)

// follow says what our kustomization adds, so that a Blueprint follows the intent where its author wrote no replacements: images, and
// transformers for marked workloads. Both are nil where the Blueprint has no place for them: it costs nothing, and kustomize stumbles
// over objects that it takes for something with containers. It returns an error that names the value for one that comes from the
// Blueprint's intent.yaml and is of no use.
func follow(data map[string]string, u Uses) (images []map[string]string, workloads map[string]any, err error) {
	if u.Image && data["image"] != "" {
		image, ok := imageOf(data["image"])
		if !ok {
			return nil, nil, errors.Errorf("spec.files: %s: image: %.128q is not the reference of an image", intentFile, data["image"])
		}
		images = append(images, image)
	}
	if !u.Workload {
		return images, nil, nil
	}
	for _, key := range []string{"cpu", "memory"} {
		if !isQuantity(data[key]) {
			return nil, nil, errors.Errorf("spec.files: %s: %s: %.128q is not a quantity", intentFile, key, data[key])
		}
	}
	return images, workloadTransformers(data), nil
}

func isQuantity(s string) bool {
	if s == "" {
		return true
	}
	if len(s) > maxQuantity || exponent.MatchString(s) {
		return false
	}
	_, err := quantity.ParseQuantity(s)
	return err == nil
}

// imageOf an intent, as kustomize wants it, or false for what is no reference. A tag or a digest is always said, or kustomize would
// keep the tag of the image whose place it takes.
func imageOf(image string) (map[string]string, bool) {
	if _, err := name.ParseReference(image); err != nil || len(image) > maxImage {
		return nil, false
	}
	base, digest, _ := strings.Cut(image, "@")
	tag, err := name.NewTag(base, name.WithDefaultTag(""))
	if err != nil {
		return nil, false
	}
	out := map[string]string{"name": ImageIntent, "newName": strings.TrimSuffix(base, ":"+tag.TagStr())}
	if tag.TagStr() != "" {
		out["newTag"] = tag.TagStr()
	}
	if digest != "" {
		out["digest"] = digest
	}
	if len(out) == 2 {
		out["newTag"] = name.DefaultTag
	}
	return out, true
}

// workloadTransformers make workloads that are marked run as often, and with as much, as the intent says. No match is no error.
func workloadTransformers(data map[string]string) map[string]any {
	items := []map[string]any{patcher("replicas", "apps", kindsWithReplicas, []operation{{Path: "/spec/replicas", Value: json.Number(data["replicas"])}})}
	for _, p := range pods() {
		fields := fieldsOf(data)
		if len(fields) == 0 {
			continue
		}
		items = append(items, p.placeholders(fields), p.values(fields))
	}
	return map[string]any{"apiVersion": "v1", "kind": "List", "items": items}
}

// An operation of a JSON patch. Whatever stands at the path, text or number or nothing, the value takes its place.
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// A pod is where some kinds of workloads have theirs.
type pod struct {
	name, group, kinds string
	path               []string
}

func pods() []pod {
	return []pod{
		{name: "resources", group: "apps|batch", kinds: kindsWithPods, path: []string{"spec", "template", "spec"}},
		{name: "jobresources", group: "batch", kinds: kindsWithJobs, path: []string{"spec", "jobTemplate", "spec", "template", "spec"}},
	}
}

// An amount of a resource that the first container has.
type amount struct{ field, resource, value string }

// fieldsOf the resources that the intent, or the Blueprint's intent.yaml, speaks about. The memory that a container asks for is also its
// limit, as it is in our examples: memory cannot be taken back.
func fieldsOf(data map[string]string) []amount {
	all := []amount{{"requests", "cpu", data["cpu"]}, {"requests", "memory", data["memory"]}, {"limits", "memory", data["memory"]}}
	return slices.DeleteFunc(all, func(a amount) bool { return a.value == "" })
}

func (p pod) at(a amount) []string {
	return append(slices.Clone(p.path), "containers", "0", "resources", a.field, a.resource)
}

// placeholders make the fields: a JSON patch cannot set what has no parent. A nought fits, whether a text or a number was there.
func (p pod) placeholders(fields []amount) map[string]any {
	paths := make([]string, 0, len(fields))
	for _, f := range fields {
		paths = append(paths, strings.Join(p.at(f), "."))
	}
	return map[string]any{
		"apiVersion": "builtin",
		"kind":       "ReplacementTransformer",
		"metadata":   map[string]string{"name": "make-" + p.name},
		"replacements": []map[string]any{{
			"sourceValue": "0",
			"targets":     []map[string]any{{"select": marked(p.group, p.kinds), "fieldPaths": paths, "options": map[string]any{"create": true}}},
		}},
	}
}

func (p pod) values(fields []amount) map[string]any {
	operations := make([]operation, 0, len(fields))
	for _, f := range fields {
		operations = append(operations, operation{Path: "/" + strings.Join(p.at(f), "/"), Value: f.value})
	}
	return patcher(p.name, p.group, p.kinds, operations)
}

func patcher(name, group, kinds string, operations []operation) map[string]any {
	for i := range operations {
		operations[i].Op = "add"
	}
	patch, _ := json.Marshal(operations) //nolint:errchkjson // A number and texts always encode.
	return map[string]any{
		"apiVersion": "builtin",
		"kind":       "PatchTransformer",
		"metadata":   map[string]string{"name": name},
		"target":     marked(group, kinds),
		"patch":      string(patch),
	}
}

// marked selects the workloads of these kinds that are marked.
func marked(group, kinds string) map[string]string {
	return map[string]string{"group": group, "kind": kinds, "labelSelector": LabelWorkload + "=" + WorkloadMain}
}

// checkLimit returns an error for a marked workload that no API server takes: its container may not ask for more than its limit.
func checkLimit(file string, o *resource.Resource) error {
	if o.GetLabels()[LabelWorkload] != WorkloadMain {
		return nil
	}
	for _, p := range pods() {
		request, requested := quantityAt(o, p.at(amount{field: "requests", resource: "cpu"}))
		path := p.at(amount{field: "limits", resource: "cpu"})
		if limit, limited := quantityAt(o, path); requested && limited && request.Cmp(limit) > 0 {
			return errors.Errorf("%s: %s: %s: %s is less than the %s that are requested: leave the limit out, so that the intent can be followed",
				file, describe(o), strings.Join(path, "."), limit.String(), request.String())
		}
	}
	return nil
}

func quantityAt(o *resource.Resource, path []string) (quantity.Quantity, bool) {
	n, err := o.Pipe(yaml.Lookup(path...))
	if err != nil || n == nil || !isQuantity(n.YNode().Value) {
		return quantity.Quantity{}, false
	}
	q, err := quantity.ParseQuantity(n.YNode().Value)
	return q, err == nil
}
