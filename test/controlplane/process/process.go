// Package process starts programs as processes that end with their runner, and waits for their readiness and their end.
package process

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

// RareGC is the variable of the environment that reduces the garbage collections of etcd, the API server, Crossplane and Flux: with Go's default they are a
// fifth of the processor time of the API server, which needs most of it.
const RareGC = "GOGC=400"

// A Command is a program to run, under a name that is also that of its log.
type Command struct {
	Name string
	Path string
	Args []string

	// Env has NAME=value entries. Of the environment of this process the search path alone is passed on.
	Env []string
}

// A Process is a command that was started.
type Process struct {
	// Name is the name of its command, and PID its process ID.
	Name string
	PID  int

	log string

	expected atomic.Bool
	done     chan struct{}
	err      error

	// processor is its processor time, once it has ended.
	processor time.Duration
}

// A Runner starts processes that end with it.
//
// The kernel ends a child when the thread that started it ends, and Go ends threads as it likes. So all children are started by one
// goroutine that keeps its thread for as long as the runner lives.
type Runner struct {
	dir    string
	failed context.CancelCauseFunc
	starts chan func()

	mu        sync.Mutex
	processes []*Process
	stopped   bool
}

// NewRunner returns a runner whose processes have their logs in a directory, and an existing directory home beside it. failed is called with the reason when a
// process ends unexpectedly.
func NewRunner(dir string, failed context.CancelCauseFunc) *Runner {
	r := &Runner{dir: dir, failed: failed, starts: make(chan func())}
	go func() {
		runtime.LockOSThread()
		for start := range r.starts {
			start()
		}
	}()
	return r
}

// LogFile returns the path of the log of a process with this name.
func (r *Runner) LogFile(name string) string {
	return filepath.Join(r.dir, name+".log")
}

// Start starts a process that shall run until it is killed. If it ends unexpectedly the whole control plane has failed.
func (r *Runner) Start(c Command) (*Process, error) {
	p, err := r.Spawn(c)
	if err != nil {
		return nil, err
	}
	r.FailAtEnd(p)
	return p, nil
}

// FailAtEnd lets the whole control plane fail if a process ends unexpectedly.
func (r *Runner) FailAtEnd(p *Process) {
	go func() {
		<-p.done
		if !p.expected.Load() {
			r.failed(p.FailureWithLog("ended early"))
		}
	}()
}

// RunToEnd runs a process to its end and returns an error if it failed.
func (r *Runner) RunToEnd(ctx context.Context, c Command) error {
	p, err := r.Spawn(c)
	if err != nil {
		return err
	}
	select {
	case <-p.done:
	case <-ctx.Done():
		p.Kill()
		return context.Cause(ctx)
	}
	if p.err != nil {
		return p.FailureWithLog("failed")
	}
	return nil
}

// Spawn starts a process whose end is not a failure.
func (r *Runner) Spawn(c Command) (*Process, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped {
		return nil, errors.Errorf("cannot start %s: control plane was stopped", c.Name)
	}
	log, err := os.OpenFile(r.LogFile(c.Name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, errors.Wrapf(err, "cannot open log of %s", c.Name)
	}
	defer func() { _ = log.Close() }() // The child has its own handle.

	cmd := exec.Command(c.Path, c.Args...)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(r.dir, "..", "home")}, c.Env...)
	cmd.Dir = filepath.Dir(r.dir)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = boundToParent()

	started := make(chan error)
	r.starts <- func() { started <- cmd.Start() }
	if err := <-started; err != nil {
		return nil, errors.Wrapf(err, "cannot start %s", c.Name)
	}
	p := &Process{Name: c.Name, log: log.Name(), PID: cmd.Process.Pid, done: make(chan struct{})}
	r.processes = append(r.processes, p)
	go func() {
		p.err = cmd.Wait()
		p.processor = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		close(p.done)
	}()
	return p, nil
}

// StopAll kills every process, last one first, and waits for their ends.
func (r *Runner) StopAll() {
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
		p.Kill()
	}
	close(r.starts)
}

// Kill ends a process, if it exists, and its children, and waits for its end.
func (p *Process) Kill() {
	if p == nil {
		return
	}
	p.expected.Store(true)
	if !p.IsAlive() {
		return
	}
	_ = syscall.Kill(-p.PID, syscall.SIGKILL)
	<-p.done
}

// SuspendWhile stops all threads of a process while fn runs: its files are consistent as of a moment, as if it had been killed. It returns an error if
// the process ended, or does not stop, and that of fn.
func (p *Process) SuspendWhile(ctx context.Context, fn func() error) error {
	if err := syscall.Kill(p.PID, syscall.SIGSTOP); err != nil {
		return errors.Wrapf(err, "cannot suspend %s", p.Name)
	}
	defer func() { _ = syscall.Kill(p.PID, syscall.SIGCONT) }() // A process that ended is missed by the runner.
	if err := PollUntil(ctx, func(context.Context) (bool, error) { return isSuspended(p.PID) }); err != nil {
		return errors.Wrapf(err, "cannot see %s suspended", p.Name)
	}
	return fn()
}

// FailureWithLog returns the error of a process that failed in an operation, with the end of its log.
func (p *Process) FailureWithLog(operation string) error {
	return errors.Errorf("%s %s: %v; its log ends with:\n%s", p.Name, operation, p.err, p.LastLog())
}

// LastLog returns the last lines of the log of a process, as far as it can be read.
func (p *Process) LastLog() string {
	b, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	all := strings.Split(strings.TrimRight(string(b), "\n"), "\n")
	return strings.Join(all[max(0, len(all)-tailLines):], "\n")
}

// IsAlive reports whether a process runs.
func (p *Process) IsAlive() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// ProcessorTime returns the processor time of the processes that ended, by their names.
func (r *Runner) ProcessorTime() map[string]time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := map[string]time.Duration{}
	for _, p := range r.processes {
		if !p.IsAlive() {
			out[p.Name] += p.processor
		}
	}
	return out
}

// Running returns the process ID of each process that runs, by its name.
func (r *Runner) Running() map[string]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := map[string]int{}
	for _, p := range r.processes {
		if p.IsAlive() {
			out[p.Name] = p.PID
		}
	}
	return out
}
