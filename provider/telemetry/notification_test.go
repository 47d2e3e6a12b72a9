package telemetry

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

// TestNotified counts notifications by their results, all of which are there from the beginning.
func TestNotified(t *testing.T) {
	m, err := New(prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	m.Notified(NotificationDelivered)
	m.Notified(NotificationGivenUp)
	m.Notified(NotificationGivenUp)
	m.NotificationsPending(3)
	m.NotificationsPending(-1)
	got := map[string]float64{"pending": testutil.ToFloat64(m.notificationsPending)}
	if n := testutil.CollectAndCount(m.notifications); n != len(notificationResults()) {
		t.Errorf("results that exist: want %d, got %d", len(notificationResults()), n)
	}
	for _, result := range notificationResults() {
		got[result] = testutil.ToFloat64(m.notifications.WithLabelValues(result))
	}
	if diff := cmp.Diff(map[string]float64{"pending": 2, "Delivered": 1, "Failed": 0, "GivenUp": 2}, got); diff != "" {
		t.Errorf("notifications: -want, +got:\n%s", diff)
	}
}
