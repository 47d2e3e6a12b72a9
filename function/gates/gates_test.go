package gates

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/policy"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/function/catalog"
)

type (
	thresholds = map[string]deploymentv1alpha1.Threshold
	config     = deploymentv1alpha1.GatesConfig
	check      = deploymentv1alpha1.Check
)

func newPlace(name string) catalog.Place {
	p := catalog.Place{ConfigRef: catalog.ConfigRef{Kind: policy.KindClusterProviderConfig, Name: "default"}}
	p.Site.SetName(name)
	p.Site.Spec.Metrics = &catalogv1alpha1.SiteMetrics{Prometheus: &catalogv1alpha1.PrometheusEndpoint{Address: "https://" + name + ".example.org"}}
	p.Site.Spec.PostCheck = &catalogv1alpha1.SitePostCheck{Namespace: "checks", ServiceAccountName: "checker", AllowedImages: []string{"curl:8"}}
	p.Site.Spec.TargetNamespaces.Allowed = []string{"{claimNamespace}"}
	p.Config.Policy.WebCheckHosts = []string{"status.example.org"}
	return p
}

func newInput(c config, places ...catalog.Place) Input {
	in := Input{
		Service: "shop", Namespace: "team-a", Image: "shop:1", Config: c, Places: places,
		Blueprint: &catalogv1alpha1.Blueprint{ObjectMeta: metav1.ObjectMeta{Name: "web-1.0.0"}, Spec: catalogv1alpha1.BlueprintSpec{
			Metrics: []catalogv1alpha1.BlueprintMetric{
				{Name: "latency_p99", Query: `p99{app="{{service}}",ns="{{namespace}}",site="{{site}}"}`, Unit: "s", Direction: catalogv1alpha1.DirectionAtMost},
				{Name: "availability", Query: `up{app="{{service}}"}`, Unit: "%", Direction: catalogv1alpha1.DirectionAtLeast},
			},
		}},
	}
	in.Config.Default()
	step := ledger.Step{}
	for _, p := range places {
		step.Sites = append(step.Sites, p.Site.GetName())
	}
	in.Plan = []ledger.Step{step}
	return in
}

// TestCompileForCanary compiles the checks of steps in which two tracks get requests.
func TestCompileForCanary(t *testing.T) {
	in := newInput(config{SLOThresholds: thresholds{"latency_p99": "500ms", "availability": "99.0"}}, newPlace("edge1"))
	in.Blueprint.Spec.Metrics[1].Canary = `up{app="{{service}}-{{canary}}"} / up{app="{{service}}-{{stable}}"}`
	compiler := NewCompiler(1 << 20)
	for _, tc := range []struct{ reason, canary, stable, want string }{
		{reason: "A step in which one track gets all requests asks the query.", want: `up{app="shop"}`},
		{reason: "A step of a canary in green compares it with blue.", canary: "green", stable: "blue", want: `up{app="shop-green"} / up{app="shop-blue"}`},
		{reason: "A step of a canary in blue compares it with green.", canary: "blue", stable: "green", want: `up{app="shop-blue"} / up{app="shop-green"}`},
	} {
		in.Canary, in.Stable = tc.canary, tc.stable
		checks, err := compiler.Compile(in)
		if err != nil {
			t.Fatalf("\n%s\nCompile(...): %v", tc.reason, err)
		}
		if diff := cmp.Diff(tc.want, checks[0].Prometheus.Query); diff != "" {
			t.Errorf("\n%s\nCompile(...): -want, +got:\n%s", tc.reason, diff)
		}
		if diff := cmp.Diff(`p99{app="shop",ns="team-a",site="edge1"}`, checks[1].Prometheus.Query); diff != "" {
			t.Errorf("\nA metric without a query for canaries judges both tracks together.\nCompile(...): -want, +got:\n%s", diff)
		}
	}
	input := newInput(config{Checks: []check{{Name: "own", Type: "Prometheus", Threshold: "< 1", Prometheus: &deploymentv1alpha1.PrometheusCheck{Query: `x{track="{{stable}}"}`}}}}, newPlace("edge1"))
	input.Canary, input.Stable = "green", "blue"
	const want = "spec.gatesConfig.checks[0]: prometheus.query: {{stable}} stands for a track"
	if _, err := compiler.Compile(input); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("\nA check of a deployment names no track, since it is asked at 100 percent too.\nCompile(...): want error %q, got %v", want, err)
	}
}

