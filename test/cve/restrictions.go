package cve

import (
	"strings"
	"testing"
	"time"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/gates"
	"github.com/intentplane/intentplane/provider/gates/job"
)

// podRestrictions delivers a Namespace with other pod security labels, and makes the Job of a check, which has to be admitted by the strictest ones.
func podRestrictions(t *testing.T) {
	t.Helper()
	const privileged = "apiVersion: v1\nkind: Namespace\nmetadata: {name: team-a, labels: {pod-security.kubernetes.io/enforce: privileged}}\n"
	if err := policy.CheckTree(treeWithObject(privileged)); err == nil || !strings.Contains(err.Error(), "Namespace") {
		t.Errorf("CheckTree(...) of a Namespace with labels of its own: %v", err)
	}
	checkJob := job.Make(job.Input{
		Gate: "u", Script: "true", LiveSince: time.Unix(1790000000, 0), Rules: gates.Rules{Timeout: time.Minute},
		Check: rolloutv1alpha1.GateCheck{Check: deploymentv1alpha1.Check{Name: "smoke", Job: &deploymentv1alpha1.JobCheck{Image: "busybox:1"}}},
		Site: &catalogv1alpha1.Site{Spec: catalogv1alpha1.SiteSpec{
			PostCheck: &catalogv1alpha1.SitePostCheck{Namespace: "checks", ServiceAccountName: "checker", AllowedImages: []string{"busybox:1"}},
		}},
	})
	pod, container := checkJob.Spec.Template.Spec, checkJob.Spec.Template.Spec.Containers[0].SecurityContext
	for violation, restricted := range map[string]bool{
		"runs as root":                  pod.SecurityContext.RunAsNonRoot != nil && *pod.SecurityContext.RunAsNonRoot,
		"may gain privileges":           container.AllowPrivilegeEscalation != nil && !*container.AllowPrivilegeEscalation,
		"has capabilities":              container.Capabilities != nil && len(container.Capabilities.Drop) == 1 && container.Capabilities.Drop[0] == "ALL" && len(container.Capabilities.Add) == 0,
		"has no seccomp profile":        pod.SecurityContext.SeccompProfile != nil && pod.SecurityContext.SeccompProfile.Type == "RuntimeDefault",
		"sees the machine it runs on":   !pod.HostNetwork && !pod.HostPID && !pod.HostIPC && len(pod.Volumes) == 0,
		"may call the Kubernetes API":   pod.AutomountServiceAccountToken != nil && !*pod.AutomountServiceAccountToken,
		"runs in a namespace of others": checkJob.Namespace == "checks",
	} {
		if !restricted {
			t.Errorf("the Job of a check %s", violation)
		}
	}
}
