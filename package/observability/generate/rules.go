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

	// parts is of what the kind has reasons of in the label beside its own, and may be empty.
	parts advice.Kind

	// shows is the command that shows the message of the object, where that of the kind does not.
	shows string

	// runbook is the line itself, where no reason has one.
	runbook string
}

// Severities of alerts.
const (
	critical = "critical"
	warning  = "warning"
)

// allAlertRules returns all alerts. Those about one object need the metrics of kube-state-metrics.yaml; the others are of the provider and the function alone.
func allAlertRules() []rule { return slices.Concat(claimRules(), platformRules()) }

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
			// A rollback that a user asked for has the same outcome, for as long as the revision stays. Its reason is Idle.
			name: "IntentDeploymentRolledBack", expr: `intentdeployment_info{outcome="RolledBack",reason="RolledBack"} == 1`, wait: "1m", severity: warning, kind: advice.IntentDeployment,
			summary: "Revision {{ $labels.revision }} of " + deployment + " was rolled back.", reason: "RolledBack",
		},
		{
			// What the spec names and is missing may be created later, so Stalled is False then.
			name: "IntentDeploymentStuck", wait: "5m", severity: warning,
			expr: `(intentdeployment_condition{type="Stalled",reason!="RolledBack"} == 1 or intentdeployment_condition{type="SitesFound",reason!="Unknown"} < 1)` +
				` unless on (namespace, name) intentdeployment_info{phase="Failed"}`,
			kind: advice.IntentDeployment, summary: deployment + " goes on only when a person acts: {{ $labels.reason }}.",
		},
		{
			name: "IntentDeploymentWithoutData", wait: "15m", severity: warning, kind: advice.IntentDeployment,
			expr:    `intentdeployment_condition{type="Validated",reason=~"NoData|MetricsUnavailable"} < 1 or intentdeployment_condition{type="Reconciling",reason="Held"} == 1`,
			summary: "The gate of " + deployment + " has nothing to judge by: {{ $labels.reason }}.",
		},
		{
			name: "IntentDeploymentDrifted", expr: `intentdeployment_condition{type="Reconciling",reason="Drifted"} == 1`, wait: "15m", severity: warning, kind: advice.IntentDeployment, reason: "Drifted",
			summary: "Files of " + deployment + " were changed by another commit.",
		},
		{
			name: "LedgerUnreachable", expr: `intentdeployment_condition{type="Recorded",reason="LedgerUnreachable"} < 1`, wait: "10m", severity: critical,
			kind: advice.IntentDeployment, reason: "LedgerUnreachable",
			summary: deployment + " cannot be ordered, judged or rolled back: the repository of its ledger does not answer.",
		},
		{
			// A canary with reason Held waits for a user, too: IntentDeploymentWithoutData names it.
			name: "CanaryAwaitsAUser", expr: `intentdeployment_condition{type="Reconciling",reason="AwaitingPromotion"} == 1`, wait: "30m", severity: warning,
			kind: advice.IntentDeployment, reason: "AwaitingPromotion", summary: "The canary of " + deployment + " waits until a user releases the next step.",
		},
		{
			// The phase does not say it: with a pod at no Site it is Deploying, as it is on the way of a good image. That of one which is not delivered everywhere yet,
			// or of which nothing is known yet, is left out. So is a rollback that a user asked for: the deployment of the Application, which has its name, is Idle then.
			name: "ApplicationDegraded", wait: "10m", severity: warning, kind: advice.Application, parts: advice.SiteHealth,
			expr: `(application_condition{type="Stalled"} == 1 unless on (namespace, name) intentdeployment_info{outcome="RolledBack",reason="Idle"})` +
				` or (application_condition{type="Available",reason!~"NotObserved|NotDelivered"} < 1 unless on (namespace, name) application_condition{type="Stalled"} == 1)`,
			summary: "Application {{ $labels.namespace }}/{{ $labels.name }} failed, or has no pod that serves at some Site: {{ $labels.reason }}.",
		},
	}
}

