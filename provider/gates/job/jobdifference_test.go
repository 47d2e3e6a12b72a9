package job

import (
	"encoding/json"
	"maps"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/gates"
)

// encode a Job as it comes from an API server.
func encode(t *testing.T, j *batchv1.Job) *unstructured.Unstructured {
	t.Helper()
	text, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	out := &unstructured.Unstructured{}
	if err := out.UnmarshalJSON(text); err != nil {
		t.Fatal(err)
	}
	return out
}

func inPod(change func(*corev1.PodSpec)) func(*batchv1.Job) {
	return func(j *batchv1.Job) { change(&j.Spec.Template.Spec) }
}

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
		"Defaulted": {reason: "Values that an API server fills in do not change the program.", change: func(j *batchv1.Job) {
			j.Spec.Parallelism, j.Spec.Completions, j.Spec.Suspend, j.Spec.ManualSelector = new(int32(1)), new(int32(1)), new(false), new(false)
			j.Spec.CompletionMode, j.Spec.PodReplacementPolicy = new(batchv1.NonIndexedCompletion), new(batchv1.Failed)
			j.Spec.PodFailurePolicy.Rules[0].OnPodConditions = []batchv1.PodFailurePolicyOnPodConditionsPattern{}
			p := &j.Spec.Template.Spec
			p.DNSPolicy, p.SchedulerName, p.DeprecatedServiceAccount = corev1.DNSClusterFirst, "default-scheduler", p.ServiceAccountName
			first(j).ImagePullPolicy, first(j).TerminationMessagePath = corev1.PullIfNotPresent, "/dev/termination-log"
			ties := map[string]string{"batch.kubernetes.io/controller-uid": "job-uid", "controller-uid": "job-uid"}
			j.Spec.Selector = &metav1.LabelSelector{MatchLabels: ties}
			j.Spec.Template.Labels = maps.Clone(j.Spec.Template.Labels)
			maps.Copy(j.Spec.Template.Labels, ties)
			j.Spec.Template.Labels["job-name"], j.Spec.Template.Labels["batch.kubernetes.io/job-name"] = j.Name, j.Name
		}},
		"Gate": {
			reason: "A Job of another Gate is not believed.",
			change: func(j *batchv1.Job) { j.Labels[LabelGate] = "other" }, want: "metadata.labels[rollout.intentplane.dev/gate]",
		},
		"Owner": {
			reason: "A Job that another object owns is not believed.",
			change: func(j *batchv1.Job) { j.OwnerReferences = []metav1.OwnerReference{{Name: "cron"}} }, want: "metadata.ownerReferences",
		},
		"Script": {
			reason: "A Job that runs another script is not believed.",
			change: func(j *batchv1.Job) { first(j).Args = []string{"exit 0"} }, want: "spec.template.spec.containers[0].args",
		},
		"Arguments": {
			reason: "A Job with more arguments is not believed.",
			change: func(j *batchv1.Job) { first(j).Args = append(first(j).Args, "x") }, want: "spec.template.spec.containers",
		},
		"Command": {
			reason: "A Job that runs the script as data is not believed.",
			change: func(j *batchv1.Job) { first(j).Command = []string{"/bin/true"} }, want: "spec.template.spec.containers[0].command",
		},
		"Image": {
			reason: "A Job with another image is not believed.",
			change: func(j *batchv1.Job) { first(j).Image = "evil:1" }, want: "spec.template.spec.containers[0].image",
		},
		"Mounts": {
			reason: "A Job that mounts files over files of the image is not believed.",
			change: func(j *batchv1.Job) { first(j).VolumeMounts = []corev1.VolumeMount{{MountPath: "/bin"}} },
			want:   "spec.template.spec.containers[0].volumeMounts",
		},
		"Env": {
			reason: "A Job with variables is not believed, since they change the effect of a script.",
			change: func(j *batchv1.Job) { first(j).Env = []corev1.EnvVar{{Name: "PATH"}} }, want: "spec.template.spec.containers[0].env",
		},
		"WorkingDir": {
			reason: "A Job with another working directory is not believed, since a script finds other files there.",
			change: func(j *batchv1.Job) { first(j).WorkingDir = "/proc" }, want: "spec.template.spec.containers[0].workingDir",
		},
		"Lifecycle": {
			reason: "A Job whose container runs another command when it starts is not believed.",
			change: func(j *batchv1.Job) { first(j).Lifecycle = &corev1.Lifecycle{StopSignal: new(corev1.SIGABRT)} },
			want:   "spec.template.spec.containers[0].lifecycle.stopSignal",
		},
		"Privileged": {
			reason: "A Job whose container has more rights is not believed.",
			change: func(j *batchv1.Job) { first(j).SecurityContext.Privileged = new(true) },
			want:   "spec.template.spec.containers[0].securityContext.privileged",
		},
		"NeverPulled": {
			reason: "A Job that takes whatever image of that name a node has is not believed.",
			change: func(j *batchv1.Job) { first(j).ImagePullPolicy = corev1.PullNever }, want: "spec.template.spec.containers[0].imagePullPolicy",
		},
		"Init": {
			reason: "A Job with a container that runs before is not believed.",
			change: inPod(func(p *corev1.PodSpec) { p.InitContainers = []corev1.Container{{}} }), want: "spec.template.spec.initContainers",
		},
		"Sidecar": {
			reason: "A Job with a second container is not believed.",
			change: inPod(func(p *corev1.PodSpec) { p.Containers = append(p.Containers, corev1.Container{Name: "proxy"}) }),
			want:   "spec.template.spec.containers",
		},
		"HostAliases": {
			reason: "A Job that gives a name another address is not believed.",
			change: inPod(func(p *corev1.PodSpec) { p.HostAliases = []corev1.HostAlias{{IP: "192.0.2.1"}} }), want: "spec.template.spec.hostAliases",
		},
		"DNSConfig": {
			reason: "A Job that asks another DNS server is not believed.",
			change: inPod(func(p *corev1.PodSpec) { p.DNSConfig = &corev1.PodDNSConfig{Nameservers: []string{"192.0.2.1"}} }),
			want:   "spec.template.spec.dnsConfig.nameservers",
		},
		"DNSPolicy": {
			reason: "A Job that asks the DNS servers of the node is not believed.",
			change: inPod(func(p *corev1.PodSpec) { p.DNSPolicy = corev1.DNSDefault }), want: "spec.template.spec.dnsPolicy",
		},
		"HostNetwork": {
			reason: "A Job in the network of a node is not believed.",
			change: inPod(func(p *corev1.PodSpec) { p.HostNetwork = true }), want: "spec.template.spec.hostNetwork",
		},
		"NodeName": {
			reason: "A Job for one node is not believed.",
			change: inPod(func(p *corev1.PodSpec) { p.NodeName = "mine" }), want: "spec.template.spec.nodeName",
		},
		"RuntimeClass": {
			reason: "A Job for another runtime is not believed.",
			change: inPod(func(p *corev1.PodSpec) { p.RuntimeClassName = new("mine") }), want: "spec.template.spec.runtimeClassName",
		},
		"User": {
			reason: "A Job that runs as another user is not believed.",
			change: inPod(func(p *corev1.PodSpec) { p.SecurityContext.RunAsUser = new(int64(0)) }),
			want:   "spec.template.spec.securityContext.runAsUser",
		},
		"PodAnnotations": {
			reason: "A Job whose pods have annotations is not believed, since a webhook acts on them.",
			change: func(j *batchv1.Job) { j.Spec.Template.Annotations = map[string]string{"inject": "true"} },
			want:   "spec.template.metadata.annotations.inject",
		},
		"Selector": {reason: "A Job that counts the pods of another Job is not believed.", change: func(j *batchv1.Job) {
			j.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"controller-uid": "other"}}
		}, want: "spec.selector.matchLabels.controller-uid"},
		"ManagedBy": {
			reason: "A Job whose status another controller writes is not believed.",
			change: func(j *batchv1.Job) { j.Spec.ManagedBy = new("example.org/mine") }, want: "spec.managedBy",
		},
		"NoPolicy": {
			reason: "A Job that takes exit code 3 for a fault of the script is not believed.",
			change: func(j *batchv1.Job) { j.Spec.PodFailurePolicy = nil }, want: "spec.podFailurePolicy",
		},
		"NoPods": {
			reason: "A Job that is complete without a pod is not believed.",
			change: func(j *batchv1.Job) { j.Spec.Completions = new(int32(0)) }, want: "spec.completions",
		},
		"Deadline": {
			reason: "A Job that may take longer is not believed.",
			change: func(j *batchv1.Job) { j.Spec.ActiveDeadlineSeconds = new(int64(9000)) }, want: "spec.activeDeadlineSeconds",
		},
		"OtherAgent": {
			reason: "A Job that runs as another service account is not believed.",
			change: inPod(func(p *corev1.PodSpec) { p.ServiceAccountName = "admin" }), want: "spec.template.spec.serviceAccountName",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			j := Make(in)
			j.UID = "job-uid"
			tc.change(j)
			bare := in
			bare.Script = "" // It is the Job's.
			if got := Differs(bare, encode(t, j)); got != tc.want {
				t.Errorf("\n%s\nDiffers(...): %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

// TestDiffersInUnknownField believes no Job with a field that this version does not know.
func TestDiffersInUnknownField(t *testing.T) {
	in := Input{Gate: "gate-uid", Site: &catalogv1alpha1.Site{}, Rules: gates.Rules{Timeout: time.Minute}}
	in.Check.Job = &deploymentv1alpha1.JobCheck{Image: "busybox:1"}
	in.Site.Spec.PostCheck = &catalogv1alpha1.SitePostCheck{Namespace: "checks", ServiceAccountName: "checks"}
	o := encode(t, Make(in))
	if err := unstructured.SetNestedField(o.Object, "x", "spec", "template", "spec", "newer"); err != nil {
		t.Fatal(err)
	}
	if got, want := Differs(in, o), "spec.template.spec.newer"; got != want {
		t.Errorf("a field that this version does not know: %q, want %q", got, want)
	}
}

// TestDiffersFromConfigMap believes the script of a ConfigMap by its digest.
func TestDiffersFromConfigMap(t *testing.T) {
	in := Input{Gate: "gate-uid", Script: "exit 0", Site: &catalogv1alpha1.Site{}, Rules: gates.Rules{Timeout: time.Minute}}
	in.Check.Job = &deploymentv1alpha1.JobCheck{Image: "busybox:1", ConfigMapKeyRef: &deploymentv1alpha1.ConfigMapKeySelector{SHA256: "89b8dad8e6a28f0e4b3eb8f8df1a5f1ac0a5a7a38d4c4f7e3b2dbb4ef2a45b4d"}}
	in.Site.Spec.PostCheck = &catalogv1alpha1.SitePostCheck{Namespace: "checks", ServiceAccountName: "checks"}
	if got, want := Differs(in, encode(t, Make(in))), "spec.template.spec.containers[0].args"; got != want {
		t.Errorf("a script with another digest: %q, want %q", got, want)
	}
}
