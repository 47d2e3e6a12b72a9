package meter

import "github.com/intentplane/intentplane/provider/shares"

// Limits of concurrent questions, which are requests to the servers of metrics.
const (
	// maxPerHost is the limit for one server.
	maxPerHost = 8

	// maxPerNamespace is the limit for one namespace, over all servers.
	maxPerNamespace = 16

	// maxTogether is the limit for the process. Each question may hold an answer in memory.
	maxTogether = 32
)

// newQuestionQueue returns the queue of waiting questions, which also counts the questions in progress.
func newQuestionQueue() *shares.Queue[*group] {
	return shares.NewQueue[*group](shares.Limits{PerHost: maxPerHost, PerNamespace: maxPerNamespace, Together: maxTogether})
}
