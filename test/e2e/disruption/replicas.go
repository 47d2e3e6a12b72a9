package disruption

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/provider/git"
	gitbudget "github.com/intentplane/intentplane/provider/git/budget"
	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/provider/git/transport"
	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/soak"
)

// foreignPushesPerSecond is the minimum speed of a disturbing foreign pusher under make soak. How fast it can be elsewhere is unknown.
const foreignPushesPerSecond = 5

func killProvider(*testing.T) func() {
	cp.KillProvider()
	return func() {}
}

// freezeProvider stops the provider, and returns a function that resumes it.
func freezeProvider(t *testing.T) func() {
	t.Helper()
	pid := cp.ProviderPID()
	signal := func(s syscall.Signal) {
		if err := syscall.Kill(pid, s); err != nil {
			t.Error(err)
		}
	}
	signal(syscall.SIGSTOP)
	return func() {
		ended := make(chan error, 1)
		go func() { ended <- cp.AwaitProviderEnd(t.Context()) }()
		signal(syscall.SIGCONT)
		if err := <-ended; err != nil {
			t.Errorf("who lost the lease should end: %v", err)
		}
	}
}

// raceWithPusher delivers all deployments while another writer pushes, and kills the active provider meanwhile.
func (f *fleet) raceWithPusher(deliveries int64, rival pusher, lose func() func()) {
	f.T.Helper()
	stop, stopped := make(chan struct{}), make(chan struct{})
	began := time.Now()
	go func() {
		defer close(stopped)
		f.pushUnmanaged(rival, stop)
	}()
	f.deliverUntil(deliveries / 3)
	f.requestRevisions() // A delivery is always at work.
	end := lose()
	f.deliverUntil(deliveries)
	end()
	close(stop)
	<-stopped
	took := time.Since(began).Seconds()
	rate := float64(len(f.theirs)) / took
	f.T.Logf("soak %s: ours %.1f/s, theirs %.1f/s", f.T.Name(), float64(int64(len(f.ordered))*deliveries)/took, rate)
	if soak.Long() && rate < foreignPushesPerSecond {
		f.T.Errorf("the foreign pusher should push %d times per second, not %.1f", foreignPushesPerSecond, rate)
	}
	if len(f.theirs) == 0 {
		f.T.Error("the foreign pusher should not always come too late")
	}
}

// A pusher adds a file to the branch, in a commit of its own, and comes again as often as it comes too late. It returns an error if it
// cannot push for another reason.
type pusher func(ctx context.Context, path, message string) error

// pushUnmanaged pushes as fast as it can until it is stopped.
func (f *fleet) pushUnmanaged(push pusher, stop <-chan struct{}) {
	for f.T.Context().Err() == nil {
		select {
		case <-stop:
			return
		default:
		}
		message := fmt.Sprintf("Theirs %d", len(f.theirs))
		if err := push(f.T.Context(), fmt.Sprintf("theirs/%d", len(f.theirs)), message); err != nil {
			f.T.Errorf("the foreign pusher cannot push: %v", err)
			return
		}
		f.theirs[message] = 1
	}
}

// newClientPusher returns a pusher that uses our own Git client.
func newClientPusher(f *fleet) pusher {
	c, err := git.NewClient(git.Remote{URL: f.Git.URL(f.Namespace), Branch: "main", StateRef: "refs/foreign/state"}, gitbudget.New())
	f.Must(err)
	f.T.Cleanup(c.Close)
	return func(ctx context.Context, path, message string) error {
		for {
			if err := pushOneCommit(ctx, c, path, message); !failure.IsConflict(err) {
				return err
			}
		}
	}
}

func pushOneCommit(ctx context.Context, c *git.Client, dir, message string) error {
	snapshot, err := c.Look(ctx, nil)
	if err != nil {
		return err
	}
	p, err := git.Plan(ctx, snapshot, git.Change{
		Put:     map[string]map[string][]byte{dir: {"file": []byte("theirs\n")}},
		Message: message, Author: git.Author{Name: "A Stranger", Email: "stranger@example.org"}, When: time.Unix(1, 0),
	})
	if err != nil {
		return err
	}
	_, err = c.Push(ctx, p)
	return err
}

// newClonePusher returns a pusher that works in a clone, with the git command.
func newClonePusher(f *fleet) pusher {
	p := person{clone: f.T.TempDir()}
	f.Must(p.runGitCommand(f.T.Context(), "clone", "-q", "-c", "gc.auto=0", f.Git.URL(f.Namespace), "."))
	return p.commitAndPush
}

// A person has a clone.
type person struct {
	clone string
}

func (p person) runGitCommand(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = p.clone
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.clone, "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C"}
	for _, role := range []string{"AUTHOR", "COMMITTER"} {
		cmd.Env = append(cmd.Env, "GIT_"+role+"_NAME=A Stranger", "GIT_"+role+"_EMAIL=stranger@example.org")
	}
	out, err := cmd.CombinedOutput()
	return errors.Wrapf(err, "git %s: %s", args[0], out)
}

func (p person) commitAndPush(ctx context.Context, path, message string) error {
	dir := filepath.Join(p.clone, path)
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), []byte("theirs\n"), 0o600); err != nil {
		return err
	}
	if err := p.runGitCommands(ctx, []string{"add", path}, []string{"commit", "-q", "-m", message}); err != nil {
		return err
	}
	for {
		err := p.runGitCommand(ctx, "push", "-q", "origin", "HEAD:main")
		if err == nil || transport.ClassifyText(err.Error()) != failure.ClassConflict {
			return err
		}
		if err := p.runGitCommands(ctx, []string{"fetch", "-q", "origin", "main"}, []string{"rebase", "-q", "FETCH_HEAD"}); err != nil {
			return err
		}
	}
}

// runGitCommands commands, one after another.
func (p person) runGitCommands(ctx context.Context, commands ...[]string) error {
	for _, args := range commands {
		if err := p.runGitCommand(ctx, args...); err != nil {
			return err
		}
	}
	return nil
}

// deliverUntil delivers until each delivery is at a revision.
func (f *fleet) deliverUntil(revision int64) {
	f.T.Helper()
	f.Until("all revisions carried out", patience.Limit+time.Duration(revision)*10*time.Second, func() bool {
		busy := false
		for _, d := range f.Deliveries() {
			name := d.GetName()
			behind := f.ordered[name] < revision
			busy = busy || behind || !f.isDelivered(&d)
			if behind && f.isDelivered(&d) {
				f.requestRevision(name)
			}
		}
		return !busy
	})
}

// requestRevisions orders the next revision of all.
func (f *fleet) requestRevisions() {
	f.T.Helper()
	for name := range f.ordered {
		f.requestRevision(name)
	}
}
