package controlplane

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// tailLines is the number of shown log lines of a component that ended early.
const tailLines = 20

// A command is a program to run, under a name that is also that of its log.
type command struct {
	name string
	path string
	args []string
	env  []string
}

// A process is a command that was started.
type process struct {
	name string
	log  string
	pid  int

	expected atomic.Bool
	done     chan struct{}
	err      error

	// processor is its processor time, once it has ended.
	processor time.Duration
}

// A runner starts processes that end with it.
//
// The kernel ends a child when the thread that started it ends, and Go ends threads as it likes. So all children are started by one
// goroutine that keeps its thread for as long as the runner lives.
type runner struct {
	dir    string
	failed context.CancelCauseFunc
	starts chan func()

	mu        sync.Mutex
	processes []*process
	stopped   bool
}

func newRunner(dir string, failed context.CancelCauseFunc) *runner {
	r := &runner{dir: dir, failed: failed, starts: make(chan func())}
	go func() {
		runtime.LockOSThread()
		for start := range r.starts {
			start()
		}
	}()
	return r
}

func (r *runner) logFile(name string) string {
	return filepath.Join(r.dir, name+".log")
}

// startProcess starts a process that shall run until it is killed. If it ends unexpectedly the whole control plane has failed.
func (r *runner) startProcess(c command) (*process, error) {
	p, err := r.spawnProcess(c)
	if err != nil {
		return nil, err
	}
	r.failAtEnd(p)
	return p, nil
}

// failAtEnd lets the whole control plane fail if a process ends unexpectedly.
func (r *runner) failAtEnd(p *process) {
	go func() {
		<-p.done
		if !p.expected.Load() {
			r.failed(p.failureWithLog("ended early"))
		}
	}()
}

// runProcessToEnd runs a process to its end and returns an error if it failed.
func (r *runner) runProcessToEnd(ctx context.Context, c command) error {
	p, err := r.spawnProcess(c)
	if err != nil {
		return err
	}
	select {
	case <-p.done:
	case <-ctx.Done():
		p.killProcessGroup()
		return context.Cause(ctx)
	}
	if p.err != nil {
		return p.failureWithLog("failed")
	}
	return nil
}

func (r *runner) spawnProcess(c command) (*process, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped {
		return nil, errors.Errorf("cannot start %s: control plane was stopped", c.name)
	}
	log, err := os.OpenFile(r.logFile(c.name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, errors.Wrapf(err, "cannot open log of %s", c.name)
	}
	defer func() { _ = log.Close() }() // The child has its own handle.

	cmd := exec.Command(c.path, c.args...)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(r.dir, "..", "home")}, c.env...)
	cmd.Dir = filepath.Dir(r.dir)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = boundToParent()

	started := make(chan error)
	r.starts <- func() { started <- cmd.Start() }
	if err := <-started; err != nil {
		return nil, errors.Wrapf(err, "cannot start %s", c.name)
	}
	p := &process{name: c.name, log: log.Name(), pid: cmd.Process.Pid, done: make(chan struct{})}
	r.processes = append(r.processes, p)
	go func() {
		p.err = cmd.Wait()
		p.processor = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		close(p.done)
	}()
	return p, nil
}

// stopAllProcesses kills every process, last one first, and waits for their ends.
func (r *runner) stopAllProcesses() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped {
		return
	}
	r.stopped = true
	for _, p := range r.processes {
		p.expected.Store(true)
	}
	for _, p := range slices.Backward(r.processes) {
		p.killProcessGroup()
	}
	close(r.starts)
}

// killProcessGroup ends a process, if it exists, and its children, and waits for its end.
func (p *process) killProcessGroup() {
	if p == nil {
		return
	}
	p.expected.Store(true)
	if !p.isAlive() {
		return
	}
	_ = syscall.Kill(-p.pid, syscall.SIGKILL)
	<-p.done
}

// suspendWhile stops all threads of a process while fn runs: its files are consistent as of a moment, as if it had been killed. It returns an error if
// the process ended, or does not stop, and that of fn.
func (p *process) suspendWhile(ctx context.Context, fn func() error) error {
	if err := syscall.Kill(p.pid, syscall.SIGSTOP); err != nil {
		return errors.Wrapf(err, "cannot suspend %s", p.name)
	}
	defer func() { _ = syscall.Kill(p.pid, syscall.SIGCONT) }() // A process that ended is missed by the runner.
	if err := pollUntil(ctx, func(context.Context) (bool, error) { return isSuspended(p.pid) }); err != nil {
		return errors.Wrapf(err, "cannot see %s suspended", p.name)
	}
	return fn()
}

func (p *process) failureWithLog(operation string) error {
	return errors.Errorf("%s %s: %v; its log ends with:\n%s", p.name, operation, p.err, lastLinesOfFile(p.log, tailLines))
}

// lastLinesOfFile returns the last lines of a file, as far as it can be read.
func lastLinesOfFile(path string, lines int) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	all := strings.Split(strings.TrimRight(string(b), "\n"), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

func (p *process) isAlive() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}
