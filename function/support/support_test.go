package support

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/function/catalog"
	"github.com/intentplane/intentplane/function/intent"
)

func TestSpec(t *testing.T) {
	zero, no, yes := int32(0), false, true
	text := "x"
	cases := map[string]struct {
		reason string
		spec   deploymentv1alpha1.IntentDeploymentSpec
		want   []string
	}{
		"Smallest": {reason: "The smallest deployment is supported.", spec: deploymentv1alpha1.IntentDeploymentSpec{Intent: &text}},
		"Works": {
			reason: "Fields that do something.",
			spec: deploymentv1alpha1.IntentDeploymentSpec{
				Intent:        &text,
				CompileConfig: deploymentv1alpha1.CompileConfig{RenderTimeout: "1s"},
				Blueprint:     deploymentv1alpha1.BlueprintChoice{Name: "web", Channel: "beta", UpdatePolicy: deploymentv1alpha1.UpdateManual},
				DeliveryConfig: deploymentv1alpha1.DeliveryConfig{
					TargetSite: "all", DeletionPolicy: deploymentv1alpha1.DeletionOrphan,
					SyncWaitTimeout: "5m", DeliveryTimeout: "5m", Waves: []deploymentv1alpha1.Wave{{Name: "a"}},
				},
				GatesConfig: deploymentv1alpha1.GatesConfig{Enabled: &no},
				Suspend:     &no,
			},
		},
		"SaidDefaults": {reason: "A default that is said asks for nothing.", spec: deploymentv1alpha1.IntentDeploymentSpec{Intent: &text, DeliveryConfig: deploymentv1alpha1.DeliveryConfig{ClusterWaitTimeout: "30m"}}},
		"Later": {
			reason: "Fields that do nothing yet, also with 0.",
			spec: deploymentv1alpha1.IntentDeploymentSpec{
				Expectation: &deploymentv1alpha1.Expectation{
					Service: "a", Priority: "high", QoS: &deploymentv1alpha1.QoS{LatencyMs: "5"}, Slice: &deploymentv1alpha1.Slice{SST: 1},
					Endpoints: []deploymentv1alpha1.Endpoint{{Name: "http", Port: 80}},
				},
				DeliveryConfig: deploymentv1alpha1.DeliveryConfig{ClusterWaitTimeout: "5m"},
				GatesConfig:    deploymentv1alpha1.GatesConfig{SLOThresholds: map[string]deploymentv1alpha1.Threshold{"a": "1"}},
				RollbackConfig: deploymentv1alpha1.RollbackConfig{MaxRetries: &zero, RetainFailedArtifacts: &yes},
			},
			want: []string{"spec.gatesConfig.sloThresholds", "spec.rollbackConfig.retainFailedArtifacts"},
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

func TestIntent(t *testing.T) {
	slos := map[string]string{"latency_p99": "< 500ms"}
	cases := map[string]struct {
		reason string
		intent intent.Intent
		want   []string
	}{
		"Nothing":    {reason: "An intent without objectives is all carried out.", intent: intent.Intent{Service: "shop"}},
		"Objectives": {reason: "Objectives are not judged yet.", intent: intent.Intent{SLOs: slos}, want: []string{"spec.intent: service level objectives"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Intent(tc.intent)); diff != "" {
				t.Errorf("\n%s\nIntent(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestSelection(t *testing.T) {
	place := func(name string) catalog.Place {
		p := catalog.Place{ConfigRef: catalog.ConfigRef{Kind: "ClusterProviderConfig", Name: "default"}}
		p.Site.SetName(name)
		p.Site.Spec.Engine.Type = catalogv1alpha1.EngineNone
		p.Config.Git.DivergencePolicy, p.Config.Git.State.Form = "Stop", configv1alpha1.StateProbe
		return p
	}
	cases := map[string]struct {
		reason string
		change func(*catalog.Selection)
		want   []string
	}{
		"Plain":  {reason: "A Site without an engine is supported.", change: func(*catalog.Selection) {}},
		"Engine": {reason: "Engines are asked.", change: func(s *catalog.Selection) { s.Places[1].Site.Spec.Engine.Type = catalogv1alpha1.EngineFlux }},
		"Cluster": {
			reason: "Clusters that are made are waited for.", change: func(s *catalog.Selection) {
				s.Places[1].Site.Spec.Cluster.ClusterRef = &catalogv1alpha1.ObjectReference{Name: "c"}
			},
		},
		"Config": {
			reason: "A configuration of two Sites is named once, for the fields that do nothing.",
			change: func(s *catalog.Selection) {
				for i := range s.Places {
					s.Places[i].Config.Git.DivergencePolicy = configv1alpha1.DivergenceReapply
					s.Places[i].Config.Policy.WebCheckHosts = []string{"example.org"}
				}
			},
			want: []string{"ClusterProviderConfig default: spec.policy.webCheckHosts"},
		},
		"StateForm": {
			reason: "Every form of the state works.",
			change: func(s *catalog.Selection) { s.Places[0].Config.Git.State.Form = configv1alpha1.StateBranch },
		},
		"Blueprint": {
			reason: "Metrics are not measured yet.",
			change: func(s *catalog.Selection) { s.Blueprint.Spec.Metrics = []catalogv1alpha1.BlueprintMetric{{Name: "a"}} },
			want:   []string{"Blueprint web-1.0.0: spec.metrics"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := &catalog.Selection{Places: []catalog.Place{place("a"), place("b")}}
			s.Blueprint.SetName("web-1.0.0")
			tc.change(s)
			got, err := Selection(s)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got, equateEmpty()); diff != "" {
				t.Errorf("\n%s\nSelection(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// equateEmpty makes an empty list and an absent one the same.
func equateEmpty() cmp.Option {
	return cmp.FilterValues(func(a, b []string) bool { return len(a) == 0 && len(b) == 0 }, cmp.Ignore())
}
