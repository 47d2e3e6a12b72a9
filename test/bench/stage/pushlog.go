package stage

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/test/bench/process"
)

// A PushLog has the time of each push that moved the branch of a repository, as the Git server sees them. Pushes of the state alone are not in it.
type PushLog struct {
	mu    sync.Mutex
	tip   string
	times []time.Time
}

// LogPushes logs the pushes to a repository, until the server gets another callback for it.
func (s *Stage) LogPushes(ctx context.Context, repo string) *PushLog {
	l := &PushLog{}
	ctx = context.WithoutCancel(ctx)
	l.tip = s.readBranchTip(ctx, repo)
	s.CP.Git.AfterPush(repo, func() {
		now := time.Now()
		l.logPushedTip(s.readBranchTip(ctx, repo), now)
	})
	return l
}

// readBranchTip returns the commit of the branch, or none.
func (s *Stage) readBranchTip(ctx context.Context, repo string) string {
	tip, err := s.CP.Git.Git(ctx, repo, "rev-parse", "refs/heads/main")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(tip)
}

// logPushedTip logs a push after which the branch has a commit, if it had another one.
func (l *PushLog) logPushedTip(tip string, pushedAt time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if tip != "" && tip != l.tip {
		l.tip, l.times = tip, append(l.times, pushedAt)
	}
}

// FirstSince returns the time of the first push since a moment, or false if the branch did not move.
func (l *PushLog) FirstSince(moment time.Time) (time.Time, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, pushedAt := range l.times {
		if !pushedAt.Before(moment) {
			return pushedAt, true
		}
	}
	return time.Time{}, false
}

// AwaitSince waits for a push since a moment, and returns its time. It returns an error after a time limit.
func (l *PushLog) AwaitSince(ctx context.Context, moment time.Time, limit time.Duration) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		if pushedAt, isPushed := l.FirstSince(moment); isPushed {
			return pushedAt, nil
		}
		if err := process.Wait(ctx, time.Millisecond); err != nil {
			return time.Time{}, errors.Wrap(err, "cannot see a push")
		}
	}
}
