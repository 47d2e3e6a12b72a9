package job

import (
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
)

// Differs returns the first field in which a Job is not the one that Make returns for an input, or "" if it runs the same. What the API
// server fills in, and what does not change what is run or who says what became of it, may be otherwise. The script is the Job's own, if it
// is the one that the check names: nobody has to read it again.
func Differs(in Input, j *batchv1.Job) string {
	if j.GetLabels()[LabelGate] != in.Gate {
		return "metadata.labels[" + LabelGate + "]"
	}
	if len(j.GetOwnerReferences()) > 0 {
		return "metadata.ownerReferences"
	}
	pod := j.Spec.Template.Spec
	if len(pod.Containers) != 1 || len(pod.Containers[0].Args) != 1 {
		return "spec.template.spec.containers"
	}
	in.Script = unescape(pod.Containers[0].Args[0])
	if !isScriptOf(in) {
		return "spec.template.spec.containers[0].args"
	}
	want := Make(in)
	if field := differsInSpec(want.Spec, j.Spec); field != "" {
		return "spec." + field
	}
	if field := differsInPod(want.Spec.Template.Spec, pod); field != "" {
		return "spec.template.spec." + field
	}
	return ""
}

// isScriptOf is true for a script that the check of an input names.
func isScriptOf(in Input) bool {
	if ref := in.Check.Job.ConfigMapKeyRef; ref != nil {
		return Pinned(in.Script, ref.SHA256) == nil
	}
	return in.Script == in.Check.Job.Script
}

// unescape returns what escape was given.
func unescape(arg string) string { return strings.ReplaceAll(arg, "$$", "$") }

// A field of a Job, as it should be and as it is.
type field struct {
	name      string
	want, got any
}

func firstDifference(fields []field) string {
	i := slices.IndexFunc(fields, func(f field) bool { return !equality.Semantic.DeepEqual(f.want, f.got) })
	if i < 0 {
		return ""
	}
	return fields[i].name
}

func differsInSpec(want, got batchv1.JobSpec) string {
	one := new(int32(1))
	return firstDifference([]field{
		{"managedBy", (*string)(nil), got.ManagedBy},
		{"successPolicy", (*batchv1.SuccessPolicy)(nil), got.SuccessPolicy},
		{"backoffLimit", want.BackoffLimit, got.BackoffLimit},
		{"activeDeadlineSeconds", want.ActiveDeadlineSeconds, got.ActiveDeadlineSeconds},
		{"podFailurePolicy", rules(want.PodFailurePolicy), rules(got.PodFailurePolicy)},
		{"parallelism", one, orOne(got.Parallelism)},
		{"completions", one, orOne(got.Completions)},
	})
}

// rules of a policy, without what the API server fills in.
func rules(p *batchv1.PodFailurePolicy) []batchv1.PodFailurePolicyRule {
	if p == nil {
		return nil
	}
	out := p.DeepCopy().Rules
	for i := range out {
		if len(out[i].OnPodConditions) == 0 {
			out[i].OnPodConditions = nil
		}
	}
	return out
}

func orOne(n *int32) *int32 {
	if n == nil {
		return new(int32(1))
	}
	return n
}

func differsInPod(want, got corev1.PodSpec) string {
	w, g := want.Containers[0], got.Containers[0]
	return firstDifference([]field{
		{"initContainers", 0, len(got.InitContainers)},
		{"serviceAccountName", want.ServiceAccountName, got.ServiceAccountName},
		{"restartPolicy", want.RestartPolicy, got.RestartPolicy},
		{"containers[0].name", w.Name, g.Name},
		{"containers[0].image", w.Image, g.Image},
		{"containers[0].command", w.Command, g.Command},
		{"containers[0].args", w.Args, g.Args},
		{"containers[0].env", 0, len(g.Env) + len(g.EnvFrom)},
		{"containers[0].volumeMounts", 0, len(g.VolumeMounts) + len(g.VolumeDevices)},
		{"containers[0].lifecycle", (*corev1.Lifecycle)(nil), g.Lifecycle},
	})
}
