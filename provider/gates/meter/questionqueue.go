package meter

import "github.com/intentplane/intentplane/provider/shares"

// Bounds of the questions that are under way at the same time.
const (
	// maxPerHost is how many questions one server is asked.
	maxPerHost = 8

	// maxPerNamespace is how many one namespace asks, of whatever servers.
	maxPerNamespace = 16

	// maxTogether is how many there are. Each may hold an answer in memory.
	maxTogether = 32
)

// newQuestionQueue returns the queue of questions that wait for their servers, and of questions that are under way.
func newQuestionQueue() *shares.Queue[*group] {
	return shares.NewQueue[*group](shares.Limits{PerHost: maxPerHost, PerNamespace: maxPerNamespace, Together: maxTogether})
}
