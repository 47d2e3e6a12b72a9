package digest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	v1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

// TestSpecGolden keeps digests stable: a changed digest delivers every deployment again. Change a digest only together with Scheme.
func TestSpecGolden(t *testing.T) {
	cases := map[string]struct {
		reason string
		spec   v1alpha1.IntentDeploymentSpec
		want   string
	}{
		"Empty": {
			reason: "A spec of nothing but defaults has the digest of an empty spec.",
			want:   "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a",
		},
		"Text": {
			reason: "The digest of the smallest deployment is stable.",
			spec:   v1alpha1.IntentDeploymentSpec{Intent: new(`{"service":"shop","sites":["edge1","edge2"],"replicas":2}`)},
			want:   "sha256:941c9d9d102e199e988007b970b70caa2bbf851fd17ce780f22915bacf2e72a1",
		},
		"PlainLanguage": {
			reason: "Characters that JSON may escape.",
			spec:   v1alpha1.IntentDeploymentSpec{Intent: new("deploy shop & café <b> at edge1\n")},
			want:   "sha256:e82e3adba11e2f256d4133c3b3959909098c6293263b5ed025cc5474d7d1cf4a",
		},
		"Expectation": {
			reason: "The structured form, with values that equal no default.",
			spec: v1alpha1.IntentDeploymentSpec{Expectation: &v1alpha1.Expectation{
				Service: "upf", Type: "upf", Sites: []v1alpha1.SiteName{"edge1"}, Replicas: new(v1alpha1.Replicas(0)),
				SiteReplicas: map[string]v1alpha1.Replicas{"edge1": 3},
				Endpoints:    []v1alpha1.Endpoint{{Name: "n4", Port: 8805, Protocol: "UDP"}, {Name: "web", Port: 80}},
				Parameters:   map[string]v1alpha1.ParameterValue{"b": "2", "a": "1"},
				Slice:        &v1alpha1.Slice{SST: 1},
			}},
			want: "sha256:02fd97439dd1c727dd2cd37a0422de873c21e625984744494b291b242f7ddd94",
		},
		"Checks": {
			reason: "Items of a list have defaults too.",
			spec: v1alpha1.IntentDeploymentSpec{
				Intent: new("x"),
				GatesConfig: v1alpha1.GatesConfig{
					SLOThresholds: map[string]v1alpha1.Threshold{"latency": "< 100ms"},
					Checks: []v1alpha1.Check{
						{Name: "a", Type: "Prometheus", Prometheus: &v1alpha1.PrometheusCheck{Query: "up"}, Count: new(int32(5))},
						{Name: "b", Type: "Job", Job: &v1alpha1.JobCheck{Image: "busybox", Script: "true"}},
					},
					PostCheck: &v1alpha1.PostCheck{Image: "busybox", Script: "true"},
				},
			},
			want: "sha256:9b4c074c83be4d297a8acf7bf78da520f0d497598822b2415f0307fb0eee72b6",
		},
		"MetricRules": {
			reason: "Rules that a deployment says for a metric, which have no defaults of their own.",
			spec: v1alpha1.IntentDeploymentSpec{
				Intent: new("x"),
				GatesConfig: v1alpha1.GatesConfig{
					SLOThresholds: map[string]v1alpha1.Threshold{"latency": "< 100ms"},
					MetricRules:   map[string]v1alpha1.MetricRules{"latency": {Interval: "30s", FailureLimit: new(int32(0))}},
				},
			},
			want: "sha256:cf32f03e0dfabb70f4201f4f6ad1bee9ae78bc812c56ab39fb34893f1fa4bf40",
		},
		"Everything": {
			reason: "One value that is not its default in each block.",
			spec: v1alpha1.IntentDeploymentSpec{
				Intent:         new("x"),
				CompileConfig:  v1alpha1.CompileConfig{RenderTimeout: "20s"},
				Blueprint:      v1alpha1.BlueprintChoice{Name: "web", Version: "1.0.0"},
				DeliveryConfig: v1alpha1.DeliveryConfig{TargetSite: "all", Adopt: new(true), DeletionPolicy: v1alpha1.DeletionOrphan},
				GatesConfig:    v1alpha1.GatesConfig{Enabled: new(false)},
				RollbackConfig: v1alpha1.RollbackConfig{AutoRollback: new(false), MaxRetries: new(int32(0))},
				Suspend:        new(true),
			},
			want: "sha256:f88b3e97c5f87779543d51af220fc0f45fa9287d74289af0da2b62994000be14",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Spec(&tc.spec)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nSpec(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestBlueprintGolden keeps the digest of a Blueprint without rules as it was before metrics could have some: it is part of each request.
func TestBlueprintGolden(t *testing.T) {
	b := catalogv1alpha1.BlueprintSpec{
		BlueprintName: "web", Version: "1.0.0", ServiceTypes: []string{"web"}, Files: map[string]catalogv1alpha1.File{"kustomization.yaml": "resources: []"},
		Metrics: []catalogv1alpha1.BlueprintMetric{{Name: "up", Query: "up", Unit: "%", Direction: catalogv1alpha1.DirectionAtLeast}},
	}
	// The digest is that of {"blueprintName":"web","files":{"kustomization.yaml":"resources: []"},"metrics":[{"direction":"AtLeast","name":"up",
	// "query":"up","unit":"%"}],"serviceTypes":["web"],"version":"1.0.0"}, without the line break.
	const want = "sha256:45798f6400aa7d9a098aa5e7732bb418e8cccd37745c28316bb4f901cf7ce0fa"
	got, err := Of(b, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Of(...): -want, +got:\n%s", diff)
	}
}

func TestSpec(t *testing.T) {
	plain := v1alpha1.IntentDeploymentSpec{Intent: new("x"), GatesConfig: v1alpha1.GatesConfig{Checks: []v1alpha1.Check{{Name: "a", Type: "Job"}}}}
	cases := map[string]struct {
		reason string
		change func(*v1alpha1.IntentDeploymentSpec)
		same   bool
	}{
		"Defaulted": {reason: "An absent block is the block with its defaults.", change: func(s *v1alpha1.IntentDeploymentSpec) { s.Default() }, same: true},
		"SaidDefault": {
			reason: "To say a default is to say nothing.",
			change: func(s *v1alpha1.IntentDeploymentSpec) { s.RollbackConfig.MaxRetries = new(int32(3)) }, same: true,
		},
		"EmptyMap": {
			reason: "An empty map says nothing.",
			change: func(s *v1alpha1.IntentDeploymentSpec) { s.GatesConfig.SLOThresholds = map[string]v1alpha1.Threshold{} }, same: true,
		},
		"DefaultOfItem": {
			reason: "The default of a field of an item does not change the digest.",
			change: func(s *v1alpha1.IntentDeploymentSpec) { s.GatesConfig.Checks[0].FailureLimit = new(int32(0)) }, same: true,
		},
		"DefaultOfMetricsUnavailable": {reason: "The defaults for an unavailable metrics backend say nothing.", change: func(s *v1alpha1.IntentDeploymentSpec) {
			s.GatesConfig.MetricsUnavailableTimeout, s.GatesConfig.OnMetricsUnavailable = "30m", v1alpha1.MetricsUnavailableHold
		}, same: true},
		"RejectForHold": {
			reason: "Reject is said where Hold is the default.",
			change: func(s *v1alpha1.IntentDeploymentSpec) { s.GatesConfig.OnMetricsUnavailable = "Reject" },
		},
		"FalseForTrue": {
			reason: "False is said where true is the default.",
			change: func(s *v1alpha1.IntentDeploymentSpec) { s.RollbackConfig.AutoRollback = new(false) },
		},
		"ZeroForThree": {
			reason: "0 is said where 3 is the default.",
			change: func(s *v1alpha1.IntentDeploymentSpec) { s.RollbackConfig.MaxRetries = new(int32(0)) },
		},
		"ZeroInItem": {
			reason: "0 is said where 1 is the default of an item.",
			change: func(s *v1alpha1.IntentDeploymentSpec) { s.GatesConfig.Checks[0].MinSamples = new(int32(0)) },
		},
		"OtherText": {reason: "Each character of the text changes the digest.", change: func(s *v1alpha1.IntentDeploymentSpec) { s.Intent = new("x ") }},
		"Suspend":   {reason: "The status speaks about the whole spec.", change: func(s *v1alpha1.IntentDeploymentSpec) { s.Suspend = new(true) }},
		"SecondItem": {reason: "A list with one more item says more.", change: func(s *v1alpha1.IntentDeploymentSpec) {
			s.GatesConfig.Checks = append(s.GatesConfig.Checks, v1alpha1.Check{Name: "a", Type: "Job"})
		}},
		"EmptyPostCheck": {
			reason: "A block that is only there when it is asked for says something by being there.",
			change: func(s *v1alpha1.IntentDeploymentSpec) { s.GatesConfig.PostCheck = &v1alpha1.PostCheck{Image: "i"} },
		},
	}
	want, err := Spec(plain.DeepCopy())
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := plain.DeepCopy()
			tc.change(s)
			original := s.DeepCopy()
			got, err := Spec(s)
			if err != nil {
				t.Fatal(err)
			}
			if isEqual := want == got; isEqual != tc.same {
				t.Errorf("\n%s\nSpec(...): same digest: -want, +got:\n%s", tc.reason, cmp.Diff(tc.same, isEqual))
			}
			if diff := cmp.Diff(original, s); diff != "" {
				t.Errorf("\n%s\nSpec(...): changed its input: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

type object = map[string]any

// TestOf adds a field to objects as a later version of the schema would.
func TestOf(t *testing.T) {
	now, err := Of(object{"a": 1, "b": object{}, "items": []any{object{"n": "x"}}}, object{"a": 1, "b": object{}})
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason   string
		v        object
		defaults object
		same     bool
	}{
		"NewField": {
			reason: "A new field with a default changes nothing.",
			v:      object{"a": 1, "new": true, "b": object{}, "items": []any{object{"n": "x"}}}, defaults: object{"a": 1, "new": true, "b": object{}}, same: true,
		},
		"NewBlock": {
			reason:   "A new block with defaults changes nothing.",
			v:        object{"a": 1, "new": object{"x": 1}, "b": object{}, "items": []any{object{"n": "x"}}},
			defaults: object{"a": 1, "new": object{"x": 1}, "b": object{}}, same: true,
		},
		"NewFieldInItem": {
			reason:   "A new field of an item with its default does not change the digest.",
			v:        object{"a": 1, "b": object{}, "items": []any{object{"n": "x", "new": 5}}},
			defaults: object{"a": 1, "b": object{}, "items": []any{object{"new": 5}}}, same: true,
		},
		"Said": {
			reason: "Another value than the default changes the digest.",
			v:      object{"a": 1, "new": false, "b": object{}, "items": []any{object{"n": "x"}}}, defaults: object{"a": 1, "new": true, "b": object{}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Of(tc.v, tc.defaults)
			if err != nil {
				t.Fatal(err)
			}
			if isEqual := now == got; isEqual != tc.same {
				t.Errorf("\n%s\nOf(...): same digest: -want, +got:\n%s", tc.reason, cmp.Diff(tc.same, isEqual))
			}
		})
	}
}

func TestSet(t *testing.T) {
	got, err := Set(&v1alpha1.IntentDeploymentSpec{
		Expectation:    &v1alpha1.Expectation{Service: "a", Replicas: new(v1alpha1.Replicas(1)), Priority: "high"},
		DeliveryConfig: v1alpha1.DeliveryConfig{DeliveryTimeout: "10m", SyncWaitTimeout: "5m"},
		RollbackConfig: v1alpha1.RollbackConfig{AutoRollback: new(false)},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := object{
		"expectation":    object{"service": "a", "priority": "high"},
		"deliveryConfig": object{"syncWaitTimeout": "5m"},
		"rollbackConfig": object{"autoRollback": false},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Set(...): -want, +got:\n%s", diff)
	}
}
