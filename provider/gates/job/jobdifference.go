package job

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// Differs returns the first field in which a Job differs from the Job that Make returns for an input, or "" without a difference. All of its spec is compared,
// also fields that this version does not know: an image alone does not determine the program, since a host alias, a DNS server, a working directory or a node
// changes it too. Only values that an API server fills in may differ. A field that a webhook of the cluster adds is a difference: such a Job is recognised by
// its UID alone. The script comes from the Job itself, if it is the script that the check names: it is not read again.
func Differs(in Input, o *unstructured.Unstructured) string {
	if o.GetLabels()[LabelGate] != in.Gate {
		return "metadata.labels[" + LabelGate + "]"
	}
	if len(o.GetOwnerReferences()) > 0 {
		return "metadata.ownerReferences"
	}
	script, ok := scriptArgument(o)
	if !ok {
		return "spec.template.spec.containers"
	}
	if in.Script = script; !isDeclaredScript(in) {
		return "spec.template.spec.containers[0].args"
	}
	want, err := runtime.DefaultUnstructuredConverter.ToUnstructured(Make(in))
	if err != nil {
		return "spec"
	}
	return comparison{filled: filledByServer(in, o)}.firstDifference("spec", want["spec"], o.Object["spec"])
}

// scriptArgument returns the script that a Job runs. It is false for a Job that has not one container with one argument.
func scriptArgument(o *unstructured.Unstructured) (string, bool) {
	containers, _, _ := unstructured.NestedSlice(o.Object, "spec", "template", "spec", "containers")
	if len(containers) != 1 {
		return "", false
	}
	c, _ := containers[0].(map[string]any)
	args, _, err := unstructured.NestedStringSlice(c, "args")
	if err != nil || len(args) != 1 {
		return "", false
	}
	return unescapeVariables(args[0]), true
}

// isDeclaredScript is true for a script that the check of an input names.
func isDeclaredScript(in Input) bool {
	if ref := in.Check.Job.ConfigMapKeyRef; ref != nil {
		return CheckPinned(in.Script, ref.SHA256) == nil
	}
	return in.Script == in.Check.Job.Script
}

// unescapeVariables reverses escapeVariables.
func unescapeVariables(arg string) string { return strings.ReplaceAll(arg, "$$", "$") }

// filledByServer returns the values that an API server may give to fields which Make leaves empty, by their paths: defaults of batch/v1 and of pods, and the
// labels and selectors that tie the pods to the Job. Versions of Kubernetes differ in which of them they fill in.
func filledByServer(in Input, o *unstructured.Unstructured) map[string][]any {
	out := map[string][]any{
		"spec.completionMode":                                        {"NonIndexed"},
		"spec.completions":                                           {int64(1)},
		"spec.manualSelector":                                        {false},
		"spec.parallelism":                                           {int64(1)},
		"spec.podReplacementPolicy":                                  {"Failed", "TerminatingOrFailed"},
		"spec.suspend":                                               {false},
		"spec.template.spec.dnsPolicy":                               {"ClusterFirst"},
		"spec.template.spec.schedulerName":                           {"default-scheduler"},
		"spec.template.spec.serviceAccount":                          {in.Site.Spec.PostCheck.ServiceAccountName},
		"spec.template.spec.containers[0].imagePullPolicy":           {"Always", "IfNotPresent"},
		"spec.template.spec.containers[0].securityContext.procMount": {"Default"},
		"spec.template.spec.containers[0].terminationMessagePath":    {"/dev/termination-log"},
		"spec.template.metadata.labels.job-name":                     {o.GetName()},
		"spec.template.metadata.labels.batch.kubernetes.io/job-name": {o.GetName()},
	}
	for _, labels := range []string{"spec.selector.matchLabels.", "spec.template.metadata.labels."} {
		out[labels+"controller-uid"] = []any{string(o.GetUID())}
		out[labels+"batch.kubernetes.io/controller-uid"] = []any{string(o.GetUID())}
	}
	return out
}

// A comparison of two objects, as JSON has them.
type comparison struct {
	// filled are values that a field may have which is wanted to be empty.
	filled map[string][]any
}

// firstDifference returns the path of the first field that differs, in the order of their names, or "". Absent, null and empty values are equal.
func (c comparison) firstDifference(path string, want, got any) string {
	switch {
	case isEmptyValue(want) && isEmptyValue(got):
		return ""
	case isEmptyValue(want) && slices.Contains(c.filled[path], comparableValue(got)):
		return ""
	}
	g, isMap := got.(map[string]any)
	w, isMapWanted := want.(map[string]any)
	if isMap && (isMapWanted || want == nil) {
		return c.firstDifferentKey(path, w, g)
	}
	gs, isList := got.([]any)
	if ws, ok := want.([]any); ok && isList && len(ws) == len(gs) {
		return c.firstDifferentItem(path, ws, gs)
	}
	if isMapWanted || isMap || isList || comparableValue(want) != comparableValue(got) {
		return path
	}
	return ""
}

func (c comparison) firstDifferentKey(path string, want, got map[string]any) string {
	keys := maps.Clone(got)
	if keys == nil {
		keys = map[string]any{}
	}
	maps.Copy(keys, want)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if field := c.firstDifference(path+"."+key, want[key], got[key]); field != "" {
			return field
		}
	}
	return ""
}

func (c comparison) firstDifferentItem(path string, want, got []any) string {
	for i := range want {
		if field := c.firstDifference(fmt.Sprintf("%s[%d]", path, i), want[i], got[i]); field != "" {
			return field
		}
	}
	return ""
}

func isEmptyValue(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return false
}

// comparableValue returns a value that can be compared, or nil for a value that has parts.
func comparableValue(v any) any {
	switch v.(type) {
	case map[string]any, []any:
		return nil
	}
	return v
}
