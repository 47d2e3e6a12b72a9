// Package port finds ports of loopback without a listener, each for one caller, and locks the port that Crossplane's RBAC manager always takes.
package port

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	// interval is the time between two observations of a lock, or of a port.
	interval = 100 * time.Millisecond

	// rbacPort is the port that Crossplane's RBAC manager takes, and no flag keeps it from that.
	rbacPort = 8080

	// firstListenPort and lastListenPort are below the ports of outgoing connections: Linux takes these from 32768 on, others from 49152 on.
	firstListenPort = 10000
	lastListenPort  = 32767

	// grace is the time in which a process with a port but without a lock has to end. The processes of a control plane that was killed need a moment.
	grace = 10 * time.Second
)

// Free returns so many ports of loopback without a listener, each to one caller only. They are outside of the ranges from which systems take the
// ports of outgoing connections: a port from these may be such a connection's before its process listens. It returns an error if it finds none.
func Free(n int) ([]int, error) {
	out := make([]int, 0, n)
	for range lastListenPort - firstListenPort {
		if len(out) == n {
			return out, nil
		}
		if next := nextListenPort(); isLoopbackPortFree(next) {
			out = append(out, next)
		}
	}
	return nil, errors.Errorf("cannot find %d free ports from %d to %d", n, firstListenPort, lastListenPort)
}

// nextListenPort goes around the range, from a place that differs between processes.
func nextListenPort() int {
	const size = lastListenPort - firstListenPort + 1
	return firstListenPort + int(listenPorts.Add(1)%size)
}

var listenPorts = func() *atomic.Uint32 {
	counter := &atomic.Uint32{}
	counter.Store(rand.Uint32N(lastListenPort - firstListenPort))
	return counter
}()

func isLoopbackPortFree(port int) bool {
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port})
	return err == nil && l.Close() == nil
}

// Address returns the address of a port on loopback.
func Address(port int) string {
	return fmt.Sprintf("127.0.0.1:%d", port)
}

// A Lock is the right to port 8080 of this network, which Crossplane's RBAC manager takes, and no flag keeps it from that.
type Lock struct{ file *os.File }

// Acquire8080 waits until no other control plane of this network uses the port. The kernel gives the lock back when its holder dies. Waiting,
// unless nil, gets a sentence with the reason when the wait begins.
func Acquire8080(ctx context.Context, waiting func(string)) (*Lock, error) {
	path := filepath.Join(os.TempDir(), ".intentplane-port-8080"+networkSuffix()+".lock")
	return acquireLock(ctx, rbacPort, path, waiting)
}

// acquireLock locks a file, and waits until the port that it stands for has no listener.
func acquireLock(ctx context.Context, port int, path string, waiting func(string)) (*Lock, error) {
	l := &Lock{}
	report := printOnce(waiting, fmt.Sprintf("waiting until another control plane of this machine ends, such as that of \"make demo\" or of a test: Crossplane's "+
		"RBAC manager always takes port %d (the other one holds %s)", port, path))
	err := wait.PollUntilContextCancel(ctx, interval, true, func(context.Context) (bool, error) {
		var err error
		if l.file, err = tryLockingFile(path); l.file == nil && err == nil {
			report()
		}
		return l.file != nil, err
	})
	if err != nil {
		return nil, errors.Wrapf(err, "cannot lock port %d: another control plane holds %s", port, path)
	}
	report = printOnce(waiting, fmt.Sprintf("waiting up to %s until port %d is free: another program listens on it, and Crossplane's RBAC manager always takes it", grace, port))
	err = wait.PollUntilContextTimeout(ctx, interval, grace, true, func(context.Context) (bool, error) {
		free := isPortFree(port)
		if !free {
			report()
		}
		return free, nil
	})
	if err != nil {
		return nil, errors.Join(errors.Errorf("cannot use port %d, which crossplane rbac start always takes: another process listens on it", port), l.Release())
	}
	return l, nil
}

// printOnce returns a function that prints a sentence at its first call, if a listener is set.
func printOnce(say func(string), sentence string) func() {
	return sync.OnceFunc(func() {
		if say != nil {
			say(sentence)
		}
	})
}

// networkSuffix distinguishes this network from the others of this machine: a process may run in a network namespace, which has all ports once more. It is
// empty where the system has none.
func networkSuffix() string {
	name, err := os.Readlink("/proc/self/ns/net")
	if err != nil {
		return ""
	}
	return "-" + strings.Trim(name, "net:[]")
}

// tryLockingFile returns a file that it locked, or nil if another process has the lock. A lock on a file that was removed meanwhile is
// none: the next process would lock another file.
func tryLockingFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		return nil, errors.Wrap(err, "cannot open lock")
	}
	locked := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
	if locked && isSameFileAt(f, path) {
		return f, nil
	}
	return nil, errors.Wrap(f.Close(), "cannot close lock")
}

func isSameFileAt(f *os.File, path string) bool {
	mine, err := f.Stat()
	if err != nil {
		return false
	}
	current, err := os.Stat(path)
	return err == nil && os.SameFile(mine, current)
}

// isPortFree returns whether one can listen on a port on all addresses, as the RBAC manager does.
func isPortFree(port int) bool {
	l, err := net.ListenTCP("tcp", &net.TCPAddr{Port: port})
	if err != nil {
		return false
	}
	return l.Close() == nil
}

// Release gives the port back. Without a lock there is nothing to give back.
func (l *Lock) Release() error {
	if l == nil {
		return nil
	}
	return errors.Wrap(l.file.Close(), "cannot release lock of port 8080")
}