// describeCheck formats the fields of a check that the tests compare.
func describeCheck(c rolloutv1alpha1.GateCheck) string {
	out := fmt.Sprintf("%s@%s %s %s unit=%q", c.Name, c.Site, c.Type, c.Threshold, c.Unit)
	switch {
	case c.Prometheus != nil:
		out += " " + c.Prometheus.Query
	case c.Job != nil:
		out += " " + c.Job.Image + " " + c.Job.Script
	case c.Web != nil:
		out += " " + c.Web.URL
	case c.Availability != nil:
		out += fmt.Sprintf(" %d of %q", *c.Availability.MinAvailable, c.Availability.Image)
	}
	return out + fmt.Sprintf(" %s+%d*%s<%s %d,%d,%d min=%d %s",
		c.InitialDelay, *c.Count, c.Interval, c.Timeout, *c.FailureLimit, *c.ConsecutiveErrorLimit, *c.InconclusiveLimit, *c.MinSamples, c.NoData)
}

const defaults = " 30s+3*30s<5m 0,4,0 min=1 Fail"

func TestCompile(t *testing.T) {
	off := false
	web := check{Name: "status", Site: "edge2", Type: "Web", Threshold: "== 1", Web: &deploymentv1alpha1.WebCheck{URL: "https://status.example.org/x", Expression: "answer.a"}}
	cases := map[string]struct {
		reason string
		config config
		want   []string
	}{
		"Off": {reason: "Gates that are off judge by nothing, and refuse nothing.", config: config{Enabled: &off, SLOThresholds: thresholds{"x": "1"}}},
		"Objectives": {
			reason: "Each Site is judged by each metric, in the unit of the Blueprint, and from its good side.",
			config: config{SLOThresholds: thresholds{"latency_p99": "500ms", "availability": "99.0"}},
			want: []string{
				`availability@edge1 Prometheus >= 99% unit="%" up{app="shop"}` + defaults,
				`latency_p99@edge1 Prometheus <= 0.5s unit="s" p99{app="shop",ns="team-a",site="edge1"}` + defaults,
				`availability@edge2 Prometheus >= 99% unit="%" up{app="shop"}` + defaults,
				`latency_p99@edge2 Prometheus <= 0.5s unit="s" p99{app="shop",ns="team-a",site="edge2"}` + defaults,
			},
		},
		"Own": {
			reason: "A check may be for one Site, and say its own query.",
			config: config{Checks: []check{
				{Name: "own", Type: "Prometheus", Threshold: "< 1 s", Unit: "ms", Prometheus: &deploymentv1alpha1.PrometheusCheck{Query: `x{site="{{site}}"}`}}, web,
			}},
			want: []string{
				`own@edge1 Prometheus < 1000ms unit="ms" x{site="edge1"}` + defaults,
				`own@edge2 Prometheus < 1000ms unit="ms" x{site="edge2"}` + defaults,
				`status@edge2 Web == 1 unit="" https://status.example.org/x` + defaults,
			},
		},
		"Availability": {
			reason: "Pods of the intent's image, or of the image that the check names, have to be available at each Site.",
			config: config{Checks: []check{
				{Name: "up", Type: "Availability", Availability: &deploymentv1alpha1.AvailabilityCheck{}},
				{Name: "proxy", Site: "edge1", Type: "Availability", Availability: &deploymentv1alpha1.AvailabilityCheck{Image: "proxy:2", MinAvailable: new(int32(3))}},
			}},
			want: []string{
				`up@edge1 Availability  unit="" 1 of "shop:1"` + defaults,
				`proxy@edge1 Availability  unit="" 3 of "proxy:2"` + defaults,
				`up@edge2 Availability  unit="" 1 of "shop:1"` + defaults,
			},
		},
		"PostCheck": {
			reason: "A post check runs once at each Site.",
			config: config{PostCheck: &deploymentv1alpha1.PostCheck{Image: "curl:8", Script: "false", Timeout: "1m"}},
			want: []string{
				`postCheck@edge1 Job  unit="" curl:8 false 1s+1*30s<1m 0,4,0 min=1 Fail`,
				`postCheck@edge2 Job  unit="" curl:8 false 1s+1*30s<1m 0,4,0 min=1 Fail`,
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			in := newInput(tc.config, newPlace("edge2"), newPlace("edge1"))
			original := tc.config.DeepCopy()
			checks, err := NewCompiler(1 << 20).Compile(in)
			if err != nil {
				t.Fatalf("\n%s\nCompile(...): %v", tc.reason, err)
			}
			var got []string
			for _, c := range checks {
				got = append(got, describeCheck(c))
				if c.ProviderConfigReference == nil || c.ProviderConfigReference.Name != "default" {
					t.Errorf("\n%s\ncheck %s names no configuration of its Site's repository", tc.reason, c.Name)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nCompile(...): -want, +got:\n%s", tc.reason, diff)
			}
			original.Default()
			if diff := cmp.Diff(*original, in.Config); diff != "" {
				t.Errorf("\n%s\nCompile(...) changed its input: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestCompileRefuses(t *testing.T) {
	prometheus := func(c check) check {
		c.Name, c.Type, c.Prometheus = "own", "Prometheus", &deploymentv1alpha1.PrometheusCheck{Query: "x"}
		return c
	}
	job := func(image string) check {
		return check{Name: "own", Type: "Job", Job: &deploymentv1alpha1.JobCheck{Image: image, Script: "false"}}
	}
	withCheck := func(c check) config { return config{Checks: []check{c}} }
	web := func(url string) config {
		return withCheck(check{Name: "own", Type: "Web", Threshold: "== 1", Web: &deploymentv1alpha1.WebCheck{URL: url, Expression: "answer.a"}})
	}
	available := func(image string) check {
		return check{Name: "own", Type: "Availability", Availability: &deploymentv1alpha1.AvailabilityCheck{Image: image}}
	}
	post := &deploymentv1alpha1.PostCheck{Image: "curl:8", Script: "false"}
	cases := map[string]struct {
		reason string
		config config
		change func(*Input)
		want   string
	}{
		"UnknownMetric": {
			reason: "A misspelt metric is refused with the names of existing metrics.", config: config{SLOThresholds: thresholds{"latency": "1s"}},
			want: `spec.gatesConfig.sloThresholds.latency: Blueprint web-1.0.0 has no such metric: it has availability, latency_p99`,
		},
		"NoMetrics": {
			reason: "A threshold without a measurement is refused with the action to take.", config: config{SLOThresholds: thresholds{"latency": "1s"}},
			change: func(in *Input) { in.Blueprint.Spec.Metrics = nil },
			want: `spec.gatesConfig.sloThresholds.latency: Blueprint web-1.0.0 has no metrics, so no threshold can be judged: leave the threshold out (spec.gatesConfig.sloThresholds, ` +
				`or slos in the intent), or choose a Blueprint whose spec.metrics measures it`,
		},
		"Unit": {
			reason: "A threshold in a unit of time is refused for a metric in percent.", config: config{SLOThresholds: thresholds{"availability": "500ms"}},
			want: `spec.gatesConfig.sloThresholds.availability: Blueprint web-1.0.0 measures in another unit: ">= 500ms" cannot be said in %`,
		},
		"WrongWay": {
			reason: "A threshold that points to the bad side of its metric is refused.", config: config{SLOThresholds: thresholds{"availability": "<= 99 %"}},
			want: `spec.gatesConfig.sloThresholds.availability: "<= 99%" points the wrong way: more is better, so the threshold must begin with >= or >`,
		},
		"Threshold": {
			reason: "Not everything passed through a schema.", config: config{SLOThresholds: thresholds{"availability": "much"}},
			want: `spec.gatesConfig.sloThresholds.availability: must be a threshold such as '<= 500ms', '>= 99.0 %' or '< 0.05'`,
		},
		"Site": {
			reason: "A check whose Site was not chosen would never be made.", config: withCheck(prometheus(check{Site: "edge9", Threshold: "< 1"})),
			want: `spec.gatesConfig.checks[0]: site: "edge9" is not a Site of the deployment`,
		},
		"NameOfMetric": {
			reason: "A check may not have the name of a metric, since results are distinguished by name.",
			config: config{SLOThresholds: thresholds{"own": "1"}, Checks: []check{prometheus(check{Threshold: "< 1"})}},
			want:   `spec.gatesConfig.checks[0].name: "own" is the name of a metric in sloThresholds`,
		},
		"NameOfPostCheck": {
			reason: "The post check has a name too.", config: config{PostCheck: post, Checks: []check{{Name: "postCheck"}}},
			want: `spec.gatesConfig.checks[0].name: "postCheck" is the name of the post check`,
		},
		"MetricPostCheck": {
			reason: "No metric may have it either.", config: config{PostCheck: post, SLOThresholds: thresholds{"postCheck": "1"}},
			want: `spec.gatesConfig.sloThresholds.postCheck: is the name of the post check`,
		},
		"Twice": {
			reason: "Not everything passed through a schema.", config: config{Checks: []check{job("curl:8"), job("curl:8")}},
			want: `spec.gatesConfig.checks[1].name: "own" is the name of another check`,
		},
		"Bare": {
			reason: "A threshold of a deployment's own query needs a comparison, since its good side is unknown.", config: withCheck(prometheus(check{Threshold: "5"})),
			want: `spec.gatesConfig.checks[0]: threshold: "5" has no comparison: add one, such as <= or >=`,
		},
		"NoUnit": {
			reason: "A query in seconds would always be below 500.", config: withCheck(prometheus(check{Threshold: "< 500ms"})),
			want: `spec.gatesConfig.checks[0]: threshold: "< 500ms" is in ms: set unit to the unit of the value`,
		},
		"OwnUnit": {
			reason: "A threshold in a unit of time is refused for a check in percent.", config: withCheck(prometheus(check{Threshold: "< 500ms", Unit: "%"})),
			want: `spec.gatesConfig.checks[0]: threshold: "< 500ms" cannot be said in %`,
		},
		"Query": {
			reason: "A query that is not PromQL would only fail later.",
			config: withCheck(check{Name: "own", Type: "Prometheus", Threshold: "< 1", Prometheus: &deploymentv1alpha1.PrometheusCheck{Query: "x["}}),
			want:   `spec.gatesConfig.checks[0]: prometheus.query: is not PromQL`,
		},
		"Fixed": {
			reason: "A query that can never be judged is not delivered.", config: withCheck(checkWithQuery("x @ 1")),
			want: `spec.gatesConfig.checks[0]: prometheus.query: selects a fixed time, which may be before the measured revision went live`,
		},
		"Window": {
			reason: "A query that could be judged only after a month is refused.", config: withCheck(checkWithQuery("rate(x[30d])")),
			want: `spec.gatesConfig.checks[0]: prometheus.query: has a window and offsets of more than 24h: the measured revision would have to be live for as long before the first query`,
		},
		"Heavy": {
			reason: "A few bytes may take gigabytes to compile.", config: withCheck(checkWithQuery(`x{a=~"(?i)\\pL{900}"}`)),
			want: `spec.gatesConfig.checks[0]: prometheus.query: the regular expression "(?i)\\pL{900}" takes too long to compile: repeat less, and use smaller classes of characters`,
		},
		"HeavyTogether": {
			reason: "Many queries are as bad as one.", config: config{Checks: repeatCheck(checkWithQuery(`x{a=~"(?i)[^a]"}`), 3)},
			want: `spec.gatesConfig.checks[2]: prometheus.query: the regular expressions of this query and of those before it take too long to compile`,
		},
		"HeavyEverywhere": {
			reason: "Regular expressions that are compiled for too many Sites are refused.", config: withCheck(checkWithQuery(`x{a=~"(?i)[^a]",b="{{site}}"}`)),
			change: func(in *Input) { *in = newInput(in.Config, newPlaces(40)...) },
			want:   `spec.gatesConfig.checks[0]: the regular expressions of all queries take too long to compile for 40 Sites: use fewer or simpler expressions`,
		},
		"JobThreshold": {
			reason: "A field that would be ignored is refused.", config: withCheck(check{Name: "own", Type: "Job", Threshold: "< 1", Job: job("curl:8").Job}),
			want: `spec.gatesConfig.checks[0]: threshold: a Job has none: the code that it exits with decides`,
		},
		"AvailabilityThreshold": {
			reason: "A threshold that an Availability check would ignore is refused.",
			config: withCheck(check{Name: "own", Type: "Availability", Threshold: ">= 1", Availability: available("").Availability}),
			want:   `spec.gatesConfig.checks[0]: threshold: an Availability check has none: availability.minAvailable says how many pods have to be available`,
		},
		"AvailabilityImage": {
			reason: "An image that no pod can have is refused.", config: withCheck(available("Shop 1")),
			want: `spec.gatesConfig.checks[0]: availability.image: "Shop 1" is not the reference of an image, such as registry.example.org/team/app:1.2.0`,
		},
		"AvailabilityNamespace": {
			reason: "A deployment observes no namespace of a Site that it may not deliver to.", config: withCheck(available("")),
			change: func(in *Input) { in.Places[0].Site.Spec.TargetNamespaces.Allowed = []string{"shared"} },
			want:   `spec.gatesConfig.checks[0]: Site "edge1": availability: the Site's spec.targetNamespaces.allowed does not allow namespace "team-a"`,
		},
		"AvailabilityLate": {
			reason: "Pods that cannot be available for long enough before the timeout are refused.",
			config: withCheck(check{Name: "own", Type: "Availability", Timeout: "90s", Availability: available("").Availability}),
			want:   `spec.gatesConfig.checks[0]: timeout: 1m30s is not longer than the 1m30s that initialDelay and the intervals between 3 measurements take`,
		},
		"Late": {
			reason: "A check that can never end in time would reject all revisions.", config: withCheck(prometheus(check{Threshold: "< 1", Interval: "2m15s"})),
			want: `spec.gatesConfig.checks[0]: timeout: 5m0s is not longer than the 5m0s that initialDelay and the intervals between 3 measurements take`,
		},
		"Flood": {
			reason: "An interval of a millisecond would flood the server and is refused.", config: withCheck(prometheus(check{Threshold: "< 1", Interval: "1ms"})),
			want: `spec.gatesConfig.checks[0]: interval: "1ms" is not between 1s and 24h`,
		},
		"NoJobs": {
			reason: "A Site may run no Jobs.", config: config{PostCheck: post}, change: func(in *Input) { in.Places[0].Site.Spec.PostCheck = nil },
			want: `spec.gatesConfig.postCheck: Site "edge1": job: the Site has no spec.postCheck, so that no Job runs there`,
		},
		"Image": {
			reason: "A Site says which images run there.", config: withCheck(job("curl:9")),
			want: `spec.gatesConfig.checks[0]: Site "edge1": job: image: "curl:9" is not among the spec.postCheck.allowedImages of the Site`,
		},
		"ServiceAccount": {
			reason: "A Site names its service account.",
			config: withCheck(check{Name: "own", Type: "Job", Job: &deploymentv1alpha1.JobCheck{Image: "curl:8", ServiceAccountName: "admin"}}),
			want:   `spec.gatesConfig.checks[0]: Site "edge1": job: serviceAccountName: must be absent, or "checker" as the Site says`,
		},
		"JobImage": {
			reason: "A Job runs an image that a container runtime can pull.", config: withCheck(job("https://registry.example.org/curl:8")),
			want: `spec.gatesConfig.checks[0]: job.image: "https://registry.example.org/curl:8" is not the reference of an image, such as registry.example.org/team/app:1.2.0`,
		},
		"PostCheckImage": {
			reason: "A post check runs an image that a container runtime can pull.",
			config: config{PostCheck: &deploymentv1alpha1.PostCheck{Image: "a..b", Script: "false"}},
			want:   `spec.gatesConfig.postCheck: image: "a..b" is not the reference of an image, such as registry.example.org/team/app:1.2.0`,
		},
		"NoPrometheus": {
			reason: "A check without a Prometheus server to ask is refused.", config: config{SLOThresholds: thresholds{"availability": "99"}},
			change: func(in *Input) { in.Places[0].Site.Spec.Metrics = nil },
			want:   `spec.gatesConfig.sloThresholds.availability: Site "edge1": prometheus.address: no Prometheus server is configured: set spec.metrics.prometheus.address in Site "edge1", or in the ClusterProviderConfig of its repository`,
		},
		"Web": {
			reason: "A ClusterProviderConfig says which hosts are asked.", config: web("https://169.254.169.254/x"),
			want: `spec.gatesConfig.checks[0]: Site "edge1": web.url: host "169.254.169.254" is not among the webCheckHosts of a ClusterProviderConfig`,
		},
		"Expression": {
			reason: "An expression is read before anything is delivered.",
			config: withCheck(check{
				Name: "own", Type: "Web", Threshold: "== 1",
				Web: &deploymentv1alpha1.WebCheck{URL: "https://status.example.org/x", Expression: `answer.s.matches("x")`},
			}),
			want: `spec.gatesConfig.checks[0]: web.expression: is not CEL that checks may use: undeclared reference to 'matches' (in container '')`,
		},
		"WebNamespaced": {
			reason: "A ProviderConfig, which a tenant may write, does not.", config: web("https://status.example.org/x"),
			change: func(in *Input) { in.Places[0].ConfigRef.Kind = policy.KindProviderConfig },
			want:   `spec.gatesConfig.checks[0]: Site "edge1": web.url: host "status.example.org" is not among the webCheckHosts of a ClusterProviderConfig`,
		},
		"OwnQuerySite": {
			reason: "A Site may show nothing but the metrics of Blueprints.", config: withCheck(checkWithQuery("x")),
			change: func(in *Input) { in.Places[0].Site.Spec.Metrics.OwnQueries = catalogv1alpha1.OwnQueriesDeny },
			want:   `spec.gatesConfig.checks[0]: Site "edge1": prometheus.query: spec.metrics.ownQueries of the Site lets it be asked by the metrics of Blueprints only`,
		},
		"OwnQueryConfig": {
			reason: "The owner of a configuration may allow the metrics of Blueprints only.", config: withCheck(checkWithQuery("x")),
			change: func(in *Input) { in.Places[0].Config.Policy.OwnQueries = configv1alpha1.OwnQueriesDeny },
			want:   `spec.gatesConfig.checks[0]: Site "edge1": prometheus.query: spec.policy.ownQueries of the configuration lets servers be asked by the metrics of Blueprints only`,
		},
		"SpokenObjective": {
			reason: "An objective of a sentence is refused with the field that holds it, and at all Sites at once.",
			config: config{SLOThresholds: thresholds{"availability": "99", "latency_p99": "<= 1s"}},
			change: func(in *Input) {
				*in = newInput(in.Config, newPlace("edge1"), newPlace("edge2"))
				in.Objectives = map[string]string{"latency_p99": "spec.intent", "availability": "spec.intent"}
				for i := range in.Places {
					in.Places[i].Site.Spec.Metrics.Prometheus = nil
				}
			},
			want: `spec.intent: objective availability: Site "edge1": ` + noServerMessage("edge1") + `; spec.intent: objective latency_p99: Site "edge1": ` + noServerMessage("edge1") +
				`; spec.intent: objective availability: Site "edge2": ` + noServerMessage("edge2") + `; spec.intent: objective latency_p99: Site "edge2": ` + noServerMessage(
				"edge2",
			),
		},
		"UnknownObjectives": {
			reason: "All metrics that a Blueprint does not have are refused at once.",
			config: config{SLOThresholds: thresholds{"latency": "<= 1s", "errors": "<= 1"}},
			change: func(in *Input) { in.Objectives = map[string]string{"latency": "spec.intent"} },
			want: `spec.gatesConfig.sloThresholds.errors: Blueprint web-1.0.0 has no such metric: it has availability, latency_p99; ` +
				`spec.intent: objective latency: Blueprint web-1.0.0 has no such metric: it has availability, latency_p99`,
		},
		"ManySites": {
			reason: "A refusal names ten problems at most.", config: withCheck(checkWithQuery("x")),
			change: func(in *Input) {
				*in = newInput(in.Config, newPlaces(12)...)
				for i := range in.Places {
					in.Places[i].Site.Spec.Metrics.OwnQueries = catalogv1alpha1.OwnQueriesDeny
				}
			},
			want: deniedMessage(10) + `; and 2 more`,
		},
		"LoopbackSite": {
			reason: "The Site's server on the provider's own machine is refused before it is asked.", config: withCheck(checkWithQuery("x")),
			change: func(in *Input) { in.Places[0].Site.Spec.Metrics.Prometheus.Address = "http://127.0.0.1:9090/c4n4ry" },
			want: `spec.gatesConfig.checks[0]: Site "edge1": spec.metrics.prometheus.address of the Site: ` +
				`"127.0.0.1:9090" is a loopback address, which is the provider's own machine: name an address that the provider's Pod reaches`,
		},
		"Address": {
			reason: "A server of one's own is such a host.",
			config: withCheck(check{
				Name: "own", Type: "Prometheus", Threshold: "< 1",
				Prometheus: &deploymentv1alpha1.PrometheusCheck{Query: "x", Address: "https://other.example.org"},
			}),
			want: `spec.gatesConfig.checks[0]: Site "edge1": prometheus.address: host "other.example.org" is not among the webCheckHosts of a ClusterProviderConfig`,
		},
		"TooMany": {
			reason: "More checks than one Gate can hold are refused.", config: config{SLOThresholds: thresholds{"availability": "99"}},
			change: func(in *Input) { *in = newInput(in.Config, newPlaces(201)...) },
			want:   `spec.gatesConfig: step 1 of 1 has 201 checks at 201 Sites, more than the 200 of one Gate: use fewer checks, or more waves`,
		},
		"TooLarge": {
			reason: "Checks that are too large for one Gate are refused, as scripts are repeated for each Site.",
			config: config{PostCheck: &deploymentv1alpha1.PostCheck{Image: "curl:8", Script: "false " + strings.Repeat("#", 15994)}},
			change: func(in *Input) { *in = newInput(in.Config, newPlaces(17)...) },
			want:   `spec.gatesConfig: 17 checks have about 552500 bytes, more than the 524288 that fit: keep scripts in a ConfigMap`,
		},
		"LongQuery": {
			reason: "Values may make a query too long.",
			config: withCheck(check{
				Name: "own", Type: "Prometheus", Threshold: "< 1",
				Prometheus: &deploymentv1alpha1.PrometheusCheck{Query: strings.Repeat(" ", 4070) + `x{s="{{service}}"}`},
			}),
			change: func(in *Input) { in.Service = strings.Repeat("s", 40) },
			want:   `spec.gatesConfig.checks[0]: Site "edge1": prometheus.query: has 4117 characters with its values, more than 4096`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			in := newInput(tc.config, newPlace("edge1"))
			if tc.change != nil {
				tc.change(&in)
			}
			_, err := NewCompiler(0).Compile(in)
			got := ""
			if err != nil {
				got = err.Error()
			}
			// The message of PromQL's parser is left out.
			got, _, _ = strings.Cut(got, ": 1:")
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nCompile(...): -want error, +got error:\n%s", tc.reason, diff)
			}
		})
	}
}

// noServerMessage returns the refusal of a check at a Site without a server.
func noServerMessage(site string) string {
	return fmt.Sprintf("prometheus.address: no Prometheus server is configured: set spec.metrics.prometheus.address in Site %q, or in the ClusterProviderConfig of its repository", site)
}

// deniedMessage returns the refusals of a deployment's own query at the first n Sites.
func deniedMessage(n int) string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf(`spec.gatesConfig.checks[0]: Site "s%03d": prometheus.query: spec.metrics.ownQueries of the Site lets it be asked by the metrics of Blueprints only`, i))
	}
	return strings.Join(out, "; ")
}

func newPlaces(n int) []catalog.Place {
	out := make([]catalog.Place, 0, n)
	for i := range n {
		out = append(out, newPlace(fmt.Sprintf("s%03d", i)))
	}
	return out
}

// checkWithQuery returns a check that the deployment declares.
func checkWithQuery(query string) check {
	return check{Name: "own", Type: "Prometheus", Threshold: "< 1", Prometheus: &deploymentv1alpha1.PrometheusCheck{Query: query}}
}

// repeatCheck returns one check under n names.
func repeatCheck(c check, n int) []check {
	out := make([]check, 0, n)
	for i := range n {
		c.Name = fmt.Sprintf("own%d", i)
		out = append(out, c)
	}
	return out
}

// TestEachStepHasItsGate has more Sites than one Gate holds, spread over two steps.
func TestEachStepHasItsGate(t *testing.T) {
	in := newInput(config{SLOThresholds: thresholds{"availability": "99"}}, newPlaces(201)...)
	all := in.Plan[0].Sites
	in.Plan = []ledger.Step{{Sites: all[:1]}, {Sites: all[1:]}}
	checks, err := NewCompiler(0).Compile(in)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{1, 200}, []int{len(checks.At(in.Plan[0])), len(checks.At(in.Plan[1]))}); diff != "" {
		t.Errorf("At(...): -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff("s000", checks.At(in.Plan[0])[0].Site); diff != "" {
		t.Errorf("At(...): -want, +got:\n%s", diff)
	}
}

// TestServerOfConfiguration asks the server of the configuration where a Site names no server.
func TestServerOfConfiguration(t *testing.T) {
	p := newPlace("edge1")
	p.Site.Spec.Metrics = nil
	p.Config.Metrics = &configv1alpha1.Metrics{Prometheus: &configv1alpha1.Prometheus{Address: "http://prometheus"}}
	if _, err := NewCompiler(0).Compile(newInput(config{SLOThresholds: thresholds{"availability": "99"}}, p)); err != nil {
		t.Errorf("Compile(...): %v", err)
	}
}

// TestQueriesOfClaimsDiffer compiles for several claims with one Compiler: no claim is judged by the query of another claim.
func TestQueriesOfClaimsDiffer(t *testing.T) {
	c := NewCompiler(1 << 20)
	for _, id := range []string{"shop/team-a", "shop/team-b", "cart/team-b"} {
		in := newInput(config{SLOThresholds: thresholds{"latency_p99": "1s"}}, newPlace("edge1"))
		in.Service, in.Namespace, _ = strings.Cut(id, "/")
		got, err := c.Compile(in)
		if err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf(`p99{app=%q,ns=%q,site="edge1"}`, in.Service, in.Namespace)
		if diff := cmp.Diff(want, got[0].Prometheus.Query); diff != "" {
			t.Errorf("Compile(%s): -want, +got:\n%s", id, diff)
		}
	}
}

// TestWithLoopback allows checks to ask a server on the provider's own machine, as tests need it.
func TestWithLoopback(t *testing.T) {
	p := newPlace("edge1")
	p.Site.Spec.Metrics.Prometheus.Address = "http://127.0.0.1:9090"
	for allowed, want := range map[bool]int{true: 1, false: 0} {
		checks, err := NewCompiler(0, WithLoopback(allowed)).Compile(newInput(config{SLOThresholds: thresholds{"availability": "99"}}, p))
		if len(checks) != want || (err == nil) != allowed {
			t.Errorf("WithLoopback(%t): %d checks, error %v", allowed, len(checks), err)
		}
	}
}

// TestOwnQueries has Sites that only the metrics of Blueprints may ask.
func TestOwnQueries(t *testing.T) {
	deny := func(p catalog.Place) catalog.Place {
		p.Site.Spec.Metrics.OwnQueries, p.Config.Policy.OwnQueries = catalogv1alpha1.OwnQueriesDeny, configv1alpha1.OwnQueriesDeny
		return p
	}
	elsewhere, siteServer, empty := checkWithQuery("x"), checkWithQuery("x"), check{Name: "own", Type: "Web"}
	elsewhere.Prometheus.Address, siteServer.Prometheus.Address = "https://status.example.org", "https://edge1.example.org"
	empty.Web, empty.Threshold = &deploymentv1alpha1.WebCheck{URL: "https://status.example.org", Expression: "answer"}, "== 1"
	cases := map[string]struct {
		reason string
		config config
		place  catalog.Place
		want   bool
	}{
		"Allowed": {reason: "Without a word they are allowed.", config: config{Checks: []check{checkWithQuery("x")}}, place: newPlace("edge1"), want: true},
		"Blueprint": {
			reason: "A query of the Blueprint does not count as the tenant's.",
			config: config{SLOThresholds: thresholds{"availability": "99"}}, place: deny(newPlace("edge1")), want: true,
		},
		"Elsewhere": {reason: "Another server is asked without credentials.", config: config{Checks: []check{elsewhere}}, place: deny(newPlace("edge1")), want: true},
		"Web": {
			reason: "A check of a web server is not subject to ownQueries.",
			config: config{Checks: []check{empty}}, place: deny(newPlace("edge1")), want: true,
		},
		"Known": {reason: "To say its address does not make it another server.", config: config{Checks: []check{siteServer}}, place: deny(newPlace("edge1"))},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if _, err := NewCompiler(0).Compile(newInput(tc.config, tc.place)); (err == nil) != tc.want {
				t.Errorf("%s\nCompile(...): %v", tc.reason, err)
			}
		})
	}
}
