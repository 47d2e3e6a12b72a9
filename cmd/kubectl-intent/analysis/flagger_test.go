package analysis

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const notFound = `
apiVersion: flagger.app/v1beta1
kind: MetricTemplate
metadata: {name: not-found, namespace: canaries}
spec:
  provider:
    type: prometheus
    address: http://prometheus.monitoring:9090
    secretRef: {name: prometheus}
  query: |
    100 * sum(rate(http_requests_total{namespace="{{ namespace }}",workload="{{ target }}",code="{{ variables.code }}"}[{{ interval }}]))
    / sum(rate(http_requests_total{namespace="{{ namespace }}",service="{{ service }}"}[{{ interval }}]))
`

const canary = `
apiVersion: flagger.app/v1beta1
kind: Canary
metadata: {name: shop, namespace: team-a}
spec:
  targetRef: {apiVersion: apps/v1, kind: Deployment, name: shop}
  service: {port: 80}
  analysis:
    interval: 30s
    threshold: 3
    iterations: 10
    metrics:
    - name: not-found-share
      templateRef: {name: not-found, namespace: canaries}
      thresholdRange: {max: 5}
      interval: 2m
      templateVariables: {code: "404"}
`

// plainTemplate returns the MetricTemplate with an address of HTTPS, without credentials, and with a target.
func plainTemplate(target string) string {
	return strings.NewReplacer("    secretRef: {name: prometheus}\n", "", "http:", "https:", "{{ target }}", target).Replace(notFound)
}

// withAnalysis returns the Canary with each text replaced by the text after it.
func withAnalysis(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(canary) }

