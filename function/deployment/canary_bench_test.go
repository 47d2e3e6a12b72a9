package deployment

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// canarySites is how many Sites the deployment has that calls are measured for.
const canarySites = 100

// BenchmarkCanaryCall measures a call without a change, and without a cached answer, of a deployment that shares requests at 100 Sites. It reports the
// time relative to the time of decoding the call's request, in the same run:
//
//	canary_call_over_decode
func BenchmarkCanaryCall(b *testing.B) {
	w := newCanaryWorld(b, weightStep(20), pauseStep(""), weightStep(50))
	w.addSites(canarySites)
	if _, out := w.story("far000", cluster{}); !out.Ready {
		b.Fatalf("the first revision does not run: %s", out.Status.Message)
	}
	w.sayAtSites("two", canarySites)
	for range 12 {
		w.canaryRound(cluster{})
	}
	if c := w.call().Status.Canary; c == nil || c.Step != "2/4" {
		b.Fatalf("the second revision does not share requests: %+v", c)
	}
	observed := w.encodeObserved()
	decoding, ours := time.Duration(0), time.Duration(0)
	b.Run("decode", func(b *testing.B) {
		for b.Loop() {
			w.decodeInput(observed)
		}
		decoding = b.Elapsed() / time.Duration(b.N)
	})
	b.Run("call", func(b *testing.B) {
		for b.Loop() {
			w.in.Observed = w.decodeInput(observed)
			w.run()
		}
		ours = b.Elapsed() / time.Duration(b.N)
		b.ReportMetric(float64(ours)/float64(max(decoding, 1)), "canary_call_over_decode")
	})
}

// addSites adds so many Sites like the first one.
func (w *world) addSites(n int) {
	w.t.Helper()
	for i := range n {
		o := w.object("Site", "edge1").DeepCopy()
		o.SetName(fmt.Sprintf("far%03d", i))
		w.addObject(o)
		w.set("Site", o.GetName(), "sites/"+o.GetName(), "spec", "repository", "path")
	}
	w.sayAtSites("one", n)
}

// sayAtSites asks for a deployment at the Sites that were added.
func (w *world) sayAtSites(greeting string, n int) {
	w.t.Helper()
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("far%03d", i)
	}
	list, err := json.Marshal(names)
	if err != nil {
		w.t.Fatal(err)
	}
	w.say(fmt.Sprintf(`{"service": "shop", "type": "web-canary", "sites": %s, "replicas": 4, "parameters": {"host": "shop.example.org", "greeting": %q}}`, list, greeting))
}

// encodeObserved encodes the composed resources.
func (w *world) encodeObserved() map[string][]byte {
	w.t.Helper()
	out := map[string][]byte{}
	for name, o := range w.in.Observed {
		var err error
		if out[name], err = json.Marshal(o); err != nil {
			w.t.Fatal(err)
		}
	}
	return out
}

// decodeInput decodes the request of a call, the composed resources up to the typed objects that the core works on, and returns the composed resources.
func (w *world) decodeInput(observed map[string][]byte) map[string]*unstructured.Unstructured {
	w.t.Helper()
	out, typed := map[string]*unstructured.Unstructured{}, newObserved()
	for name, b := range observed {
		out[name] = &unstructured.Unstructured{}
		if err := json.Unmarshal(b, out[name]); err != nil {
			w.t.Fatal(err)
		}
		if err := readResource(&typed, out, name); err != nil {
			w.t.Fatal(err)
		}
	}
	for _, answers := range w.in.Answers {
		for _, b := range answers {
			if err := json.Unmarshal(b, &unstructured.Unstructured{}); err != nil {
				w.t.Fatal(err)
			}
		}
	}
	return out
}
