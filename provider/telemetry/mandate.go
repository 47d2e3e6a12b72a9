package telemetry

// A MandatedEvent is an event that the provider recorded by a mandate, without the function.
type MandatedEvent string

// Events that are recorded by mandates.
const (
	// MandatedRejected means that a revision was rejected.
	MandatedRejected MandatedEvent = "Rejected"

	// MandatedWithdrawn means that a user rolled the revision back by a RolloutRequest.
	MandatedWithdrawn MandatedEvent = "Withdrawn"

	// MandatedRolledBack means that an attempt to roll back began.
	MandatedRolledBack MandatedEvent = "RolledBack"

	// MandatedAdvanced means that the next step of a revision began, or the next stage of a rollback in tracks.
	MandatedAdvanced MandatedEvent = "Advanced"

	// MandatedPromoted means that a user released a step by a RolloutRequest.
	MandatedPromoted MandatedEvent = "Promoted"

	// MandatedVerified means that a revision was verified.
	MandatedVerified MandatedEvent = "Verified"

	// MandatedRestored means that an attempt to roll back came to its end.
	MandatedRestored MandatedEvent = "Restored"
)

func mandatedEvents() []string {
	return convertToStrings(MandatedRejected, MandatedWithdrawn, MandatedRolledBack, MandatedAdvanced, MandatedRestored, MandatedPromoted, MandatedVerified)
}

// Mandated counts an event that was recorded by a mandate.
func (m *Metrics) Mandated(e MandatedEvent) { m.mandated.WithLabelValues(string(e)).Inc() }
