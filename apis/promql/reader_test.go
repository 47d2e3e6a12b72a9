package promql

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestReader(t *testing.T) {
	r := NewReader(2)
	for range 2 {
		if _, err := r.Parse("up{"); err == nil || !strings.Contains(err.Error(), "is not PromQL") {
			t.Errorf("Parse(...): %v", err)
		}
		got, err := r.ReachOf("rate(a[1m])")
		if diff := cmp.Diff(Reach{Windows: time.Minute}, got); diff != "" || err != nil {
			t.Errorf("ReachOf(...): %v, -want, +got:\n%s", err, diff)
		}
	}
	parsed, _ := r.Parse("up")
	if cached, _ := r.Parse("up"); parsed == nil || parsed != cached {
		t.Error("a query is read again")
	}
	for _, query := range []string{"a", "b"} {
		_, _ = r.Parse(query)
	}
	if cached, _ := r.Parse("up"); parsed == cached {
		t.Error("nothing is ever forgotten")
	}
}
