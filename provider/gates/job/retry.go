package job

import (
	"strconv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/intentplane/intentplane/provider/workload"
)

const (
	// firstRetry and slowestRetry bound the time until another Job runs a script whose pod the infrastructure ended. It doubles with each attempt.
	firstRetry   = 10 * time.Second
	slowestRetry = 10 * time.Minute

	// maxDoublings is how often the time is doubled before it exceeds slowestRetry.
	maxDoublings = 6

	messageInterrupted = "the infrastructure ended the pod of the check (%s): another Job runs the script"
)

// MessageRepeated is the message of a check while the Job of a later attempt runs.
const MessageRepeated = "the infrastructure ended an earlier pod of the check: another Job runs the script"

// AttemptOf returns the attempt whose Job has a name, and 0 for the name of no Job of the check.
func AttemptOf(in Input, name string) int {
	in.Attempt = 0
	text, _ := strings.CutPrefix(name, Name(in)+"-")
	attempt, err := strconv.Atoi(text)
	if err != nil || attempt < 0 {
		return 0
	}
	return attempt
}

// RetryAt returns when another Job may run the script of a Job whose pod the infrastructure ended.
func RetryAt(j *batchv1.Job, attempt int) time.Time {
	c := endOf(j)
	if c == nil {
		return time.Time{}
	}
	return c.LastTransitionTime.Add(min(firstRetry<<min(attempt, maxDoublings), slowestRetry))
}

// findDisruption returns why the infrastructure ended the pod of a failed Job, or "" for a pod that the script ended. The cluster keeps the pods of a Job as
// long as the Job: a pod that is gone was deleted, such as by a user. A Job whose time is over deletes its pods itself.
func findDisruption(failed *batchv1.JobCondition, pods []corev1.Pod) workload.Disruption {
	if pods != nil && len(pods) == 0 && failed.Reason == batchv1.JobReasonBackoffLimitExceeded {
		return workload.DisruptionDeleted
	}
	for i := range pods {
		d := workload.FindDisruption(&pods[i], terminatedState(pods[i:i+1]))
		isByJob := d == workload.DisruptionDeleted && failed.Reason == batchv1.JobReasonDeadlineExceeded
		if d != "" && !isByJob {
			return d
		}
	}
	return ""
}
