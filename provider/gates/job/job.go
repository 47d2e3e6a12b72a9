// Package job makes the Jobs of checks, and reads their results. It is pure.
//
// Exit code 0 passes, 3 reports a violation, and any other exit code reports that the script could not check.
package job

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/shellscript"
	"github.com/intentplane/intentplane/provider/gates"
	"github.com/intentplane/intentplane/provider/workload"
)

const (
	// violated is the exit code of a script that found a violation.
	violated = 3

	// jobTTL is the time for which the cluster keeps an ended Job. Only the Job proves that the script has run: without it, the script runs again.
	jobTTL = 24 * time.Hour

	// maxLines is how many bytes of its last lines are kept.
	maxLines = 1024

	// unprivilegedUser is the user id that scripts run as, unless their image names another user than root.
	unprivilegedUser = 65532

	container = "check"

	// LabelGate holds the uid of the Gate that a Job is for.
	LabelGate = "rollout.intentplane.dev/gate"
)

// An Input is all that a Job follows from.
type Input struct {
	// Gate is the uid of the Gate.
	Gate string

	// Check of the Gate, whose type is Job, and which the Site allows.
	Check v1alpha1.GateCheck

	// Script that is run.
	Script string

	// Site whose cluster it runs in, and since when the subject is live there.
	Site      *catalogv1alpha1.Site
	LiveSince time.Time

	// Rules of the check.
	Rules gates.Rules

	// Attempt is the number of Jobs before this one, whose pods the infrastructure ended.
	Attempt int
}

// Name of the Job: the same for the same attempt of the same check of the same Gate, about a subject that has been live all the time. Nothing else prevents a
// second Job.
func Name(in Input) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %d", in.Gate, in.Check.Name, in.Site.GetName(), in.LiveSince.Unix()))
	name := "intentplane-" + hex.EncodeToString(sum[:10])
	if in.Attempt > 0 {
		name += "-" + strconv.Itoa(in.Attempt)
	}
	return name
}

// maxScript is the limit of one argument of a program on Linux, without the byte that ends it. With a longer script no pod would start.
const maxScript = 128<<10 - 1

// CheckPinned returns an error unless the script of a ConfigMap has the digest, is small enough to be run, and can fail.
func CheckPinned(script, digest string) error {
	if len(script) > maxScript {
		return errors.Errorf("configMapKeyRef: the script has more than %d bytes, and no pod would start with it", maxScript)
	}
	if sum := sha256.Sum256([]byte(script)); hex.EncodeToString(sum[:]) != digest {
		return errors.New("configMapKeyRef.sha256: the value of the key has another digest")
	}
	return errors.Wrap(shellscript.Check(script), "configMapKeyRef: the script")
}

// Make the Job. It runs once, as an unprivileged user, with nothing of the node or of the cluster, and ends in time.
func Make(in Input) *batchv1.Job {
	labels := map[string]string{LabelGate: in.Gate, "app.kubernetes.io/managed-by": "intentplane"}
	return &batchv1.Job{
		TypeMeta:   metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"},
		ObjectMeta: metav1.ObjectMeta{Namespace: in.Site.Spec.PostCheck.Namespace, Name: Name(in), Labels: labels},
		Spec: batchv1.JobSpec{
			BackoffLimit:            new(int32(0)),
			ActiveDeadlineSeconds:   new(int64(max(in.Rules.Timeout/time.Second, 1))),
			TTLSecondsAfterFinished: new(int32(jobTTL / time.Second)),
			// The Job itself says that the script found a violation: its pod need not be read for that.
			PodFailurePolicy: &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
				Action: batchv1.PodFailurePolicyActionFailJob,
				OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
					ContainerName: new(container), Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{violated},
				},
			}}},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: newJobPodSpec(in)},
		},
	}
}

func newJobPodSpec(in Input) corev1.PodSpec {
	requests := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("10m"), corev1.ResourceMemory: resource.MustParse("32Mi")}
	limits := corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("500m"), corev1.ResourceMemory: resource.MustParse("256Mi"),
		corev1.ResourceEphemeralStorage: resource.MustParse("64Mi"),
	}
	return corev1.PodSpec{
		RestartPolicy:                 corev1.RestartPolicyNever,
		ServiceAccountName:            in.Site.Spec.PostCheck.ServiceAccountName,
		AutomountServiceAccountToken:  new(false),
		EnableServiceLinks:            new(false),
		TerminationGracePeriodSeconds: new(int64(5)),
		SecurityContext: &corev1.PodSecurityContext{
			RunAsNonRoot: new(true), RunAsUser: new(int64(unprivilegedUser)), RunAsGroup: new(int64(unprivilegedUser)),
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
		Containers: []corev1.Container{{
			Name: container, Image: in.Check.Job.Image, Command: []string{"/bin/sh", "-c"}, Args: []string{escapeVariables(in.Script)},
			TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
			Resources:                corev1.ResourceRequirements{Requests: requests, Limits: limits},
			SecurityContext: &corev1.SecurityContext{
				RunAsNonRoot: new(true), AllowPrivilegeEscalation: new(false), ReadOnlyRootFilesystem: new(true),
				Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
			},
		}},
	}
}

