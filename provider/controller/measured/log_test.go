package measured

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/intentplane/intentplane/provider/gates"
)

func keyOf(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: "team-a", Name: name}
}

// recordMany records measurements of a check, numbered by their values.
func recordMany(l *Log, gate, check string, n int) {
	for i := range n {
		l.Record(keyOf(gate), "u", check, gates.Measurement{Outcome: gates.Pass, Value: fmt.Sprint(i)}, time.Unix(int64(i), 0))
	}
}

// TestLogIsBounded records more measurements than are kept of a check, of a Gate and of a namespace.
func TestLogIsBounded(t *testing.T) {
	type kept struct {
		First          string
		Taken, Omitted int
	}
	cases := map[string]struct {
		reason string
		record func(l *Log)
		want   kept
	}{
		"Few":   {reason: "Measurements are kept in their order.", record: func(l *Log) { recordMany(l, "shop", "edge1/p99", 3) }, want: kept{First: "0", Taken: 3}},
		"Check": {reason: "The oldest measurements of a check are omitted.", record: func(l *Log) { recordMany(l, "shop", "edge1/p99", maxOfCheck+7) }, want: kept{First: "7", Taken: maxOfCheck, Omitted: 7}},
		"Gate": {reason: "The checks of a Gate share its measurements.", record: func(l *Log) {
			for i := range maxOfGate / maxOfCheck {
				recordMany(l, "shop", fmt.Sprintf("edge%d/errors", i), maxOfCheck)
			}
			recordMany(l, "shop", "edge1/p99", 5)
		}, want: kept{Omitted: 5}},
		"Namespace": {reason: "The Gates of a namespace share its measurements.", record: func(l *Log) {
			for i := range maxOfNamespace / maxOfCheck {
				recordMany(l, fmt.Sprintf("other-%d", i), "edge1/p99", maxOfCheck)
			}
			recordMany(l, "shop", "edge1/p99", 5)
		}, want: kept{Omitted: 5}},
		"Forgotten": {reason: "What a Gate measured that is forgotten leaves room.", record: func(l *Log) {
			for i := range maxOfNamespace / maxOfCheck {
				recordMany(l, fmt.Sprintf("other-%d", i), "edge1/p99", maxOfCheck)
			}
			l.Forget(keyOf("other-0"))
			recordMany(l, "shop", "edge1/p99", 5)
		}, want: kept{First: "0", Taken: 5}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			l := NewLog(func(types.NamespacedName) {})
			tc.record(l)
			taken, _ := l.read(keyOf("shop"), "u")
			c := taken["edge1/p99"]
			got := kept{Taken: len(c.taken), Omitted: c.omitted}
			if len(c.taken) > 0 {
				got.First = c.taken[0].Value
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nread(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestLogWakes wakes a Gate once for all measurements until they are read, and forgets those of an earlier Gate of the name.
func TestLogWakes(t *testing.T) {
	woken := 0
	l := NewLog(func(types.NamespacedName) { woken++ })
	read := func(uid types.UID) (int, bool) {
		taken, isNew := l.read(keyOf("shop"), uid)
		return len(taken["edge1/p99"].taken), isNew
	}
	recordMany(l, "shop", "edge1/p99", 3)
	n, isNew := read("u")
	_, again := read("u")
	recordMany(l, "shop", "edge1/p99", 1)
	if woken != 2 || n != 3 || !isNew || again {
		t.Errorf("woken %d times, %d read, new: %t and then %t", woken, n, isNew, again)
	}
	if n, isNew := read("other"); n != 0 || isNew {
		t.Errorf("a Gate of the same name has measured nothing: %d, %t", n, isNew)
	}
	l.Record(keyOf("shop"), "other", "edge1/p99", gates.Measurement{Outcome: gates.Pass}, time.Unix(0, 0))
	if n, _ := read("other"); n != 1 {
		t.Errorf("a Gate of the same name begins with its own measurements: %d", n)
	}
	l.Forget(keyOf("shop"))
	if len(l.gates) != 0 || len(l.total) != 0 {
		t.Errorf("nothing is left of a Gate that is forgotten: %d, %v", len(l.gates), l.total)
	}
}
