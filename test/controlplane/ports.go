package controlplane

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	// poll is how often the harness looks again at what it waits for.
	poll = 100 * time.Millisecond

	// rbacPort is the port that Crossplane's RBAC manager takes and cannot be told not to.
	rbacPort = 8080

	// portGrace is how long whoever holds a port without a lock has to end. The processes of a control plane that was killed need a moment.
	portGrace = 10 * time.Second
)

// ports are those that components listen on, on loopback.
type ports struct {
	etcd, etcdPeer, apiServer, coreMetrics, coreProbe, function, functionMetrics, providerMetrics, providerProbe, standbyProbe int
}

// freePorts returns ports that nobody listens on.
func freePorts() (ports, error) {
	p := ports{}
	wanted := []*int{
		&p.etcd, &p.etcdPeer, &p.apiServer, &p.coreMetrics, &p.coreProbe, &p.function, &p.functionMetrics, &p.providerMetrics, &p.providerProbe,
		&p.standbyProbe,
	}
	free, err := FreePorts(len(wanted))
	if err != nil {
		return ports{}, err
	}
	for i, port := range wanted {
		*port = free[i]
	}
	return p, nil
}

// FreePorts returns so many ports of loopback that nobody listens on. It returns an error if it finds none.
func FreePorts(n int) ([]int, error) {
	out := make([]int, n)
	for i := range out {
		l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
		if err != nil {
			return nil, errors.Wrap(err, "cannot find a free port")
		}
		// All are held until all are found, or one might be found twice.
		defer func() { _ = l.Close() }()
		addr, err := netip.ParseAddrPort(l.Addr().String())
		if err != nil {
			return nil, errors.Wrap(err, "cannot tell which port is free")
		}
		out[i] = int(addr.Port())
	}
	return out, nil
}

func loopback(port int) string {
	return fmt.Sprintf("127.0.0.1:%d", port)
}

// A portLock is the right to port 8080 of this network, which Crossplane's RBAC manager takes and cannot be told not to.
type portLock struct{ file *os.File }

// lockPort8080 waits until no other control plane of this network uses the port. The kernel gives the lock back when its holder dies.
func lockPort8080(ctx context.Context) (*portLock, error) {
	path := filepath.Join(os.TempDir(), ".intentplane-port-8080"+networkID()+".lock")
	l := &portLock{}
	err := wait.PollUntilContextCancel(ctx, poll, true, func(context.Context) (bool, error) {
		var err error
		l.file, err = tryLock(path)
		return l.file != nil, err
	})
	if err != nil {
		return nil, errors.Wrapf(err, "cannot lock port 8080: another control plane holds %s", path)
	}
	err = wait.PollUntilContextTimeout(ctx, poll, portGrace, true, func(context.Context) (bool, error) { return isFree(rbacPort), nil })
	if err != nil {
		return nil, errors.Join(errors.New("cannot use port 8080, which crossplane rbac start always takes: another process listens on it"), l.release())
	}
	return l, nil
}

// networkID tells this network from the others of this machine: a process may run in a network namespace, which has all ports once more. It is
// empty where there are no namespaces.
func networkID() string {
	name, err := os.Readlink("/proc/self/ns/net")
	if err != nil {
		return ""
	}
	return "-" + strings.Trim(name, "net:[]")
}

// tryLock returns a file that it locked, or nil if somebody else has the lock. A lock on a file that was removed meanwhile is
// none: whoever comes next would lock another file.
func tryLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		return nil, errors.Wrap(err, "cannot open lock")
	}
	locked := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
	if locked && isAt(f, path) {
		return f, nil
	}
	return nil, errors.Wrap(f.Close(), "cannot close lock")
}

func isAt(f *os.File, path string) bool {
	mine, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(path)
	return err == nil && os.SameFile(mine, there)
}

// isFree returns whether one can listen on a port on all addresses, as the RBAC manager does.
func isFree(port int) bool {
	l, err := net.ListenTCP("tcp", &net.TCPAddr{Port: port})
	if err != nil {
		return false
	}
	return l.Close() == nil
}

// release gives the port back. Without a lock there is nothing to give back.
func (l *portLock) release() error {
	if l == nil {
		return nil
	}
	return errors.Wrap(l.file.Close(), "cannot release lock of port 8080")
}
