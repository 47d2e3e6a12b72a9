package telemetry

// A NotificationResult is the end of a post of a notification, or of a notification that is not posted again.
type NotificationResult string

// Results of notifications.
const (
	// NotificationDelivered means that a receiver took a notification.
	NotificationDelivered NotificationResult = "Delivered"

	// NotificationFailed means that a receiver did not take a notification, which is posted again.
	NotificationFailed NotificationResult = "Failed"

	// NotificationGivenUp means that a notification is not posted again, since its receiver did not take it for a day.
	NotificationGivenUp NotificationResult = "GivenUp"
)

func notificationResults() []string {
	return convertToStrings(NotificationDelivered, NotificationFailed, NotificationGivenUp)
}

// Notified counts a notification by how it ended.
func (m *Metrics) Notified(result NotificationResult) {
	m.notifications.WithLabelValues(string(result)).Inc()
}

// NotificationsPending adds delta, which may be negative, to the number of notifications that receivers have not taken.
func (m *Metrics) NotificationsPending(delta int) {
	m.notificationsPending.WithLabelValues().Add(float64(delta))
}
