package ledger

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/provider/state"
	"github.com/intentplane/intentplane/test/patience"
)

// A push has the state of a repository about the claim after a push to it.
type push struct {
	repository string
	// position that the repository has applied.
	position ledger.Position
	// ledger is the state of the ledger that the repository holds. Zero where it holds none.
	ledger ledger.State
}

// String describes the result of the push: the position, and in the home how the ledger judges the revision.
func (p push) String() string {
	text := fmt.Sprintf("%d.%d.%d", p.position.Revision, p.position.Attempt, p.position.Step)
	if p.ledger.Verdict != nil {
		text += " " + string(p.ledger.Verdict.Result)
	}
	if p.ledger.Restored {
		text += " restored"
	}
	return text
}

// A pushLog reads the state of all repositories of a deployment after each push, while its sender waits for the answer. It is safe for
// concurrent use.
type pushLog struct {
	d *deployment

	mu     sync.Mutex
	pushes []push
	// verdicts that the home ever recorded, by the numbers of the revisions.
	verdicts map[int64]ledger.Verdict
	// faults are rules that a push broke.
	faults []string
	// then is the test's function after a push.
	then func(p push)
	// lost is true if the home may have fewer events than a follower, because the test removed its state.
	lost bool
}

// watchPushes begins to read pushes.
func (d *deployment) watchPushes() *pushLog {
	l := &pushLog{d: d, verdicts: map[int64]ledger.Verdict{}}
	for _, repository := range d.repositories {
		l.listenToPushes(repository)
	}
	d.T.Cleanup(func() {
		for _, repository := range d.repositories {
			d.Git.AfterPush(repository, nil)
		}
	})
	return l
}

func (l *pushLog) listenToPushes(repository string) {
	l.d.Git.AfterPush(repository, func() { l.checkPushedState(repository) })
}

// checkPushedState reads the state of a repository, and checks it against the state of the home.
func (l *pushLog) checkPushedState(repository string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(l.d.T.Context()), patience.Limit)
	defer cancel()
	stored, err := l.d.readFilesWithGit(ctx, repository)
	if err != nil || stored.record == nil && stored.ledger == nil {
		l.noteUnreadState(repository, err)
		return
	}
	p := push{repository: repository}
	log, err := l.d.Git.Log(ctx, repository, "main")
	if err != nil || len(log) == 1 {
		l.noteUnreadState(repository, err)
		return // A repository without any state gets it before its branch is pushed.
	}
	if stored.record != nil {
		p.position = stored.record.Position
	}
	if stored.ledger != nil {
		p.ledger = stored.ledger.State
		l.checkVerdicts(p.ledger)
	} else if home, err := l.d.readFilesWithGit(ctx, l.d.homeRepository()); err != nil || home.ledger != nil {
		l.noteUnreadState(repository, err)
		l.checkFollower(p, home)
	}
	l.mu.Lock()
	l.pushes = append(l.pushes, p)
	action := l.then
	l.mu.Unlock()
	if action != nil {
		action(p)
	}
}

// noteUnreadState notes that the state of a repository cannot be read. A test that plays a newer version makes it so on purpose.
func (l *pushLog) noteUnreadState(repository string, err error) {
	var newer *state.NewerError
	if err != nil && !errors.As(err, &newer) {
		l.recordFault(fmt.Sprintf("%s: %v", repository, err))
	}
}

func (l *pushLog) recordFault(fault string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.faults = append(l.faults, fault)
}

// checkFollower reports a follower with a later position than the home records.
func (l *pushLog) checkFollower(p push, home files) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if home.ledger == nil || l.lost {
		return
	}
	if recorded := home.ledger.State.Position(); p.position.Compare(recorded) > 0 {
		l.faults = append(l.faults, fmt.Sprintf("%s has applied %v, and the home records %v", p.repository, p.position, recorded))
	}
}

// checkVerdicts notes a verdict that is another one than before.
func (l *pushLog) checkVerdicts(s ledger.State) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, past := range s.History {
		if past.Verdict == nil {
			continue
		}
		previous, isKnown := l.verdicts[past.Number]
		if isKnown && previous != *past.Verdict {
			l.faults = append(l.faults, fmt.Sprintf("revision %d was %v, and is %v", past.Number, previous, *past.Verdict))
		}
		l.verdicts[past.Number] = *past.Verdict
	}
}

// callAfterEach calls a function after each push from now on, before the push is answered. Nil ends that.
func (l *pushLog) callAfterEach(fn func(p push)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.then = fn
}

// allowLostHome allows a home with fewer events than a follower from now on.
func (l *pushLog) allowLostHome() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lost = true
}

// hasRevisionEverywhere reports whether each repository got a push of a revision.
func (l *pushLog) hasRevisionEverywhere(revision int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !slices.ContainsFunc(l.d.repositories, func(repository string) bool {
		return !slices.ContainsFunc(l.pushes, func(p push) bool { return p.repository == repository && p.position.Revision == revision })
	})
}

// forgetPushes forgets the pushes so far.
func (l *pushLog) forgetPushes() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pushes = nil
}

// listPushes returns the pushes since, in order: the number of the repository, from 0 for the home, and the result of the push. Followers
// that get something at once come in the order of their numbers.
func (l *pushLog) listPushes() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := []string{}
	for _, p := range l.pushes {
		out = append(out, fmt.Sprintf("%d: %s", slices.Index(l.d.repositories, p.repository), p))
	}
	for begin := 0; begin < len(out); begin++ {
		end := begin
		for end < len(out) && !strings.HasPrefix(out[end], "0:") {
			end++
		}
		slices.Sort(out[begin:end])
		begin = end
	}
	return out
}

// brokenRules returns the rules that pushes broke.
func (l *pushLog) brokenRules() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.faults)
}