// escapeVariables escapes the variables that the kubelet would replace: it takes $(NAME) for a variable of its own, and $$ for one sign.
func escapeVariables(script string) string { return strings.ReplaceAll(script, "$", "$$") }

// Judge a Job. Its last lines come from its pod, if that could be seen. Nil pods are unknown, and a failed Job without pods is one whose pod was deleted.
func Judge(j *batchv1.Job, pods []corev1.Pod) gates.Judgement {
	c := endCondition(j)
	switch {
	case c == nil && waitsForLostNode(j, pods):
		return interruption(workload.DisruptionNodeLost)
	case c == nil:
		return gates.Judgement{Phase: v1alpha1.CheckRunning}
	case c.Type == batchv1.JobComplete:
		return gates.Judgement{Phase: v1alpha1.CheckPassed, Value: "exit 0", Message: lastScriptLines(pods), Count: 1}
	}
	if d := findDisruption(c, pods); d != "" {
		return interruption(d)
	}
	switch c.Reason {
	case batchv1.JobReasonDeadlineExceeded:
		return gates.Judgement{Phase: v1alpha1.CheckTimedOut, Message: "the script took too long, or could not be started", Count: 1}
	case batchv1.JobReasonPodFailurePolicy:
		return gates.Judgement{Phase: v1alpha1.CheckFailed, Value: "exit 3", Message: textOrDefault(lastScriptLines(pods), "the script reports that the checked condition is violated"), Count: 1}
	}
	return gates.Judgement{Phase: v1alpha1.CheckError, Value: exitCodeText(pods), Message: textOrDefault(lastScriptLines(pods), textOrDefault(describeKill(pods), "the script could not check")), Count: 1}
}

// interruption returns the judgement on a Job whose pod the infrastructure ended.
func interruption(d workload.Disruption) gates.Judgement {
	return gates.Judgement{Phase: v1alpha1.CheckRunning, Availability: gates.Interrupted, Message: fmt.Sprintf(messageInterrupted, d)}
}

// endCondition returns the condition of a Job that has ended, or nil.
func endCondition(j *batchv1.Job) *batchv1.JobCondition {
	return findCondition(j, batchv1.JobComplete, batchv1.JobFailed)
}

// findCondition returns the first condition of a Job that is true and of one of several types, or nil.
func findCondition(j *batchv1.Job, types ...batchv1.JobConditionType) *batchv1.JobCondition {
	i := slices.IndexFunc(j.Status.Conditions, func(c batchv1.JobCondition) bool {
		return c.Status == corev1.ConditionTrue && slices.Contains(types, c.Type)
	})
	if i < 0 {
		return nil
	}
	return &j.Status.Conditions[i]
}

func textOrDefault(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

func terminatedState(pods []corev1.Pod) *corev1.ContainerStateTerminated {
	for _, p := range pods {
		for _, c := range p.Status.ContainerStatuses {
			if c.Name == container && c.State.Terminated != nil {
				return c.State.Terminated
			}
		}
	}
	return nil
}

func exitCodeText(pods []corev1.Pod) string {
	if t := terminatedState(pods); t != nil {
		return fmt.Sprintf("exit %d", t.ExitCode)
	}
	return ""
}

// describeKill returns the reason why a script could print no message itself.
func describeKill(pods []corev1.Pod) string {
	if t := terminatedState(pods); t != nil && t.Reason == "OOMKilled" {
		return "the script needed more memory than it may have"
	}
	return ""
}

// lastScriptLines returns the lines that a script printed last, as far as there is room, without unprintable characters.
func lastScriptLines(pods []corev1.Pod) string {
	t := terminatedState(pods)
	if t == nil {
		return ""
	}
	message := strings.Map(func(r rune) rune {
		switch {
		case r == '\t': // It keeps words apart.
			return ' '
		case r == '\n' || unicode.IsPrint(r):
			return r
		}
		return -1
	}, strings.ToValidUTF8(t.Message, ""))
	message = strings.TrimSpace(message)
	if excess := len(message) - maxLines; excess > 0 {
		message = strings.ToValidUTF8(message[excess:], "")
	}
	return message
}
