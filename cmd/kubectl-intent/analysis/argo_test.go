package analysis

import (
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

// successRate is a share of good requests, as a mesh counts them.
const successRate = `
apiVersion: argoproj.io/v1alpha1
kind: AnalysisTemplate
metadata: {name: success-rate}
spec:
  args:
  - name: service-name
  - name: window
    value: 5m
  metrics:
  - name: success-rate
    interval: 1m
    count: 5
    successCondition: result[0] >= 0.95
    failureLimit: 2
    inconclusiveLimit: 1
    consecutiveErrorLimit: 3
    provider:
      prometheus:
        address: http://prometheus.monitoring:9090
        query: |
          sum(rate(http_requests_total{service="{{args.service-name}}",code!~"5.."}[{{ args.window }}]))
          / sum(rate(http_requests_total{service="{{args.service-name}}"}[{{ args.window }}]))
`

// metric returns a template with one metric, which asks Prometheus unless it says another provider.
func metric(rest string) string {
	if !strings.Contains(rest, "provider:") {
		rest += "\n    provider: {prometheus: {query: 'sum(x)'}}"
	}
	return "apiVersion: argoproj.io/v1alpha1\nkind: ClusterAnalysisTemplate\nmetadata: {name: t}\nspec:\n  metrics:\n  - name: m\n    " + strings.TrimSpace(rest) + "\n"
}

// jobOf returns a Job with a command.
func jobOf(command string) string {
	return "provider: {job: {spec: {backoffLimit: 0, template: {spec: {restartPolicy: Never, containers: [{image: a, command: " + command + "}]}}}}}"
}

// withArgument returns a template with one metric and the declaration of an argument.
func withArgument(name, rest string) string {
	return strings.Replace(metric(rest), "spec:", "spec:\n  args: [{name: "+name+"}]", 1)
}

func checksOf(t *testing.T, text string) []deploymentv1alpha1.Check {
	t.Helper()
	out := []deploymentv1alpha1.Check{}
	if err := yaml.UnmarshalStrict([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestFromArgoRollouts(t *testing.T) {
	type want struct {
		checks string
		notes  int
	}
	cases := map[string]struct {
		reason  string
		in      string
		options Options
		want    want
	}{
		"Prometheus": {
			reason:  "A query keeps its limits, and the value of an argument may be a placeholder of ours.",
			in:      successRate,
			options: Options{Args: map[string]string{"service-name": "{{service}}"}, UsesSiteServer: true},
			want: want{checks: `
- name: success-rate
  type: Prometheus
  prometheus:
    query: |-
      sum(rate(http_requests_total{service="{{service}}",code!~"5.."}[5m]))
      / sum(rate(http_requests_total{service="{{service}}"}[5m]))
  threshold: ">= 0.95"
  interval: 1m
  count: 5
  failureLimit: 2
  inconclusiveLimit: 1
  consecutiveErrorLimit: 3
  timeout: 20m30s
`, notes: 1},
		},
		"Once": {
			reason: "A metric with neither count nor interval is measured once, as in Argo Rollouts.",
			in:     metric("successCondition: result < 5"),
			want:   want{notes: 1, checks: `[{name: m, type: Prometheus, prometheus: {query: sum(x)}, threshold: "< 5", count: 1}]`},
		},
		"CountChosen": {
			reason:  "A metric that lasts as long as a Rollout has the count that the user says.",
			in:      metric("interval: 10s\n    initialDelay: 1m30s\n    successCondition: result < 5"),
			options: Options{Count: 4},
			want: want{
				notes:  1,
				checks: `[{name: m, type: Prometheus, prometheus: {query: sum(x)}, threshold: "< 5", count: 4, interval: 10s, initialDelay: 1m30s}]`,
			},
		},
		"Range": {
			reason: "Two bounds of a value become two checks.",
			in:     metric("successCondition: result[0] >= 0.9 && result[0] <= 1.1"),
			want: want{notes: 1, checks: `
- {name: m-min, type: Prometheus, prometheus: {query: sum(x)}, threshold: ">= 0.9", count: 1}
- {name: m-max, type: Prometheus, prometheus: {query: sum(x)}, threshold: "<= 1.1", count: 1}
`},
		},
		"IdleBound": {
			reason: "A bound that each value satisfies is left out with a note.",
			in:     metric("successCondition: result[0] >= 0.95 && result[0] <= 1\n    provider: {prometheus: {query: '1 - sum(rate(a[5m])) / sum(rate(b[5m]))'}}"),
			want: want{
				notes:  2,
				checks: `[{name: m, type: Prometheus, prometheus: {query: '1 - sum(rate(a[5m])) / sum(rate(b[5m]))'}, threshold: ">= 0.95", count: 1}]`,
			},
		},
		"Presence": {
			reason: "A query that answers by presence fails without data.",
			in:     metric("successCondition: result[0] == 1\n    provider: {prometheus: {query: 'absent(ALERTS)'}}"),
			want:   want{notes: 1, checks: `[{name: m, type: Prometheus, prometheus: {query: 'absent(ALERTS)'}, threshold: "== 1", count: 1}]`},
		},
		"FailureCondition": {
			reason: "A condition of failure becomes its opposite, and a note says that missing data fails.",
			in:     metric("failureCondition: result[0] > 0.05"),
			want:   want{notes: 1, checks: `[{name: m, type: Prometheus, prometheus: {query: sum(x)}, threshold: "<= 0.05", count: 1}]`},
		},
		"NoDataPasses": {
			reason: "A condition that accepts an answer without a value lets missing data pass.",
			in:     metric("successCondition: len(result) == 0 || result[0] < 3"),
			want:   want{notes: 1, checks: `[{name: m, type: Prometheus, prometheus: {query: sum(x)}, threshold: "< 3", count: 1, noData: Pass}]`},
		},
		"OwnServer": {
			reason: "An address of HTTPS is kept.",
			in:     metric("successCondition: result < 5\n    provider: {prometheus: {address: 'https://metrics.example.org', query: 'up{job=\"a\"}'}}"),
			want: want{
				notes:  1,
				checks: `[{name: m, type: Prometheus, prometheus: {query: 'up{job="a"}', address: 'https://metrics.example.org'}, threshold: "< 5", count: 1}]`,
			},
		},
		"WebValue": {
			reason: "The number that a path of a web answer selects is judged by a threshold.",
			in: metric(
				"successCondition: asFloat(result) < 100\n    provider: {web: {url: 'https://shop.example.org/stats', jsonPath: " +
					"\"{$.queues[0]['in-flight']}\", timeoutSeconds: 5}}",
			),
			want: want{
				notes:  2,
				checks: `[{name: m, type: Web, web: {url: 'https://shop.example.org/stats', expression: 'double(answer.queues[0]["in-flight"])'}, threshold: "< 100", count: 1}]`,
			},
		},
		"WebCondition": {
			reason: "Any other condition of a web answer becomes an expression that is true.",
			in: metric(
				"successCondition: result.state == 'ok' && len(result.errors) == 0\n    provider: {web: {url: 'https://shop.example.org/status', " +
					"jsonPath: '{$.data}'}}",
			),
			want: want{
				notes:  1,
				checks: `[{name: m, type: Web, web: {url: 'https://shop.example.org/status', expression: '((("state" in answer.data ? answer.data.state : has(answer.data.state) ? null : null) == "ok") ? (size(("errors" in answer.data ? answer.data.errors : has(answer.data.errors) ? null : null)) == 0) : false)'}, threshold: "== 1", count: 1}]`,
			},
		},
		"WebQuotes": {
			reason: "A text in double quotes keeps the single quotes in it.",
			in:     metric("successCondition: |-\n      result.a == \"x' && result.b == 'y\"\n    provider: {web: {url: 'https://a'}}"),
			want: want{notes: 1, checks: `
- name: m
  type: Web
  web:
    url: https://a
    expression: |-
      (("a" in answer ? answer.a : has(answer.a) ? null : null) == "x' && result.b == 'y")
  threshold: "== 1"
  count: 1
`},
		},
		"WebConversion": {
			reason: "A converted field is compared with a whole number.",
			in:     metric("successCondition: float(result.load) > 1\n    provider: {web: {url: 'https://shop.example.org/status'}}"),
			want: want{notes: 1, checks: `[{name: m, type: Web, web: {url: 'https://shop.example.org/status', expression: ` +
				`'(dyn(double(("load" in answer ? answer.load : has(answer.load) ? null : null))) > 1)'}, threshold: "== 1", count: 1}]`},
		},
		"JobDelay": {
			reason: "A delay before a Job is no part of its time, which ends after the default without a deadline, as the note says.",
			in:     metric("initialDelay: 10m\n    " + jobOf("[test, -f, /etc/hosts]")),
			want: want{notes: 3, checks: `
- {name: m, type: Job, job: {image: a, script: "(exec test -f /etc/hosts) || exit 3\n"}, initialDelay: 10m, count: 1}
`},
		},
		"Job": {
			reason: "The container of a Job becomes a script, each of whose failures fails the check.",
			in: metric(`provider:
      job:
        spec:
          backoffLimit: 0
          activeDeadlineSeconds: 120
          template:
            spec:
              restartPolicy: Never
              serviceAccountName: tester
              containers:
              - name: smoke
                image: registry.example.org/tools/curl:8.15.0
                env: [{name: HOST, value: shop's}]
                command: [sh, -c, "curl -sf http://$HOST"]
`),
			want: want{notes: 2, checks: `
- name: m
  type: Job
  job:
    image: registry.example.org/tools/curl:8.15.0
    serviceAccountName: tester
    script: |
      export HOST='shop'\''s'
      (exec sh -c 'curl -sf http://$HOST') || exit 3
  count: 1
  timeout: 2m
`},
		},
		"Arguments": {
			reason: "Each argument that a template of the file has may get a value.",
			in: strings.Replace(metric("successCondition: result < 5\n    provider: {prometheus: {query: 'up{job=\"{{args.job}}\"}'}}"), "spec:", "spec:\n  args: [{name: job}]", 1) +
				"---\n" + strings.Replace(
				metric("successCondition: result < 6\n    provider: {prometheus: {query: 'up{host=\"{{args.host}}\"}'}}"), "spec:",
				"spec:\n  args: [{name: host}]", 1,
			),
			options: Options{Args: map[string]string{"job": "a", "host": "b"}},
			want: want{notes: 2, checks: `
- {name: m, type: Prometheus, prometheus: {query: 'up{job="a"}'}, threshold: "< 5", count: 1}
- {name: m, type: Prometheus, prometheus: {query: 'up{host="b"}'}, threshold: "< 6", count: 1}
`},
		},
		"EmptyInterval": {
			reason:  "An argument may leave the interval empty.",
			in:      withArgument("window", "interval: '{{args.window}}'\n    successCondition: result[0] < 5"),
			options: Options{Args: map[string]string{"window": ""}},
			want:    want{notes: 1, checks: `[{name: m, type: Prometheus, prometheus: {query: sum(x)}, threshold: "< 5", count: 1}]`},
		},
		"Others": {reason: "Objects of other kinds are passed over.", in: "apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n", want: want{checks: `[]`}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := FromArgoRollouts(texts(strings.Split(tc.in, "---\n")), tc.options)
			if err != nil {
				t.Fatalf("\n%s\nFromArgoRollouts(...): %v", tc.reason, err)
			}
			if diff := cmp.Diff(checksOf(t, tc.want.checks), append([]deploymentv1alpha1.Check{}, got.Checks...)); diff != "" || len(got.Notes) != tc.want.notes {
				t.Errorf("\n%s\nFromArgoRollouts(...): notes %q, -want, +got:\n%s", tc.reason, got.Notes, diff)
			}
		})
	}
}

func TestFromArgoRolloutsRefuses(t *testing.T) {
	cases := map[string]struct {
		reason  string
		in      string
		options Options
		want    []string
	}{
		"UnusedArgument": {
			reason: "A value for an argument that no template has is refused, since its name may be misspelled.", in: metric("successCondition: result < 5"),
			options: Options{Args: map[string]string{"job": "a"}}, want: []string{"--arg: job: no template of the files has an argument"},
		},
		"Argument": {
			reason: "An argument without a value, and an address without HTTPS, are both named.", in: successRate,
			want: []string{"spec.args[0]: service-name has no value", "spec.metrics[0].provider.prometheus.address: "},
		},
		"SecretArgument": {
			reason: "A value that only the cluster has is not guessed.",
			in: strings.NewReplacer("http:", "https:", "  - name: service-name\n", "  - name: service-name\n    valueFrom: {secretKeyRef: {name: a, key: b}}\n").Replace(
				successRate,
			),
			want: []string{"spec.args[0].valueFrom: only the cluster has this value: say --arg service-name=VALUE"},
		},
		"Provider": {
			reason: "Another provider is named by its path.",
			in:     metric("successCondition: result < 5\n    provider: {datadog: {query: a}}"),
			want:   []string{"spec.metrics[0].provider.datadog: has no counterpart in a check"},
		},
		"NoProvider": {reason: "A metric without a provider is refused.", in: metric("provider: {}"), want: []string{"spec.metrics[0].provider: has neither"}},
		"DryRun": {
			reason: "A metric of a dry run does not become a deciding check.",
			in:     metric("successCondition: result < 5") + "  dryRun: [{metricName: m}]\n", want: []string{"spec.dryRun: has no counterpart"},
		},
		"Endless": {
			reason: "A metric without an end is refused.",
			in:     metric("interval: 1m\n    successCondition: result < 5"), want: []string{"spec.metrics[0].count: is absent"},
		},
		"Count": {
			reason: "A count that is not a number is refused.",
			in:     metric("count: many\n    interval: 1m\n    successCondition: result < 5"),
			want:   []string{`spec.metrics[0].count: "many" is not a whole number from 1 to 100`},
		},
		"Limit": {
			reason: "A limit that is switched off is refused.",
			in:     metric("failureLimit: -1\n    successCondition: result < 5"), want: []string{`spec.metrics[0].failureLimit: "-1" is not`},
		},
		"SuccessLimit": {
			reason: "A limit of successes is refused.",
			in:     metric("consecutiveSuccessLimit: 3\n    successCondition: result < 5"),
			want:   []string{"spec.metrics[0].consecutiveSuccessLimit: has no counterpart"},
		},
		"NoInterval": {
			reason: "Several measurements without an interval are refused, as in Argo Rollouts.",
			in:     metric("count: 2\n    successCondition: result[0] < 5"), want: []string{"spec.metrics[0].interval: is absent"},
		},
		"AllMayFail": {
			reason: "A limit that lets all measurements fail is refused.",
			in:     metric("failureLimit: 1\n    successCondition: result[0] < 5"),
			want:   []string{"spec.metrics[0].failureLimit: 1 of 1 measurements may fail"},
		},
		"Unclear": {
			reason: "A limit that Argo Rollouts refuses is refused.",
			in:     metric("inconclusiveLimit: 2\n    successCondition: result[0] < 5"),
			want:   []string{"spec.metrics[0].inconclusiveLimit: 2 of 1 measurements may be inconclusive"},
		},
		"Providers": {
			reason: "A metric with two providers is refused.",
			in:     metric("successCondition: result < 5\n    provider: {prometheus: {query: a}, web: {url: 'https://a'}}"),
			want:   []string{"spec.metrics[0].provider: has 2 providers"},
		},
		"Templates": {
			reason: "References to other templates are refused.",
			in:     metric("successCondition: result[0] < 5") + "  templates: [{templateName: a}]\n",
			want:   []string{"spec.templates: refers to other templates"},
		},
		"CannotFail": {
			reason: "A condition that no value can fail is refused by its field.",
			in:     metric("successCondition: result[0] >= 0\n    provider: {prometheus: {query: 'sum(rate(x[5m]))'}}"),
			want:   []string{`spec.metrics[0].successCondition: ">= 0" holds for each value`},
		},
		"BothIdle": {
			reason: "A range that each value satisfies is refused by each of its bounds.",
			in:     metric("successCondition: result[0] >= 0 && result[0] <= 1\n    provider: {prometheus: {query: 'x > bool 5'}}"),
			want: []string{
				`spec.metrics[0].successCondition: ">= 0" holds for each value`, `spec.metrics[0].successCondition: "<= 1" holds for each value`,
			},
		},
		"PresentPass": {
			reason: "A presence whose missing data passes cannot fail.",
			in:     metric("successCondition: len(result) == 0 || result[0] == 1\n    provider: {prometheus: {query: 'absent(ALERTS)'}}"),
			want:   []string{`spec.metrics[0].successCondition: "== 1" holds for each value`},
		},
		"AlwaysTrue": {
			reason: "A condition that always holds is refused.",
			in:     metric("successCondition: result.a == 1 || true\n    provider: {web: {url: 'https://a'}}"),
			want:   []string{`spec.metrics[0].successCondition: "== 1" holds for each value`},
		},
		"Opposites": {
			reason: "One of two opposite conditions always holds.",
			in:     metric("successCondition: result.a < 5 || result.a >= 5\n    provider: {web: {url: 'https://a'}}"),
			want:   []string{`spec.metrics[0].successCondition: "== 1" holds for each value`},
		},
		"OppositesFail": {
			reason: "Two opposite conditions never hold together.",
			in:     metric("failureCondition: result.ok && !result.ok\n    provider: {web: {url: 'https://a'}}"),
			want:   []string{`spec.metrics[0].failureCondition: "== 1" holds for each value`},
		},
		"Share": {
			reason: "Failed requests are never more than all requests.",
			in:     metric("successCondition: result[0] <= 1\n    provider: {prometheus: {query: 'sum(rate(a{b=\"c\"}[5m])) / sum(rate(a[5m]))'}}"),
			want:   []string{`spec.metrics[0].successCondition: "<= 1" holds for each value`},
		},
		"NeverFails": {
			reason: "A condition of failure that never holds is refused.",
			in:     metric("failureCondition: 'false'\n    provider: {web: {url: 'https://a'}}"),
			want:   []string{`spec.metrics[0].failureCondition: "== 1" holds for each value`},
		},
		"Arithmetic": {
			reason: "CEL does not add whole numbers and fractions.",
			in:     metric("successCondition: result.a + 1 < 5\n    provider: {web: {url: 'https://a'}}"),
			want:   []string{"spec.metrics[0].successCondition: + has no counterpart in CEL"},
		},
		"EmptyCount": {
			reason:  "An argument may not leave the count empty.",
			in:      withArgument("size", "count: '{{args.size}}'\n    interval: 1m\n    successCondition: result[0] < 5"),
			options: Options{Args: map[string]string{"size": ""}}, want: []string{`spec.metrics[0].count: "" is not a whole number from 1 to 100`},
		},
		"CountAlone": {
			reason:  "Several measurements need an interval, which an argument may leave empty.",
			in:      withArgument("window", "count: 3\n    interval: '{{args.window}}'\n    successCondition: result[0] < 5"),
			options: Options{Args: map[string]string{"window": ""}}, want: []string{"spec.metrics[0].interval: is absent"},
		},
		"MissingCount": {
			reason: "A number without the value of its argument is refused once.",
			in:     withArgument("size", "failureLimit: '{{args.size}}'\n    successCondition: result[0] < 5"), want: []string{"spec.args[0]: size has no value"},
		},
		"MissingQuery": {
			reason: "A query with an argument that is not declared is refused once, as in Argo Rollouts.",
			in:     metric("successCondition: result[0] < 5\n    provider: {prometheus: {query: 'sum(rate(x[{{args.window}}]))'}}"),
			want:   []string{"query: {{args.window}} is not among spec.args"},
		},
		"UndeclaredArgument": {
			reason:  "A value does not declare an argument.",
			in:      metric("successCondition: result[0] < {{args.limit}}"),
			options: Options{Args: map[string]string{"limit": "5"}},
			want:    []string{"successCondition: {{args.limit}} is not among spec.args"},
		},
		"ThreeBraces": {
			reason:  "A placeholder begins at the first of three braces, and names no argument then.",
			in:      withArgument("labels", "successCondition: result[0] < 5\n    provider: {prometheus: {query: 'sum(x{{{args.labels}}})'}}"),
			options: Options{Args: map[string]string{"labels": `a="b"`}},
			want:    []string{"query: {{{args.labels}} is not among spec.args"},
		},
		"OpenPlaceholder": {
			reason: "A placeholder without an end is refused, as in Argo Rollouts.",
			in:     metric(jobOf(`[sh, -c, "echo '{{' && false"]`)),
			want:   []string{`spec.containers[0].command[2]: "{{' && false" begins a placeholder that does not end`},
		},
		"PlaceholderOfOurs": {
			reason: "Braces in the value of a file are plain text in Argo Rollouts.",
			in: strings.Replace(
				withArgument("name", "successCondition: result[0] < 5\n    provider: {prometheus: {query: 'sum(x{a=\"{{args.name}}\"})'}}"),
				"{name: name}", "{name: name, value: '{{service}}'}", 1,
			),
			want: []string{`spec.args[0].value: "{{service}}" has a placeholder`},
		},
		"PlaceholderInJob": {
			reason:  "A script is not filled for each deployment, as a query is.",
			in:      withArgument("host", jobOf(`[curl, "http://{{args.host}}"]`)),
			options: Options{Args: map[string]string{"host": "{{service}}.shop.svc"}},
			want:    []string{`spec.containers[0].command[1]: "http://{{service}}.shop.svc" has a placeholder`},
		},
		"PlaceholderInAddress": {
			reason:  "An address is not filled either.",
			in:      withArgument("path", "successCondition: result[0] < 5\n    provider: {prometheus: {address: 'https://a/{{args.path}}', query: 'sum(x)'}}"),
			options: Options{Args: map[string]string{"path": "{{namespace}}"}},
			want:    []string{`provider.prometheus.address: "https://a/{{namespace}}" has a placeholder`},
		},
		"NoBraces": {
			reason: "A path without braces is a text in Argo Rollouts, and not a path.",
			in:     metric("successCondition: result < 5\n    provider: {web: {url: 'https://a', jsonPath: '$.a'}}"), want: []string{"web.jsonPath: is not a path"},
		},
		"TextBefore": {
			reason: "Argo Rollouts judges a text before a path in the place of the answer.",
			in:     metric("successCondition: result < 5\n    provider: {web: {url: 'https://a', jsonPath: ' {$.a}'}}"), want: []string{"web.jsonPath: is not a path"},
		},
		"IdleJob": {
			reason: "A container that always ends with 0 is refused.",
			in:     metric(jobOf(`[sh, -c, "curl -sf http://shop; echo done"]`)),
			want:   []string{"spec.containers[0].command: ends with 0 whatever its commands return"},
		},
		"IdleProgram": {
			reason: "The program true is refused.", in: metric(jobOf("[/bin/true]")), want: []string{"spec.containers[0].command: ends with 0"},
		},
		"Interval": {
			reason: "An interval below a second is refused.",
			in:     metric("count: 2\n    interval: 10ms\n    successCondition: result < 5"),
			want:   []string{`spec.metrics[0].interval: "10ms" is not between 1s and 24h`},
		},
		"Negative": {
			reason: "A threshold is not below 0.",
			in:     metric("successCondition: result[0] >= -5"),
			want:   []string{`spec.metrics[0].successCondition: ">= -5" cannot be a threshold`},
		},
		"Alternative": {
			reason: "Two accepted ranges are not one threshold.",
			in:     metric("successCondition: result < 5 || result > 9"),
			want:   []string{"spec.metrics[0].successCondition: accepts one of several things"},
		},
		"Inconclusive": {
			reason: "A gap between both conditions is refused.",
			in:     metric("successCondition: result < 5\n    failureCondition: result > 9"),
			want:   []string{"spec.metrics[0].failureCondition: a value that neither condition decides"},
		},
		"NoCondition": {reason: "A metric that nothing can fail is refused.", in: metric(""), want: []string{"spec.metrics[0].successCondition: is absent"}},
		"Function": {
			reason: "A condition of several series is refused.",
			in:     metric("successCondition: all(result, # < 5)"), want: []string{"spec.metrics[0].successCondition: cannot read the condition"},
		},
		"Query": {
			reason: "A query that is not PromQL is refused.",
			in:     metric("successCondition: result < 5\n    provider: {prometheus: {query: 'sum('}}"),
			want:   []string{"spec.metrics[0].provider.prometheus.query: is not PromQL"},
		},
		"RangeQuery": {
			reason: "A range query is refused.",
			in:     metric("successCondition: result < 5\n    provider: {prometheus: {query: a, rangeQuery: {start: a}}}"),
			want:   []string{"spec.metrics[0].provider.prometheus.rangeQuery: has no counterpart"},
		},
		"Credentials": {
			reason: "Credentials of a server are not converted.",
			in:     metric("successCondition: result < 5\n    provider: {prometheus: {query: a, authentication: {oauth2: {}}}}"),
			want:   []string{"spec.metrics[0].provider.prometheus.authentication: a Site or a configuration"},
		},
		"Web": {
			reason: "Unsupported fields of a web check are refused, field by field.",
			in: metric(
				"successCondition: result < 5\n    provider: {web: {url: 'http://a', method: POST, insecure: true, timeoutSeconds: 60, jsonPath: " +
					"'{$.a[*]}', headers: [{key: a}]}}",
			),
			want: []string{
				"web.headers: has no counterpart", "web.url: a web check asks one https address", "web.method: a web check asks with GET",
				"web.timeoutSeconds: ", "web.insecure: ", "web.jsonPath: is not a path",
			},
		},
		"WebOperator": {
			reason: "A condition that CEL does not have is refused.",
			in:     metric("successCondition: result % 2 == 0\n    provider: {web: {url: 'https://a'}}"),
			want:   []string{"spec.metrics[0].successCondition: % has no counterpart in CEL"},
		},
		"Job": {
			reason: "Unsupported fields of a Job are refused.",
			in: metric(`count: 2
    failureLimit: 1
    interval: 1m
    provider: {job: {spec: {template: {spec: {volumes: [], containers: [{image: a, env: [{name: A, valueFrom: {}}]}]}}}}}`),
			want: []string{
				"job.spec.template.spec.volumes: has no counterpart", "containers[0].env[0].valueFrom: has no counterpart",
				"spec.metrics[0].count: a Job of a check runs once",
				"spec.metrics[0].failureLimit: ", "containers[0].command: is absent",
			},
		},
		"NoTime": {
			reason: "A timeout in which no server answers is refused.",
			in:     metric("successCondition: result < 5\n    provider: {prometheus: {query: 'scalar(x)', timeout: 0}}"),
			want:   []string{"spec.metrics[0].provider.prometheus.timeout: 0 seconds are too short for any answer"},
		},
		"Containers": {
			reason: "A Job with two containers is refused.",
			in:     metric("provider: {job: {spec: {template: {spec: {containers: [{}, {}]}}}}}"),
			want:   []string{"spec.containers: a Job of a check has one container, and not 2"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := FromArgoRollouts([][]byte{[]byte(tc.in)}, tc.options)
			if err == nil || got != nil {
				t.Fatalf("\n%s\nFromArgoRollouts(...): want problems and no result, got %+v", tc.reason, got)
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("\n%s\nFromArgoRollouts(...): want %q, got:\n%v", tc.reason, want, err)
				}
			}
			if n := strings.Count(err.Error(), "\n"); n != len(tc.want) {
				t.Errorf("\n%s\nFromArgoRollouts(...): want %d problems, got:\n%v", tc.reason, len(tc.want), err)
			}
		})
	}
}

// TestProblemsHaveAnOrder converts a file with three fields that are refused together: the lines have the same order each time.
func TestProblemsHaveAnOrder(t *testing.T) {
	in := metric("successCondition: result < 5\n    provider: {prometheus: {query: a, insecure: true, headers: [{key: a}], authentication: {oauth2: {}}}}")
	want := []string{"authentication", "headers", "insecure"}
	for range 20 {
		_, err := FromArgoRollouts([][]byte{[]byte(in)}, Options{})
		var fields *FieldsError
		if !errors.As(err, &fields) {
			t.Fatalf("FromArgoRollouts(...): want a FieldsError, got %v", err)
		}
		var got []string
		for _, p := range fields.Problems {
			got = append(got, strings.TrimPrefix(p.Field, "spec.metrics[0].provider.prometheus."))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("problems: -want, +got:\n%s", diff)
		}
	}
}
