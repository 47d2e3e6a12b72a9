package memo

import "testing"

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
		t.Errorf("The one that was not asked for the longest goes first: want 5 misses, got %d", misses)
	}
	m.Put(Key{9}, "large", 1<<20)
	if _, ok := m.Get(Key{9}); ok || m.bytes > m.maxBytes || len(m.entries) != 3 || m.recent.Len() != 3 {
		t.Errorf("The bound holds: %d bytes in %d entries", m.bytes, len(m.entries))
	}
}
