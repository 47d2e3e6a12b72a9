package promql

import "testing"

func TestFilledFor(t *testing.T) {
	const query = `sum(rate(errors{namespace="{{namespace}}",service=~"{{service}}-.*"}[5m])) / sum(rate(requests{namespace="{{namespace}}",service="{{service}}"}[5m]))`
	fill := func(v Values) string {
		template, err := Parse(query)
		if err != nil {
			t.Fatal(err)
		}
		out, err := template.Fill(v)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	cases := map[string]struct {
		reason string
		query  string
		text   string
		want   bool
	}{
		"Filled": {
			reason: "The query of the Blueprint with the service of a deployment is recognized.",
			query:  query, text: fill(Values{Service: "shop", Namespace: "team-a"}), want: true,
		},
		"OtherNamespace": {
			reason: "The query of the Blueprint with another namespace is a query of one's own.",
			query:  query, text: fill(Values{Service: "shop", Namespace: "team-b"}),
		},
		"TwoServices": {
			reason: "A query whose services differ was not filled.",
			query:  query,
			text:   `sum(rate(errors{namespace="team-a",service=~"(?:bank)-.*"}[5m])) / sum(rate(requests{namespace="team-a",service="shop"}[5m]))`,
		},
		"Injected": {
			reason: "A service that ends its string is a query of one's own.",
			query:  `up{service="{{service}}"}`, text: `up{service="x"} or up{service="y"}`,
		},
		"Constant": {reason: "A query without placeholders is recognized as it is.", query: `sum(up)`, text: `sum(up)`, want: true},
		"Other":    {reason: "Another query is a query of one's own.", query: `sum(up)`, text: `sum(secret)`},
		"NoService": {
			reason: "A query without a service is recognized by namespace and Site.",
			query:  `up{namespace="{{namespace}}",site="{{site}}"}`, text: `up{namespace="team-a",site="edge1"}`, want: true,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			template, err := Parse(tc.query)
			if err != nil {
				t.Fatal(err)
			}
			if got := template.FilledFor(tc.text, Values{Namespace: "team-a", Site: "edge1"}); got != tc.want {
				t.Errorf("\n%s\nFilledFor(%s): %t, want %t", tc.reason, tc.text, got, tc.want)
			}
		})
	}
}
