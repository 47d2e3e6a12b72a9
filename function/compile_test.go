package function

import (
	"context"
	"encoding/base64"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/function/catalog"
	"github.com/intentplane/intentplane/function/render"
)

// A noise renders a ConfigMap of so many bytes that nothing compresses.
type noise int

func (n noise) Build(context.Context, render.Input) (tree.Files, error) {
	b, from := make([]byte, n), rand.New(rand.NewPCG(1, 2))
	for i := range b {
		b[i] = byte(from.Uint32())
	}
	text := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: team-a}\nbinaryData: {a: \"" + base64.StdEncoding.EncodeToString(b) + "\"}\n"
	return tree.Files{
		"a.yaml":             []byte(text),
		"kustomization.yaml": []byte("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [a.yaml]\n"),
	}, nil
}

// TestCompiledAsCalled compares what a deployment comes to without a control plane with what a call says of it.
func TestCompiledAsCalled(t *testing.T) {
	const latency = `{"service": "shop", "sites": ["edge1", "edge2"], "slos": {"latency_p99": "< 500ms"}}`
	threshold := func(s deploymentv1alpha1.Threshold) func(*world) {
		return func(w *world) {
			w.say(latency)
			w.measured()
			w.in.Spec.GatesConfig.SLOThresholds = map[string]deploymentv1alpha1.Threshold{"latency_p99": s}
		}
	}
	waves := func(site deploymentv1alpha1.SiteName) func(*world) {
		return func(w *world) {
			w.in.Spec.DeliveryConfig.Waves = []deploymentv1alpha1.Wave{{Name: "a", Sites: []deploymentv1alpha1.SiteName{site}}}
		}
	}
	cases := map[string]struct {
		reason string
		change func(*world)
		want   string
	}{
		"Fine":      {reason: "What is delivered is fine.", change: func(*world) {}},
		"Agreed":    {reason: "One metric may be said twice.", change: threshold("<0.5 s")},
		"Conflict":  {reason: "With two values it cannot be judged.", change: threshold("400ms"), want: deploymentv1alpha1.ReasonInvalidIntent},
		"Threshold": {reason: "Nor with one that is none.", change: threshold("fast"), want: deploymentv1alpha1.ReasonInvalidIntent},
		"Unknown":   {reason: "A metric has to be measured.", change: func(w *world) { w.say(latency) }, want: deploymentv1alpha1.ReasonInvalidSpec},
		"Waves":     {reason: "A wave names Sites that were chosen.", change: waves("edge9"), want: deploymentv1alpha1.ReasonInvalidSpec},
		"Intent":    {reason: "An intent has to be understood.", change: func(w *world) { w.say("{}") }, want: deploymentv1alpha1.ReasonInvalidIntent},
		"Policy":    {reason: "Limits hold.", change: func(w *world) { w.set("ClusterProviderConfig", "default", int64(1), "spec", "policy", "maxSites") }, want: deploymentv1alpha1.ReasonPolicyDenied},
		"Tree":      {reason: "A tree has to travel.", change: func(w *world) { w.core = New(noise(800 << 10)) }, want: deploymentv1alpha1.ReasonTooLarge},
		"Delivery":  {reason: "And so have both trees in one delivery.", change: func(w *world) { w.core = New(noise(400 << 10)) }, want: deploymentv1alpha1.ReasonTooLarge},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			tc.change(w)
			answer := func(needs []catalog.Need) (catalog.Answers, error) {
				w.answer(needs)
				return w.in.Answers, nil
			}
			compiled, err := Compile(w.in, answer)
			if err == nil {
				_, err = w.core.Render(t.Context(), w.in, compiled)
			}
			if diff := cmp.Diff(tc.want, ReasonOf(err)); diff != "" {
				t.Errorf("\n%s\nCompile(...), Render(...): %v: -want reason, +got reason:\n%s", tc.reason, err, diff)
			}
			called := ""
			for _, c := range w.call().Conditions {
				if err != nil && strings.Contains(c.Message, err.Error()) {
					called = c.Reason
				}
			}
			if diff := cmp.Diff(tc.want, called); diff != "" {
				t.Errorf("\n%s\nRun(...) says other than %v: -want reason, +got reason:\n%s", tc.reason, err, diff)
			}
		})
	}
}
