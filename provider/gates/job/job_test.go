package job

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/gates"
)

func input() Input {
	return Input{
		Gate: "u", Script: "echo $(date) $$ $HOME; exit 3", LiveSince: time.Unix(1790000000, 0), Rules: gates.Rules{Timeout: 90 * time.Second},
		Check: v1alpha1.GateCheck{Check: deploymentv1alpha1.Check{Name: "smoke", Job: &deploymentv1alpha1.JobCheck{Image: "busybox:1"}}},
		Site: &catalogv1alpha1.Site{ObjectMeta: metav1.ObjectMeta{Name: "edge1"}, Spec: catalogv1alpha1.SiteSpec{
			PostCheck: &catalogv1alpha1.SitePostCheck{Namespace: "checks", ServiceAccountName: "checker", AllowedImages: []string{"busybox:1"}},
		}},
	}
}

// TestRestricted checks the rules of the restricted level of Kubernetes' pod security standards, and our additional rules.
func TestRestricted(t *testing.T) {
	j := Make(input())
	p := j.Spec.Template.Spec
	c := p.Containers[0]
	isSetTo := func(b *bool, want bool) bool { return b != nil && *b == want }
	for violation, ok := range map[string]bool{
		"runs as root":                 isSetTo(p.SecurityContext.RunAsNonRoot, true) && isSetTo(c.SecurityContext.RunAsNonRoot, true),
		"may gain privileges":          isSetTo(c.SecurityContext.AllowPrivilegeEscalation, false) && c.SecurityContext.Privileged == nil,
		"has capabilities":             cmp.Equal(c.SecurityContext.Capabilities, &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}),
		"may make any system call":     p.SecurityContext.SeccompProfile.Type == corev1.SeccompProfileTypeRuntimeDefault,
		"writes to its image":          isSetTo(c.SecurityContext.ReadOnlyRootFilesystem, true),
		"has a token":                  isSetTo(p.AutomountServiceAccountToken, false),
		"sees the node":                !p.HostNetwork && !p.HostPID && !p.HostIPC && len(p.Volumes) == 0,
		"is told of services":          isSetTo(p.EnableServiceLinks, false),
		"is not alone":                 len(p.Containers) == 1 && len(p.InitContainers) == 0,
		"runs again":                   *j.Spec.BackoffLimit == 0 && p.RestartPolicy == corev1.RestartPolicyNever,
		"has no end":                   *j.Spec.ActiveDeadlineSeconds == 90 && *j.Spec.TTLSecondsAfterFinished == 86400,
		"has no limits":                len(c.Resources.Limits) == 3,
		"says nothing when it fails":   c.TerminationMessagePolicy == corev1.TerminationMessageFallbackToLogsOnError,
		"runs elsewhere or as another": j.Namespace == "checks" && p.ServiceAccountName == "checker",
		"has its script replaced":      c.Args[0] == "echo $$(date) $$$$ $$HOME; exit 3",
	} {
		if !ok {
			t.Errorf("the Job %s", violation)
		}
	}
}

func TestName(t *testing.T) {
	name := Name(input())
	if name != Name(input()) || len(name) > 63 {
		t.Errorf("the name of a Job: %s", name)
	}
	for changed, change := range map[string]func(*Input){
		"Gate": func(i *Input) { i.Gate = "v" }, "check": func(i *Input) { i.Check.Name = "other" }, "Site": func(i *Input) { i.Site.SetName("edge2") },
		"time of going live": func(i *Input) { i.LiveSince = i.LiveSince.Add(time.Second) },
		"attempt":            func(i *Input) { i.Attempt = 1 },
	} {
		in := input()
		change(&in)
		if Name(in) == name {
			t.Errorf("another %s has the same Job", changed)
		}
	}
}