// platformRules are about what several claims use: repositories, Crossplane, receivers of notifications, and Intentplane itself.
func platformRules() []rule {
	return []rule{
		{
			name: "RepositoryUnreachable", expr: `gitdelivery_condition{type="Ready",reason=~"Unreachable|MemoryUnknown|AuthFailed|TrustFailed|CredentialsGone"} < 1`, wait: "10m",
			severity: critical, kind: advice.GitDelivery, summary: "The repository of GitDelivery {{ $labels.namespace }}/{{ $labels.name }} cannot be used: {{ $labels.reason }}.",
		},
		{
			name: "ConfigurationNotReady", expr: `clusterproviderconfig_condition{type="Ready"} < 1 or providerconfig_condition{type="Ready"} < 1`, wait: "10m", severity: warning, kind: advice.GitDelivery,
			shows:   "kubectl describe {{ with $labels.namespace }}providerconfigs.config.intentplane.dev -n {{ . }}{{ else }}clusterproviderconfigs.config.intentplane.dev{{ end }} {{ $labels.name }}",
			summary: "The provider cannot use the repository of configuration {{ with $labels.namespace }}{{ . }}/{{ end }}{{ $labels.name }}: {{ $labels.reason }}.",
		},
		{
			name: "CompositeNotResponsive", expr: notResponsive(), wait: "1m", severity: critical, kind: advice.Installation, reason: advice.ReasonWatchCircuitOpen,
			summary: "Crossplane stopped watching the {{ $labels.customresource_kind }} of {{ $labels.namespace }}/{{ $labels.name }}.",
		},
		{
			// What waits is in ConfigMaps of the provider's own namespace, of which kube-state-metrics makes no series.
			name: "NotificationsPending", expr: `sum(intentplane_notifications_pending) > 0`, wait: "1h", severity: warning,
			runbook: "Who acts: the platform team. See the events with reason NotificationDelayed: kubectl get events -A --field-selector reason=NotificationDelayed.",
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

// notResponsive selects the composites that Crossplane stopped watching: those that users make, and those behind claims.
func notResponsive() string {
	var out []string
	for _, prefix := range []string{"intentdeployment", "application", "workloadcluster", "bundle"} {
		for _, composite := range []string{prefix, "x" + prefix} {
			out = append(out, composite+`_condition{type="Responsive"} < 1`)
		}
	}
	return strings.Join(out, " or ")
}

// runbookLine says who acts and what to do, as the reference does: about the reason of the rule, or about the one in the label of the alert. Advice may point at
// a message, which no series has: the line ends with what shows it.
func (r rule) runbookLine() string {
	if r.kind == "" {
		return r.runbook
	}
	if r.reason != "" {
		return r.adviceAbout(r.reason) + r.messageLine()
	}
	out := strings.Builder{}
	for _, reason := range r.actedReasons() {
		word := "else if"
		if out.Len() == 0 {
			word = "if"
		}
		fmt.Fprintf(&out, "{{ %s eq $labels.reason %q }}%s", word, reason, r.adviceAbout(reason))
	}
	return out.String() + "{{ else }}The message says why.{{ end }}" + r.messageLine()
}

// actedReasons returns the reasons that someone acts on. An alert with another one is about something that its reason does not say, and no line may call that
// no one's.
func (r rule) actedReasons() []string {
	all := slices.Concat(advice.Reasons(r.kind), advice.Reasons(r.parts))
	return slices.DeleteFunc(all, func(reason string) bool {
		a, _ := advice.For(r.kind, reason)
		return a.Actor == advice.NoActor
	})
}

func (r rule) adviceAbout(reason string) string {
	a, _ := advice.For(r.kind, reason)
	return fmt.Sprintf("Who acts: %s. %s", a.Actor.Words(), a.Do)
}

// messageLine says what shows the message of the object, and is empty where the advice needs none.
func (r rule) messageLine() string {
	const inNamespace = "{{ $labels.name }} -n {{ $labels.namespace }}"
	command := r.shows
	if command == "" && (r.kind == advice.IntentDeployment || r.kind == advice.Application) {
		command = "kubectl intent why " + inNamespace
	}
	if command == "" && r.kind == advice.GitDelivery {
		command = "kubectl describe gitdeliveries.delivery.intentplane.dev " + inNamespace
	}
	if command == "" {
		return ""
	}
	return " The message: " + command + "."
}