func TestFromFlagger(t *testing.T) {
	const query = `
    query: |-
      100 * sum(rate(http_requests_total{namespace="{{namespace}}",workload="{{service}}",code="404"}[2m]))
      / sum(rate(http_requests_total{namespace="{{namespace}}",service="{{service}}"}[2m]))`
	type want struct {
		checks string
		notes  int
	}
	cases := map[string]struct {
		reason  string
		in      []string
		options Options
		want    want
	}{
		"Canary": {
			reason: "A Canary says the range, how often is measured, and how many failures end it.", in: []string{canary, notFound},
			options: Options{Args: map[string]string{"target": "{{service}}"}, UsesSiteServer: true},
			want: want{
				notes:  1,
				checks: "- name: not-found-share\n  type: Prometheus\n  prometheus:" + query + "\n  threshold: <= 5\n  interval: 30s\n  count: 13\n  failureLimit: 2\n  timeout: 33m\n",
			},
		},
		"Range": {
			reason:  "A range with two ends becomes two checks; without iterations and weights, a note says how often is measured.",
			in:      []string{notFound, withAnalysis("max: 5", "min: 0.5, max: 5", "    iterations: 10\n", "", "threshold: 3", "threshold: 5")},
			options: Options{Args: map[string]string{"target": "{{service}}"}, UsesSiteServer: true},
			want: want{notes: 2, checks: "- name: not-found-share-min\n  type: Prometheus\n  prometheus:" + query +
				"\n  threshold: '>= 0.5'\n  interval: 30s\n  count: 15\n  failureLimit: 4\n  timeout: 38m\n" +
				"- name: not-found-share-max\n  type: Prometheus\n  prometheus:" + query +
				"\n  threshold: <= 5\n  interval: 30s\n  count: 15\n  failureLimit: 4\n  timeout: 38m\n"},
		},
		"OtherTemplate": {
			reason:  "A template to which no Canary refers is left out with a note beside a template to which a Canary refers.",
			in:      []string{strings.NewReplacer("namespace: canaries", "namespace: team-b", "100 *", "200 *").Replace(notFound), canary, notFound},
			options: Options{Args: map[string]string{"target": "{{service}}"}, UsesSiteServer: true},
			want: want{notes: 2, checks: "- name: not-found-share\n  type: Prometheus\n  prometheus:" + query +
				"\n  threshold: <= 5\n  interval: 30s\n  count: 13\n  failureLimit: 2\n  timeout: 33m\n"},
		},
		"Namespace": {
			reason:  "Of two templates with one name, a Canary refers to the template of the namespace.",
			in:      []string{strings.NewReplacer("namespace: canaries", "namespace: team-b", "100 *", "200 *").Replace(notFound), canary, notFound},
			options: Options{Args: map[string]string{"target": "{{service}}", "code": "404"}, UsesSiteServer: true, Threshold: "<= 7"},
			want: want{notes: 1, checks: "- name: not-found-share\n  type: Prometheus\n  prometheus:" + query + "\n  threshold: <= 5\n  interval: 30s\n  count: 13\n  failureLimit: 2\n  timeout: 33m\n" +
				"- name: not-found\n  type: Prometheus\n  prometheus:" + strings.NewReplacer("100 *", "200 *", "[2m]", "[1m]").Replace(query) + "\n  threshold: <= 7\n  interval: 1m\n  count: 3\n  timeout: 15m30s\n"},
		},
		"OwnNamespace": {
			reason: "Without a namespace, a Canary refers to a template of its own namespace.",
			in: []string{
				strings.NewReplacer("namespace: canaries", "namespace: team-a").Replace(notFound),
				strings.Replace(canary, ", namespace: canaries", "", 1),
			},
			options: Options{Args: map[string]string{"target": "{{service}}"}, UsesSiteServer: true},
			want: want{
				notes:  1,
				checks: "- name: not-found-share\n  type: Prometheus\n  prometheus:" + query + "\n  threshold: <= 5\n  interval: 30s\n  count: 13\n  failureLimit: 2\n  timeout: 33m\n",
			},
		},
		"NamespaceLeftOut": {
			reason:  "A template whose file leaves out its namespace may be in the namespace of the reference.",
			in:      []string{strings.Replace(notFound, ", namespace: canaries", "", 1), canary},
			options: Options{Args: map[string]string{"target": "{{service}}"}, UsesSiteServer: true},
			want: want{
				notes:  1,
				checks: "- name: not-found-share\n  type: Prometheus\n  prometheus:" + query + "\n  threshold: <= 5\n  interval: 30s\n  count: 13\n  failureLimit: 2\n  timeout: 33m\n",
			},
		},
		"IdleMin": {
			reason:  "A bound that each value satisfies is left out with a note, and the other keeps the name.",
			in:      []string{strings.Replace(canary, "max: 5", "min: 0, max: 500", 1), notFound},
			options: Options{Args: map[string]string{"target": "{{service}}"}, UsesSiteServer: true},
			want: want{
				notes:  2,
				checks: "- name: not-found-share\n  type: Prometheus\n  prometheus:" + query + "\n  threshold: <= 500\n  interval: 30s\n  count: 13\n  failureLimit: 2\n  timeout: 33m\n",
			},
		},
		"IdleMax": {
			reason:  "An upper bound that each value satisfies is left out.",
			in:      []string{strings.Replace(canary, "max: 5", "min: 99, max: 100", 1), strings.Replace(notFound, "    100 *", "    100 - 100 *", 1)},
			options: Options{Args: map[string]string{"target": "{{service}}"}, UsesSiteServer: true},
			want: want{notes: 2, checks: "- name: not-found-share\n  type: Prometheus\n  prometheus:" + strings.Replace(query, "      100 *", "      100 - 100 *", 1) +
				"\n  threshold: '>= 99'\n  interval: 30s\n  count: 13\n  failureLimit: 2\n  timeout: 33m\n"},
		},
		"NoIterations": {
			reason:  "Flagger reads a negative number as an absent one, and takes 10 iterations without weights.",
			in:      []string{strings.NewReplacer("iterations: 10", "iterations: -1", "threshold: 3", "threshold: -7").Replace(canary), notFound},
			options: Options{Args: map[string]string{"target": "{{service}}"}, UsesSiteServer: true},
			want: want{notes: 2, checks: "- name: not-found-share\n  type: Prometheus\n  prometheus:" + query +
				"\n  threshold: <= 5\n  interval: 30s\n  count: 11\n  failureLimit: 0\n  timeout: 28m\n"},
		},
		"Kubernetes": {
			reason: "The provider kubernetes has neither weights nor requests that match.",
			in: []string{
				withAnalysis(
					"iterations: 10", "iterations: 4\n    stepWeight: 50\n    match: [{}]", "  analysis:", "  provider: kubernetes\n  analysis:",
				),
				notFound,
			},
			options: Options{Args: map[string]string{"target": "{{service}}"}, UsesSiteServer: true},
			want: want{notes: 3, checks: "- name: not-found-share\n  type: Prometheus\n  prometheus:" + query +
				"\n  threshold: <= 5\n  interval: 30s\n  count: 7\n  failureLimit: 2\n  timeout: 18m\n"},
		},
		"Interval": {
			reason:  "Flagger measures once a minute unless the analysis has an interval.",
			in:      []string{withAnalysis("    interval: 30s\n", ""), notFound},
			options: Options{Args: map[string]string{"target": "{{service}}"}, UsesSiteServer: true},
			want: want{notes: 1, checks: "- name: not-found-share\n  type: Prometheus\n  prometheus:" + query +
				"\n  threshold: <= 5\n  interval: 1m\n  count: 13\n  failureLimit: 2\n  timeout: 1h5m30s\n"},
		},
		"ShortInterval": {
			reason:  "Flagger measures at most once in 10 seconds.",
			in:      []string{withAnalysis("interval: 30s", "interval: 2s"), notFound},
			options: Options{Args: map[string]string{"target": "{{service}}"}, UsesSiteServer: true},
			want: want{notes: 1, checks: "- name: not-found-share\n  type: Prometheus\n  prometheus:" + query +
				"\n  threshold: <= 5\n  interval: 10s\n  count: 13\n  failureLimit: 2\n  timeout: 11m20s\n"},
		},
		"Deadline": {
			reason:  "A field about pods is noted.",
			in:      []string{withAnalysis("  service: {port: 80}", "  service: {port: 80}\n  progressDeadlineSeconds: 60"), notFound},
			options: Options{Args: map[string]string{"target": "{{service}}"}, UsesSiteServer: true},
			want: want{notes: 2, checks: "- name: not-found-share\n  type: Prometheus\n  prometheus:" + query +
				"\n  threshold: <= 5\n  interval: 30s\n  count: 13\n  failureLimit: 2\n  timeout: 33m\n"},
		},
		"Alone": {
			reason: "A template without a Canary has the threshold that the user says.", in: []string{strings.Replace(notFound, "[{{ interval }}]", "[2m]", 2)},
			options: Options{Args: map[string]string{"target": "{{service}}", "code": "404"}, UsesSiteServer: true, Threshold: "< 1"},
			want: want{
				checks: "- name: not-found\n  type: Prometheus\n  prometheus:" + query + "\n  threshold: < 1\n  interval: 1m\n  count: 3\n  timeout: 15m30s\n",
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := FromFlagger(texts(tc.in), tc.options)
			if err != nil {
				t.Fatalf("\n%s\nFromFlagger(...): %v", tc.reason, err)
			}
			if diff := cmp.Diff(checksOf(t, tc.want.checks), got.Checks); diff != "" || len(got.Notes) != tc.want.notes {
				t.Errorf("\n%s\nFromFlagger(...): notes %q, -want, +got:\n%s", tc.reason, got.Notes, diff)
			}
		})
	}
}