func TestAttemptOf(t *testing.T) {
	second := input()
	second.Attempt = 12
	cases := map[string]struct {
		reason, job string
		want        int
	}{
		"First":   {reason: "The first Job has no number.", job: Name(input())},
		"Later":   {reason: "The name of a later Job ends with its attempt.", job: Name(second), want: 12},
		"Foreign": {reason: "A Job of another check is no attempt.", job: "intentplane-00-3"},
		"NoName":  {reason: "Without a Job the first attempt comes.", job: ""},
		"Garbled": {reason: "A name that does not end with a number is no attempt.", job: Name(input()) + "-x"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, AttemptOf(second, tc.job)); diff != "" {
				t.Errorf("%s\nAttemptOf(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestRetryAt(t *testing.T) {
	end := metav1.NewTime(time.Unix(1790000000, 0))
	j := &batchv1.Job{Status: batchv1.JobStatus{Conditions: []batchv1.JobCondition{{Type: batchv1.JobFailed, Status: corev1.ConditionTrue, LastTransitionTime: end}}}}
	ending := &batchv1.Job{Status: batchv1.JobStatus{Conditions: []batchv1.JobCondition{{Type: batchv1.JobFailureTarget, Status: corev1.ConditionTrue, LastTransitionTime: end}}}}
	if diff := cmp.Diff(10*time.Second, RetryAt(ending, 0).Sub(end.Time)); diff != "" {
		t.Errorf("A Job that waits for a pod of a lost node is repeated.\nRetryAt(...): -want, +got:\n%s", diff)
	}
	for attempt, want := range map[int]time.Duration{0: 10 * time.Second, 1: 20 * time.Second, 6: 10 * time.Minute, 1000: 10 * time.Minute} {
		if diff := cmp.Diff(want, RetryAt(j, attempt).Sub(end.Time)); diff != "" {
			t.Errorf("RetryAt(..., %d): -want, +got:\n%s", attempt, diff)
		}
	}
}

// disrupted returns the pods of a Job whose container ended with an exit code, after a change of the pod.
func disrupted(exit int32, change func(*corev1.Pod)) []corev1.Pod {
	p := corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodFailed, ContainerStatuses: []corev1.ContainerStatus{{
		Name: container, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: exit}},
	}}}}
	change(&p)
	return []corev1.Pod{p}
}

