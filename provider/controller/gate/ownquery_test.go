package gate

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
)

// TestOwnQuery checks that the server of a Site gets no other query if the metrics belong to Blueprints, whatever the
// origin of the Gate.
func TestOwnQuery(t *testing.T) {
	cases := map[string]struct {
		reason    string
		query     string
		blueprint *ledger.BlueprintReference
		denied    bool
	}{
		"Metric": {
			reason: "The query of the Blueprint's metric is asked.",
			query:  `sum(errors{namespace="team-a",service="web"})`, blueprint: &ledger.BlueprintReference{Name: "web-1.0.0"},
		},
		"Own": {
			reason: "A tenant's own query is not asked.",
			query:  `sum(errors{namespace="team-b"})`, blueprint: &ledger.BlueprintReference{Name: "web-1.0.0"}, denied: true,
		},
		"OtherNamespace": {
			reason: "The query of the Blueprint about another namespace is not asked.",
			query:  `sum(errors{namespace="team-b",service="web"})`, blueprint: &ledger.BlueprintReference{Name: "web-1.0.0"}, denied: true,
		},
		"NoBlueprint": {
			reason: "A Gate whose Blueprint does not exist has no metrics.",
			query:  `sum(errors{namespace="team-a",service="web"})`, blueprint: &ledger.BlueprintReference{Name: "none"}, denied: true,
		},
		"Canary": {
			reason:    "The query of the Blueprint's metric for a canary in green is asked.",
			query:     `sum(errors{track="green"}) / sum(errors{track="blue",namespace="team-a",service="web"})`,
			blueprint: &ledger.BlueprintReference{Name: "web-1.0.0"},
		},
		"SameTrack": {
			reason:    "A query that compares a track with itself is not asked.",
			query:     `sum(errors{track="blue"}) / sum(errors{track="blue",namespace="team-a",service="web"})`,
			blueprint: &ledger.BlueprintReference{Name: "web-1.0.0"}, denied: true,
		},
		"Unnamed": {reason: "A Gate that names no Blueprint has no metrics.", query: `sum(errors{namespace="team-a",service="web"})`, denied: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := quick("error_rate")
			c.Prometheus.Query = tc.query
			w := newWorld(t, c)
			b := &catalogv1alpha1.Blueprint{ObjectMeta: metav1.ObjectMeta{Name: "web-1.0.0"}}
			b.Spec.Metrics = []catalogv1alpha1.BlueprintMetric{{Name: "error_rate", Query: `sum(errors{namespace="{{namespace}}",service="{{service}}"})`, Canary: `sum(errors{track="{{canary}}"}) / sum(errors{track="{{stable}}",namespace="{{namespace}}",service="{{service}}"})`}}
			w.must(w.kube.Create(t.Context(), b))
			s := w.site()
			s.Spec.Metrics.OwnQueries = catalogv1alpha1.OwnQueriesDeny
			w.must(w.kube.Update(t.Context(), s))
			g := w.get()
			g.Spec.ForProvider.Blueprint = tc.blueprint
			w.must(w.kube.Update(t.Context(), g))
			if !tc.denied {
				w.until("Passed/Passed/Passed")
				return
			}
			w.when("a problem", func() bool { return w.get().Status.AtProvider.Checks[0].UnavailableSince != nil })
			const want = "spec.metrics.ownQueries of the Site lets it be asked by the metrics of Blueprints only"
			if got := w.get().GetCondition("Ready").Message; len(w.asked) > 0 || !strings.Contains(got, want) {
				t.Errorf("\n%s\nasked %d times, Ready says %q, want %q", tc.reason, len(w.asked), got, want)
			}
		})
	}
}

// A countingReader counts the reads past the cache.
type countingReader struct {
	client.Reader

	reads int
}

func (r *countingReader) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	r.reads++
	return r.Reader.Get(ctx, key, o, opts...)
}

// TestBlueprintIsReadOnce looks at a Gate again and again.
func TestBlueprintIsReadOnce(t *testing.T) {
	cases := map[string]struct {
		reason    string
		blueprint string
		// later is how often it was read once a minute has passed.
		later int
	}{
		"Exists":  {reason: "A Blueprint is read once for a Gate.", blueprint: "web-1.0.0", later: 1},
		"Missing": {reason: "A Blueprint that does not exist is read again after a minute.", blueprint: "none", later: 2},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := quick("error_rate")
			c.Prometheus.Query = `sum(errors{namespace="team-b"})`
			w := newWorld(t, c)
			w.must(w.kube.Create(t.Context(), &catalogv1alpha1.Blueprint{ObjectMeta: metav1.ObjectMeta{Name: "web-1.0.0"}}))
			s := w.site()
			s.Spec.Metrics.OwnQueries = catalogv1alpha1.OwnQueriesDeny
			w.must(w.kube.Update(t.Context(), s))
			g := w.get()
			g.Spec.ForProvider.Blueprint = &ledger.BlueprintReference{Name: tc.blueprint}
			w.must(w.kube.Update(t.Context(), g))
			live, now := &countingReader{Reader: w.kube}, time.Now()
			w.c.live, w.c.now = live, func() time.Time { return now }
			observe := func(quick bool) {
				look := w.c.pool.Look(gateKey())
				defer look.Done()
				_, err := (&external{connector: w.c, look: look, quick: quick}).Observe(t.Context(), w.get())
				if live.reads == 0 != (err != nil) {
					t.Errorf("A quick look that remembers no Blueprint is not enough, and reads none.\n%d reads, and %v", live.reads, err)
				}
			}
			observe(true)
			for range 3 {
				observe(false)
				observe(true)
			}
			baseline := live.reads
			now = now.Add(2 * time.Minute)
			observe(true)
			observe(false)
			if diff := cmp.Diff([]int{1, tc.later}, []int{baseline, live.reads}); diff != "" {
				t.Errorf("%s\nreads past the cache, within a minute and after it: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