func TestFromFlaggerRefuses(t *testing.T) {
	cases := map[string]struct {
		reason string
		in     []string
		want   []string
	}{
		"Template": {
			reason: "A requirement of a template is named by its field.", in: []string{notFound, canary},
			want: []string{
				"spec.provider.secretRef: a Site", "spec.provider.address: the address",
				"MetricTemplate not-found: spec.query: {{ target }} has no value: say --arg target=VALUE",
			},
		},
		"Alone": {reason: "A template whose threshold is not known is refused.", in: []string{notFound}, want: []string{"metadata.name: no Canary of the files"}},
		"Provider": {
			reason: "Another provider is refused.",
			in:     []string{strings.Replace(notFound, "type: prometheus", "type: datadog", 1), canary},
			want:   []string{`spec.provider.type: "datadog" is not prometheus`},
		},
		"Hyphen": {
			reason: "The name of a variable with a hyphen is an error in the templates of Go.",
			in:     []string{strings.Replace(canary, "{code:", "{co-de:", 1), strings.Replace(plainTemplate("a"), "variables.code", "variables.co-de", 1)},
			want:   []string{"spec.query: {{ variables.co-de }} is not the name of one value"},
		},
		"Trimmed": {
			reason: "A placeholder that removes the white space around it is refused.",
			in:     []string{canary, plainTemplate("{{- target -}}")},
			want:   []string{"spec.query: {{- target -}} is not the name of one value"},
		},
		"PlaceholderOfOurs": {
			reason: "Braces in the value of a variable are plain text in Flagger.",
			in:     []string{strings.Replace(canary, `code: "404"`, `code: "{{service}}"`, 1), plainTemplate("a")},
			want:   []string{`spec.analysis.metrics[0].templateVariables.code: "{{service}}" has a placeholder`},
		},
		"Builtin": {
			reason: "A metric whose query Flagger has is refused.",
			in:     []string{strings.Replace(canary, "      templateRef: {name: not-found, namespace: canaries}\n", "", 1)},
			want:   []string{"spec.analysis.metrics[0].templateRef: is absent"},
		},
		"Missing": {
			reason: "A template that the files do not have is named.",
			in:     []string{canary},
			want:   []string{"spec.analysis.metrics[0].templateRef: the files have 0 MetricTemplates canaries/not-found, and not one"},
		},
		"OtherNamespace": {
			reason: "A template of another namespace does not count for the reference.",
			in:     []string{strings.NewReplacer("namespace: canaries", "namespace: team-b").Replace(notFound), canary},
			want:   []string{"spec.analysis.metrics[0].templateRef: the files have 0 MetricTemplates canaries/not-found", "metadata.name: no Canary of the files"},
		},
		"Twice": {
			reason: "Two templates that may both be meant are refused.", in: []string{notFound, notFound, canary},
			want: []string{
				"spec.analysis.metrics[0].templateRef: the files have 2 MetricTemplates canaries/not-found, and not one",
				"metadata.name: no Canary of the files",
			},
		},
		"Inline": {
			reason: "A query of a Canary's own is refused.",
			in:     []string{strings.Replace(canary, "      interval: 2m\n", "      query: up\n", 1)},
			want:   []string{"spec.analysis.metrics[0].query: has no counterpart", "templateRef"},
		},
		"NoRange": {
			reason: "A metric that nothing can fail is refused.", in: []string{strings.Replace(canary, "{max: 5}", "{}", 1), plainTemplate("a")},
			want: []string{"spec.analysis.metrics[0].thresholdRange: is absent"},
		},
		"NoThreshold": {
			reason: "Without a range Flagger compares with 0.", in: []string{strings.Replace(canary, "      thresholdRange: {max: 5}\n", "", 1), plainTemplate("a")},
			want: []string{"spec.analysis.metrics[0].thresholdRange: is absent, so that Flagger fails each value above 0"},
		},
		"BuiltinName": {
			reason: "Flagger measures its own metric of a name although the metric has a template.",
			in:     []string{strings.Replace(canary, "name: not-found-share", "name: request-duration", 1), plainTemplate("a")},
			want:   []string{"spec.analysis.metrics[0].name: Flagger judges its own metric request-duration beside the template"},
		},
		"Idle": {
			reason: "A range that each value satisfies is refused.", in: []string{strings.Replace(canary, "{max: 5}", "{min: 0}", 1), plainTemplate("a")},
			want: []string{`spec.analysis.metrics[0].thresholdRange: ">= 0" holds for each value`},
		},
		"Iterations": {
			reason: "More iterations than a check has measurements are refused.",
			in: []string{
				strings.NewReplacer("iterations: 10", "iterations: 2147483647", "threshold: 3", "threshold: 10").Replace(canary), plainTemplate("a"),
			},
			want: []string{"spec.analysis.iterations: a check has at most 100 measurements, and not 2147483647"},
		},
		"Threshold": {
			reason: "A threshold above the measurements of a check is refused.",
			in:     []string{strings.Replace(canary, "threshold: 3", "threshold: 9223372036854775807", 1), plainTemplate("a")},
			want:   []string{"spec.analysis.threshold: a check has at most 100 measurements, and not 9223372036854775807"},
		},
		"Together": {
			reason: "Iterations and failures are measurements of one check.",
			in:     []string{strings.Replace(canary, "iterations: 10", "iterations: 100", 1), plainTemplate("a")},
			want:   []string{"spec.analysis.iterations: a check has at most 100 measurements, and not 103"},
		},
		"Skipped": {
			reason: "A Canary whose analysis is skipped judges nothing.",
			in:     []string{withAnalysis("  analysis:", "  skipAnalysis: true\n  analysis:"), plainTemplate("a")},
			want:   []string{"spec.skipAnalysis: Flagger promotes the canary without its metrics"},
		},
		"NoWindow": {
			reason: "A metric without an interval leaves nothing in the place of the interval.",
			in:     []string{withAnalysis("      interval: 2m\n", ""), plainTemplate("a")},
			want:   []string{"MetricTemplate not-found: spec.query: {{ interval }} has no value: say --arg interval=VALUE"},
		},
		"OldAnalysis": {
			reason: "The analysis of an earlier version of the schema is not passed over.",
			in:     []string{withAnalysis("  analysis:", "  canaryAnalysis:"), plainTemplate("a")},
			want:   []string{"Canary shop: spec.canaryAnalysis: has no counterpart", "metadata.name: no Canary of the files"},
		},
		"Comment": {
			reason: "A comment within a query would end it where Flagger asks it as one line.",
			in:     []string{canary, strings.Replace(plainTemplate("a"), "    / sum", "    # all requests\n    / sum", 1)},
			want:   []string{"MetricTemplate not-found: spec.query: Flagger asks the query as one line"},
		},
		"Negative": {
			reason: "A threshold has no sign.", in: []string{strings.Replace(canary, "{max: 5}", "{min: -1}", 1), plainTemplate("a")},
			want: []string{`spec.analysis.metrics[0].thresholdRange.min: ">= -1" cannot be a threshold`},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := FromFlagger(texts(tc.in), Options{})
			if err == nil || got != nil {
				t.Fatalf("\n%s\nFromFlagger(...): want problems and no result, got %+v", tc.reason, got)
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("\n%s\nFromFlagger(...): want %q, got:\n%v", tc.reason, want, err)
				}
			}
			if n := strings.Count(err.Error(), "\n"); n != len(tc.want) {
				t.Errorf("\n%s\nFromFlagger(...): want %d problems, got:\n%v", tc.reason, len(tc.want), err)
			}
		})
	}
}

