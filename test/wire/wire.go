// Package wire is a way to a server that tests cut and connect again. It forwards bytes, so that TLS goes through it.
package wire

import (
	"context"
	"io"
	"net"
	"net/netip"
	"os"
	"sync"
	"syscall"
)

// A Wire leads from an address of its own to a server. While it is cut, connections are refused, as where no program listens.
type Wire struct {
	address, to string
	// reserved is a socket that has the address while the wire is cut, so that no other program gets it. Zero means none.
	reserved int

	mu       sync.Mutex
	listener net.Listener
	open     []net.Conn
}

// New returns a wire to a server at an address like "127.0.0.1:443". It returns an error if it cannot listen.
func New(ctx context.Context, target string) (*Wire, error) {
	w := &Wire{address: "127.0.0.1:0", to: target}
	return w, w.Connect(ctx)
}

// Address is the address at which the wire listens: the same after each Cut.
func (w *Wire) Address() string { return w.address }

// Connect lets connections through again, at the same address as before. It returns an error if it cannot listen there.
func (w *Wire) Connect(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	l, err := w.listenAgain(ctx)
	if err != nil {
		return err
	}
	w.listener, w.address = l, l.Addr().String()
	go w.acceptConnections(l)
	return nil
}

func (w *Wire) listenAgain(ctx context.Context) (net.Listener, error) {
	if w.reserved == 0 {
		return (&net.ListenConfig{}).Listen(ctx, "tcp", w.address)
	}
	f := os.NewFile(uintptr(w.reserved), "wire")
	defer f.Close()
	w.reserved = 0
	if err := syscall.Listen(int(f.Fd()), syscall.SOMAXCONN); err != nil {
		return nil, err
	}
	return net.FileListener(f)
}

// reserveAddress takes the address without listening.
func (w *Wire) reserveAddress() error {
	parsed, err := netip.ParseAddrPort(w.address)
	if err != nil {
		return err
	}
	if w.reserved, err = syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0); err != nil {
		return err
	}
	if err := syscall.SetsockoptInt(w.reserved, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1); err != nil {
		return err
	}
	return syscall.Bind(w.reserved, &syscall.SockaddrInet4{Port: int(parsed.Port()), Addr: parsed.Addr().As4()})
}

func (w *Wire) acceptConnections(l net.Listener) {
	for {
		incoming, err := l.Accept()
		if err != nil {
			return
		}
		outgoing, err := (&net.Dialer{}).Dial("tcp", w.to)
		if err != nil {
			_ = incoming.Close()
			continue
		}
		w.mu.Lock()
		w.open = append(w.open, incoming, outgoing)
		w.mu.Unlock()
		go copyAndClose(incoming, outgoing)
		go copyAndClose(outgoing, incoming)
	}
}

func copyAndClose(source, target net.Conn) {
	_, _ = io.Copy(target, source)
	_ = target.Close()
}

// Cut ends all connections, and refuses new ones until Connect is called. It returns an error if another program took the address.
func (w *Wire) Cut() error {
	w.Close()
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.reserveAddress()
}

// Close ends all connections, and gives the address up.
func (w *Wire) Close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	_ = w.listener.Close()
	for _, c := range w.open {
		_ = c.Close()
	}
	w.open = nil
}
