package providerconfig

import (
	"sync"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/intentplane/intentplane/apis/oneline"
)

const (
	// lasting is the time for which an answer has to be different before it is written: each write wakes all composites that read the configuration.
	lasting = time.Minute

	// firstFailure is the time for which the first answer about a generation has to be a failure: a Secret may be created after its configuration.
	firstFailure = 10 * time.Second
)

// patienceFor returns the time for which an answer has to be different from the shown condition. The first good answer about a generation is written at once.
func patienceFor(published, want xpv2.Condition) time.Duration {
	switch {
	case published.Reason != "" && published.ObservedGeneration == want.ObservedGeneration:
		return lasting
	case want.Status == corev1.ConditionTrue:
		return 0
	}
	return firstFailure
}

// isVerdictShown reports whether a condition has the verdict. Numbers of a server in its message do not count.
func isVerdictShown(published, want xpv2.Condition) bool {
	return published.Status == want.Status && published.Reason == want.Reason && published.ObservedGeneration == want.ObservedGeneration &&
		oneline.DiffersInSerialsOnly(published.Message, want.Message)
}

// A changeLog remembers since when the answers of repositories are other ones than their configurations show. It is safe for concurrent use.
type changeLog struct {
	mu  sync.Mutex
	all map[types.NamespacedName]change
}

// A change is an answer that is not shown.
type change struct {
	status     corev1.ConditionStatus
	reason     xpv2.ConditionReason
	generation int64
	since      time.Time
}

func newChangeLog() *changeLog { return &changeLog{all: map[types.NamespacedName]change{}} }

// changeStartTime returns the time since which an answer is another one than the shown condition, about the same generation. Where the status is another one, its reason may change
// meanwhile: a repository that fails for one reason and then for another one fails all the time.
func (l *changeLog) changeStartTime(key types.NamespacedName, published, want xpv2.Condition, now time.Time) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	c, ok := l.all[key]
	isOtherReason := c.reason != want.Reason && want.Status == published.Status
	if !ok || isOtherReason || c.status != want.Status || c.generation != want.ObservedGeneration {
		c = change{status: want.Status, reason: want.Reason, generation: want.ObservedGeneration, since: now}
		l.all[key] = c
	}
	return c.since
}

// forgetConfig forgets a configuration that shows the last result, or that was deleted.
func (l *changeLog) forgetConfig(key types.NamespacedName) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.all, key)
}
