package kpack

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

func TestStatusAt(t *testing.T) {
	pod := &corev1.Pod{Spec: corev1.PodSpec{
		InitContainers: []corev1.Container{{Name: "detect"}, {Name: "build"}, {Name: "export"}},
		Containers:     []corev1.Container{{Name: stepCompletion}},
	}}
	rebase := &corev1.Pod{Spec: corev1.PodSpec{InitContainers: []corev1.Container{{Name: "rebase"}}, Containers: []corev1.Container{{Name: stepCompletion}}}}
	cases := map[string]struct {
		reason string
		status corev1.PodStatus
		phase  corev1.PodPhase
		steps  []string
	}{
		"Running": {
			reason: "The steps before the running step have ended, and the steps behind it wait.",
			status: runningStatus(pod), phase: corev1.PodPending, steps: []string{"detect: 0", "build runs", "export waits", "completion waits"},
		},
		"Rebase": {
			reason: "A pod without the step of a build is in its first step.",
			status: runningStatus(rebase), phase: corev1.PodPending, steps: []string{"rebase runs", "completion waits"},
		},
		"Failed": {
			reason: "The step that is named fails, and none behind it begins.",
			status: failedStatus(pod, Play{Fails: "export"}), phase: corev1.PodFailed, steps: []string{"detect: 0", "build: 0", "export: 1", "completion waits"},
		},
		"Evicted": {
			reason: "An eviction kills the step that runs.",
			status: evictedStatus(pod), phase: corev1.PodFailed, steps: []string{"detect: 0", "build: 137", "export waits", "completion waits"},
		},
		"Drained": {
			reason: "An eviction by the API ends the step that runs by a signal.",
			status: drainedStatus(pod), phase: corev1.PodFailed, steps: []string{"detect: 0", "build: 143", "export waits", "completion waits"},
		},
		"Succeeded": {
			reason: "Each step of a pod that succeeds has ended.",
			status: succeededStatus(pod, "report"), phase: corev1.PodSucceeded, steps: []string{"detect: 0", "build: 0", "export: 0", "completion: 0 report"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if tc.status.Phase != tc.phase {
				t.Errorf("\n%s\nphase %s, want %s", tc.reason, tc.status.Phase, tc.phase)
			}
			if diff := cmp.Diff(tc.steps, describeSteps(tc.status)); diff != "" {
				t.Errorf("\n%s\nsteps: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func describeSteps(s corev1.PodStatus) []string {
	out := []string{}
	for _, c := range append(s.InitContainerStatuses, s.ContainerStatuses...) {
		switch {
		case c.State.Running != nil:
			out = append(out, c.Name+" runs")
		case c.State.Waiting != nil:
			out = append(out, c.Name+" waits")
		default:
			out = append(out, describeEnd(c.Name, c.State.Terminated))
		}
	}
	return out
}

func describeEnd(name string, end *corev1.ContainerStateTerminated) string {
	out := name + ": " + map[int32]string{0: "0", 1: "1", killed: "137", terminated: "143"}[end.ExitCode]
	if end.Message != "" {
		out += " " + end.Message
	}
	return out
}
