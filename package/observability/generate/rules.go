package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/intentplane/intentplane/apis/advice"
)

// A rule is one alert.
type rule struct {
	name, expr, wait, severity, summary string

	// kind whose advice the runbook line repeats. It is that about the reason in the label, or about one reason.
	kind   advice.Kind
	reason string

	// runbook is the line itself, where no reason has one.
	runbook string
}

// Severities of alerts.
const (
	critical = "critical"
	warning  = "warning"
)

// rules returns all alerts. Those about one object need the metrics of kube-state-metrics.yaml; the others are of the provider and the function alone.
func rules() []rule { return slices.Concat(claimRules(), platformRules()) }

// deployment names the IntentDeployment that an alert is about.
const deployment = "IntentDeployment {{ $labels.namespace }}/{{ $labels.name }}"

// claimRules are about one deployment or Application.
func claimRules() []rule {
	return []rule{
		{
			name: "IntentDeploymentFailed", expr: `intentdeployment_info{phase="Failed"} == 1`, wait: "1m", severity: critical, kind: advice.IntentDeployment,
			summary: deployment + " failed: {{ $labels.reason }}.",
		},
		{
			name: "IntentDeploymentRolledBack", expr: `intentdeployment_info{outcome="RolledBack"} == 1`, wait: "1m", severity: warning, kind: advice.IntentDeployment,
			summary: "Revision {{ $labels.revision }} of " + deployment + " was rolled back.", reason: "RolledBack",
		},
		{
			name: "IntentDeploymentStuck", expr: `intentdeployment_condition{type="Stalled",reason!="RolledBack"} == 1 unless on (namespace, name) intentdeployment_info{phase="Failed"}`, wait: "5m",
			severity: warning, kind: advice.IntentDeployment, summary: deployment + " goes on only when a person acts: {{ $labels.reason }}.",
		},
		{
			name: "IntentDeploymentWithoutData", expr: `intentdeployment_condition{reason=~"NoData|MetricsUnavailable|Held"} < 1`, wait: "15m", severity: warning, kind: advice.IntentDeployment,
			summary: "The gate of " + deployment + " has nothing to judge by: {{ $labels.reason }}.",
		},
		{
			name: "IntentDeploymentDrifted", expr: `intentdeployment_condition{reason="Drifted"} < 1`, wait: "15m", severity: warning, kind: advice.IntentDeployment, reason: "Drifted",
			summary: "Files of " + deployment + " were changed by another commit.",
		},
		{
			name: "ApplicationDegraded", expr: `application_info{phase=~"Degraded|Failed"} == 1`, wait: "10m", severity: warning, kind: advice.Application,
			summary: "Application {{ $labels.namespace }}/{{ $labels.name }} is {{ $labels.phase }}: {{ $labels.reason }}.",
		},
	}
}

// platformRules are about what several claims use: repositories, Crossplane, the ledger, people, and Intentplane itself.
func platformRules() []rule {
	return []rule{
		{
			name: "RepositoryUnreachable", expr: `gitdelivery_condition{type="Ready",reason=~"Unreachable|MemoryUnknown|AuthFailed|TrustFailed|CredentialsGone"} < 1`, wait: "10m",
			severity: critical, kind: advice.GitDelivery, summary: "The repository of GitDelivery {{ $labels.namespace }}/{{ $labels.name }} cannot be used: {{ $labels.reason }}.",
		},
		{
			name: "ConfigurationNotReady", expr: `clusterproviderconfig_condition{type="Ready"} < 1 or providerconfig_condition{type="Ready"} < 1`, wait: "10m", severity: warning, kind: advice.GitDelivery,
			summary: "The provider cannot use the repository of configuration {{ with $labels.namespace }}{{ . }}/{{ end }}{{ $labels.name }}: {{ $labels.reason }}.",
		},
		{
			name: "CompositeNotResponsive", expr: `intentdeployment_condition{type="Responsive"} < 1`, wait: "1m", severity: critical, kind: advice.Installation,
			reason: advice.ReasonWatchCircuitOpen, summary: "Crossplane stopped watching " + deployment + ".",
		},
		{
			name: "LedgerUnreachable", expr: `sum(intentdeployment_ledger_unreachable) > 0`, wait: "10m", severity: critical, kind: advice.IntentDeployment, reason: "LedgerUnreachable",
			summary: "{{ $value }} deployments cannot be ordered, judged or rolled back.",
		},
		{
			name: "CanaryAwaitsAUser", expr: `sum by (state) (intentdeployment_canary{state=~"AwaitingPromotion|Held"}) > 0`, wait: "30m", severity: warning, kind: advice.IntentDeployment,
			reason: "AwaitingPromotion", summary: "{{ $value }} canaries wait for a user: {{ $labels.state }}.",
		},
		{
			name: "NotificationsPending", expr: `sum(intentplane_notifications_pending) > 0`, wait: "1h", severity: warning,
			runbook: "Who acts: the platform team. Look at the events with reason NotificationDelayed: kubectl get events -A --field-selector reason=NotificationDelayed.",
			summary: "{{ $value }} notifications wait for receivers that do not take them.",
		},
		{
			name: "IntentplaneProviderGone", expr: `absent(intentplane_build_info{component="provider"})`, wait: "5m", severity: critical, kind: advice.Installation,
			reason: advice.ReasonProviderStopped, summary: "No provider of Intentplane reports metrics.",
		},
		{
			name: "IntentplaneFunctionGone", expr: `absent(intentplane_build_info{component="function"})`, wait: "5m", severity: critical, kind: advice.Installation,
			reason: advice.ReasonCannotCompose, summary: "No function of Intentplane reports metrics.",
		},
		{
			name: "IntentplaneVersionSkew", expr: `count(count by (version) (intentplane_build_info)) > 1`, wait: "1h", severity: warning,
			runbook: "Who acts: the platform team. Give function and provider one version: kubectl intent version shows both.",
			summary: "Function and provider run {{ $value }} versions.",
		},
	}
}

// runbookLine says who acts and what to do, as the reference does: about the reason of the rule, or about the one in the label of the alert.
func (r rule) runbookLine() string {
	if r.kind == "" {
		return r.runbook
	}
	if r.reason != "" {
		return sayAdvice(r.kind, r.reason)
	}
	out := strings.Builder{}
	for i, reason := range advice.Reasons(r.kind) {
		word := "else if"
		if i == 0 {
			word = "if"
		}
		fmt.Fprintf(&out, "{{ %s eq $labels.reason %q }}%s", word, reason, sayAdvice(r.kind, reason))
	}
	return out.String() + "{{ else }}kubectl intent why {{ $labels.name }} -n {{ $labels.namespace }} says why.{{ end }}"
}

func sayAdvice(k advice.Kind, reason string) string {
	a, _ := advice.For(k, reason)
	return fmt.Sprintf("Who acts: %s. %s", a.Actor.Words(), a.Do)
}
