package repository

import "time"

// An Answer is how the last conversations of all objects with a repository ended.
type Answer struct {
	// At is when the last conversation began that read the repository. Zero means that the repository was not asked yet.
	At time.Time

	// Err is why that conversation failed, a *failure.Error. Nil means that the repository answered.
	Err error

	// FailingSince is when the first of the conversations began that failed in a row. Zero if the last one did not fail.
	FailingSince time.Time

	// PushErr is why the last push failed, a *failure.Error, where each other push would fail too. Nil if it did not.
	PushErr error

	// PushFailedAt is when that push failed. Zero if it did not.
	PushFailedAt time.Time
}

// LastAnswer returns how the last conversations with the repository ended. It asks no server, and does not count as a use of the repository.
func (r *Repository) LastAnswer() Answer {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.answer
	out.PushErr, out.PushFailedAt = r.pushBackoff.Cause(), r.pushBackoff.FailedAt()
	return out
}

// recordAnswer records how a conversation ended that began at a time and read the repository, with the lock held.
func (r *Repository) recordAnswer(timestamp time.Time, err error) {
	if timestamp.Before(r.answer.At) {
		return
	}
	failingSince := time.Time{}
	if err != nil {
		failingSince = timestamp
		if r.answer.Err != nil {
			failingSince = r.answer.FailingSince
		}
	}
	r.answer = Answer{At: timestamp, Err: err, FailingSince: failingSince}
}