func TestJudgeDisruption(t *testing.T) {
	target := func(reason string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: reason}}
		}
	}
	deleted := func(p *corev1.Pod) { p.DeletionTimestamp = new(metav1.Now()) }
	silent := func(p *corev1.Pod) {
		deleted(p)
		p.Status = corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{
			{Type: corev1.ContainersReady, Status: corev1.ConditionTrue}, {Type: corev1.PodReady, Status: corev1.ConditionFalse},
		}}
	}
	cases := map[string]struct {
		reason string
		failed string
		// ends is true for a Job that waits for the end of its pods.
		ends bool
		pods []corev1.Pod
		// want is the disruption that the message names, or "" for an end of the script.
		want string
	}{
		"Drained": {
			reason: "A drained pod is not the script's fault.", failed: "BackoffLimitExceeded",
			pods: disrupted(137, target("EvictionByEvictionAPI")), want: "Evicted",
		},
		"Preempted": {
			reason: "A preempted pod is not the script's fault.", failed: "BackoffLimitExceeded",
			pods: disrupted(143, target("PreemptionByScheduler")), want: "Preempted",
		},
		"NodeLost": {
			reason: "A pod lost with its node is not the script's fault.", failed: "BackoffLimitExceeded",
			pods: disrupted(1, target("DeletionByTaintManager")), want: "NodeLost",
		},
		"Collected": {
			reason: "A pod whose node was removed is not the script's fault.", failed: "DeadlineExceeded",
			pods: disrupted(1, target("DeletionByPodGC")), want: "NodeLost",
		},
		"Silent": {
			reason: "A pod whose node sends no status does not end, although its Job does.", failed: "DeadlineExceeded",
			pods: disrupted(0, silent), want: "NodeLost",
		},
		"SilentYet": {
			reason: "A Job that waits for a pod of a silent node does not wait until the node is back.", failed: "DeadlineExceeded", ends: true,
			pods: disrupted(0, silent), want: "NodeLost",
		},
		"TaintedYet": {
			reason: "A Job that waits for a pod of a tainted node does not wait until the node is back.", failed: "DeadlineExceeded", ends: true,
			pods: disrupted(1, target("DeletionByTaintManager")), want: "NodeLost",
		},
		"Deleted": {
			reason: "A pod that is being deleted was killed from outside.", failed: "BackoffLimitExceeded",
			pods: disrupted(137, deleted), want: "PodDeleted",
		},
		"Gone": {
			reason: "A failed Job without pods lost its pod.", failed: "BackoffLimitExceeded",
			pods: []corev1.Pod{}, want: "PodDeleted",
		},
		"Unreadable": {reason: "Pods that the provider may not list prove nothing.", failed: "BackoffLimitExceeded"},
		"Violated": {
			reason: "Exit code 3 of a disrupted pod is no finding.", failed: "PodFailurePolicy",
			pods: disrupted(3, target("EvictionByEvictionAPI")), want: "Evicted",
		},
		"TooLong":   {reason: "A Job whose time is over deletes its pod itself.", failed: "DeadlineExceeded", pods: disrupted(137, deleted)},
		"NoPodLeft": {reason: "A Job whose time is over has no pod.", failed: "DeadlineExceeded", pods: []corev1.Pod{}},
		"OutOfMemory": {
			reason: "A script that used too much memory has itself to blame, in a deleted pod, too.", failed: "BackoffLimitExceeded",
			pods: disrupted(137, func(p *corev1.Pod) {
				deleted(p)
				p.Status.ContainerStatuses[0].State.Terminated.Reason = "OOMKilled"
			}),
		},
		"NoShell": {
			reason: "An image without a shell has an author.", failed: "BackoffLimitExceeded",
			pods: disrupted(128, func(p *corev1.Pod) { p.Status.ContainerStatuses[0].State.Terminated.Reason = "StartError" }),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := batchv1.JobCondition{Type: batchv1.JobFailed, Reason: tc.failed, Status: corev1.ConditionTrue}
			if tc.ends {
				c.Type = batchv1.JobFailureTarget
			}
			got := Judge(&batchv1.Job{Status: batchv1.JobStatus{Conditions: []batchv1.JobCondition{c}}}, tc.pods)
			if tc.want == "" {
				if !got.Ended() {
					t.Errorf("%s\nJudge(...): want an end, got %+v", tc.reason, got)
				}
				return
			}
			want := gates.Judgement{
				Phase: v1alpha1.CheckRunning, Availability: gates.Interrupted,
				Message: "the infrastructure ended the pod of the check (" + tc.want + "): another Job runs the script",
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s\nJudge(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestJudgeJob(t *testing.T) {
	job := func(kind batchv1.JobConditionType, reason string, status corev1.ConditionStatus) *batchv1.Job {
		return &batchv1.Job{Status: batchv1.JobStatus{Conditions: []batchv1.JobCondition{{Type: kind, Reason: reason, Status: status}}}}
	}
	pod := func(exit int32, message string) []corev1.Pod {
		return []corev1.Pod{{Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{
			Name: "check", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: exit, Message: message}},
		}}}}}
	}
	starved := pod(137, "")
	starved[0].Status.ContainerStatuses[0].State.Terminated.Reason = "OOMKilled"
	long := strings.Repeat("é", maxLines)
	cases := map[string]struct {
		reason string
		job    *batchv1.Job
		pods   []corev1.Pod
		want   gates.Judgement
	}{
		"New": {reason: "A Job without a status goes on.", job: &batchv1.Job{}, want: gates.Judgement{Phase: v1alpha1.CheckRunning}},
		"NotYet": {
			reason: "A Job that is about to fail still runs.",
			job:    job(batchv1.JobFailureTarget, "PodFailurePolicy", corev1.ConditionTrue), want: gates.Judgement{Phase: v1alpha1.CheckRunning},
		},
		"Ending": {
			reason: "A Job whose pod is being ended still runs.",
			job:    job(batchv1.JobFailureTarget, "DeadlineExceeded", corev1.ConditionTrue), pods: disrupted(137, func(p *corev1.Pod) {
				p.DeletionTimestamp = new(metav1.Now())
			}), want: gates.Judgement{Phase: v1alpha1.CheckRunning},
		},
		"NotTrue": {
			reason: "A Job with a Complete condition that is false still runs.",
			job:    job(batchv1.JobComplete, "", corev1.ConditionFalse), want: gates.Judgement{Phase: v1alpha1.CheckRunning},
		},
		"Complete": {
			reason: "A Job that is complete passes.",
			job:    job(batchv1.JobComplete, "", corev1.ConditionTrue), want: gates.Judgement{Phase: v1alpha1.CheckPassed, Value: "exit 0", Count: 1},
		},
		"Violated": {
			reason: "The Job says why it failed, also when its pod is gone.",
			job:    job(batchv1.JobFailed, "PodFailurePolicy", corev1.ConditionTrue),
			want: gates.Judgement{
				Phase: v1alpha1.CheckFailed, Value: "exit 3", Message: "the script reports that the checked condition is violated", Count: 1,
			},
		},
		"Broken": {
			reason: "A Job that failed for another reason is an error.",
			job:    job(batchv1.JobFailed, "BackoffLimitExceeded", corev1.ConditionTrue), pods: pod(1, "oops:\x00\x1b[2J\tno\n"),
			want: gates.Judgement{Phase: v1alpha1.CheckError, Value: "exit 1", Message: "oops:[2J no", Count: 1},
		},
		"Unknown": {
			reason: "A Job that failed for an unknown reason could not check.",
			job:    job(batchv1.JobFailed, "Whatever", corev1.ConditionTrue),
			want:   gates.Judgement{Phase: v1alpha1.CheckError, Message: "the script could not check", Count: 1},
		},
		"Starved": {
			reason: "A killed script prints no message itself.",
			job:    job(batchv1.JobFailed, "BackoffLimitExceeded", corev1.ConditionTrue), pods: starved,
			want: gates.Judgement{
				Phase: v1alpha1.CheckError, Value: "exit 137", Message: "the script needed more memory than it may have", Count: 1,
			},
		},
		"Deadline": {
			reason: "A Job that exceeded its deadline timed out.",
			job:    job(batchv1.JobFailed, "DeadlineExceeded", corev1.ConditionTrue),
			want:   gates.Judgement{Phase: v1alpha1.CheckTimedOut, Message: "the script took too long, or could not be started", Count: 1},
		},
		"LastLines": {
			reason: "The last lines are kept, and no half of a letter.",
			job:    job(batchv1.JobFailed, "PodFailurePolicy", corev1.ConditionTrue), pods: pod(3, long+"end"),
			want: gates.Judgement{Phase: v1alpha1.CheckFailed, Value: "exit 3", Message: strings.Repeat("é", 510) + "end", Count: 1},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Judge(tc.job, tc.pods)); diff != "" {
				t.Errorf("%s\nJudge(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestCheckPinned(t *testing.T) {
	digestOf := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return hex.EncodeToString(sum[:])
	}
	const program = "curl -sf http://shop\n"
	longest := program + strings.Repeat("#", maxScript-len(program))
	cases := map[string]struct{ reason, script, digest, want string }{
		"Same": {reason: "A script with the digest is run.", script: program, digest: digestOf(program)},
		"Other": {
			reason: "A script with another digest is not run.", script: program, digest: digestOf("x"),
			want: "configMapKeyRef.sha256: the value of the key has another digest",
		},
		"Long": {reason: "A script of the greatest length is run.", script: longest, digest: digestOf(longest)},
		"Longer": {
			reason: "A longer script is refused, since no pod starts with it.", script: longest + "#", digest: digestOf(longest + "#"),
			want: "configMapKeyRef: the script has more than 131071 bytes, and no pod would start with it",
		},
		"CannotFail": {
			reason: "A script that always passes is refused in a ConfigMap, too.", script: program + "echo done", digest: digestOf(program + "echo done"),
			want: "configMapKeyRef: the script: ends with 0 whatever its commands return, so that no revision fails the check: " +
				"begin it with set -e, or exit 3 where it fails",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := ""
			if err := CheckPinned(tc.script, tc.digest); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nCheckPinned(...): -want error, +got error:\n%s", tc.reason, diff)
			}
		})
	}
}
