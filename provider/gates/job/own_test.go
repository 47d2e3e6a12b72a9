package job

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/gates"
)

func TestDiffers(t *testing.T) {
	in := Input{Gate: "gate-uid", Script: "echo $HOME; exit 3", Site: &catalogv1alpha1.Site{}, LiveSince: time.Unix(1, 0), Rules: gates.Rules{Timeout: time.Minute}}
	in.Check = v1alpha1.GateCheck{Check: deploymentv1alpha1.Check{Name: "smoke", Job: &deploymentv1alpha1.JobCheck{Image: "busybox:1", Script: in.Script}}}
	in.Site.Spec.PostCheck = &catalogv1alpha1.SitePostCheck{Namespace: "checks", ServiceAccountName: "checks"}
	first := func(j *batchv1.Job) *corev1.Container { return &j.Spec.Template.Spec.Containers[0] }
	cases := map[string]struct {
		reason string
		change func(*batchv1.Job)
		want   string
	}{
		"Same": {reason: "A Job as it was made runs what the check asks for.", change: func(*batchv1.Job) {}},
		"Defaulted": {reason: "What an API server fills in does not change what is run.", change: func(j *batchv1.Job) {
			j.Spec.Parallelism, j.Spec.Completions, j.Spec.Suspend = new(int32(1)), new(int32(1)), new(false)
			j.Spec.PodFailurePolicy.Rules[0].OnPodConditions = []batchv1.PodFailurePolicyOnPodConditionsPattern{}
			j.Spec.Template.Spec.DNSPolicy, first(j).ImagePullPolicy = corev1.DNSClusterFirst, corev1.PullIfNotPresent
			j.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"batch.kubernetes.io/controller-uid": "x"}}
		}},
		"Gate":       {reason: "A Job of another Gate is not believed.", change: func(j *batchv1.Job) { j.Labels[LabelGate] = "other" }, want: "metadata.labels[rollout.intentplane.dev/gate]"},
		"Owner":      {reason: "A Job that another object owns is not believed.", change: func(j *batchv1.Job) { j.OwnerReferences = []metav1.OwnerReference{{Name: "cron"}} }, want: "metadata.ownerReferences"},
		"Script":     {reason: "A Job that runs another script is not believed.", change: func(j *batchv1.Job) { first(j).Args = []string{"exit 0"} }, want: "spec.template.spec.containers[0].args"},
		"Arguments":  {reason: "A Job with more arguments is not believed.", change: func(j *batchv1.Job) { first(j).Args = append(first(j).Args, "x") }, want: "spec.template.spec.containers"},
		"Command":    {reason: "A Job that runs the script as data is not believed.", change: func(j *batchv1.Job) { first(j).Command = []string{"/bin/true"} }, want: "spec.template.spec.containers[0].command"},
		"Image":      {reason: "A Job with another image is not believed.", change: func(j *batchv1.Job) { first(j).Image = "evil:1" }, want: "spec.template.spec.containers[0].image"},
		"Mounts":     {reason: "A Job that mounts files over those of the image is not believed.", change: func(j *batchv1.Job) { first(j).VolumeMounts = []corev1.VolumeMount{{MountPath: "/bin"}} }, want: "spec.template.spec.containers[0].volumeMounts"},
		"Env":        {reason: "A Job with variables is not believed, since they change what a script does.", change: func(j *batchv1.Job) { first(j).Env = []corev1.EnvVar{{Name: "PATH"}} }, want: "spec.template.spec.containers[0].env"},
		"Init":       {reason: "A Job with another container is not believed.", change: func(j *batchv1.Job) { j.Spec.Template.Spec.InitContainers = []corev1.Container{{}} }, want: "spec.template.spec.initContainers"},
		"ManagedBy":  {reason: "A Job whose status another controller writes is not believed.", change: func(j *batchv1.Job) { j.Spec.ManagedBy = new("example.org/mine") }, want: "spec.managedBy"},
		"NoPolicy":   {reason: "A Job that takes exit code 3 for a fault of the script is not believed.", change: func(j *batchv1.Job) { j.Spec.PodFailurePolicy = nil }, want: "spec.podFailurePolicy"},
		"NoPods":     {reason: "A Job that is complete without a pod is not believed.", change: func(j *batchv1.Job) { j.Spec.Completions = new(int32(0)) }, want: "spec.completions"},
		"OtherAgent": {reason: "A Job that runs as another service account is not believed.", change: func(j *batchv1.Job) { j.Spec.Template.Spec.ServiceAccountName = "admin" }, want: "spec.template.spec.serviceAccountName"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			j := Make(in)
			tc.change(j)
			bare := in
			bare.Script = "" // It is the Job's.
			if got := Differs(bare, j); got != tc.want {
				t.Errorf("\n%s\nDiffers(...): %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

// TestDiffersFromConfigMap believes the script of a ConfigMap by its digest.
func TestDiffersFromConfigMap(t *testing.T) {
	in := Input{Gate: "gate-uid", Script: "exit 0", Site: &catalogv1alpha1.Site{}, Rules: gates.Rules{Timeout: time.Minute}}
	in.Check.Job = &deploymentv1alpha1.JobCheck{Image: "busybox:1", ConfigMapKeyRef: &deploymentv1alpha1.ConfigMapKeySelector{SHA256: "89b8dad8e6a28f0e4b3eb8f8df1a5f1ac0a5a7a38d4c4f7e3b2dbb4ef2a45b4d"}}
	in.Site.Spec.PostCheck = &catalogv1alpha1.SitePostCheck{Namespace: "checks", ServiceAccountName: "checks"}
	if got, want := Differs(in, Make(in)), "spec.template.spec.containers[0].args"; got != want {
		t.Errorf("a script with another digest: %q, want %q", got, want)
	}
}
