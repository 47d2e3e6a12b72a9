package meter

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/gates"
)

// flood makes a Gate with checks whose answers take long.
func (b *bench) flood(owner types.NamespacedName, s *source, hosts ...string) {
	tasks := []Task{}
	for i := range 200 {
		tk := task(named{source: s, name: fmt.Sprint(owner, i)}, time.Now())
		tk.ID, tk.Host = fmt.Sprint(i), hosts[i%len(hosts)]
		tk.Rules = gates.Rules{InitialDelay: time.Second, Interval: time.Second, Timeout: 24 * time.Hour, Count: 1000, ErrorLimit: 1000}
		tasks = append(tasks, tk)
	}
	b.Measure(owner, "u", tasks)
}

// usual is a check as most of them are.
func usual(q Question) Task {
	tk := task(q, time.Now())
	tk.Rules = gates.Rules{InitialDelay: 30 * time.Second, Interval: 30 * time.Second, Timeout: 5 * time.Minute, Count: 3, ErrorLimit: 4}
	return tk
}

func victim() types.NamespacedName { return types.NamespacedName{Namespace: "team-b", Name: "victim"} }

func TestFloodOfOneServerDelaysNoOtherNamespace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		b, slow, good := start(ctx), &source{takes: 10 * time.Second}, &source{name: "good"}
		for i := range 5 {
			b.flood(key(i), slow, "prometheus")
		}
		tk := usual(good)
		b.Measure(victim(), "u", []Task{tk})
		after(3 * time.Minute)
		if got := b.Measure(victim(), "u", []Task{tk})[0]; got.Phase != v1alpha1.CheckPassed {
			t.Errorf("a good revision beside 1000 slow checks: %+v", got)
		}
		if _, _, highest := slow.count(); highest != maxPerHost {
			t.Errorf("at most %d slow questions were under way, want %d", highest, maxPerHost)
		}
	})
}

func TestEqualQuestionsHaveTheFirstTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		b, slow, good := start(ctx), &source{takes: 10 * time.Second}, &source{name: "good"}
		b.flood(key(0), slow, "prometheus")
		tk := usual(good)
		// The namespace that floods a server also asks the question of the victim.
		b.Measure(key(1), "u", []Task{tk})
		b.Measure(victim(), "u", []Task{tk})
		after(3 * time.Minute)
		if got := b.Measure(victim(), "u", []Task{tk})[0]; got.Phase != v1alpha1.CheckPassed || good.times() != 3 {
			t.Errorf("asked %d times: %+v", good.times(), got)
		}
	})
}

func TestTimeInLineDoesNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		b, stuck, good := start(ctx), &source{takes: 10 * time.Hour}, &source{name: "good", takes: 10 * time.Hour}
		b.flood(key(0), stuck, "prometheus")
		after(time.Minute)
		tk := usual(good)
		phase := func() v1alpha1.CheckPhase { return b.Measure(victim(), "u", []Task{tk})[0].Phase }
		phase()
		after(8 * time.Hour)
		if got := phase(); got != v1alpha1.CheckRunning || good.times() > 0 {
			t.Errorf("after 8 hours in line: %s, asked %d times", got, good.times())
		}
		// Its turn comes, and from then on its time counts again.
		after(3 * time.Hour)
		if got := phase(); got != v1alpha1.CheckTimedOut || good.times() != 1 {
			t.Errorf("an answer that takes for ever: %s, asked %d times", got, good.times())
		}
	})
}

func TestRemovedCheckIsNotAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		b, slow := start(ctx), &source{takes: time.Minute}
		b.flood(key(0), slow, "prometheus")
		b.flood(key(1), slow, "other")
		after(5 * time.Second)
		underWay := slow.times()
		b.Forget(key(0))
		b.Measure(key(1), "u", nil)
		after(10 * time.Minute)
		if n := slow.times() - underWay; n != 0 {
			t.Errorf("%d questions of Gates that are no more were asked", n)
		}
		if !b.lines.IsEmpty() {
			t.Errorf("servers without questions are remembered: %+v", b.lines)
		}
	})
}

func TestRecreatedGateIsRescheduled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		b, slow, good := start(ctx), &source{takes: time.Minute}, &source{name: "good"}
		b.flood(key(0), slow, "prometheus")
		tk := usual(good)
		tk.Rules.InitialDelay = time.Second
		b.Measure(victim(), "u", []Task{tk})
		after(32 * time.Second) // It waits.
		tk.LiveSince = time.Now().Add(-time.Second)
		b.Measure(victim(), "u", []Task{tk})
		after(5 * time.Minute)
		if got := b.Measure(victim(), "u", []Task{tk})[0]; got.Phase != v1alpha1.CheckPassed || good.times() != 3 {
			t.Errorf("asked %d times: %+v", good.times(), got)
		}
	})
}

func TestLimitOfAllServersTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		b, slow := start(ctx), &source{takes: 10 * time.Second}
		hosts := []string{}
		for i := range 20 {
			hosts = append(hosts, fmt.Sprint("host", i))
		}
		b.flood(key(0), slow, hosts...)
		after(30 * time.Second)
		if _, _, highest := slow.count(); highest != maxPerNamespace {
			t.Errorf("a namespace asked %d servers at once, want %d", highest, maxPerNamespace)
		}
		for i := range 5 {
			b.flood(types.NamespacedName{Namespace: fmt.Sprint("team", i), Name: "g"}, slow, hosts...)
		}
		after(30 * time.Second)
		if _, _, highest := slow.count(); highest != maxTogether {
			t.Errorf("%d servers were asked at once, want %d", highest, maxTogether)
		}
	})
}
