package meter

import (
	"context"
	"time"

	"github.com/intentplane/intentplane/provider/gates"
)

// A Problem is a question that cannot be asked at present. It fails as often as a measurement may, since a user may fix the cause meanwhile.
type Problem string

// Key is the problem: checks with another problem do not share the answer.
func (p Problem) Key(time.Duration) string { return string(p) }

// Ask sends no request.
func (p Problem) Ask(context.Context, time.Duration) gates.Answer {
	return gates.Answer{Problem: string(p)}
}

// A ServerProblem is a question that cannot be asked because of the server, and not because of the check.
type ServerProblem struct{ Problem }

// Ask sends no request.
func (p ServerProblem) Ask(context.Context, time.Duration) gates.Answer {
	return gates.Answer{Problem: string(p.Problem), Unavailable: true}
}
