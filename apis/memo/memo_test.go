package memo

import (
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

func TestMemo(t *testing.T) {
	m := New[string](3 * (entryBytes + 10))
	misses := 0
	for _, k := range []byte{1, 2, 3, 1, 4, 1, 3, 2} {
		v, ok := m.Get(Key{k})
		if ok && v != string(k) {
			t.Errorf("Get(%d): got %q", k, v)
		}
		if !ok {
			misses++
			m.Put(Key{k}, string(k), 10)
		}
	}
	if misses != 5 {
		t.Errorf("The least recently used entry is dropped first: want 5 misses, got %d", misses)
	}
	m.Put(Key{9}, "large", 1<<20)
	if _, ok := m.Get(Key{9}); ok || m.bytes > m.maxBytes || len(m.entries) != 3 || m.recent.Len() != 3 {
		t.Errorf("The bound holds: %d bytes in %d entries", m.bytes, len(m.entries))
	}
}

func TestMemoizedCalls(t *testing.T) {
	m, calls, failure := New[string](1<<10), 0, errors.New("failed")
	compute := func(err error) func() (string, int, error) {
		return func() (string, int, error) {
			calls++
			return "value", 1, err
		}
	}
	for _, step := range []struct {
		reason string
		err    error
		calls  int
	}{
		{reason: "A value with an error is returned with it.", err: failure, calls: 1},
		{reason: "A value with an error is not remembered.", calls: 2},
		{reason: "A value that is remembered is not computed again.", calls: 2},
	} {
		got, err := m.Remember(Key{1}, compute(step.err))
		if got != "value" || !errors.Is(err, step.err) || calls != step.calls {
			t.Errorf("\n%s\nRemember(...): got %q, error %v and %d calls, want error %v and %d calls", step.reason, got, err, calls, step.err, step.calls)
		}
	}
}