// TestFlaggerNotes converts a Canary, and compares the differences that its note names.
func TestFlaggerNotes(t *testing.T) {
	const warned = DifferenceHistogram + " is an error, and ends the process of Flagger; " +
		DifferenceWarning + " is an error, or does not count, and Flagger judges it; " + DifferenceRedirect + " does not count, and Flagger follows it; " +
		DifferenceMethod + " does not count, and Flagger asks it with GET; " + DifferenceLarge + " is an error, and Flagger judges it"
	const unanswered = DifferenceUnanswered + " within 10 seconds does not count, and fails in Flagger after 5 seconds"
	const refused, failures = DifferenceRefusedQuery + " is an error, and fails in Flagger", DifferenceFailures + " is followed by another one"
	cases := map[string]struct {
		reason, limits string
		want           []string
	}{
		"Max": {
			reason: "Flagger judges -Inf by an upper limit.", limits: "{max: 5}",
			want: []string{DifferenceMinusInfinity + " fails, and passes in Flagger", warned, unanswered, refused, failures},
		},
		"Both": {reason: "An infinite value is beyond a limit of both.", limits: "{min: 1, max: 5}", want: []string{warned, unanswered, refused, failures}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, err := FromFlagger(texts([]string{strings.Replace(canary, "{max: 5}", tc.limits, 1), plainTemplate("a")}), Options{})
			if err != nil {
				t.Fatalf("\n%s\nFromFlagger(...): %v", tc.reason, err)
			}
			want := "Canary shop: spec.analysis.metrics[0]: the check judges differently: " + strings.Join(tc.want, "; ")
			if !strings.HasPrefix(c.Notes[len(c.Notes)-1], want) {
				t.Errorf("\n%s\nNotes: want %q, got %q", tc.reason, want, c.Notes)
			}
		})
	}
}

func texts(all []string) [][]byte {
	out := [][]byte{}
	for _, text := range all {
		out = append(out, []byte(text))
	}
	return out
}
