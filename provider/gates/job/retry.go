package job

import (
	"slices"
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

	// maxDoublings is the number of doublings after which the time exceeds slowestRetry.
	maxDoublings = 6

	messageInterrupted = "the infrastructure ended the pod of the check (%s): another Job runs the script"
)

const (
	// MessageRepeated is the message of a check while the Job of a later attempt runs.
	MessageRepeated = "an earlier Job of the check came to no result: another Job runs the script"

	// MessageRemoved is the message of a check whose Jobs were removed until its time was over.
	MessageRemoved = "the Jobs of the check were removed before their results were read"
)

// AttemptOf returns the number of the attempt in the name of a Job of the check. It is 0 for the first attempt, and for any other name.
func AttemptOf(in Input, name string) int {
	in.Attempt = 0
	text, _ := strings.CutPrefix(name, Name(in)+"-")
	attempt, err := strconv.Atoi(text)
	if err != nil || attempt < 0 {
		return 0
	}
	return attempt
}

// RetryAt returns the time from which on another Job may run the script of a Job whose pod the infrastructure ended. Zero for a Job that has not ended.
func RetryAt(j *batchv1.Job, attempt int) time.Time {
	c := endCondition(j)
	if c == nil {
		c = findCondition(j, batchv1.JobFailureTarget)
	}
	if c == nil {
		return time.Time{}
	}
	return c.LastTransitionTime.Add(min(firstRetry<<min(attempt, maxDoublings), slowestRetry))
}

// IsEnding reports whether a Job failed, and waits for the end of its pods. A pod on a lost node ends when the node returns or is removed.
func IsEnding(j *batchv1.Job) bool {
	return endCondition(j) == nil && findCondition(j, batchv1.JobFailureTarget) != nil
}

// waitsForLostNode reports whether a Job waits for a pod whose node is lost.
func waitsForLostNode(j *batchv1.Job, pods []corev1.Pod) bool {
	return IsEnding(j) && slices.ContainsFunc(pods, func(p corev1.Pod) bool {
		return workload.FindDisruption(&p, terminatedState([]corev1.Pod{p})) == workload.DisruptionNodeLost
	})
}

// findDisruption returns the disruption by which the infrastructure ended the pod of a failed Job, or "" if the script ended by itself. The cluster keeps the
// pods of a Job as long as the Job, so a missing pod was deleted, such as by a user. A Job that exceeds its deadline deletes its pods itself.
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
