package deliveries

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/intentplane/intentplane/test/bench/stage"
	"github.com/intentplane/intentplane/test/bench/stats"
	"github.com/intentplane/intentplane/test/load"
)

// workRounds is the number of rounds of each kind of work of a neighbour, one after another.
const workRounds = 15

// A neighbourWork is one kind of work of a neighbour, which its controller answers.
type neighbourWork struct {
	name string
	// create makes the object of a key.
	create func(ctx context.Context, key types.NamespacedName) error
	// apiVersion and kind of the object, and the field or condition that shows the answer.
	apiVersion, kind string
	isAnswered       func(o *unstructured.Unstructured) bool
}

// A neighbour is a good tenant, with a repository and a server that measures.
type neighbour struct {
	s *room
	l *load.Load
}

// neighbourWorks are the kinds of work, a delivery before the Gate that judges it.
func (n *neighbour) neighbourWorks() []neighbourWork {
	return []neighbourWork{
		{
			name: "delivery", apiVersion: "delivery.intentplane.dev/v1alpha1", kind: "GitDelivery",
			create:     n.l.Deliver,
			isAnswered: func(o *unstructured.Unstructured) bool { return stage.ConditionOf(o, "Ready") == corev1.ConditionTrue },
		},
		{
			name: "gate", apiVersion: "rollout.intentplane.dev/v1alpha1", kind: "Gate",
			create:     n.l.JudgeOnce,
			isAnswered: hasTextInField("status", "atProvider", "verdict"),
		},
		{
			name: "application", apiVersion: "build.intentplane.dev/v1alpha1", kind: "ImageBuild", create: n.createBuild,
			isAnswered: func(o *unstructured.Unstructured) bool { return stage.ConditionOf(o, "Ready") != "" },
		},
		{
			name: "prune", apiVersion: "state.intentplane.dev/v1alpha1", kind: "PruneRequest", create: n.createPrune,
			isAnswered: hasTextInField("status", "phase"),
		},
		{
			name: "request", apiVersion: "rollout.intentplane.dev/v1alpha1", kind: "RolloutRequest", create: n.createRequest,
			isAnswered: hasTextInField("status", "observedAt"),
		},
	}
}

// createBuild makes the build of the neighbour's own repository.
func (n *neighbour) createBuild(ctx context.Context, key types.NamespacedName) error {
	return n.s.CP.ApplyYAML(ctx, fmt.Appendf(nil, hostileSource, key.Name, key.Namespace, n.s.CP.Git.URL(key.Namespace)))
}

// createPrune requests a plan of the neighbour's own repository.
func (n *neighbour) createPrune(ctx context.Context, key types.NamespacedName) error {
	o := stage.NewObject("state.intentplane.dev/v1alpha1", "PruneRequest", key.Namespace, key.Name)
	o.Object["spec"] = map[string]any{"scope": "Directories", "providerConfigRef": map[string]any{"kind": "ProviderConfig", "name": load.Config}}
	return n.s.CP.ApplyObject(ctx, o)
}

// createRequest requests a retry of a deployment.
func (n *neighbour) createRequest(ctx context.Context, key types.NamespacedName) error {
	o := stage.NewObject("rollout.intentplane.dev/v1alpha1", "RolloutRequest", key.Namespace, key.Name)
	ref := map[string]any{"apiGroup": "intentplane.dev", "kind": "IntentDeployment", "name": key.Name}
	o.Object["spec"] = map[string]any{"deploymentRef": ref, "action": "Retry", "revision": int64(1)}
	return n.s.CP.ApplyObject(ctx, o)
}

// hasTextInField returns a function that is true for an object with a text in a field.
func hasTextInField(path ...string) func(*unstructured.Unstructured) bool {
	return func(o *unstructured.Unstructured) bool {
		text, _, _ := unstructured.NestedString(o.Object, path...)
		return text != ""
	}
}

// measureNeighbour returns the median time, in seconds, of each kind of work in a place of its own.
func (h *hostileTotal) measureNeighbour(ctx context.Context, place string) (map[string]float64, error) {
	l, err := load.New(h.s.CP)
	if err != nil {
		return nil, err
	}
	metrics := newMetricsServer("")
	defer metrics.Close()
	if err := l.Measured(ctx, place, stage.Often, metrics.URL); err != nil {
		return nil, err
	}
	n, took := &neighbour{s: h.s, l: l}, map[string][]float64{}
	for round, key := range load.Keys(1+workRounds, place) {
		for _, w := range n.neighbourWorks() {
			seconds, err := n.timeUntilAnswer(ctx, w, key)
			if err != nil {
				return nil, err
			}
			if round > 0 { // The first round starts everything.
				took[w.name] = append(took[w.name], seconds)
			}
		}
	}
	out := map[string]float64{}
	for name, all := range took {
		out[name] = stats.Median(all)
	}
	return out, nil
}

// timeUntilAnswer returns the time that one work takes until its answer.
func (n *neighbour) timeUntilAnswer(ctx context.Context, w neighbourWork, key types.NamespacedName) (float64, error) {
	began := time.Now()
	if err := w.create(ctx, key); err != nil {
		return 0, err
	}
	_, err := n.s.AwaitObject(ctx, stage.NewObject(w.apiVersion, w.kind, key.Namespace, key.Name), w.isAnswered)
	return time.Since(began).Seconds(), err
}

// newMetricsServer starts a server that answers each query with 0, and with more fields.
func newMetricsServer(fields string) *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		const answer = `{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[%d,"0"]}]}%s}`
		_, _ = fmt.Fprintf(w, answer, time.Now().Unix(), fields)
	}))
}
